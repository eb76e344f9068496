"""Slices added, copied, filled and reduced at indices: numbers count as vectors of one element,
and what does not fit is refused in PyTorch's words."""

import itertools

import pytest

import gradscribe as gs

PLANE, NUMBER = gs.zeros(3, 5), gs.tensor(0.0)
ONE, THREE = gs.tensor([1]), gs.tensor([1, 2, 3])
SHAPES = "source tensor shape must match self tensor shape, excluding the specified dimension. Got "

ERRORS = [
    (
        lambda: PLANE.index_copy(1, gs.tensor([-1]), gs.ones(3, 1)),
        IndexError,
        "index_copy_(): index -1 is out of bounds for dimension 1 with size 5",
    ),
    (
        lambda: PLANE.index_copy(1, ONE, gs.ones(3, 3)),
        IndexError,
        "index_copy_(): Number of indices (1) should be equal to source.size(dim) (3)",
    ),
    (
        lambda: gs.zeros(3, 5, 4).index_copy(1, THREE, gs.ones(4, 3, 7)),
        RuntimeError,
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice "
        "shape: 3 4 at dimension 1 and source slice shape: 4 7 at dimension 0.",
    ),
    (
        lambda: PLANE.index_copy(1, THREE, gs.tensor(1.0)),
        IndexError,
        "index_copy_(): When source is scalar, index should have one element (got 3)",
    ),
    (
        lambda: PLANE.index_copy(1, gs.tensor([[1]]), gs.ones(3, 1)),
        IndexError,
        "index_copy_(): Index should have dimension 1 or 0 (got 2)",
    ),
    (
        lambda: PLANE.index_copy(1, ONE.int(), gs.ones(3, 1)),
        RuntimeError,
        "index_copy_(): Expected a long tensor for index, but got Int",
    ),
    (
        lambda: PLANE.index_copy(1, ONE, gs.ones(3, 1, dtype=gs.int64)),
        RuntimeError,
        "index_copy_(): self and source expected to have the same dtype, but got (self) Double "
        "and (source) Long",
    ),
    (
        lambda: PLANE.index_add(1, gs.tensor([-1]), gs.ones(3, 1)),
        RuntimeError,
        "index -1 is out of bounds for dimension 1 with size 5",
    ),
    (
        lambda: gs.zeros(3).index_add(0, gs.tensor([5]), gs.ones(1)),
        IndexError,
        "index out of range in self",
    ),
    (
        lambda: PLANE.index_add(1, THREE, gs.ones(4, 3)),
        RuntimeError,
        f"{SHAPES}self.shape = [3, 5] source.shape = [4, 3]",
    ),
    (
        lambda: NUMBER.index_add(0, gs.tensor([0]), gs.ones(1, 1, 1)),
        RuntimeError,
        f"{SHAPES}self.shape = [] source.shape = [1, 1, 1]",
    ),
    (
        lambda: PLANE.index_add(1, gs.tensor([[1]]), gs.ones(3, 1)),
        IndexError,
        "index_add_(): Index is supposed to be a vector, but got dim: 2 with type: Long and size: "
        "[1, 1]",
    ),
    (
        lambda: PLANE.index_add(1, gs.tensor([1.0]), gs.ones(3, 1)),
        RuntimeError,
        "index_add_(): Expected dtype int32/int64 for index but got: Double",
    ),
    (
        lambda: PLANE.index_add(1, ONE, gs.ones(3, 1, dtype=gs.float32)),
        RuntimeError,
        "index_add_(): self (Double) and source (Float) must have the same scalar type",
    ),
    (
        lambda: PLANE.index_add(1, ONE, gs.ones(3, 1), alpha=2j),
        RuntimeError,
        "value cannot be converted to type double without overflow",
    ),
    (
        lambda: PLANE.index_reduce(1, gs.tensor([1, 2]), gs.ones(3, 1), "prod"),
        RuntimeError,
        "index_reduce_(): Number of indices (2) should be equal to source.size(dim): (1), for "
        "dim: 1",
    ),
    (
        lambda: PLANE.index_reduce(1, gs.tensor([-1]), gs.ones(3, 1), "prod"),
        IndexError,
        "index out of range in self",
    ),
    (
        lambda: gs.ones(4).index_reduce(0, gs.tensor([0, 1]), gs.tensor(3.0), "mean"),
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    (
        lambda: PLANE.index_fill(1, gs.tensor([-6]), 2),
        IndexError,
        "index -6 is out of bounds for dimension 1 with size 5",
    ),
    (
        lambda: PLANE.index_fill(1, gs.tensor([[1]]), 2),
        RuntimeError,
        "Index has to be a vector/scalar",
    ),
    (
        lambda: PLANE.index_fill(1, ONE, 2j),
        RuntimeError,
        "index_fill_(): Converting complex Scalar to non-complex type is not supported",
    ),
    (
        lambda: PLANE.index_fill(1, ONE, gs.ones(2)),
        RuntimeError,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 "
        "dimension(s).",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), ERRORS)
def test_what_does_not_fit_is_refused_in_pytorchs_words(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("shapes", [*itertools.product([(), (1,)], repeat=3)])
def test_a_number_counts_as_a_vector_of_one_element(shapes):
    target, index, source = (gs.zeros(shape) for shape in shapes)
    source = (source + 3).requires_grad_()
    copied = target.index_copy(0, index.long(), source)
    copied.sum().backward()
    assert (copied.shape, copied.sum().item()) == (shapes[0], 3.0)
    assert source.grad.tolist() == gs.ones(shapes[2]).tolist()


def test_one_index_without_an_axis_names_one_slice():
    rows = gs.ones(1, 5)
    assert PLANE.index_add(0, gs.tensor(2), rows)[:, 0].tolist() == [0, 0, 1]
    assert PLANE.index_copy(0, gs.tensor(2), rows)[:, 0].tolist() == [0, 0, 1]


def test_fills_count_from_the_end():
    assert gs.zeros(3).index_fill(0, gs.tensor([-1, 0]), 2.0).tolist() == [2, 0, 2]
