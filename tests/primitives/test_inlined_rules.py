"""Every rule, lowered and inlined by the frontend, gives what it gives as plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradscribe.frontend.inlined_rules import inline
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function, Linearity, Parameter, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, flatten
from gradscribe.ir.types import Scalar, Sequence, Type, is_differentiable
from gradscribe.primitives.control import CONSTANT
from gradscribe.primitives.registry import PRIMITIVES
from tests.interpreter import run
from tests.primitives.cases import ALL
from tests.primitives.harness import Case, Lengths, by_rule, naming
from tests.sampling import one_in

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


class Inlined:
    """The IR of a call, and of a rule inlined behind it."""

    def __init__(self, case: Case, number: Type | None = None) -> None:
        """With `number`, literals are operands of that type."""
        lengths = Lengths()
        self.is_operand = is_runtime if number is None else lambda x: isinstance(x, float)
        self.inputs = [x for x in flatten(case.arguments)[1] if self.is_operand(x)]
        types = [number or lengths(x) for x in self.inputs]
        self.builder = Builder(Facts(lengths.samples))
        self.operands = [self.builder.named(t, f"x{i}") for i, t in enumerate(types)]
        self.arguments = self._replaced(case.arguments, iter(self.operands))
        self.out = self.builder.call(case.primitive, self.arguments, callee=case.ir_callee)

    def _replaced(self, item: Any, operands: Any) -> Any:
        if isinstance(item, dict):
            return {key: self._replaced(below, operands) for key, below in item.items()}
        if isinstance(item, (tuple, list)):
            return type(item)(self._replaced(below, operands) for below in item)
        return next(operands) if self.is_operand(item) else item

    def like_out(self, name: str) -> Value:
        return self.builder.named(self.out.type, name)

    def results(self, rule: Any, **more: Value) -> list[Any]:
        given = inline(self.builder, rule, {"out": self.out, **self.arguments, **more})
        return leaves(given)

    def run(self, parameters: list[Value], results: list[Any], inputs: list[Any]) -> Any:
        values = [
            item if isinstance(item, Value) else self.builder.call(CONSTANT, {"value": item})
            for item in results
        ]
        block = Block(tuple(parameters), tuple(self.builder.operations), tuple(values))
        named = tuple(Parameter(p.name, LEAF, (p,)) for p in parameters)
        tree = flatten([0] * len(values))[0]
        return run(Function("rule", named, block, tree, self.builder.facts), *inputs)


def leaves(results: Any) -> list[Any]:
    """What a rule returns, flat; values are leaves."""
    return flatten(results, lambda item: isinstance(item, Value))[1]


def is_runtime(x: Any) -> bool:
    return isinstance(x, (np.ndarray, np.generic))


def differentiable(case: Case) -> bool:
    return np.asarray(case()).dtype.kind == "f"


WITH_ADJOINT = by_rule(one_in(4, filter(differentiable, ALL)))


@pytest.mark.parametrize("name", WITH_ADJOINT)
def test_adjoint(name: str) -> None:
    for case in WITH_ADJOINT[name]:
        with naming(case):
            check_adjoint(case)


def check_adjoint(case: Case) -> None:
    out = case()
    seed = np.random.default_rng(0).normal(size=np.shape(out)).astype(np.asarray(out).dtype)[()]
    inlined = Inlined(case)
    rule: Any = case.primitive.adjoint
    parameters, inputs = inlined.operands, inlined.inputs
    if case.primitive.elementwise:
        results = inlined.results(rule)
        expected = flatten(rule(out, **case.arguments))[1]
    else:
        d_out = inlined.like_out("d_out")
        assert is_differentiable(d_out.type)
        results = inlined.results(rule, d_out=d_out)
        expected = flatten(rule(out, **case.arguments, d_out=seed))[1]
        parameters, inputs = [*parameters, d_out], [*inputs, seed]
    compare(inlined, parameters, results, inputs, expected)


def has_own_tangent(case: Case) -> bool:
    tangent = case.primitive.tangent
    return callable(tangent) and not isinstance(tangent, Linearity) and len(case.operands) == 1


WITH_TANGENT = by_rule(one_in(4, filter(has_own_tangent, ALL)))


@pytest.mark.parametrize("name", WITH_TANGENT)
def test_tangent(name: str) -> None:
    for case in WITH_TANGENT[name]:
        with naming(case):
            check_tangent(case)


def check_tangent(case: Case) -> None:
    out, rule = case(), case.primitive.tangent
    (operand,) = case.operands
    direction = np.random.default_rng(0).normal(size=operand.shape)
    (name,) = (k for k, v in case.arguments.items() if v is operand)
    inlined = Inlined(case)
    position = next(i for i, x in enumerate(inlined.inputs) if x is operand)
    d_x = inlined.builder.named(inlined.operands[position].type, "d_x")
    more = {"d_x": d_x, "d_y": d_x} if case.primitive.name == "where" else {f"d_{name}": d_x}
    expected = flatten(rule(out, **case.arguments, **dict.fromkeys(more, direction)))[1]
    results = inlined.results(rule, **more)
    parameters = [*inlined.operands, d_x]
    compare(inlined, parameters, results, [*inlined.inputs, direction], expected)


def compare(
    inlined: Inlined,
    parameters: list[Value],
    results: list[Any],
    inputs: list[Any],
    expected: list[Any],
) -> None:
    values = [i for i, item in enumerate(expected) if item is not None]
    assert values == [i for i, item in enumerate(results) if item is not None]
    got = inlined.run(parameters, [results[i] for i in values], inputs)
    for i, value in zip(values, got, strict=True):
        result = results[i]
        np.testing.assert_array_equal(value, expected[i])
        if isinstance(result, Value):
            assert np.asarray(value).dtype == result.type.dtype
            assert np.ndim(value) == len(getattr(result.type, "dims", ()))


# -- Python numbers --------------------------------------------------------------------------

NUMBERS = [c for c in ALL if c.operands and all(type(x) is np.float64 for x in c.operands)]


@pytest.mark.parametrize("case", [c for c in NUMBERS if c.primitive.elementwise], ids=str)
def test_partial_derivatives_of_python_numbers(case: Case) -> None:
    plain = case.with_operands([float(x) for x in case.operands])
    if not isinstance(plain(), float):
        pytest.skip("not a function of Python numbers")
    inlined = Inlined(plain, Scalar("float64"))
    rule: Any = case.primitive.adjoint
    expected = leaves(rule(case(), **case.arguments))
    compare(inlined, inlined.operands, inlined.results(rule), inlined.inputs, expected)


# -- lists of unknown length -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("callee", "items", "keywords"),
    [
        (np.stack, [np.ones(3), np.ones(3)], {}),
        (np.stack, [np.ones((2, 3))], {"axis": 1}),
        (np.stack, [1.0, 2.0, 3.0], {}),
        (np.concatenate, [np.ones(3), np.ones(3)], {}),
        (np.concatenate, [np.ones((2, 3)), np.ones((2, 3))], {"axis": -1}),
        (np.hstack, [np.ones(3), np.ones(3)], {}),
        (np.vstack, [np.ones(3), np.ones(3)], {}),
        (np.vstack, [np.ones((2, 3)), np.ones((2, 3))], {}),
        (np.array, [1.0, 2.0, 3.0], {}),
    ],
)
def test_adjoint_for_a_list(callee: Any, items: list[Any], keywords: dict[str, Any]) -> None:
    lengths = Lengths()
    item = Scalar("float64") if isinstance(items[0], float) else lengths(items[0])
    builder = Builder(Facts(lengths.samples))
    arrays = builder.named(Sequence(item, Affine.of(Symbol("count"))), "arrays")
    primitive = PRIMITIVES[callee]
    assert primitive.signature is not None and primitive.adjoint is not None
    bound = primitive.signature.bind(arrays, **keywords)
    bound.apply_defaults()
    out = builder.call(primitive, bound.arguments, callee=callee)
    d_out = builder.named(out.type, "d_out")
    given = inline(builder, primitive.adjoint, {"out": out, **bound.arguments, "d_out": d_out})
    (result,) = given
    assert isinstance(result.type, Sequence)

    block = Block((arrays, d_out), tuple(builder.operations), (result,))
    parameters = tuple(Parameter(p.name, LEAF, (p,)) for p in (arrays, d_out))
    plain = callee(items, **keywords)
    seed = np.random.default_rng(0).normal(size=plain.shape)
    got = run(Function("rule", parameters, block, LEAF, builder.facts), items, seed)
    bound.arguments[next(iter(bound.arguments))] = items
    (expected,) = primitive.adjoint(plain, **bound.arguments, d_out=seed)
    assert len(got) == len(items)
    for d_item, wanted in zip(got, expected, strict=True):
        np.testing.assert_array_equal(d_item, wanted)
