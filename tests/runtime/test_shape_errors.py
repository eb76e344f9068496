"""What a view, a split or a change of axes cannot do is told in PyTorch's words."""

import pytest

import gradscribe as gs
from gradscribe import torchlike

NUMBER, ROW, PLANE = gs.tensor(2.0), gs.ones(4), gs.ones(2, 3)

ERRORS = [
    (
        lambda: gs.zeros(0).view(-1, 0),
        RuntimeError,
        "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension "
        "size -1 can be any value and is ambiguous",
    ),
    (
        lambda: PLANE.view(-2),
        RuntimeError,
        "invalid shape dimension -2 at index 0 of shape [-2]",
    ),
    (
        lambda: torchlike.roll(PLANE, (1, 2)),
        RuntimeError,
        "shifts and dimensions must align. shifts: 2, dims:0",
    ),
    (
        lambda: torchlike.rot90(ROW),
        RuntimeError,
        "expected total dims >= 2, but got total dims = 1",
    ),
    (lambda: PLANE.narrow(0, 0, -1), RuntimeError, "narrow(): length must be non-negative."),
    (
        lambda: PLANE.flip(0, -2),
        RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    (lambda: ROW.flip(), TypeError, 'flip() missing 1 required positional arguments: "dims"'),
    (lambda: torchlike.fliplr(ROW), RuntimeError, "Input must be >= 2-d."),
    (lambda: torchlike.flipud(NUMBER), RuntimeError, "Input must be >= 1-d."),
    (
        lambda: torchlike.diag(gs.ones(2, 2, 2)),
        RuntimeError,
        "diag(): Supports 1D or 2D tensors. Got 3D",
    ),
    (
        lambda: torchlike.movedim(PLANE, (0, 0), (0, 1)),
        RuntimeError,
        "movedim: repeated dim in `source` ([0, 0])",
    ),
    (
        lambda: PLANE.flatten(1, 0),
        RuntimeError,
        "flatten() has invalid args: start_dim cannot come after end_dim",
    ),
    (
        lambda: PLANE.squeeze((0, 0)),
        RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    (
        lambda: torchlike.repeat_interleave(ROW, gs.tensor([1, 2])),
        RuntimeError,
        "repeats must have the same size as input along dim, but got repeats.size(0) = 2 and "
        "input.size(0) = 4",
    ),
    (
        lambda: gs.ones(2, 3, dtype=gs.float32).view(gs.float64),
        RuntimeError,
        "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), "
        "but got 3",
    ),
    (
        lambda: torchlike.broadcast_shapes((1, 2), (3,)),
        RuntimeError,
        "Attempting to broadcast a dimension of length 3 at -1! Mismatching argument at index 1 "
        "had (3,); but expected shape should be broadcastable to [1, 2]",
    ),
    (
        lambda: PLANE.tensor_split(0),
        RuntimeError,
        "number of sections must be larger than 0, got 0",
    ),
    (lambda: NUMBER.unbind(), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
    (lambda: NUMBER.split(1), RuntimeError, "split expects at least a 1-dimensional tensor"),
    (lambda: NUMBER.chunk(2), RuntimeError, "chunk expects at least a 1-dimensional tensor"),
    (
        lambda: NUMBER.tensor_split(2),
        RuntimeError,
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims",
    ),
    (
        lambda: NUMBER.hsplit(2),
        RuntimeError,
        "torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 "
        "dimensions!",
    ),
    (
        lambda: PLANE.hsplit(2),
        RuntimeError,
        "torch.hsplit attempted to split along dimension 1, but the size of the dimension 3 is not "
        "divisible by the split_size 2!",
    ),
    (
        lambda: PLANE.split([1, 1], -1),
        RuntimeError,
        "split_with_sizes expects split_sizes to sum exactly to 3 (input tensor's size at "
        "dimension -1), but got split_sizes=[1, 1]",
    ),
    (
        lambda: ROW.diagonal(),
        IndexError,
        "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
    ),
    (lambda: ROW.tril(), RuntimeError, "tril: input tensor must have at least 2 dimensions"),
    (
        lambda: ROW.mT,
        RuntimeError,
        "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.",
    ),
    (
        lambda: NUMBER.unfold(0, 2, 1),
        RuntimeError,
        "maximum size for tensor at dimension 0 is 1 but size is 2",
    ),
    (
        lambda: NUMBER.roll(1, 0),
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    (
        lambda: PLANE.permute(0),
        RuntimeError,
        "permute: number of dimensions in the tensor input does not match the length "
        "of the desired ordering of dimensions i.e. input.dim() = 2 is not equal to len(dims) = 1",
    ),
    (lambda: PLANE.permute(0, 0), RuntimeError, "permute(): duplicate dims are not allowed."),
    (
        lambda: PLANE.expand(-1, 4),
        RuntimeError,
        "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
        "dimension 1.  Target sizes: [-1, 4].  Tensor sizes: [2, 3]",
    ),
    (
        lambda: torchlike.broadcast_tensors(ROW, PLANE),
        RuntimeError,
        "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1",
    ),
    (lambda: ROW.clone().fill_diagonal_(1), RuntimeError, "dimensions must larger than 1"),
    (
        lambda: gs.ones(2, 2, 3).fill_diagonal_(1),
        RuntimeError,
        "all dimensions of input must be of equal length",
    ),
    (
        lambda: PLANE.index_add(0, gs.tensor([0]), PLANE),
        RuntimeError,
        "index_add_(): Number of indices (1) should be equal to source.size(dim): (2), for dim: 0",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), ERRORS)
def test_errors_are_in_pytorchs_words(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_tensors_without_axes_count_as_having_one():
    assert NUMBER.index_select(0, gs.tensor([0])).shape == ()
    assert NUMBER.unfold(0, 1, 1).shape == (1,)
    assert NUMBER.mT.shape == ()


def test_diagonals_of_cubes_and_of_tall_matrices_are_filled():
    cube = gs.zeros(2, 2, 2).fill_diagonal_(1)
    assert cube.tolist() == [[[1, 0], [0, 0]], [[0, 0], [0, 1]]]
    tall = gs.zeros(5, 2).fill_diagonal_(1, wrap=True)
    assert tall.tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 1]]


def test_tensors_of_the_common_shape_are_broadcast_to_themselves():
    first, second = torchlike.broadcast_tensors(PLANE, gs.ones(3))
    assert first is PLANE
    assert second.shape == (2, 3)


@pytest.mark.parametrize("change", ["sigmoid_", "exp_", "tanh_", "sqrt_"])
def test_a_result_that_backward_needs_is_not_changed_after_it_was_made_in_place(change):
    x = gs.tensor([0.5, 1.0], requires_grad=True)
    y = x * 1
    getattr(y, change)()
    y += 1
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1 instead"):
        y.sum().backward()


def test_a_view_that_has_no_place_in_the_graph_is_printed():
    x = gs.ones(2, requires_grad=True) * 1
    with gs.no_grad():
        view = x[:1]
    x.mul_(2)
    assert repr(view) == "tensor([2.], grad_fn=<Invalid>)"
    x[0] = 3
    assert repr(x) == "tensor([3., 2.], grad_fn=<CopySlices>)"


def test_a_number_is_flipped_along_its_only_axis():
    x = gs.tensor(3.0, requires_grad=True)
    flipped = x.flip(0)
    flipped.backward()
    assert (flipped.item(), x.grad.item()) == (3.0, 1.0)
