"""gradcheck and gradgradcheck accept what is right and refuse what is wrong."""

import pytest

from gradscribe import autograd
from gradscribe.autograd import Function, GradcheckError, gradcheck, gradgradcheck
from gradscribe.runtime import namespace as gs


class Wrong(Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


class WrongTwice(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 2 * x.detach() * grad_output


@pytest.fixture
def x():
    gs.manual_seed(1)
    return gs.rand(2, 3, requires_grad=True)


def test_right_gradients_pass(x):
    w = gs.rand(3, 2, requires_grad=True)
    assert gradcheck(lambda a, b: (a.mm(b) * 2, a.exp()), (x, w))
    assert gradgradcheck(lambda a, b: a.mm(b) * a.mm(b), (x, w))


def test_wrong_gradients_are_shown(x):
    with pytest.raises(GradcheckError) as error:
        gradcheck(Wrong.apply, x)
    text = str(error.value)
    assert text.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:")
    assert "analytical:" in text
    assert gradcheck(Wrong.apply, x, raise_exception=False) is False


def test_wrong_second_derivatives_are_found(x):
    assert gradcheck(WrongTwice.apply, x)
    with pytest.raises(GradcheckError):
        gradgradcheck(WrongTwice.apply, x)


def test_inputs_without_grad_are_not_checked(x):
    assert gradcheck(lambda a, k: a * k, (x, 3.0))
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda a: a * 2, gs.rand(2))


def test_single_precision_warns(x):
    y = gs.rand(2, dtype=gs.float32, requires_grad=True)
    with pytest.warns(UserWarning, match="not a double precision floating point"):
        gradcheck(lambda a: a * 2, y, eps=1e-2, atol=1e-2)


def test_inputs_are_as_before(x):
    before = x.tolist()
    gradcheck(lambda a: a * a, x)
    assert x.tolist() == before
    assert x.grad is None
    assert autograd.gradcheck is gradcheck


class Twice(Function):
    """x * 2, whose backward is given in `rule`."""

    rule = staticmethod(lambda gradient: gradient * 2)

    @classmethod
    def by(cls, rule):
        return type("Twice", (cls,), {"rule": staticmethod(rule)}).apply

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    @classmethod
    def backward(cls, ctx, gradient):
        return cls.rule(gradient)


def test_forward_mode_is_checked_on_demand():
    x = gs.rand(3, requires_grad=True)
    assert gradcheck(lambda t: (t.sin() * t, t.exp().sum()), (x,), check_forward_ad=True)
    assert gradgradcheck(lambda t: t.sin() * t, (x,), check_fwd_over_rev=True)


@pytest.mark.parametrize(
    "rule, message",
    [
        (lambda g: gs.full_like(g, 2.0), "backward not multiplied by grad_output"),
        (lambda g: g * 2 if g is not None else 1 / 0, None),
        (lambda g: g * 3, "Jacobian mismatch for output 0 with respect to input 0,"),
    ],
)
def test_what_a_wrong_backward_is_told(rule, message):
    x = gs.rand(1, requires_grad=True)
    with pytest.raises((GradcheckError, ZeroDivisionError), match=message):
        gradcheck(Twice.by(rule), (x,))


def test_undefined_gradients_must_be_handled():
    def refusing(gradient):
        if gradient is None:
            raise RuntimeError("undefined")
        return gradient * 2

    x = gs.rand(2, requires_grad=True)
    with pytest.raises(GradcheckError, match="Expected backward function to handle undefined out"):
        gradcheck(Twice.by(refusing), (x,))
    assert gradcheck(Twice.by(refusing), (x,), check_undefined_grad=False)


def test_outputs_without_gradient_must_not_depend_on_inputs():
    x = gs.rand(2, requires_grad=True)
    assert gradcheck(lambda t: t.detach() * 0, (x,))
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda t: t.detach() * 2, (x,))


def test_inputs_with_overlapping_memory_are_refused():
    x = gs.ones(1).expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda t: t.sum(), (x,))


@pytest.mark.parametrize("fast_mode", [True, False])
def test_outputs_must_keep_their_type_when_inputs_are_moved(fast_mode):
    x = gs.ones(1, requires_grad=True)
    place = "by 1e-06" if fast_mode else r"on index \(0,\) by 1e-06"
    with pytest.raises(AssertionError, match=f"same shape when inputs are perturbed {place}"):
        gradcheck(lambda t: gs.cat([t, t]) if t.item() >= 1 else t, x, fast_mode=fast_mode)
    with pytest.raises(AssertionError, match=f"same dtype when inputs are perturbed {place}"):
        gradcheck(lambda t: t.float() if t.item() >= 1 else t, x, fast_mode=fast_mode)


