"""The `ctx` of a custom Function: users may put any attribute there, and find it on `grad_fn`."""

import gc
import weakref

import pytest

from gradscribe import autograd
from gradscribe.autograd import Function
from gradscribe.runtime import namespace as gs
from gradscribe.runtime.modes.function_node import FunctionNode

READ_ONLY = {
    "next_functions",
    "saved_tensors",
    "saved_variables",
    "metadata",
    "requires_grad",
    "_input_metadata",
    "_raw_saved_tensors",
}
NAMES = sorted(
    {name for name in dir(FunctionNode) if not name.startswith("__")}
    | {"keep", "_node", "node", "to_save", "saved_for_forward", "dirty_tensors", "__name"}
    | {"register_hook", "apply", "save_for_forward", "set_materialize_grads", "mark_dirty"}
)


class Scaled(Function):
    """It keeps the factor in an attribute of any name."""

    @staticmethod
    def forward(ctx, x, factor, name):
        ctx.save_for_backward(x)
        setattr(ctx, name, factor)
        return x * x * factor

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        (factor,) = vars(ctx).values() if vars(ctx) else [ctx.needs_input_grad]
        return 2 * x * gradient * factor, None, None


@pytest.mark.parametrize("name", [name for name in NAMES if name not in READ_ONLY])
def test_an_attribute_of_any_name_leaves_the_node_alone(name):
    x = gs.tensor([3.0], requires_grad=True)
    y = Scaled.apply(x, 0.5, name)
    (first,) = autograd.grad(y * 1, x, create_graph=True)
    first.backward()
    assert (first.tolist(), x.grad.tolist()) == ([3.0], [1.0])
    assert getattr(y.grad_fn, name) == 0.5
    assert (y * 1).grad_fn.next_functions[0] == (y.grad_fn, 0)
    assert repr(y) == "tensor([4.5000], grad_fn=<ScaledBackward>)"


@pytest.mark.parametrize("name", sorted(READ_ONLY))
def test_what_a_node_tells_cannot_be_overwritten(name):
    with pytest.raises(AttributeError):
        Scaled.apply(gs.ones(1, requires_grad=True), 0.5, name)


def test_every_node_that_users_see_is_the_ctx():
    seen = []

    class Twice(Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append(ctx)

        @staticmethod
        def backward(ctx, gradient):
            seen.append(ctx)
            return gradient * 2

    x = gs.ones(1, requires_grad=True)
    y = Twice.apply(x)
    edge = autograd.graph.get_gradient_edge(y)
    seen += [y.grad_fn, edge.node, (y * 2).grad_fn.next_functions[0][0]]
    autograd.grad(edge, x)
    assert len(seen) == 5
    assert all(each is seen[0] for each in seen)
    assert isinstance(seen[0], autograd.graph.Node)
    assert seen[0].next_functions == ((autograd.graph.get_gradient_edge(x).node, 0),)


def test_gradients_arrive_at_the_edge_of_a_custom_function():
    x = gs.tensor([2.0], requires_grad=True)
    y = Scaled.apply(x, 1.0, "factor")
    z = y * 3
    (gradient,) = autograd.grad(z, [autograd.graph.get_gradient_edge(y)])
    assert gradient.tolist() == [3.0]


def test_attributes_stay_when_nobody_holds_the_ctx():
    x = gs.ones(1, requires_grad=True)
    y = Scaled.apply(x, 0.5, "factor")
    gc.collect()
    assert y.grad_fn.factor == 0.5
    y.grad_fn.factor, y.grad_fn.more = 4.0, None
    del y.grad_fn.more
    y.backward()
    assert x.grad.tolist() == [8.0]


def test_the_node_of_a_result_that_is_gone_still_leads_on():
    x = gs.ones(1, requires_grad=True)
    node = Scaled.apply(x, 0.5, "factor").grad_fn
    assert [each.name() for each, _ in node.next_functions] == ["torch::autograd::AccumulateGrad"]
    assert [each.tolist() for each in node.saved_tensors] == [[1.0]]


def test_a_ctx_and_what_it_holds_go_with_the_result():
    class Kept:
        pass

    kept = Kept()
    gone = weakref.ref(kept)
    gc.disable()
    try:
        x = gs.ones(1, requires_grad=True)
        y = Scaled.apply(x, 0.5, "factor")
        y.grad_fn.kept = kept
        del kept
        assert gone() is not None
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_anomaly_mode_names_the_node_whatever_its_attributes_are():
    class Cubed(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.name = 5
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return 3 * gs.sqrt(x) * gradient

    with pytest.warns(UserWarning), autograd.detect_anomaly():
        x = gs.tensor([-1.0], requires_grad=True)
        with pytest.raises(RuntimeError, match="Function 'CubedBackward' returned nan values"):
            Cubed.apply(x).backward()
