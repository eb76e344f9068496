"""What Tensors do not do in compiled functions, and what calls with Tensors do not follow."""

from __future__ import annotations

import copy

import numpy as np

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.errors import AliasingError
from gradscribe.utils.checkpoint import checkpoint
from tests.refused import refused, refused_when_run

TENSOR = gs.tensor([0.5, 1.5], requires_grad=True)
WEIGHTS = gs.tensor([1.0, 2.0])
GENERATOR = torchlike.Generator()


class Log:
    """Keeps what it is given."""

    def step(self, x):
        if x[0] > 0:
            self.positive = x
        return x.sum()


class Noting(list):
    """A list that does more than others where it is added to."""

    def append(self, item):
        super().append((len(self), item))


# -- in compiled functions -----------------------------------------------------------------------


@refused(
    "`clamp` of a Tensor always raises RuntimeError: torch.clamp: At least one of 'min' or 'max' "
    "must not be None",
    TENSOR,
)
def clips_to_nothing(x):
    return x.clip().sum()


@refused("`array` of a Tensor always raises ValueError: Unknown input type", TENSOR)
def makes_a_record_array(x):
    return np.rec.array(x * 1.0).sum()


@refused("`backward` inside of compiled code", TENSOR)
def backward_inside(x):
    x.sum().backward()
    return x.grad


@refused("`differentiable` with options inside of compiled code", TENSOR)
def decorates_with_options(x):
    return gs.differentiable(lambda y, z: y * z, argnums=0)(x, x)


@refused("`checkpoint` with contexts inside of compiled code", TENSOR)
def checkpoints_in_contexts(x):
    return checkpoint(gs.tanh, x, use_reentrant=False, context_fn=lambda: (None, None))


@refused("`autograd.grad` inside of compiled code", TENSOR)
def gradient_inside(x):
    return gs.autograd.grad((x * x).sum(), x)[0]


@refused("`Variable` inside of compiled code", TENSOR)
def variable_inside(x):
    return gs.autograd.Variable(x.data) * x


@refused("`requires_grad` inside of compiled code", TENSOR)
def asked_for_its_graph(x):
    return x * 2 if x.requires_grad else x


@refused("`stride`, the layout of memory, inside of compiled code", TENSOR)
def asked_for_its_layout(x):
    return x * x.stride()[0]


@refused("exchanging axes in place inside of compiled code", TENSOR)
def transposed_in_place(x):
    return x.view(2, 1).transpose_(0, 1)


@refused("`out=` of a function of Tensors", TENSOR)
def stored_in_a_given_tensor(x):
    y = gs.zeros(2)
    gs.exp(x, out=y)
    return y


@refused("a view of another element type", TENSOR)
def bits(x):
    return x.view(gs.int64)


@refused("in-place operations on a Tensor without axes, which is a number here", TENSOR)
def total_in_place(x):
    return x.sum().add_(1.0)


@refused("the class of a Tensor without axes, which is a number here", TENSOR)
def class_of_a_total(x):
    return x * isinstance(x.sum(), gs.FloatTensor)


@refused(
    "this takes a number out of the derivative if it is a Tensor, and it is one on some paths only",
    np.array([1.0, 2.0]),
)
def item_of_a_number_or_a_tensor(x):
    return max(x[0], WEIGHTS.sum()).item() * x[1]


@refused("`unbind` cannot be called like this: got an unexpected keyword argument 'axes'", TENSOR)
def parts_along_axes(x):
    return x.unbind(axes=0)[0]


@refused("a Tensor with `requires_grad=True` that is made inside of compiled code", TENSOR)
def leaf_inside(x):
    return x * gs.ones(2, requires_grad=True)


@refused("a generator of the package in compiled code", TENSOR)
def drawn_from_a_generator(x):
    return x * gs.randn(2, generator=GENERATOR)


@refused(
    "`broadcast_to` cannot be compiled here: "
    "the shape to broadcast to has fewer axes than the array",
    TENSOR,
)
def expanded_to_nothing(x):
    return x.expand()


@refused_when_run("a Tensor is added to a `set` from outside")
def tensor_in_a_set():
    found = set()

    def entered(x):
        found.add(x.sum())
        return x

    gs.differentiable(entered)(TENSOR)


