"""Custom Functions: forward and backward by the user, recorded as one node."""

import gc
import weakref

import numpy as np
import pytest

from gradscribe import autograd
from gradscribe.autograd import Function
from gradscribe.runtime import namespace as gs
from tests.runtime.custom_functions import MulConstant, Sigmoid, Square


def leaf(*data):
    return gs.tensor(list(data), requires_grad=True)


class MultiplyAdd(Function):
    @staticmethod
    def forward(ctx, w, x, b):
        ctx.save_for_backward(w, x)
        return w * x + b

    @staticmethod
    def backward(ctx, grad_output):
        w, x = ctx.saved_tensors
        return grad_output * x, grad_output * w, grad_output * 1


def test_forward_and_backward():
    x = leaf(3.0)
    y = Square.apply(x)
    assert y.grad_fn.name() == "SquareBackward"
    assert repr(y) == "tensor([9.], grad_fn=<SquareBackward>)"
    y.backward()
    assert x.grad.tolist() == [6]


def test_arguments_that_are_no_tensors():
    a = gs.rand(3, 3, requires_grad=True)
    b = MulConstant.apply(a, 5)
    assert gs.allclose(b, a * 5)
    b.backward(gs.ones_like(a))
    assert a.grad.tolist() == [[1.0] * 3] * 3
    assert b.grad_fn.constant == 5


def test_gradients_of_inputs_that_need_none_are_dropped():
    x, w, b = gs.ones(1), leaf(0.5), leaf(0.25)
    z = MultiplyAdd.apply(w, x, b)
    z.backward()
    assert x.grad is None
    assert (w.grad.tolist(), b.grad.tolist()) == ([1], [1])


def test_calling_apply_of_the_node_runs_backward_alone():
    x, w, b = gs.ones(1), leaf(0.5), leaf(0.25)
    z = MultiplyAdd.apply(w, x, b)
    grads = z.grad_fn.apply(gs.ones(1))
    assert [g.tolist() for g in grads] == [[1], [0.5], [1]]


def test_next_functions_tell_of_the_tensors():
    x, w, b = gs.ones(1), leaf(0.5), leaf(0.25)
    edges = MultiplyAdd.apply(w, x, b).grad_fn.next_functions
    assert [node and type(node).__name__ for node, _ in edges] == [
        "AccumulateGrad",
        None,
        "AccumulateGrad",
    ]
    assert len(MulConstant.apply(w, 2).grad_fn.next_functions) == 1


def test_needs_input_grad():
    seen = []

    class Look(Function):
        @staticmethod
        def forward(ctx, a, b, c):
            return a * b

        @staticmethod
        def backward(ctx, grad_output):
            seen.append(ctx.needs_input_grad)
            return grad_output, None, None

    Look.apply(leaf(1.0), gs.ones(1), 3).backward()
    assert seen == [(True, False, False)]


