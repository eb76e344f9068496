"""NumPy's names of arguments are understood by the functions of Tensors, as PyTorch understands
them."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

X = [[3.0, 1.0], [2.0, 5.0]]

SAME = [
    (lambda x: x.max(axis=0, keepdims=True)[0], lambda x: x.max(0, True)[0]),
    (lambda x: x.max(1, keepdims=True)[1], lambda x: x.max(1, True)[1]),
    (lambda x: gs.min(input=x, axis=-1)[0], lambda x: x.min(-1)[0]),
    (lambda x: gs.max(x1=x, x2=x * 2), lambda x: gs.max(x, x * 2)),
    (lambda x: gs.exp(a=x), lambda x: x.exp()),
    (lambda x: gs.add(x1=x, x2=x, alpha=2), lambda x: gs.add(x, x, alpha=2)),
    (lambda x: x.sort(axis=0)[0], lambda x: x.sort(0)[0]),
    (lambda x: x.unbind(axis=1)[0], lambda x: x.unbind(1)[0]),
    (lambda x: x.softmax(axis=1), lambda x: x.softmax(1)),
    (lambda x: gs.median(x=x, axis=1, keepdims=True)[0], lambda x: x.median(1, True)[0]),
    (lambda x: torchlike.log_(x.clone()), lambda x: x.log()),
]


@pytest.mark.parametrize(("with_numpys_names", "plain"), SAME)
def test_numpys_names_mean_the_same(with_numpys_names, plain):
    for x in (gs.tensor(X), gs.tensor(X, requires_grad=True)):
        found, expected = with_numpys_names(x), plain(x)
        np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())
        assert found.requires_grad == expected.requires_grad


def test_sizes_and_strides_take_an_axis():
    x = gs.tensor(X)
    assert (x.size(axis=0), x.stride(axis=0)) == (2, 2)


def test_other_names_are_unknown():
    with pytest.raises(TypeError, match=r"exp\(\) got an unexpected keyword argument 'y'"):
        gs.exp(y=gs.tensor(X))


def test_methods_and_functions_are_one_and_keep_their_signature():
    assert gs.exp is gs.Tensor.exp
    assert gs.exp.__name__ == "exp"


@pytest.mark.parametrize(
    ("function", "node"),
    [
        (lambda x: torchlike.unique(x), "Unique2Backward0"),
        (lambda x: torchlike.unique(x, dim=0), "UniqueDimBackward0"),
        (lambda x: torchlike.unique_consecutive(x, dim=1), "UniqueConsecutiveBackward0"),
    ],
)
def test_different_elements_are_in_the_graph_but_have_no_derivative(function, node):
    y = function(gs.tensor(X, requires_grad=True))
    assert y.grad_fn.name() == node
    with pytest.raises(NotImplementedError, match=r"the derivative for '\w+' is not implemented."):
        y.sum().backward()


def test_slices_that_repeat_the_one_before_are_left_out():
    x = gs.tensor([[1, 1, 2], [3, 3, 4]])
    values, inverse, counts = torchlike.unique_consecutive(
        x, return_inverse=True, return_counts=True, dim=1
    )
    assert values.tolist() == [[1, 2], [3, 4]]
    assert inverse.tolist() == [0, 0, 1]
    assert counts.tolist() == [2, 1]


# --- out= -------------------------------------------------------------------------------------

INTO = [
    (lambda out: gs.sum(gs.tensor(X), 0, out=out), gs.zeros(2), [5.0, 6.0]),
    (lambda out: gs.cat((gs.ones(1), gs.zeros(2)), out=out), gs.empty(0), [1.0, 0.0, 0.0]),
    (lambda out: gs.arange(3, out=out), gs.empty(0, dtype=gs.int32), [0, 1, 2]),
    (lambda out: gs.clamp(gs.tensor(X), max=2, out=out), gs.empty(0), [[2.0, 1.0], [2.0, 2.0]]),
    (
        lambda out: gs.div(gs.tensor([-5]), 2, rounding_mode="trunc", out=out),
        gs.empty(0, dtype=gs.int64),
        [-2],
    ),
]


@pytest.mark.parametrize(("function", "out", "expected"), INTO)
def test_a_result_is_stored_in_out(function, out, expected):
    dtype = out.dtype
    assert function(out) is out
    assert (out.tolist(), out.dtype) == (expected, dtype)


def test_several_results_are_stored_in_several_tensors():
    outs = gs.empty(0), gs.empty(0, dtype=gs.int64)
    found = gs.max(gs.tensor(X), 1, out=outs)
    assert found.values is outs[0] and found.indices is outs[1]
    assert (outs[0].tolist(), outs[1].tolist()) == ([3.0, 5.0], [0, 1])


def test_out_of_another_shape_is_resized_with_a_warning():
    out = gs.ones(3)
    with pytest.warns(UserWarning, match=r"resized since it had shape \[3\]"):
        gs.exp(gs.zeros(2), out=out)
    assert out.tolist() == [1.0, 1.0]


def test_out_must_have_a_dtype_that_the_result_can_be_cast_to():
    with pytest.raises(
        RuntimeError, match="result type Double can't be cast to the desired output"
    ):
        gs.sum(gs.tensor(X), out=gs.empty(0, dtype=gs.int64))
