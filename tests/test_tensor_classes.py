"""What compiled code is told of the classes and dtypes of Tensors is what eager code is; of a
Tensor without axes, which is a number there, the class is refused."""

import functools
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError

DTYPE = gs.float64

ASKED = [
    lambda x: isinstance(x, gs.Tensor),
    lambda x: gs.is_tensor(x),
    lambda x: isinstance(x, gs.autograd.Variable),
    lambda x: type(x) is gs.Tensor,
    lambda x: isinstance(x.sum(), (gs.Tensor, float)),
    lambda x: isinstance(x.sum(), str),
    lambda x: isinstance(x.sum().item(), float),
    lambda x: isinstance(x.sum().item(), gs.Tensor),
    lambda x: isinstance(x.shape[0], int),
    lambda x: hasattr(x.sum(), "ndim"),
    lambda x: hasattr(x, "backward"),
    lambda x: x.dtype is gs.float64,
    lambda x: x.dtype is DTYPE,
    lambda x: x.sum().dtype is gs.float64,
    lambda x: x.dtype == np.float64,
    lambda x: x.dtype in (gs.float32, gs.float64),
    lambda x: isinstance(x.dtype, gs.dtype),
    lambda x: x.dtype.is_floating_point,
    lambda x: str(x.dtype),
    lambda x: f"{x.dtype}, {x.sum().dtype}",
    lambda x: str(np.ones(2).dtype),
    lambda x: x.dtype,
]


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_known_is_as_in_eager_execution(asked: Any) -> None:
    def f(x):
        return x * 2, asked(x)

    x = gs.ones(2, requires_grad=True)
    expected, found = f(x)[1], gs.differentiable(f)(x)[1]
    assert (type(found), found) == (type(expected), expected)


def test_a_dtype_may_be_an_argument() -> None:
    def f(x, dtype):
        return x.to(dtype), x.dtype is dtype, str(dtype)

    x = gs.ones(2, requires_grad=True)
    for dtype in (gs.float64, gs.float32):
        converted, *found = gs.differentiable(f)(x, dtype)
        assert converted.dtype is dtype
        assert found == [*f(x, dtype)[1:]]


@functools.singledispatch
def kind(value: Any) -> float:
    return 1.0


@kind.register
def _(value: float) -> float:
    return 2.0


def matched(x: Any) -> Any:
    match x.sum():
        case float():
            return x * 2
        case _:
            return x * 3


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * isinstance(x.sum(), gs.Tensor),
        lambda x: x * gs.is_tensor(x.sum()),
        lambda x: x * isinstance(x[0], gs.Tensor),
        lambda x: x * (type(x.sum()) is gs.Tensor),
        lambda x: x * (x.sum().__class__ is gs.Tensor),
        lambda x: x * isinstance(x.sum(), float),
        lambda x: x * isinstance(x.sum(), (int, np.floating)),
        lambda x: x * hasattr(x.sum(), "backward"),
        lambda x: x * kind(x.sum()),
        matched,
    ],
)
def test_the_class_of_a_tensor_without_axes_is_refused(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="the class of a Tensor without axes"):
        gs.differentiable(function)(gs.ones(2, requires_grad=True))


def test_numbers_of_arrays_have_their_class() -> None:
    def f(x):
        return np.sum(x * (2.0 if isinstance(np.sum(x), float) else 3.0))

    assert gs.grad(f)(np.ones(2)).tolist() == [2, 2]
