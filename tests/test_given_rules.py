"""Derivatives of any order of compiled functions with rules that users gave and that are no true
derivatives, so that second derivatives are not symmetric. Eager mode, which runs the rules as they
are, tells what is right."""

import builtins
import itertools
import typing
from typing import Any

import numpy as np
import pytest
import scipy.ndimage

import gradscribe as gs
from gradscribe import torchlike
from gradscribe.autograd import forward_ad
from gradscribe.autograd.function import once_differentiable
from gradscribe.errors import ArgumentError, NoDerivativeError, UnsupportedError

X = np.array([1.0, 2.0, 4.0])
W = np.array([2.0, -1.0, 3.0])


class Turned(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x

    @staticmethod
    def backward(ctx, d_out):
        (x,) = ctx.saved_tensors
        return 3 * d_out * torchlike.roll(x, 1)


class TurnedWithTangent(Turned):
    @staticmethod
    def jvp(ctx, d_x):
        (x,) = ctx.saved_tensors
        return 7 * d_x * x


class Skewed(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * x * y

    @staticmethod
    def backward(ctx, d_out):
        x, y = ctx.saved_tensors
        return 3 * d_out * y * y * x, 5 * d_out * x * x * x * y


def one_call(x, w):
    return (Turned.apply(x * w) * x).sum()


def in_a_loop(x, w):
    total = (Turned.apply(x * w) * x).sum()
    for k in range(2):
        x = Turned.apply(gs.sin(x)) * (k + w)
    return total + x.sum()


def with_a_tangent(x, w):
    return (TurnedWithTangent.apply(x * w) * x).sum()


def beside_a_true_one(x, w):
    y = gs.exp(0.1 * TurnedWithTangent.apply(x))
    if w[0] > 0:
        y = Turned.apply(y) * w
    return (y * Turned.apply(w)).sum()


FUNCTIONS = [one_call, in_a_loop, with_a_tangent, beside_a_true_one]


def leaves():
    return gs.tensor(X, requires_grad=True), gs.tensor(W, requires_grad=True)


def derivatives(function, highest):
    """The gradients of order 1, 2 …, each along fixed directions of the one before."""
    x, w = leaves()
    value, found = function(x, w), []
    for order in range(1, highest + 1):
        d_x, d_w = gs.autograd.grad(value, (x, w), create_graph=True, allow_unused=True)
        found += [d_x.tolist(), d_w.tolist()]
        value = (d_x * gs.tensor(X + order)).sum() + (d_w * gs.tensor(W - order)).sum()
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_reverse_mode_of_any_order_runs_the_backward_that_was_given(function):
    compiled = derivatives(gs.differentiable(function), 4)
    for found, expected in zip(compiled, derivatives(function, 4), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def jacobian(function, x):
    """By runs backward of eager mode."""
    out = function(x)
    rows = [gs.autograd.grad(e, x, create_graph=True)[0] for e in out.reshape(-1).unbind()]
    return gs.stack(rows).reshape(*out.shape, *x.shape)


def eager_gradient(x):
    return gs.autograd.grad(one_call(x, gs.tensor(W)), x, create_graph=True)[0]


def test_transforms_of_plain_values_agree_with_eager_tensors():
    def f(x):
        return one_call(x, gs.tensor(W))

    x = gs.tensor(X, requires_grad=True)
    second = jacobian(eager_gradient, x).detach().numpy()
    third = jacobian(lambda x: jacobian(eager_gradient, x), x).detach().numpy()
    gradient = gs.grad(f)
    for outer in (gs.jacrev, gs.jacfwd):
        np.testing.assert_allclose(outer(gradient)(X), second, rtol=1e-11)
        np.testing.assert_allclose(gs.jacrev(outer(gradient))(X), third, rtol=1e-11)
    np.testing.assert_allclose(gs.hessian(f)(X), second, rtol=1e-11)
    np.testing.assert_allclose(gs.hvp(f, (X,), (W,))[0], second @ W, rtol=1e-11)
    np.testing.assert_allclose(gs.vjp(gradient, X)[1](W)[0], W @ second, rtol=1e-11)
    np.testing.assert_allclose(gs.jvp(gradient, (X,), (W,))[1], second @ W, rtol=1e-11)


def skewed(x, y):
    return Skewed.apply(x, y) * x


def eager_chain(numbers, x=1.5, y=0.7):
    leaves = [gs.tensor(v, dtype=gs.float64, requires_grad=True) for v in (x, y)]
    value = skewed(*leaves)
    for number in numbers:
        (value,) = gs.autograd.grad(value, leaves[number], create_graph=True)
    return value.item()


@pytest.mark.parametrize("numbers", [*itertools.product((0, 1), repeat=2), (0, 1, 0), (1, 0, 1)])
def test_mixed_derivatives_come_in_the_order_of_the_gradients(numbers):
    function = skewed
    for number in numbers:
        function = gs.grad(function, number)
    np.testing.assert_allclose(function(1.5, 0.7), eager_chain(numbers))


def test_mixed_derivatives_by_several_arguments_and_with_the_value():
    first = gs.grad(skewed, 1)
    expected = eager_chain((1, 0)), eager_chain((1, 1))
    np.testing.assert_allclose(gs.grad(first, (0, 1))(1.5, 0.7), expected)
    value, gradient = gs.value_and_grad(first, (0, 1))(1.5, 0.7)
    np.testing.assert_allclose((value, *gradient), (eager_chain((1,)), *expected))
    np.testing.assert_allclose(gs.vjp(first, 1.5, 0.7)[1](2.0), 2 * np.array(expected))


def products_in_forward_mode(function):
    """A tangent, the gradient of one, and the tangent of a gradient."""
    x, w = leaves()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, gs.tensor(W))
        tangent = forward_ad.unpack_dual(function(dual, w)).tangent
        of_tangent = gs.autograd.grad(tangent, (x, w))
        gradients = gs.autograd.grad(function(dual, w), (dual, w), create_graph=True)
        tangents = [forward_ad.unpack_dual(gradient).tangent for gradient in gradients]
        again = gs.autograd.grad(tangents[0].sum(), x)
    return [t.detach().numpy() for t in (tangent, *of_tangent, *tangents, *again)]


def test_forward_mode_runs_the_tangent_that_was_given():
    compiled = products_in_forward_mode(gs.differentiable(with_a_tangent))
    for found, expected in zip(compiled, products_in_forward_mode(with_a_tangent), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11)


@gs.primitive
def rolled(x):
    return x * x


@rolled.adjoint
def _(out, x, *, d_out):
    return 3 * d_out * np.roll(x, 1)


def test_an_own_operation_is_differentiated_as_its_rule_says():
    def f(x, w):
        return (rolled(x * w) * x).sum()

    found, expected = derivatives(gs.differentiable(f), 3), derivatives(one_call, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def of_lists(xs, function):
    total = 0.0
    for x in xs:
        total = total + (function(x) * x).sum()
    return [total, total * xs[0].sum()]


def test_items_of_lists():
    def of_turned(xs):
        return of_lists(xs, Turned.apply)

    def second(function):
        xs = [*leaves(), gs.tensor([0.5, 1.5, -1.0])]
        first, last = function(xs)
        rows = gs.autograd.grad(first * last, xs[:2], create_graph=True)
        rows = gs.autograd.grad((rows[0] * rows[1]).sum(), xs[:2], create_graph=True)
        return [row.tolist() for row in gs.autograd.grad(rows[0].prod(), xs[:2])]

    np.testing.assert_allclose(second(gs.differentiable(of_turned)), second(of_turned), rtol=1e-10)


class Once(Turned):
    @staticmethod
    @once_differentiable
    def backward(ctx, d_out):
        (x,) = ctx.saved_tensors
        return 2 * d_out * x


@pytest.mark.parametrize("wrapped", [lambda f: f, gs.differentiable], ids=["eager", "compiled"])
def test_what_is_differentiable_once_is_refused_by_the_second_backward(wrapped):
    x, _ = leaves()
    (gradient,) = gs.autograd.grad(
        wrapped(lambda x: (Once.apply(x) * x).sum())(x), x, create_graph=True
    )
    np.testing.assert_allclose(gradient.detach(), 3 * X**2)
    with pytest.raises(Exception, match="differentiate twice a function that was marked"):
        gs.autograd.grad(gradient.sum(), x)


def test_an_argument_changed_before_the_second_backward_is_an_error():
    x = gs.tensor(X, requires_grad=True)
    y = x * 1
    (gradient,) = gs.autograd.grad(
        gs.differentiable(lambda y: Turned.apply(y).sum())(y), y, create_graph=True
    )
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        gs.autograd.grad(gradient.sum(), x)


def test_saved_tensors_hooks_see_what_higher_derivatives_keep():
    packed = []

    def pack(tensor):
        packed.append(tensor.shape)
        return tensor

    x, w = leaves()
    with gs.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        (gradient,) = gs.autograd.grad(gs.differentiable(one_call)(x, w), x, create_graph=True)
        count = len(packed)
        (second,) = gs.autograd.grad(gradient.sum(), x, create_graph=True)
    assert 0 < count < len(packed)
    x, w = leaves()
    (plain,) = gs.autograd.grad(one_call(x, w), x, create_graph=True)
    np.testing.assert_allclose(second.detach(), gs.autograd.grad(plain.sum(), x)[0])


@pytest.mark.parametrize("rule", [lambda x: x**3, Turned.apply], ids=["true", "given"])
def test_what_a_call_prints_is_printed_once(rule, capsys):
    @gs.differentiable
    def f(x):
        for k in range(2):
            print("iteration", k)
        return rule(x).sum()

    x, _ = leaves()
    (gradient,) = gs.autograd.grad(f(x), x, create_graph=True)
    gs.autograd.grad(gradient.sum(), x)
    with forward_ad.dual_level():
        f(forward_ad.make_dual(x.detach(), gs.ones(3)))
    assert capsys.readouterr().out == 2 * "iteration 0\niteration 1\n"


class OfLength(gs.autograd.Function):
    """A backward that cannot be given zeros."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, d_out):
        (x,) = ctx.saved_tensors
        return d_out / d_out.norm() * x


def of_several_results(x, w):
    return OfLength.apply(x) * w, x * w, OfLength.apply(x * w)


@pytest.mark.parametrize("used", range(3))
def test_rules_for_results_that_nobody_uses_do_not_run(used):
    def found(function):
        x, w = leaves()
        out = function(x, w)[used]
        rows = gs.autograd.grad(out.sum(), (x, w), retain_graph=True)
        first = gs.autograd.grad(out.sum(), (x, w), create_graph=True)
        second = gs.autograd.grad(first[0].sum() + first[1].prod(), (x, w), allow_unused=True)
        return [row.tolist() for row in (*rows, *first, *second)]

    expected = found(of_several_results)
    np.testing.assert_allclose(found(gs.differentiable(of_several_results)), expected, rtol=1e-12)


def test_parameters_have_any_names() -> None:
    op = gs.primitive(lambda self, callee: self * callee)
    op.adjoint(lambda out, x, y, *, d_out: (d_out * y, d_out * x))
    for compile in (True, False):
        gradient = gs.grad(lambda x: np.sum(op(x, W)), compile=compile)
        np.testing.assert_array_equal(gradient(X), W)
    np.testing.assert_array_equal(op(self=X, callee=W), X * W)


def test_a_refused_second_derivative_shows_no_code_of_ours() -> None:
    total = gs.primitive(lambda x: np.sum(x**3))
    total.adjoint(lambda out, x, *, d_out: d_out * np.array(memoryview(3 * x**2).tolist()))
    for compiled in (True, False):
        with pytest.raises(NoDerivativeError, match="would have to be differentiated") as caught:
            gs.hessian(lambda x: total(x * 2), compile=compiled)(np.ones(2))
        assert "<gradscribe" not in str(caught.value)


RULES_THAT_STORE = {
    "the argument": "x *= 2; return d_out * np.cos(x / 2)",
    "the result": "out[:] = np.cos(x); return out * d_out",
    "the cotangent": "d_out *= np.cos(x); return d_out",
    "into by a function": "return np.multiply(d_out, np.cos(x), out=x)",
}


@pytest.mark.parametrize("stored", RULES_THAT_STORE)
@pytest.mark.parametrize("compile", [True, "auto", False])
def test_what_a_rule_stores_to_is_its_own(stored, compile, tmp_path) -> None:
    lines = RULES_THAT_STORE[stored].replace("; ", "\n    ")
    text = f"import numpy as np\ndef rule(out, x, *, d_out):\n    {lines}\n"
    path = tmp_path / "rules.py"
    path.write_text(text)
    namespace: dict[str, object] = {}
    exec(builtins.compile(text, str(path), "exec"), namespace)
    op, usual = gs.primitive(lambda x: np.sin(x)), gs.primitive(lambda x: np.sin(x))
    op.adjoint(namespace["rule"])
    usual.adjoint(lambda out, x, *, d_out: d_out * np.cos(x))

    def found(operation):
        def f(x):
            return np.sum(operation(x) * x)

        gradient = gs.grad(f, compile=compile)
        forward = gs.jvp(f, (X,), (W,), compile=compile)
        hessian = gs.hessian(f, compile=compile)(X)
        return [gradient(X), forward[1], hessian, gs.jvp(gradient, (X,), (W,))[1]]

    for own, expected in zip(found(op), found(usual), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-12)


@gs.primitive
def scaled(x, y, /, *, by):
    return np.sin(x) * y * by


@scaled.adjoint
def _(out, x, y, *, by, d_out):
    return d_out * np.cos(x) * y * by, d_out * np.sin(x) * by, np.sum(d_out * np.sin(x) * y)


@gs.primitive
def scaled_in_both(x, y, /, *, by):
    return np.sin(x) * y * by


@scaled_in_both.adjoint
def _(out, x, y, /, *, d_out, by):
    eval("0")  # it is called as it is
    return d_out * np.cos(x) * y * by, d_out * np.sin(x) * by, np.sum(d_out * np.sin(x) * y)


@scaled_in_both.tangent
def _(out, x, y, *, by, d_x, d_y, d_by):
    return np.cos(x) * d_x * y * by + np.sin(x) * (d_y * by + y * d_by)


@pytest.mark.parametrize("op", [scaled, scaled_in_both])
@pytest.mark.parametrize("compile", [True, "auto", False])
def test_parameters_are_given_by_name_or_by_place_alone(op, compile) -> None:
    def f(x):
        return np.sum(op(x, W, by=x[1]) * x)

    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gs.grad(f, compile=compile)(X), expected, rtol=1e-7, atol=1e-7)
    if op is scaled or compile is True:
        found = [gs.jvp(f, (X,), (along,), compile=compile)[1] for along in np.eye(3)]
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "rule", "parameters"),
    [
        ("adjoint", lambda out, x, *, d_out: d_out, "out, x, y, *, d_out"),
        ("adjoint", lambda out, x, y: x, "out, x, y, *, d_out"),
        ("adjoint", lambda out, x, y, *, d_out, of: d_out, "out, x, y, *, d_out"),
        ("tangent", lambda out, x, y, *, d_x: d_x, "out, x, y, *, d_x, d_y"),
    ],
)
def test_a_rule_of_other_parameters_is_refused_where_it_is_given(kind, rule, parameters) -> None:
    op = gs.primitive(lambda x, y: x * y)
    with pytest.raises(ArgumentError, match="cannot be called as it will be") as caught:
        getattr(op, kind)(rule)
    assert caught.value.advice == f"give it the parameters ({parameters})"
    assert caught.value.location.line == rule.__code__.co_firstlineno


def test_the_tangent_of_a_recorded_call_does_not_run_its_function_again():
    calls = []

    @gs.primitive
    def tripled(a, scale):
        calls.append(1.0)
        return a * scale

    @tripled.like
    def _(a, scale):
        return a * scale

    @tripled.adjoint
    def _(out, a, scale, *, d_out):
        return d_out * scale, np.sum(d_out * a)

    @tripled.tangent
    def _(out, a, scale, *, d_a, d_scale):
        return d_a * scale + a * d_scale + 0 * out

    def f(x):
        return np.sum(tripled(x, 3.0) ** 2) * len(calls)

    x = np.array([1.0, 2.0])
    assert gs.jvp(f, (x,), (np.ones(2),), compile=False) == (45.0, 54.0)
    assert len(calls) == 1
    assert gs.jvp(f, (x,), (np.ones(2),), compile=False) == (90.0, 108.0)
    assert len(calls) == 2


def test_a_rule_may_call_its_operation_with_other_arguments():
    @gs.primitive
    def sine(a):
        return np.sin(a)

    @sine.adjoint
    def _(out, a, *, d_out):
        return np.cos(a) * d_out

    @sine.tangent
    def _(out, a, *, d_a):
        return sine(a + np.pi / 2) * d_a

    x = np.array([0.3, 0.4])
    for compile in (True, False):
        _, tangent = gs.jvp(sine, (x,), (np.ones(2),), compile=compile)
        np.testing.assert_allclose(tangent, np.cos(x))


class Outside:
    """What rules read outside of themselves."""

    number = 2.0
    table: typing.ClassVar = {"rate": 2.0}
    items: typing.ClassVar = [2.0]
    array = np.array([2.0])

    @classmethod
    def set(cls, value):
        cls.number = value
        cls.table["rate"] = cls.items[0] = value
        cls.array = np.array([value])


READ = {
    "number": lambda: Outside.number,
    "table": lambda: Outside.table["rate"],
    "items": lambda: Outside.items[0],
    "array": lambda: Outside.array[0],
    "condition": lambda: 2.0 if Outside.number < 2.5 else 3.0,
}


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}])
@pytest.mark.parametrize("read", READ.values(), ids=READ)
def test_a_rule_reads_what_is_outside_of_it_when_it_runs(read, options):
    @gs.primitive
    def scaled(a):
        return a * read()

    @scaled.adjoint
    def _(out, a, *, d_out):
        return d_out * read()

    @scaled.tangent
    def _(out, a, *, d_a):
        return d_a * read()

    gradient = gs.grad(lambda x: np.sum(scaled(x)), **options)
    for value in (2.0, 3.0, 2.0):
        Outside.set(value)
        assert gradient(X).tolist() == [value] * 3
        assert gs.jvp(scaled, (X,), (X,), **options)[1].tolist() == (value * X).tolist()


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}])
def test_a_tangent_may_call_compiled_code(options):
    def smooth(a):
        return scipy.ndimage.uniform_filter1d(a, 3, mode="constant")

    @gs.primitive
    def smoothed(a):
        return smooth(a)

    @smoothed.adjoint
    def _(out, a, *, d_out):
        return smooth(d_out)

    @smoothed.tangent
    def _(out, a, *, d_a):
        return smooth(d_a)

    def loss(x):
        return np.sum(W * smoothed(x))

    value, tangent = gs.jvp(loss, (X,), (W,), **options)
    assert (value, tangent) == (np.sum(W * smooth(X)), np.sum(W * smooth(W)))
    columns = np.stack([smooth(row) for row in np.eye(3)], axis=1)
    np.testing.assert_allclose(gs.jacfwd(smoothed, **options)(X), columns)


class Ticks:
    count = 0.0


@gs.primitive
def tick():
    Ticks.count += 1.0
    return Ticks.count


@tick.like
def _():
    return 0.0


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}])
@pytest.mark.parametrize("derive", [gs.grad, gs.jacrev, lambda f, **o: gs.value_and_grad(f, **o)])
def test_calls_of_a_primitive_are_neither_merged_nor_change_places(derive, options):
    def function(x):
        return tick() * x[0] + tick() * x[1] + tick() * x[2] ** 2

    for _ in range(2):
        Ticks.count = 0.0
        found = derive(function, **options)(X)
        gradient = found[1] if isinstance(found, tuple) else found
        assert gradient.tolist() == [1.0, 2.0, 6.0 * X[2]]
        assert Ticks.count == 3.0


def drawing() -> Any:
    """A primitive that draws a number in each call, and what restarts it; it tells how often it is
    called."""
    state: dict[str, Any] = {}

    def start() -> None:
        state.update(random=np.random.default_rng(0), calls=0)

    def scaled(x):
        state["calls"] += 1
        return x * state["random"].normal()

    start()
    op = gs.primitive(scaled)
    op.like(lambda x: x * 1.0)
    op.adjoint(lambda out, x, *, d_out: d_out * out / x)
    op.tangent(lambda out, x, *, d_x: d_x * out / x)
    return op, start, state


@pytest.mark.parametrize("transform", [gs.grad, gs.jacfwd, gs.jacrev], ids=lambda t: t.__name__)
def test_a_primitive_that_draws_is_called_as_often_as_the_program_says(transform: Any) -> None:
    op, start, state = drawing()

    def once(x):
        return np.sum(op(x) * x)

    def twice(x):
        total = 0.0
        for _ in range(2):
            total = total + np.sum(op(x) * x)
        return total

    for function, count in ((once, 1), (twice, 2)):
        start()
        expected = gs.grad(function, compile=False)(X)
        start()
        try:
            found = transform(function)(X)
        except UnsupportedError as error:
            assert transform is gs.jacfwd and function is twice and "pure=True" in error.advice
            continue
        assert state["calls"] == count
        np.testing.assert_allclose(found, expected)