# -- in calls with Tensors -----------------------------------------------------------------------


@refused_when_run("a function of lists of Tensors adds to a list from outside")
def list_of_what_was_seen():
    seen = Noting()

    def noted(xs):
        seen.append(xs[0].shape[0])
        return xs[0] * xs[1]

    gs.differentiable(noted)([TENSOR, TENSOR * 2])


@refused_when_run("`extended` changes a list and items of it", AliasingError)
def list_and_items_changed():
    def extended(xs):
        for x in xs:
            x[0] = 1.0
        xs.append(xs[0] * 2)
        return xs[0]

    gs.differentiable(extended)([TENSOR * 1, TENSOR * 2])


@refused_when_run(
    "`extended` changes a list, dict or object, and is given one twice", AliasingError
)
def dict_given_twice():
    def extended(a, b):
        a["y"] = b["x"] * 2
        return a["y"]

    given = {"x": TENSOR}
    gs.differentiable(extended)(given, given)


@refused_when_run(
    "`raised` changes `x` or `y` in place, under a name that stands for several arrays, or as a "
    "number: a call with Tensors does not follow that",
    AliasingError,
)
def one_of_two_changed():
    def raised(x, y):
        chosen = x if x[0] > 0 else y
        chosen[0] = 1.0
        return chosen

    gs.differentiable(raised)(TENSOR * 1, TENSOR * 2)


@refused_when_run(
    "this function stores to the attribute `positive` what is not followed: the function does not "
    "return one type of value: it differs from path to path"
)
def attribute_on_one_path():
    gs.differentiable(Log().step)(TENSOR)


@refused_when_run(
    "this function stores to the attribute `rate` what is not followed: it is not there on every "
    "path"
)
def deleted_attribute():
    class Model:
        def __init__(self):
            self.rate = 1.0

    model = Model()

    def forgetting(x):
        del model.rate
        return x.sum()

    gs.differentiable(forgetting)(TENSOR)


@refused_when_run(
    "this function stores in `held` what is not followed: this iterator cannot be a run-time "
    "value here"
)
def dict_of_what_is_no_result():
    held = {}

    def kept(x):
        held["generator"] = (i for i in range(3))
        return x.sum()

    gs.differentiable(kept)(TENSOR)


@refused_when_run("`items` holds an array or list twice, which is copied once", AliasingError)
def copied_deeply_with_one_array_twice():
    array = np.ones(3)
    gs.grad(lambda x, items: np.sum(x * copy.deepcopy(items)[0]))(np.ones(3), [array, array])


@refused_when_run("`table_a` and `table_b` are one array, which is copied once", AliasingError)
def copied_deeply_with_one_array_under_two_keys():
    array, table = np.ones(3), {}
    table["a"] = table["b"] = array
    gs.grad(lambda x, table: np.sum(x * copy.deepcopy(table)["a"]))(np.ones(3), table)


@refused_when_run(
    "`stored` changes what it is given, and runs as it is: a call with Tensors does not follow "
    "that",
    AliasingError,
)
def argument_changed_by_a_recorded_run():
    def stored(x):
        x *= 2.0
        return x.sum()

    gs.differentiable(stored, compile=False)(TENSOR * 1.0)


@refused_when_run(
    "a function that runs as it is, called with Tensors, stores outside what is differentiated: "
    "there it would have no derivative any more"
)
def state_of_a_recorded_run():
    seen = []

    def noted(x):
        seen.append(x * 2.0)
        return x.sum()

    gs.differentiable(noted, compile=False)(gs.tensor([1.0, 2.0], requires_grad=True))


@refused_when_run(
    "`stored` stores what is differentiated in an array of NumPy, which keeps no derivative"
)
def derivative_stored_in_an_array():
    buffer = np.zeros(2)

    def stored(x):
        buffer[:] = x
        return x.sum()

    gs.differentiable(stored)(gs.tensor([1.0, 2.0], requires_grad=True))


@refused(
    "`reshape` cannot be compiled here: the shape (3, 4) is invalid for a Tensor of shape (2)",
    TENSOR,
    by=lambda function, x: gs.differentiable(function)(x),
)
def view_in_a_shape_that_does_not_fit(x):
    return x.view(3, 4).sum()
