"""Type rules against what NumPy and Python return: dtype, number or array, dims."""

from __future__ import annotations

import itertools
import math
import operator
import re
from typing import Any

import numpy as np
import pytest

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.lengths import Facts
from gradscribe.ir.types import Array, Scalar, Sequence, Type, join
from gradscribe.primitives.registry import METHODS, PRIMITIVES
from gradscribe.primitives.typing import TypeRuleError, number_type, type_of
from tests.primitives.cases import ALL, BINARY_CALLEES, DOMAINS, array
from tests.primitives.harness import Case, Lengths, case


def _name(item: Any) -> str:
    """A test id that is the same in every process (functions print their address)."""
    return getattr(item, "__name__", None) or str(item)


pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

OPERANDS: dict[str, Any] = {
    "bool": True,
    "int": 2,
    "float": 0.5,
    "np.int64": np.int64(2),
    "np.float32": np.float32(0.5),
    "np.float64": np.float64(0.5),
    "rank 0": np.array(0.5),
    "rank 0 float32": np.array(0.5, np.float32),
    "float64": np.array([0.5, 0.75]),
    "float32": np.array([[0.5], [0.75]], np.float32),
    "int64": np.array([1, 2]),
    "bool array": np.array([True, False]),
}
UNARY_CALLEES = [*DOMAINS, np.isnan, np.logical_not, operator.not_, int, bool, np.int32, np.float32]
OTHER_BINARY = [
    operator.lt, operator.eq, np.not_equal, operator.and_, operator.or_, operator.lshift,
    np.logical_and, np.isclose, np.allclose, np.array_equal, operator.matmul, np.dot, np.inner,
    np.outer, math.fmod, math.isclose,
]  # fmt: skip
ODD = [
    lambda x: case(np.sum, x),
    lambda x: case(np.prod, x, keepdims=True),
    lambda x: case(np.mean, x),
    lambda x: case(np.max, x),
    lambda x: case(np.var, x),
    lambda x: case(np.sum, x, axis=-1),
    lambda x: case(np.sum, x, dtype=np.float32),
    lambda x: case(np.argmax, x),
    lambda x: case(np.argmin, x, axis=0, keepdims=True),
    lambda x: case(np.any, x),
    lambda x: case(np.all, x, axis=-1),
    lambda x: case(np.count_nonzero, x),
    lambda x: case(np.cumsum, x),
    lambda x: case(np.reshape, x, -1),
    lambda x: case(np.ravel, x),
    lambda x: case(np.transpose, x),
    lambda x: case(np.expand_dims, x, 0),
    lambda x: case(np.squeeze, x),
    lambda x: case(np.flip, x),
    lambda x: case(np.copy, x),
    lambda x: case(np.asarray, x),
    lambda x: case(np.asarray, x, dtype=np.float32),
    lambda x: case(np.ascontiguousarray, x),
    lambda x: case(np.array, x),
    lambda x: case(np.array, (x, x)),
    lambda x: case(np.stack, (x, x)),
    lambda x: case(np.hstack, (x, x)),
    lambda x: case(np.vstack, (x, x)),
    lambda x: case(np.zeros_like, x),
    lambda x: case(np.ones_like, x, dtype=int),
    lambda x: case(np.full, (3, 2), x) if np.ndim(x) != 1 else case(np.full, (3, 2), x, dtype=int),
    lambda x: case(np.full_like, x, 2.5),
    lambda x: case(np.where, x, x, 0),
    lambda x: case(np.where, x, 1, 2.5),
    lambda x: case(np.clip, x, 0, 1),
    lambda x: case(np.clip, x, None, np.float32(1)),
    lambda x: case(np.round, x, 1),
    lambda x: case(np.linspace, x, 1, 3) if np.ndim(x) == 0 else case(np.zeros_like, x),
    lambda x: case(round, x),
    lambda x: case(math.floor, x),
    lambda x: case("sum", x),
    lambda x: case("item", x),
    lambda x: case("astype", x, np.float32),
    lambda x: case("T", x),
]
CREATION = [
    case(np.zeros, 3),
    case(np.zeros, (2, 3), dtype=np.float32),
    case(np.ones, [2, 3], int),
    case(np.empty, ()),
    case(np.eye, 3),
    case(np.tri, 3),
    case(np.tri, 3, 4, k=-1),
    case(np.eye, 2, 3, k=1, dtype=bool),
    case(np.identity, 2),
    case(np.arange, 4),
    case(np.arange, 4.0),
    case(np.arange, 1, 7),
    case(np.arange, 7, 1, -2),
    case(np.arange, 5, 2),
    case(np.arange, 1, 7, dtype=np.float32),
    case(np.full, 2, 1),
]