def test_options_that_do_not_go_together_are_refused():
    x = gs.ones(1, requires_grad=True)
    with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad"):
        gradcheck(gs.exp, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_grad=True requires"):
        gradcheck(
            gs.exp, x, check_backward_ad=False, check_forward_ad=True, check_batched_grad=True
        )
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True requires"):
        gradcheck(gs.exp, x, check_batched_forward_grad=True)


def test_a_hook_that_bears_no_undefined_gradient_is_found():
    def function(t):
        def hook(gradient):
            if gradient is None:
                raise RuntimeError("no gradient")

        out = t.clone()
        out.register_hook(hook)
        return out

    x = gs.ones(1, requires_grad=True)
    with (
        pytest.warns(UserWarning, match="New undefined gradient support checking feature"),
        pytest.raises(GradcheckError, match="to handle undefined output grads"),
    ):
        gradcheck(function, x)
    assert gradcheck(function, x, check_undefined_grad=False)


def test_forward_mode_is_checked_on_inputs_that_require_no_gradient():
    seen = []

    class Copies(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx, x, y):
            seen.append((x.tolist(), y.tolist()))
            return x, y

        @staticmethod
        def backward(ctx, x, y):
            return x, y

    x, y = gs.rand(1, requires_grad=True), gs.rand(1, requires_grad=True)
    options = {"check_forward_ad": True, "check_backward_ad": False}
    assert gradcheck(Copies.apply, (x, y), check_undefined_grad=False, **options)
    assert seen == [([1], [0]), ([0], [1])]
    seen.clear()
    assert gradcheck(Copies.apply, (x, y), **options)
    assert len(seen) == 6


def test_backward_is_told_before_forward_mode():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * 3

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    x = gs.rand(2, requires_grad=True)
    with pytest.raises(GradcheckError, match=r"^Jacobian mismatch for output 0"):
        gradcheck(Wrong.apply, x, check_forward_ad=True)
    with pytest.raises(GradcheckError, match=r"^Jacobian computed with forward mode mismatch"):
        gradcheck(Wrong.apply, x, check_forward_ad=True, check_backward_ad=False)


def test_the_imaginary_part_of_complex_outputs_is_looked_at_first():
    def wrong(z):
        out = z.clone()
        out.register_hook(lambda g: g + 1e-2)
        return out

    z = gs.ones(2, dtype=gs.complex128, requires_grad=True)
    assert gradcheck(gs.clone, z)
    with pytest.raises(GradcheckError, match="imaginary part of complex outputs only, Jacobian"):
        gradcheck(wrong, z)


def test_gradcheck_is_a_module_too():
    from gradscribe.autograd.gradcheck import GradcheckError as Error
    from gradscribe.autograd.gradcheck import gradcheck as function

    assert (function, Error) == (gradcheck, GradcheckError)


def test_inputs_without_elements_are_checked():
    empty, filled = (gs.ones(n, 3, requires_grad=True) for n in (0, 2))
    assert gradcheck(lambda a, b: gs.cat((a, b)), (empty, filled))


def test_a_backward_that_changes_from_run_to_run_is_told_before_a_mismatch():
    def jittered(x):
        out = x.clone()
        out.register_hook(lambda g: g * (1 + gs.rand_like(g)))
        return out

    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(jittered, gs.ones(2, requires_grad=True))


def test_given_grad_outputs_are_inputs_only_where_they_require_gradients():
    x = gs.rand(3, dtype=gs.float64, requires_grad=True)
    single = gs.rand(3, dtype=gs.float32)
    assert gradgradcheck(lambda x: x * x, (x,), single)
    with pytest.warns(UserWarning, match="Input #1 requires gradient and is not a double"):
        gradgradcheck(lambda x: x * x, (x,), single.requires_grad_(), raise_exception=False)


@pytest.mark.parametrize("size", [3, 50])
def test_fast_mode_calls_the_function_a_fixed_number_of_times(size):
    calls = []

    def square(t):
        calls.append(t)
        return t * t

    options = {"fast_mode": True, "check_forward_ad": True}
    assert gradcheck(square, gs.rand(size, requires_grad=True), **options)
    assert len(calls) == 7
    calls.clear()
    assert gradgradcheck(square, gs.rand(size, requires_grad=True), fast_mode=True)
    assert len(calls) == 7


class OneWrongEntry(Function):
    """The running sum, with one wrong entry in its Jacobian."""

    @staticmethod
    def forward(ctx, x):
        return x.cumsum(0)

    @staticmethod
    def jvp(ctx, tangent):
        moved = tangent.cumsum(0)
        return gs.cat([moved[:-1], moved[-1:] + tangent[:1]])

    @staticmethod
    def backward(ctx, d):
        gradient = d.flip(0).cumsum(0).flip(0)
        return gs.cat([gradient[:1] + d[-1:], gradient[1:]])


@pytest.mark.parametrize("imaginary", [0, 1j])
@pytest.mark.parametrize("backward", [True, False])
def test_fast_mode_finds_one_wrong_entry(imaginary, backward):
    x = (gs.rand(4) + imaginary * gs.rand(4)).requires_grad_()
    options = {"fast_mode": True, "check_backward_ad": backward, "check_forward_ad": not backward}
    assert gradcheck(lambda t: (t * t.cumsum(0), t.abs()), x, **options)
    with pytest.raises(GradcheckError, match=r"mismatch for output 0 (.|\n)*computed in fast mode"):
        gradcheck(OneWrongEntry.apply, x, **options)


def test_outputs_must_be_tensors(x):
    with pytest.raises(AttributeError, match="'int' object has no attribute 'requires_grad'"):
        gradcheck(lambda x: 3, x)
    assert gradcheck(lambda x: (), x)
