"""What `forward` of a custom Function may return, and where it then stands in the graph."""

import gc
import warnings
import weakref

import pytest

import gradscribe as gs
from gradscribe import autograd, torchlike
from gradscribe.autograd import Function
from gradscribe.autograd.function import InplaceFunction


def leaf(*values):
    return gs.tensor(values, requires_grad=True)


class Raised(Function):
    """Adds in place."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.add_(y)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient


class Part(Function):
    """A view of the input."""

    @staticmethod
    def forward(ctx, x):
        return x[:1]

    @staticmethod
    def backward(ctx, gradient):
        return gs.cat([gradient, gs.zeros(1)])


def test_a_view_that_is_changed_in_place_by_a_function_rewrites_its_base():
    def raised(root, y):
        x = root.clone()
        Raised.apply(x[1:], y)
        Raised.apply(x[:2], y)
        return x

    root, y = leaf(1.0, 2.0, 3.0), leaf(10.0, 20.0)
    assert raised(root, y).tolist() == [11, 32, 23]
    assert autograd.gradcheck(raised, (root, y))
    assert autograd.gradgradcheck(raised, (root, y))


def test_leaves_and_views_of_leaves_may_not_be_dirty():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad"):
        Raised.apply(x, 1.0)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad"):
        Raised.apply(x[:], 1.0)
    with pytest.raises(RuntimeError, match="a function that returns multiple views"):
        Raised.apply(x.clone().split(1)[0], 1.0)


def test_a_dirty_view_must_be_the_only_output():
    class Two(Raised):
        @staticmethod
        def forward(ctx, x, y):
            return Raised.forward(ctx, x, y), x + y

        @staticmethod
        def backward(ctx, first, second):
            return first + second, first + 2 * second

    x = leaf(1.0, 2.0)
    first, second = Two.apply(x.clone(), leaf(1.0))
    (first * second).sum().backward()
    assert x.grad.tolist() == [5, 7]
    with pytest.raises(RuntimeError, match="modifies inplace an input that is a view of another"):
        Two.apply(x.clone()[:], leaf(1.0))


def test_to_mark_what_is_no_input_as_dirty_warns():
    class Marks(Function):
        @staticmethod
        def forward(ctx, x, take):
            out = take(x * 3)
            ctx.mark_dirty(out)
            return out

        @staticmethod
        def backward(ctx, gradient):
            return 3 * gradient, None

    x = leaf(1.0)
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        Marks.apply(x.clone(), lambda out: out)
    with pytest.raises(RuntimeError, match="received a tensor that was not an input"):
        Marks.apply(x.clone(), lambda out: out[:])


def test_a_saved_dirty_input_is_no_cycle():
    class Saves(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.saved_tensors[0]

    def made():
        x = leaf(1.0).clone()
        return weakref.ref(Saves.apply(x))

    gc.disable()
    try:
        assert made()() is None
    finally:
        gc.enable()
    x = leaf(1.0)
    Saves.apply(x.clone()).sum().backward()
    assert x.grad.tolist() == [2]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_a_view_that_forward_made_may_not_be_changed_in_place(requires_grad):
    x = gs.ones(2, requires_grad=requires_grad).clone()
    out = Part.apply(x)
    with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
        out += leaf(1.0)


def test_one_of_several_views_that_forward_made_may_not_be_changed_in_place():
    class Parts(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x[1:]

        @staticmethod
        def backward(ctx, *gradients):
            return gs.cat(gradients)

    first, _ = Parts.apply(leaf(1.0, 2.0).clone())
    with pytest.raises(RuntimeError, match="a function that returns multiple views"):
        first += 1


def test_a_view_made_under_no_grad_is_like_any_other():
    x = leaf(1.0, 2.0)
    with gs.no_grad():
        out = Part.apply(x)
    assert out.requires_grad
    assert out.is_leaf
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        out.zero_()


def test_one_tensor_may_be_returned_twice():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            out = x * 2
            return out, out

        @staticmethod
        def backward(ctx, first, second):
            return first * 2 + second * 2

    first, second = Twice.apply(leaf(1.0))
    assert first is second
    assert autograd.gradcheck(lambda x: sum(Twice.apply(x)), leaf(1.0, 2.0))


def returning(*kinds, dirty=False, constant=None):
    """A Function of one input: each kind of output is "x" (the input), "y" (one new Tensor) or
    "v" (one view); constant: the number of the one without derivative. Its backward weighs the
    gradient of output number i by 10 ** i."""

    class Returning(Function):
        @staticmethod
        def forward(ctx, x):
            if dirty:
                ctx.mark_dirty(x.mul_(5))
            made = {"x": x, "y": x * 2, "v": x[:]}
            outputs = tuple(made[kind] for kind in kinds)
            if constant is not None:
                ctx.mark_non_differentiable(outputs[constant])
            return outputs

        @staticmethod
        def backward(ctx, *gradients):
            return sum(g * 10**i for i, g in enumerate(gradients))

    return Returning.apply


@pytest.mark.parametrize(
    ("kinds", "numbers", "gradient"),
    [
        (("x", "x"), [0, 1], 32),
        (("x", "y", "x"), [0, 1, 2], 432),
        (("x", "x", "x"), [0, 1, 2], 432),
        (("y", "x", "y"), [2, 1, 2], 630),
        (("v", "x", "v"), [2, 1, 2], 630),
    ],
)
@pytest.mark.parametrize("taken", [lambda a: a, lambda a: a * 1, lambda a: a[:]])
def test_an_input_that_is_returned_again_is_another_output(kinds, numbers, gradient, taken):
    x = leaf(1.0, 2.0)
    outputs = returning(*kinds)(taken(x))
    assert [output.output_nr for output in outputs] == numbers
    sum((output * (i + 2)).sum() for i, output in enumerate(outputs)).backward()
    assert x.grad.tolist() == [gradient, gradient]


def test_a_dirty_input_that_is_returned_again_is_one_output():
    x = leaf(1.0, 2.0)
    middle = x * 1
    first, second = returning("x", "x", dirty=True)(middle)
    assert (first is middle, second is middle, middle.output_nr) == (True, True, 1)


@pytest.mark.parametrize("dirty", [False, True])
@pytest.mark.parametrize("taken", [lambda a: a, lambda a: a * 1, lambda a: (a * 1)[:]])
def test_an_input_returned_without_derivative_is_detached(dirty, taken):
    x = leaf(1.0, 2.0)
    given = taken(x)
    (output,) = returning("x", dirty=dirty, constant=0)(given)
    assert (output.requires_grad, output.grad_fn, output is given) == (False, None, False)
    assert given.requires_grad
    assert output.tolist() == given.tolist() == ([5, 10] if dirty else [1, 2])


@pytest.mark.parametrize("dirty", [False, True])
def test_an_input_returned_where_nothing_is_recorded_is_detached(dirty):
    given = leaf(1.0, 2.0) * 1
    with gs.no_grad():
        (output,) = returning("x", dirty=dirty)(given)
    assert (output.requires_grad, output is given) == (False, False)
    assert given.requires_grad
    output.mul_(2)
    assert given.tolist() == output.tolist()


def test_an_output_returned_twice_is_saved_as_the_last():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 3
            ctx.save_for_backward(y)
            return y, y

        @staticmethod
        def backward(ctx, first, second):
            (y,) = ctx.saved_tensors
            return (first * 100 + second) * y

    x = leaf(1.0)
    y, _ = Twice.apply(x)
    (gradient,) = autograd.grad(y.sum(), x, create_graph=True)
    gradient.sum().backward()
    assert x.grad.tolist() == [3]


def test_a_dirty_input_without_derivative_is_saved_with_its_history():
    class Kept(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x.mul_(3))
            ctx.mark_non_differentiable(x)
            ctx.save_for_backward(x)
            return x, y * 2

        @staticmethod
        def backward(ctx, _, g):
            (x,) = ctx.saved_tensors
            return None, g * x

    x, y = leaf(2.0), leaf(1.0)
    _, output = Kept.apply(x * 1, y)
    (gradient,) = autograd.grad(output.sum(), y, create_graph=True)
    gradient.sum().backward()
    assert (gradient.tolist(), x.grad.tolist()) == ([6], [1])


@pytest.mark.parametrize(
    ("values", "factor"), [((1.0, 2.0), 1j), ((1 + 1j, 2.0), gs.tensor([1, 2]))]
)
def test_a_gradient_of_another_kind_of_number_is_refused(values, factor):
    class Turned(Function):
        @staticmethod
        def forward(ctx, x):
            return torchlike.real(x)

        @staticmethod
        def backward(ctx, g):
            return g * factor if isinstance(factor, complex) else factor

    for taken in (lambda a: a, lambda a: a * 1):
        with pytest.raises(RuntimeError, match=r"input_is_complex == grad_is_complex"):
            Turned.apply(taken(leaf(*values))).sum().backward()


def test_outputs_without_derivative_get_zeros_unless_told_otherwise():
    seen = []

    class Marked(Function):
        materialized = True

        @classmethod
        def forward(cls, ctx, x):
            ctx._materialize_non_diff_grads = cls.materialized
            out = x + 1
            ctx.mark_non_differentiable(out)
            return out, x * 2, 3

        @staticmethod
        def backward(ctx, *gradients):
            seen.append([None if g is None else g.tolist() for g in gradients])
            return 2 * gradients[1]

    class Unmaterialized(Marked):
        materialized = False

    for cls in (Marked, Unmaterialized):
        cls.apply(leaf(1.0))[1].backward()
    assert seen == [[[0], [1], None], [None, [1], None]]


def test_setup_context_gets_the_defaults_of_forward():
    class Power(Function):
        @staticmethod
        def forward(x, exponent=3):
            return x**exponent

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.exponent = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return gradient * ctx.exponent * x ** (ctx.exponent - 1), None

    x = leaf(2.0)
    Power.apply(x).backward()
    assert x.grad.tolist() == [12]


def test_saved_tensors_can_be_given_up_when_they_are_read():
    class Once(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            kept = weakref.ref(x)
            del x
            assert kept() is None
            return gradient * len(ctx.saved_tensors)

    with pytest.raises(RuntimeError, match="can only be accessed once"):
        Once.apply(leaf(1.0).clone()).backward()


def test_legacy_names_of_functions():
    class Legacy(InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            ctx.saved_variables
            return gradient * 2

    out = Legacy.apply(leaf(1.0))
    assert type(out.grad_fn) is Legacy._backward_cls
    assert Legacy.generate_vmap_rule is False
    with pytest.warns(DeprecationWarning, match="saved_variables"):
        out.backward()


@pytest.mark.parametrize("result", [[gs.ones(1)], 1])
def test_a_gradient_that_is_no_tensor_is_refused(result):
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            return result

    with pytest.raises(RuntimeError, match="expected Variable or None"):
        Bad.apply(leaf(1.0)).backward()


def test_backward_within_backward_may_be_deep():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x):
            with gs.enable_grad():
                ctx.below = x.detach().requires_grad_() - 1
            return ctx.below.detach()

        @staticmethod
        def backward(ctx, gradient):
            if ctx.below > 0:
                with gs.enable_grad():
                    Deep.apply(ctx.below).sum().backward()
            return gradient

    x = gs.tensor(500.0, requires_grad=True)
    Deep.apply(x).backward()
    assert x.grad.item() == 1


def test_an_error_deep_within_backwards_is_raised_outside():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.depth = x.item()
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            if ctx.depth == 0:
                raise KeyError("at the bottom")
            with gs.enable_grad():
                Deep.apply(gs.tensor(ctx.depth - 1, requires_grad=True)).backward()
            return gradient

    with pytest.raises(KeyError, match="at the bottom"):
        Deep.apply(gs.tensor(30.0, requires_grad=True)).backward()


def test_create_graph_in_backward_warns_of_the_cycle():
    x = leaf(1.0)
    with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
        (x * x).backward(create_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        autograd.grad(x * x, x, create_graph=True)


def test_a_view_of_a_function_is_refused_as_often_as_it_is_used_after_a_change_of_its_base():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    x = leaf(1.0, 2.0).clone()
    out = Same.apply(x)
    x.mul_(2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
            out + 1
