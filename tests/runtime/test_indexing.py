"""Indexing: errors in PyTorch's words, and kinds of index that NumPy reads otherwise."""

import pytest

import gradscribe as gs

MASK = gs.tensor([True, False, True])


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    "index, message",
    [
        (2, "index 2 is out of bounds for dimension 0 with size 2"),
        ((0, -4), "index -4 is out of bounds for dimension 1 with size 3"),
        ((0, 0, 0), "too many indices for tensor of dimension 2"),
        (gs.tensor([5]), "index 5 is out of bounds for dimension 0 with size 2"),
        (gs.tensor([1.0]), "tensors used as indices must be long, int, byte or bool tensors"),
        (
            MASK,
            "The shape of the mask [3] at index 0 does not match the shape of the indexed tensor "
            "[2, 3] at index 0",
        ),
        (
            1.5,
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            "valid indices (got float)",
        ),
    ],
)
def test_an_index_that_does_not_fit(index, message, requires_grad):
    x = gs.zeros(2, 3, requires_grad=requires_grad)
    with pytest.raises(IndexError) as caught:
        x[index]
    assert str(caught.value) == message


def test_no_index_fits_a_tensor_without_axes():
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        gs.tensor(1.0)[0]


def test_true_adds_an_axis():
    x = gs.arange(3.0, requires_grad=True)
    assert x[True].shape == (1, 3)
    (x[True] * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_value_that_does_not_fit_its_place():
    x = gs.zeros(2, 3)
    with pytest.raises(RuntimeError) as caught:
        x[0] = gs.ones(2)
    assert str(caught.value) == (
        "shape mismatch: value tensor of shape [2] cannot be broadcast to indexing result of "
        "shape [3]"
    )