def type_from_rule(case: Case, convert: Any, facts: Facts) -> Type:
    attributes = {name: _converted(item, convert) for name, item in case.arguments.items()}
    rule: Any = case.primitive.type_rule
    return rule(facts, case.ir_callee, **attributes)  # type: ignore[no-any-return]


def _converted(item: Any, convert: Any) -> Any:
    if isinstance(item, (tuple, list)):
        return type(item)(_converted(i, convert) for i in item)
    return convert(item) if isinstance(item, (np.ndarray, np.generic)) else item


def as_type(x: Any) -> Any:
    return type_of(x) if isinstance(x, np.ndarray) else number_type(x)


def without_value(type_: Type) -> Type:
    return Scalar(type_.dtype, type_.weak) if isinstance(type_, Scalar) else type_


def result_or_none(case: Case) -> Any:
    try:
        return case()
    except (TypeError, ValueError, AttributeError, IndexError):
        return None


def assert_typed(case: Case) -> None:
    """The rule gives the type of the result, wherever NumPy gives one."""
    out = result_or_none(case)
    if out is None:
        return
    given = type_from_rule(case, as_type, Facts())
    assert without_value(given) == type_of(out), str(case)
    if isinstance(given, Scalar) and given.value is not None and given.value.known is not None:
        assert given.value.known == out


@pytest.mark.parametrize("callee", UNARY_CALLEES, ids=_name)
def test_unary_results(callee: Any) -> None:
    for operand in OPERANDS.values():
        if not isinstance(callee, str) or isinstance(operand, (np.ndarray, np.generic)):
            assert_typed(case(callee, operand))


@pytest.mark.parametrize("callee", [*BINARY_CALLEES, *OTHER_BINARY], ids=_name)
def test_binary_results(callee: Any) -> None:
    for x, y in itertools.product(OPERANDS.values(), repeat=2):
        squared_bools = callee is operator.pow and np.asarray(x).dtype == bool and y == 2
        if not (np.ndim(y) == 0 and squared_bools):
            assert_typed(case(callee, x, y))


NUMBERS = [x for x in OPERANDS.values() if not isinstance(x, np.ndarray)]


@pytest.mark.parametrize("callee", [max, min])
def test_either_of_two_numbers_fits_the_type(callee: Any) -> None:
    for x, y in itertools.product(NUMBERS, repeat=2):
        given = type_from_rule(case(callee, x, y), as_type, Facts())
        assert isinstance(given, Scalar)
        for operand in map(type_of, (x, y)):
            assert join(without_value(given), operand) == without_value(given)


@pytest.mark.parametrize("make", ODD, ids=lambda make: str(make(OPERANDS["float64"])))
def test_other_results(make: Any) -> None:
    for operand in OPERANDS.values():
        made = make(operand)
        if not isinstance(made.callee, str) or isinstance(operand, (np.ndarray, np.generic)):
            assert_typed(made)


@pytest.mark.parametrize("case", CREATION, ids=_name)
def test_creation(case: Case) -> None:
    assert_typed(case)


# -- symbolic lengths ------------------------------------------------------------------------


def test_symbolic_lengths_are_those_of_the_result() -> None:
    assert [str(case) for case in ALL if not has_its_lengths(case)] == []


def has_its_lengths(case: Case) -> bool:
    lengths = Lengths()
    facts = Facts(lengths.samples)

    def convert(x: Any) -> Type:
        type_ = lengths(x)
        facts.samples |= lengths.samples
        return type_

    given = type_from_rule(case, convert, facts)
    shape, dims = np.shape(case()), _dims(given)
    return len(shape) == len(dims) and all(
        lengths.of(dim) in (n, None) for dim, n in zip(dims, shape, strict=True)
    )