def test_several_outputs_and_missing_gradients():
    class Split(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            return first * 2 + second * 3

    x = leaf(1.0)
    first, second = Split.apply(x)
    assert (first.output_nr, second.output_nr) == (0, 1)
    second.backward()
    assert x.grad.tolist() == [3]


def test_set_materialize_grads():
    seen = []

    class Split(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, first, second):
            seen.append((first, second.tolist()))
            return second * 3

    Split.apply(leaf(1.0))[1].backward()
    assert seen == [(None, [1])]


def test_mark_non_differentiable():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            index = gs.tensor(np.argsort(x.array))
            ctx.mark_non_differentiable(index)
            ctx.save_for_backward(index)
            return x[index], index

        @staticmethod
        def backward(ctx, grad_values, _):
            (index,) = ctx.saved_tensors
            grad = gs.zeros_like(grad_values)
            grad[index] = grad_values
            return grad

    x = leaf(3.0, 1.0, 2.0)
    values, index = Sorted.apply(x)
    assert not index.requires_grad
    (values * gs.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [3, 1, 2]


def test_mark_dirty():
    class AddOne(Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 10

    x = leaf(1.0)
    y = x * 1
    z = AddOne.apply(y)
    assert z is y
    assert z.grad_fn.name() == "AddOneBackward"
    z.backward()
    assert x.grad.tolist() == [10]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        AddOne.apply(leaf(1.0))


def test_an_input_returned_as_it_is_becomes_a_new_tensor():
    class Identity(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2

    x = leaf(1.0)
    y = Identity.apply(x)
    assert y is not x
    assert x.is_leaf
    y.backward()
    assert x.grad.tolist() == [2]


def test_setup_context():
    class Cube(Function):
        @staticmethod
        def forward(x):
            return x * x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad_output

    x = leaf(2.0)
    Cube.apply(x).backward()
    assert x.grad.tolist() == [12]


def test_forward_is_not_recorded():
    modes = []

    class Look(Function):
        @staticmethod
        def forward(ctx, x):
            modes.append(gs.is_grad_enabled())
            return x * 1

        @staticmethod
        def backward(ctx, grad_output):
            modes.append(gs.is_grad_enabled())
            return grad_output

    x = leaf(1.0)
    Look.apply(x).backward()
    autograd.grad(Look.apply(x), x, create_graph=True)
    assert modes == [False, False, False, True]


def test_nothing_is_recorded_without_need():
    assert not Square.apply(gs.ones(1)).requires_grad
    with gs.no_grad():
        assert not Square.apply(leaf(1.0)).requires_grad


def test_a_saved_tensor_changed_in_place_is_noticed():
    x = leaf(1.0)
    y = x * 1
    z = Square.apply(y)
    y.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_saved_tensors_are_freed():
    x = leaf(1.0)
    y = Square.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_saving_an_output_makes_no_cycle():
    x = leaf(1.0)
    y = Sigmoid.apply(x)
    node = weakref.ref(y.grad_fn)
    gc.disable()
    try:
        del y
        assert node() is None
    finally:
        gc.enable()


def bad(result):
    class Bad(Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * 1

        @staticmethod
        def backward(ctx, grad_output):
            return result(grad_output)

    return Bad.apply(leaf(1.0, 2.0), 3)


def test_a_wrong_number_of_gradients():
    with pytest.raises(RuntimeError) as error:
        bad(lambda g: (g,)).backward(gs.ones(2))
    assert error.value.what == (
        "function BadBackward returned an incorrect number of gradients (expected 2, got 1)"
    )


def test_a_gradient_for_what_is_no_tensor():
    with pytest.raises(RuntimeError) as error:
        bad(lambda g: (g, g)).backward(gs.ones(2))
    assert error.value.what == (
        "function BadBackward returned a gradient different than None at position 2, but the "
        "corresponding forward input was not a Variable"
    )


def test_a_gradient_of_the_wrong_shape():
    with pytest.raises(RuntimeError) as error:
        bad(lambda g: (gs.ones(3), None)).backward(gs.ones(2))
    assert error.value.what == (
        "Function BadBackward returned an invalid gradient at index 0 - got [3] but expected "
        "shape compatible with [2]"
    )


def test_a_gradient_of_a_broadcast_shape_is_summed():
    y = bad(lambda g: (gs.ones(3, 2), None))
    ((node, _),) = y.grad_fn.next_functions
    y.backward(gs.ones(2))
    assert node.variable.grad.tolist() == [3, 3]


def test_legacy_instances_are_refused():
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        Square()(leaf(1.0))


def test_functions_are_not_instantiated():
    class Legacy(Function):
        def __init__(self, factor):
            self.factor = factor

        def forward(self, x):
            return x * self.factor

    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        Legacy(2)(gs.ones(1))


def test_the_seed_returned_as_gradient_is_copied():
    x = leaf(1.0, 2.0)
    seed = gs.ones(2)
    MulConstant.apply(x, 3).backward(seed)
    x.grad.zero_()
    assert seed.tolist() == [1, 1]


def test_a_context_may_be_given_any_attribute():
    class Noting(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.state, ctx.edges, ctx.function, ctx.sequence, ctx.tangents = 1, 2, 3, 4, 5
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            assert (ctx.state, ctx.edges, ctx.function, ctx.sequence, ctx.tangents) == (
                1,
                2,
                3,
                4,
                5,
            )
            return gradient * 2

    x = leaf(1.0)
    Noting.apply(x).sum().backward()
    assert x.grad.tolist() == [2]


def test_vjp_is_another_name_of_backward():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, gradient):
            return gradient * 2

    class Both(Double):
        backward = Double.vjp

    x = leaf(1.0)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2]
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(x).sum().backward()


def test_undefined_gradients_arrive_as_zeros():
    class Nothing(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return None

    seen = []

    class Seeing(Nothing):
        @staticmethod
        def backward(ctx, gradient):
            seen.append(gradient.tolist())
            return gradient

    Nothing.apply(Seeing.apply(leaf(1.0))).sum().backward()
    assert seen == [[0]]


def test_only_tensors_can_be_saved():
    class Saving(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None, 3)
            return x

    with pytest.raises(TypeError) as caught:
        Saving.apply(leaf(1.0))
    assert str(caught.value) == (
        "save_for_backward can only save variables, but argument 2 is of type int"
    )


@pytest.mark.parametrize(
    "name", ["next_functions", "register_hook", "name", "_sequence_nr", "_input_metadata"]
)
def test_instances_of_functions_have_nothing_of_nodes(name):
    class Identity(Function):
        pass

    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Identity()
    with pytest.raises(RuntimeError, match=f"Attribute '{name}' is invalid for this instance"):
        getattr(instance, name)
    with pytest.raises(RuntimeError, match="underlying PyNode has already been deallocated"):
        _ = instance.metadata
    with pytest.raises(AttributeError, match="'Identity' object has no attribute 'other'"):
        _ = instance.other


def test_classes_of_functions_have_a_class_of_their_own():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    assert type(Twice) is autograd.function.FunctionMeta
    assert Twice._backward_cls.__name__ == "TwiceBackward"
    assert type(Twice.apply(gs.ones(1, requires_grad=True)).grad_fn) is Twice._backward_cls
