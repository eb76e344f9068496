"""The types: their text, their identity, and the table of joins."""

import pickle
import sys
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import pytest

from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.types import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Collected,
    JoinError,
    Mapping,
    Never,
    Opaque,
    Record,
    RecordOf,
    Scalar,
    Sequence,
    Tuple,
    Undefined,
    cotangent_type,
    is_differentiable,
    is_integer,
    join,
    map_lengths,
)

COMPLEX = Scalar("complex128")
FLOAT64, FLOAT32, INT64, NUMPY_BOOL = (
    Scalar(name, weak=False) for name in ("float64", "float32", "int64", "bool")
)
N, M = Affine.of(Symbol("n")), Affine.of(Symbol("m"))
VECTOR, INTS = Array("float64", (N,)), Array("int64", (N,))
Pair = namedtuple("Pair", "a b")


def pair(a, b):
    return Record(Pair, (("a", a), ("b", b)))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        # equal types
        (FLOAT, FLOAT, FLOAT),
        (VECTOR, VECTOR, VECTOR),
        (Opaque(), Opaque(), Opaque()),
        # a path that raises, a name bound on one path
        (Never(), VECTOR, VECTOR),
        (Undefined(), FLOAT, FLOAT),
        (Never(), Undefined(), Undefined()),
        (Undefined(), Opaque(), Opaque()),
        # scalars: the wider, strong where one is
        (INT, FLOAT, FLOAT),
        (BOOL, INT, INT),
        (BOOL, FLOAT, FLOAT),
        (FLOAT, COMPLEX, COMPLEX),
        (FLOAT, FLOAT64, FLOAT64),
        (INT, FLOAT64, FLOAT64),
        (INT64, FLOAT, FLOAT64),
        (FLOAT32, FLOAT64, FLOAT64),
        (BOOL, NUMPY_BOOL, NUMPY_BOOL),
        # integer values: kept where they are the same
        (Scalar("int64", True, N), Scalar("int64", True, N), Scalar("int64", True, N)),
        (Scalar("int64", True, N), Scalar("int64", False, N), Scalar("int64", False, N)),
        (Scalar("int64", True, N), Scalar("int64", True, M), INT),
        # containers, item by item
        (Tuple((INT, VECTOR)), Tuple((FLOAT, VECTOR)), Tuple((FLOAT, VECTOR))),
        (Sequence(INT), Sequence(FLOAT), Sequence(FLOAT)),
        (Sequence(Never()), Sequence(VECTOR), Sequence(VECTOR)),
        (Sequence(INT, N), Sequence(INT, M), Sequence(INT)),
        (Sequence(INT, N), Sequence(FLOAT, N), Sequence(FLOAT, N)),
        (Mapping(Opaque(), INT), Mapping(Opaque(), FLOAT), Mapping(Opaque(), FLOAT)),
        (Collected(Tuple((INT,))), Collected(Tuple((FLOAT,))), Collected(Tuple((FLOAT,)))),
        (pair(INT, FLOAT), pair(FLOAT, INT), pair(FLOAT, FLOAT)),
    ],
)
def test_joins(a, b, expected):
    assert join(a, b) == expected
    assert join(b, a) == expected
    assert join(expected, a) == expected, "the join holds both"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (FLOAT, VECTOR),
        (VECTOR, INTS),
        (VECTOR, Array("float64", ())),
        (VECTOR, Array("float64", (N,), "cupy")),
        (NUMPY_BOOL, INT),
        (NUMPY_BOOL, FLOAT64),
        (Scalar("int64", weak=False), Scalar("uint64", weak=False)),
        (Tuple((INT,)), Tuple((INT, INT))),
        (Tuple((INT,)), Sequence(INT)),
        (Tuple((INT,)), Tuple((VECTOR,))),
        (FLOAT, Opaque()),
        (pair(INT, INT), Record(tuple, (("a", INT), ("b", INT)))),
        (pair(INT, INT), Record(Pair, (("a", INT),))),
        (RecordOf("f"), RecordOf("g")),
    ],
)
def test_types_that_do_not_join(a, b):
    for left, right in ((a, b), (b, a)):
        with pytest.raises(JoinError, match=r"on one path and .* on the other"):
            join(left, right)


def test_axes_of_different_length_join_to_an_unknown_length():
    matrix = Array("float64", (N, M))
    joined = join(matrix, Array("float64", (N, N)))
    assert joined.dims[0] == N
    assert joined.dims[1] not in (N, M)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (FLOAT, "float"),
        (FLOAT64, "float64"),
        (FLOAT32, "float32"),
        (Scalar("int64", True, N - 2), "int(n - 2)"),
        (NUMPY_BOOL, "bool"),
        (Array("float64", (N, Affine.of(3))), "float64[n, 3]"),
        (Array("int64", ()), "int64[]"),
        (Tuple((FLOAT, VECTOR)), "(float, float64[n])"),
        (Sequence(VECTOR), "list[float64[n]]"),
        (Mapping(Opaque(), INT), "dict[opaque, int]"),
        (pair(INT, FLOAT), "Pair(a: int, b: float)"),
        (Collected(RecordOf("f")), "collected[record_of[f]]"),
        (Never(), "never"),
        (Undefined(), "undefined"),
    ],
)
def test_text(type_, text):
    assert repr(type_) == text


def test_equal_types_are_one_object():
    assert Array("float64", (N + 1,)) is Array("float64", (N + 1,))
    assert Array("float64", (N,)) is not Array("float64", (M,))
    assert Tuple((FLOAT, INT)) is Tuple((Scalar("float64"), Scalar("int64")))


def test_what_is_differentiable():
    yes = [FLOAT, COMPLEX, FLOAT32, VECTOR, Sequence(FLOAT), Tuple((INT, FLOAT)), pair(INT, FLOAT)]
    no = [INT, BOOL, INTS, Opaque(), Sequence(INT), Tuple(()), Undefined(), Never(), pair(INT, INT)]
    assert all(map(is_differentiable, yes))
    assert not any(map(is_differentiable, no))


def test_integers():
    assert is_integer(INT) and is_integer(INT64)
    assert not any(map(is_integer, (BOOL, FLOAT, INTS)))


def test_the_cotangent_of_a_scalar_forgets_its_value():
    assert cotangent_type(Scalar("int64", True, N)) == INT
    assert cotangent_type(VECTOR) == VECTOR


def test_lengths_are_mapped_everywhere():
    nested = Tuple((Sequence(VECTOR, N), pair(Scalar("int64", True, N + 1), Collected(VECTOR))))
    ((n, _),) = N.terms
    mapped = map_lengths(nested, lambda length: length.substitute({n: M}))
    vector = Array("float64", (M,))
    assert mapped == Tuple(
        (Sequence(vector, M), pair(Scalar("int64", True, M + 1), Collected(vector)))
    )


def test_types_pickle_to_themselves():
    assert pickle.loads(pickle.dumps(FLOAT64)) is FLOAT64


def test_equal_types_that_threads_make_at_once_are_one_object():
    interval = sys.getswitchinterval()
    started = threading.Barrier(8)

    def make(_):
        started.wait()
        return [Tuple((FLOAT64, Scalar("int64", True, Affine.of(n)))) for n in range(300)]

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            first, *others = pool.map(make, range(8))
    finally:
        sys.setswitchinterval(interval)
    assert all(a is b for other in others for a, b in zip(first, other, strict=True))


def test_an_array_and_a_tensor_join_to_what_has_the_methods_of_neither():
    tensor = Array("float64", (N,), spelling="tensor")
    assert join(VECTOR, tensor) == Array("float64", (N,), spelling="either")