def _dims(type_: Type) -> tuple[Affine, ...]:
    if isinstance(type_, Sequence):
        assert type_.length is not None
        return (type_.length, *_dims(type_.item))
    return type_.dims if isinstance(type_, Array) else ()


def affine(name: str, minimum: int = 2) -> Affine:
    return Affine.of(Symbol(name, minimum))


def typed(callee: Any, facts: Facts, /, **arguments: Any) -> Any:
    primitive = METHODS[callee] if isinstance(callee, str) else PRIMITIVES[callee]
    return primitive.type_rule(facts, callee, **arguments)


def test_reshape_infers_one_length() -> None:
    n, m = affine("n"), affine("m")
    x = Array("float64", (n, m, Affine.of(4)))
    facts = Facts()
    assert typed(np.reshape, facts, x=x, shape=(-1, 4)).dims[1] == Affine.of(4)
    as_length = Scalar("int64", True, n)
    minus_one = Scalar("int64", True, Affine.of(-1))
    assert typed(np.reshape, facts, x=x, shape=(as_length, minus_one)).dims == (n, m * 4)
    other = Scalar("int64", True, affine("k"))
    assert typed(np.reshape, facts, x=x, shape=(-1, other)).dims[0].known is None
    assert typed(np.reshape, facts, x=Array("float64", (n * 4,)), shape=(-1, 2)).dims[0] == n * 2


def test_the_same_product_is_the_same_length() -> None:
    x = Array("float64", (affine("n"), affine("m")))
    facts = Facts()
    assert typed(np.ravel, facts, x=x) == typed(np.reshape, facts, x=x, shape=-1)


def test_concatenation_adds_lengths() -> None:
    n, m, k = affine("n"), affine("m"), affine("k")
    facts = Facts()
    arrays = (Array("float64", (n, k)), Array("float64", (m, k)))
    assert typed(np.concatenate, facts, arrays=arrays, axis=0).dims == (n + m, k)
    items = Sequence(Array("float64", (k,)), n)
    assert typed(np.stack, facts, arrays=items, axis=1).dims == (k, n)
    items = Sequence(Array("float64", (Affine.of(3),)), n)
    assert typed(np.concatenate, facts, arrays=items, axis=0).dims == (n * 3,)


def test_matmul_makes_the_inner_lengths_equal() -> None:
    n, k, l, m = map(affine, "nklm")
    facts = Facts()
    out = typed(operator.matmul, facts, x=Array("float64", (n, k)), y=Array("float64", (l, m)))
    assert out.dims == (n, m)
    assert facts.equal(k, l)


def test_arange_counts() -> None:
    n = affine("n", 0)
    stop = Scalar("int64", True, n + 2)
    facts = Facts()
    assert typed(np.arange, facts, start=stop).dims == (n + 2,)
    assert typed(np.arange, facts, start=1, stop=stop).dims == (n + 1,)
    assert typed(np.arange, facts, start=0, stop=stop, step=2).dims[0].known is None


# -- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (case(operator.matmul, array(2, 3), array(4)), "multiplied and summed: 3 and 4 differ"),
        (case(operator.matmul, array(2, 3), 2.0), "for numbers use `\\*`"),
        (case(np.sum, array(2, 3), axis=2), "axis 2 is out of bounds"),
        (case(np.reshape, array(2, 3), (3, 2), order="A"), "memory layout"),
        (case(np.concatenate, (array(2, 3), array(2, 4))), "agree in all other axes"),
        (case(np.squeeze, array(2, 3), axis=0), "axes of length one"),
        (case(math.sin, array(3)), "takes numbers, not arrays; for arrays use `np.sin`"),
        (case(float, array(3)), "takes numbers, not arrays; convert an array"),
        (case(max, array(3), 1.0), "np.maximum"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(made: Case, message: str) -> None:
    with pytest.raises(TypeRuleError) as caught:
        type_from_rule(made, as_type, Facts())
    assert re.search(message, f"{caught.value}; {caught.value.advice}")
