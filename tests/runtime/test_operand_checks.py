"""Operands that NumPy takes and PyTorch refuses are refused, in PyTorch's words."""

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import torchlike

Z = gs.tensor([1 + 2j, 3j])
N = gs.tensor([1, 2, 3])
PLANE, ROW = gs.ones(2, 3), gs.ones(3)
B = gs.tensor([True, False, True])
F, D = gs.ones(3, 3, dtype=gs.float32), gs.ones(3, 3)
ONE = "have the same dtype"
NO_MASK = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead."
)

ERRORS = [
    (lambda: Z < Z, NotImplementedError, "\"lt\" not implemented for 'ComplexDouble'"),
    (lambda: gs.maximum(Z, Z), RuntimeError, "maximum not implemented for complex tensors."),
    (lambda: Z.argmax(), RuntimeError, "argmax(): does not support complex input"),
    (lambda: Z.max(), NotImplementedError, "\"max\" not implemented for 'ComplexDouble'"),
    (lambda: Z.max(0), RuntimeError, "max(): does not support complex input"),
    (lambda: Z.sort(), RuntimeError, "sort does not support complex dtypes"),
    (lambda: Z.clamp(0, 1), NotImplementedError, "clamp is not supported for complex types"),
    (lambda: Z.floor(), NotImplementedError, "floor is not supported for complex inputs"),
    (lambda: N.frac(), NotImplementedError, "\"frac\" not implemented for 'Long'"),
    (
        lambda: N.softmax(0),
        NotImplementedError,
        "\"softmax\" not implemented for 'Long'",
    ),
    (lambda: PLANE.mv(PLANE), RuntimeError, "vector + matrix @ vector expected, got 1, 2, 2"),
    (lambda: PLANE.bmm(PLANE), RuntimeError, "batch1 must be a 3D tensor"),
    (
        lambda: PLANE.masked_select(N),
        RuntimeError,
        "masked_select: expected BoolTensor for mask",
    ),
    (
        lambda: PLANE.masked_scatter(PLANE > 0, gs.ones(1)),
        RuntimeError,
        "Number of elements of source < number of ones in mask",
    ),
    (
        lambda: PLANE.scatter(0, gs.tensor([[0]]), gs.tensor([[1]])),
        RuntimeError,
        "scatter(): Expected self.dtype to be equal to src.dtype",
    ),
    (lambda: PLANE.index_select(0, gs.tensor([5])), IndexError, "index out of range in self"),
    (
        lambda: PLANE.put(gs.tensor([9]), gs.tensor([1.0])),
        IndexError,
        "out of range: tried to access index 9 on a tensor of 6 elements.",
    ),
    (
        lambda: PLANE.clone().fill_(1j),
        RuntimeError,
        "value cannot be converted to type double without overflow",
    ),
    (lambda: PLANE.sum((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
    (
        lambda: PLANE.roll((1, 2), (0,)),
        RuntimeError,
        "shifts and dimensions must align. shifts: 2, dims:1",
    ),
    (lambda: PLANE.unfold(0, 1, 0), RuntimeError, "step is 0 but must be > 0"),
    (
        lambda: gs.ones(1, 2, 3).t_(),
        RuntimeError,
        "t_() expects a tensor with <= 2 dimensions, but self is 3D",
    ),
    (
        lambda: ROW.clone().requires_grad_(1),
        TypeError,
        "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not int",
    ),
    (
        lambda: PLANE.diff(dim=0, prepend=ROW),
        RuntimeError,
        "diff expects prepend or append to be the same dimension as input",
    ),
    (
        lambda: PLANE.diff(dim=0, append=gs.ones(1, 2)),
        RuntimeError,
        "diff expects the shape of tensor to prepend or append to match that of input except "
        "along the differencing dimension; input.size(1) = 3, but got tensor.size(1) = 2",
    ),
    (
        lambda: torchlike.diff(gs.tensor(2.0)),
        RuntimeError,
        "diff expects input to be at least one-dimensional",
    ),
    (
        lambda: torchlike.gradient(PLANE, spacing=(ROW,)),
        RuntimeError,
        "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal "
        "to 'self.dim() = 2', since dim argument was not given, but got a list of length 1",
    ),
    (
        lambda: torchlike.gradient(PLANE, spacing=(1.0,), dim=(0, 1)),
        RuntimeError,
        "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
        "arguments to have the same length, but got a spacing argument of length 1 and a dim "
        "argument of length 2.",
    ),
    (
        lambda: torchlike.gradient(ROW, edge_order=3),
        RuntimeError,
        "torch.gradient only supports edge_order=1 and edge_order=2.",
    ),
    (
        lambda: torchlike.gradient(gs.ones(1)),
        RuntimeError,
        "torch.gradient expected each dimension size to be at least edge_order+1",
    ),
    (
        lambda: torchlike.gradient(PLANE, dim=(0, 0)),
        RuntimeError,
        "dim 0 appears multiple times in the list of dims",
    ),
    (
        lambda: torchlike.quantile(gs.ones(0), 0.5),
        RuntimeError,
        "quantile() input tensor must be non-empty",
    ),
    (
        lambda: torchlike.quantile(ROW, gs.ones(1, dtype=gs.float32)),
        RuntimeError,
        "quantile() q tensor must be same dtype as the input tensor",
    ),
    (
        lambda: torchlike.quantile(ROW, 0.5, interpolation="x"),
        RuntimeError,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but "
        "got x",
    ),
    (
        lambda: torchlike.heaviside(N, ROW),
        NotImplementedError,
        "heaviside is not yet implemented for tensors with different dtypes.",
    ),
    *[
        (
            call,
            RuntimeError,
            NO_MASK,
        )
        for call in (
            lambda: B - ROW,
            lambda: ROW - B,
            lambda: 1 - B,
            lambda: ROW - True,
            lambda: ROW.clone().sub_(B),
            lambda: torchlike.rsub(B, ROW),
        )
    ],
    (lambda: +B, RuntimeError, "The `+` operator, on a bool tensor is not supported."),
    (lambda: F.mm(D), RuntimeError, f"expected m1 and m2 to {ONE}, but got: float != double"),
    (lambda: F[0] @ D, RuntimeError, f"expected m1 and m2 to {ONE}, but got: float != double"),
    (
        lambda: F @ D[0],
        RuntimeError,
        f"addmv input tensors must {ONE}, but got Double, Float, and Double",
    ),
    (
        lambda: F[0].dot(D[0]),
        RuntimeError,
        "dot : expected both vectors to have same dtype, but found Float and Double",
    ),
    (lambda: F[None] @ D[None], RuntimeError, "expected scalar type Float but found Double"),
    (lambda: torchlike.inner(F, D), RuntimeError, "both inputs should have same dtype"),
    (
        lambda: torchlike.addmm(D, F, D),
        RuntimeError,
        f"mat1 and mat2 must {ONE}, but got Float and Double",
    ),
    (
        lambda: torchlike.addmm(D, F, F),
        RuntimeError,
        f"self and mat2 must {ONE}, but got Double and Float",
    ),
    (
        lambda: torchlike.lerp(D, F, 0.5),
        RuntimeError,
        "expected dtype double for `end` but got dtype float",
    ),
    (
        lambda: torchlike.nonzero_static(N, size=-2),
        RuntimeError,
        "nonzero_static: 'size' must be an non-negative integer",
    ),
    (lambda: PLANE @ 2, TypeError, "unsupported operand type(s) for @: 'Tensor' and 'int'"),
]


@pytest.mark.parametrize(("call", "kind", "message"), ERRORS)
def test_errors_are_in_pytorchs_words(call, kind, message):
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_numpys_functions_of_tensors_promote_as_numpy_does():
    assert np.subtract(B, ROW).tolist() == [0, -1, 0]
    assert np.matmul(F, D).dtype == gs.float64
    assert (gs.arange(6).view(-1, 1).mm(D[:1])).dtype == gs.float64  # as in older PyTorch


def test_plus_gives_the_tensor_itself():
    assert +ROW is ROW


@pytest.mark.parametrize("requires_grad", [False, True])
def test_the_check_does_not_depend_on_recording(requires_grad):
    z = gs.tensor([1 + 2j, 3j], requires_grad=requires_grad)
    with pytest.raises(RuntimeError, match="minimum not implemented for complex tensors"):
        gs.minimum(z, z)


def test_contiguous_takes_no_positional_arguments():
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        PLANE.contiguous(1)


@pytest.mark.parametrize(
    "cast", [lambda z: z.to(gs.float64), lambda z: z.long(), lambda z: gs.zeros(2).copy_(z)]
)
def test_complex_numbers_that_become_real_are_told(cast):
    with pytest.warns(UserWarning, match="Casting complex values to real discards the imaginary"):
        result = cast(Z)
    assert result.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: PLANE.select_scatter(gs.ones(3), 1, 2), r"src size = \[3\], slice size = \[2\]"),
        (lambda: PLANE.sum_to_size(2), r"size \{\[2\]\} is not expandable to size \{\[2, 3\]\}."),
        (
            lambda: torchlike.prelu(PLANE, gs.ones(2)),
            "Found parameter numbers = 2 and channel size = 3.",
        ),
        (lambda: gs.ones(2, dtype=gs.int64).frexp(), "only supports floating-point dtypes"),
        (lambda: gs.ones(3).renorm(2, 0, 1.0), "renorm: input needs at least 2 dimensions, got 1"),
        (lambda: PLANE.renorm(2, 0, -1.0), "renorm: expected maxnorm to be >= 0 but got -1"),
        (lambda: PLANE.geometric_(1.5), r"geometric_ expects p to be in \(0, 1\), but got p=1.5"),
        (
            lambda: PLANE.inverse(),
            "linalg.inv: A must be batches of square matrices, but they are 2 by",
        ),
        (lambda: gs.zeros(2, 2).inverse(), "linalg.inv: The diagonal element 1 is zero"),
        (lambda: (-gs.eye(2)).cholesky(), r"\(the leading minor of order 1 is not positive-def"),
        (
            lambda: PLANE.index_reduce(0, gs.tensor([0]), gs.ones(1, 3), "sum"),
            "Expected reduce to be one of prod, mean, amax or amin but got sum.",
        ),
        (
            lambda: gs.ones(1, requires_grad=True).apply_(abs),
            r"Can't call apply_\(\) on Variable that requires grad. Use var.detach\(\).apply_\(\)",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
