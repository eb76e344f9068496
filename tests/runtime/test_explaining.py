"""What NumPy refuses is refused in PyTorch's words, whether it is recorded or not."""

import pytest

import gradscribe as gs

CASES = [
    (
        lambda x: x + gs.ones(4),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
    ),
    (
        lambda x: x.clone().add_(gs.ones(2)),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
    ),
    (
        lambda x: x @ gs.ones(2, 3),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    ),
    (lambda x: x @ gs.ones(2), RuntimeError, "size mismatch, got input (2), mat (2x3), vec (2)"),
    (
        lambda x: x[0] @ gs.ones(2),
        RuntimeError,
        "inconsistent tensor size, expected tensor [3] and "
        "src [2] to have the same number of elements, but got 3 and 2 elements respectively",
    ),
    (
        lambda x: x.sum(2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        lambda x: x.unsqueeze(5),
        IndexError,
        "Dimension out of range (expected to be in range of [-3, 2], but got 5)",
    ),
    (
        lambda x: x.transpose(0, 2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        lambda x: x.size(2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (lambda x: x.permute(0, 0), RuntimeError, "permute(): duplicate dims are not allowed."),
    (
        lambda x: gs.stack([x, x[0]]),
        RuntimeError,
        "stack expects each tensor to be equal size, but got [2, 3] at entry 0 and [3] at entry 1",
    ),
    (
        lambda x: gs.cat([x, x[0]]),
        RuntimeError,
        "Tensors must have same number of dimensions: got 2 and 1",
    ),
    (
        lambda x: gs.cat([x, gs.ones(2, 4)]),
        RuntimeError,
        "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for "
        "tensor number 1 in the list.",
    ),
    (
        lambda x: x.expand(2, 4),
        RuntimeError,
        "The expanded size of the tensor (4) must match the existing size (3) at non-singleton "
        "dimension 1.  Target sizes: [2, 4].  Tensor sizes: [2, 3]",
    ),
    (
        lambda x: x.expand(3),
        RuntimeError,
        "expand(torch.DoubleTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be "
        "greater or equal to the number of dimensions in the tensor (2)",
    ),
    (
        lambda x: x[0].trace(),
        RuntimeError,
        "trace: expected a matrix, but got tensor with dim 1",
    ),
    (
        lambda x: x[:0].max(0),
        IndexError,
        "max(): Expected reduction dim 0 to have non-zero size.",
    ),
    (
        lambda x: x[:0].median(0),
        IndexError,
        "median(): Expected reduction dim 0 to have non-zero size.",
    ),
    (
        lambda x: x[:0].kthvalue(1, 0),
        IndexError,
        "kthvalue(): Expected reduction dim 0 to have non-zero size.",
    ),
    (
        lambda x: x.norm(dim=(0, 0)),
        RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    (
        lambda x: (x + 1j).remainder(2),
        NotImplementedError,
        "\"remainder\" not implemented for 'ComplexDouble'",
    ),
    (
        lambda x: x.view(1, 2, 3) @ gs.ones(1, 2, 3),
        RuntimeError,
        "Expected size for first two dimensions of batch2 tensor to be: [1, 3] but got: [1, 2].",
    ),
    (
        lambda x: x.split(0),
        RuntimeError,
        "split_size can only be 0 if dimension size is 0, but got dimension size of 2",
    ),
    (
        lambda x: (x > 0) - (x > 1),
        RuntimeError,
        "Subtraction, the `-` operator, with two bool "
        "tensors is not supported. Use the `^` or `logical_xor()` operator instead.",
    ),
    (
        lambda x: -(x > 0),
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not "
        "supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator "
        "instead.",
    ),
    (
        lambda x: x.long() ** -1,
        RuntimeError,
        "Integers to negative integer powers are not allowed.",
    ),
    (
        lambda x: x[:0].max(),
        RuntimeError,
        "max(): Expected reduction dim to be specified for "
        "input.numel() == 0. Specify the reduction dim with the 'dim' argument.",
    ),
    (
        lambda x: "a" in x,
        RuntimeError,
        "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class 'str'>.",
    ),
]


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(("call", "error", "message"), CASES)
def test_a_call_that_is_refused(call, error, message, requires_grad):
    x = gs.ones(2, 3, requires_grad=requires_grad)
    with pytest.raises(error) as caught:
        call(x)
    assert str(caught.value) == message
