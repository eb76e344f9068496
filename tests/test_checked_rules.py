"""What rules of users return is checked, wherever they are used: a wrong result is an error that
shows the rule, and what PyTorch allows is right."""

import functools
import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.autograd import forward_ad
from gradscribe.errors import ArgumentError, NoDerivativeError, RuleError, UnsupportedError
from tests.sampling import one_in

X = np.array([1.0, 2.0, 3.0])


def doubled(x):
    return x * 2


def primitive(rule, kind="adjoint", function=doubled):
    op = gs.primitive(function)
    getattr(op, kind)(rule)
    return op


def called(rule):
    """The rule, as one that cannot be compiled."""

    def not_compiled(out, *operands, **derivatives):
        eval("0")
        return rule(out, *operands, **derivatives)

    return not_compiled


def leaf():
    return gs.tensor(X, requires_grad=True)


def recursive(op, x, n):
    return np.sum(op(x)) if n == 0 else recursive(op, x * 2, n - 1)


def loop(op, x):
    for _ in range(2):
        x = op(x)
    return np.sum(x)


def once(op):
    def f(x):
        return (op(x) * x).sum()

    return f


def looped(op):
    def f(x):
        return loop(op, x)

    return f


def recursively(op):
    def f(x):
        return recursive(op, x, 2)

    return f


USES = {
    "grad": lambda op: gs.grad(once(op))(X),
    "loop": lambda op: gs.grad(looped(op))(X),
    "recursion": lambda op: gs.grad(recursively(op))(X),
    "order two": lambda op: gs.hessian(once(op))(X),
    "forward mode": lambda op: gs.jvp(once(op), (X,), (X,)),
    "compiled on Tensors": lambda op: gs.differentiable(once(op))(leaf()).backward(),
    "as it is": lambda op: gs.grad(once(op), compile=False)(X),
    "eager": lambda op: (op(leaf()) * 2).sum().backward(),
}
REVERSE = ["grad", "loop", "recursion", "compiled on Tensors", "as it is", "eager"]

WRONG = {
    "longer": lambda out, x, *, d_out: np.concatenate([d_out, d_out]),
    "a sum": lambda out, x, *, d_out: np.sum(d_out),
    "a number": lambda out, x, *, d_out: 2.0,
    "a column": lambda out, x, *, d_out: d_out[:, None],
    "as long as the run says": lambda out, x, *, d_out: d_out[x > np.min(x)],
    "two": lambda out, x, *, d_out: (d_out, d_out),
    "none": lambda out, x, *, d_out: (),
    "items": lambda out, x, *, d_out: [2.0, 2.0, 2.0],
    "nested": lambda out, x, *, d_out: ((2 * d_out,),),
    "a dict": lambda out, x, *, d_out: {"x": 2 * d_out},
    "complex": lambda out, x, *, d_out: d_out * 2j,
    "integers": lambda out, x, *, d_out: (2 * d_out).astype(int),
    "truth values": lambda out, x, *, d_out: d_out > 0,
}


@pytest.mark.parametrize(("name", "use"), one_in(5, itertools.product(WRONG, USES)))
def test_a_wrong_cotangent_is_an_error_at_the_rule(name, use):
    rule = WRONG[name]
    with pytest.raises(RuleError) as caught:
        USES[use](primitive(rule))
    assert isinstance(caught.value, (TypeError, ValueError, RuntimeError))
    assert caught.value.what.startswith("the adjoint of `doubled` gives ")
    place = caught.value.location
    assert (place.filename, place.line) == (__file__, rule.__code__.co_firstlineno)


@pytest.mark.parametrize(("name", "use"), one_in(5, itertools.product(WRONG, REVERSE)))
def test_so_it_is_where_the_rule_is_called(name, use):
    with pytest.raises(RuleError) as caught:
        USES[use](primitive(called(WRONG[name])))
    assert "eval" in linecache.getline(__file__, caught.value.location.line + 1)


RIGHT = {
    "one": lambda out, x, *, d_out: 2 * d_out,
    "a tuple": lambda out, x, *, d_out: (2 * d_out,),
    "a list": lambda out, x, *, d_out: [2 * d_out],
    "with None after it": lambda out, x, *, d_out: (2 * d_out, None),
    "to be summed": lambda out, x, *, d_out: np.stack([d_out, d_out]),
    "of another precision": lambda out, x, *, d_out: (2 * d_out).astype(np.float32),
    "as long as the run says": lambda out, x, *, d_out: (2 * d_out)[x > 0],
}


@pytest.mark.parametrize("as_given", [lambda rule: rule, called], ids=["compiled", "called"])
@pytest.mark.parametrize("rule", RIGHT.values(), ids=RIGHT)
def test_what_fits_is_right(rule, as_given):
    op = primitive(as_given(rule))

    def f(x):
        return np.sum(op(x) * x)

    np.testing.assert_allclose(gs.grad(f)(X), 4 * X)
    x = leaf()
    f(x).backward()
    np.testing.assert_allclose(x.grad, 4 * X)
    if as_given is not called:
        np.testing.assert_allclose(gs.jvp(f, (X,), (X,))[1], 4 * X @ X)
        np.testing.assert_allclose(gs.hessian(f)(X), 4 * np.eye(3))


def test_errors_of_eager_calls_show_no_code_of_the_package():
    op = gs.primitive(doubled)
    with pytest.raises(NoDerivativeError) as caught:
        op(leaf())
    assert caught.value.location is None
    assert caught.value.advice == "give it one by `@doubled.adjoint`"


def test_none_is_zero_in_both_modes():
    op = primitive(lambda out, x, *, d_out: None)
    assert gs.grad(lambda x: np.sum(op(x) * x))(X).tolist() == (2 * X).tolist()
    assert gs.jvp(lambda x: np.sum(op(x) * x), (X,), (X,))[1] == 2 * X @ X
    assert gs.hessian(lambda x: np.sum(op(x) * x))(X).tolist() == np.zeros((3, 3)).tolist()


@pytest.mark.parametrize("as_given", [lambda rule: rule, called], ids=["compiled", "called"])
def test_whole_numbers_of_python_are_derivatives_of_numbers(as_given):
    op = primitive(as_given(lambda out, x, *, d_out: d_out if x > 0 else 0))
    assert gs.grad(lambda x: op(x) * 3)(2.0) == 3.0
    assert gs.grad(lambda x: op(x) * 3)(-2.0) == 0.0


WRONG_TANGENTS = {
    "longer": lambda out, x, *, d_x: np.concatenate([d_x, d_x]),
    "broadcast": lambda out, x, *, d_x: np.stack([d_x, d_x]),
    "a number": lambda out, x, *, d_x: 2.0,
    "two": lambda out, x, *, d_x: (d_x, d_x),
    "complex": lambda out, x, *, d_x: d_x * 2j,
    "integers": lambda out, x, *, d_x: (2 * d_x).astype(int),
}


@pytest.mark.parametrize("as_given", [lambda rule: rule, called], ids=["compiled", "called"])
@pytest.mark.parametrize("rule", WRONG_TANGENTS.values(), ids=WRONG_TANGENTS)
def test_a_wrong_tangent_is_an_error_at_the_rule(rule, as_given):
    op = primitive(as_given(rule), "tangent")
    with pytest.raises(RuleError, match="the tangent of `doubled` gives ") as caught:
        gs.jvp(lambda x: np.sum(op(x) * x), (X,), (X,))
    assert caught.value.location.filename == __file__


def test_the_message_shows_the_rule():
    op = primitive(WRONG["longer"])
    with pytest.raises(RuleError) as caught:
        gs.grad(lambda x: np.sum(op(x)))(X)
    line = WRONG["longer"].__code__.co_firstlineno
    text = linecache.getline(__file__, line).strip()
    assert str(caught.value).splitlines()[:3] == [
        "the adjoint of `doubled` gives a cotangent of shape (6,) for `x`, which has shape (3,)",
        f'  File "{__file__}", line {line}',
        f"    {text}",
    ]
    advice = str(caught.value).splitlines()[-1]
    assert advice == "Instead: return it in the shape of the value, or None for zero"


def powers(x, k):
    return x**k


def test_a_cotangent_that_is_left_out_must_be_of_what_has_none():
    op = primitive(lambda out, x, k, *, d_out: d_out * k * x ** (k - 1), function=powers)
    np.testing.assert_allclose(gs.grad(lambda x: np.sum(op(x, 3)))(X), 3 * X**2)
    with pytest.raises(RuleError) as caught:
        gs.grad(lambda x, k: np.sum(op(x, k)))(X, 3.0)
    assert caught.value.what == "the adjoint of `powers` gives 1 cotangent for 2 parameters"
    assert caught.value.advice == "return one for each of (x, k), and None for zero"


def product(pair):
    return pair[0] * pair[1]


PAIRED = {
    "a pair": lambda out, p, *, d_out: (d_out * p[1], d_out * p[0]),
    "in a tuple": lambda out, p, *, d_out: ((d_out * p[1], d_out * p[0]),),
}


@pytest.mark.parametrize("as_given", [lambda rule: rule, called], ids=["compiled", "called"])
@pytest.mark.parametrize("rule", PAIRED.values(), ids=PAIRED)
@pytest.mark.parametrize("of", [lambda x: (x, x**2), lambda x: [x, x**2]], ids=["tuple", "list"])
def test_the_cotangent_of_a_tuple_is_a_tuple(rule, as_given, of):
    op = primitive(as_given(rule), function=product)

    def f(x):
        return np.sum(op(of(x)))

    np.testing.assert_allclose(gs.grad(f)(X), 3 * X**2)
    if as_given is not called:
        np.testing.assert_allclose(gs.jvp(f, (X,), (X,))[1], 3 * np.sum(X**3))


def test_a_tuple_of_another_length():
    op = primitive(lambda out, pair, *, d_out: ((d_out, d_out, d_out),), function=product)
    with pytest.raises(RuleError, match="a tuple of 3 as the cotangent of `pair`, which is a tupl"):
        gs.grad(lambda x: np.sum(op((x, x))))(X)


def halves(x):
    return x[:1], x[1:]


@pytest.mark.parametrize("as_given", [lambda rule: rule, called], ids=["compiled", "called"])
def test_tangents_of_several_results(as_given):
    right = primitive(as_given(lambda out, x, *, d_x: (d_x[:1], d_x[1:])), "tangent", halves)
    swapped = primitive(as_given(lambda out, x, *, d_x: (d_x[1:], d_x[:1])), "tangent", halves)

    def f(op):
        return lambda x: np.sum(op(x)[0]) * np.sum(op(x)[1])

    assert gs.jvp(f(right), (X,), (np.ones(3),))[1] == 7
    with pytest.raises(RuleError, match=r"shape \(2,\) for its result\[0\], which has shape"):
        gs.jvp(f(swapped), (X,), (np.ones(3),))


# -- Functions -----------------------------------------------------------------------------------


def of_backward(result):
    class Given(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return result(gradient)

        @staticmethod
        def jvp(ctx, tangent):
            return result(tangent)

    return Given.apply


GRADIENTS = {
    "count": (lambda g: (g, g), "incorrect number of gradients"),
    "shape": (lambda g: gs.cat([g, g]), r"got \[6\] but expected shape compatible with \[3\]"),
    "shape of the run": (lambda g: g[g > 1], r"got \[2\] but expected shape compatible with \[3\]"),
    "dtype": (lambda g: g * 2j, "input_is_complex == grad_is_complex"),
    "structure": (lambda g: [g], r"expected Variable or None \(got list\)"),
}


@pytest.mark.parametrize("wrapped", [lambda f: f, gs.differentiable], ids=["eager", "compiled"])
@pytest.mark.parametrize(("result", "text"), GRADIENTS.values(), ids=GRADIENTS)
def test_a_wrong_gradient_of_a_function_is_an_error_at_its_backward(wrapped, result, text):
    apply = of_backward(result)
    with pytest.raises(RuntimeError, match=text) as caught:
        wrapped(lambda x: apply(x) * 1)(leaf()).backward(gs.tensor(X))
    assert isinstance(caught.value, RuleError)
    assert "def backward(ctx, gradient):" in str(caught.value)
    assert caught.value.advice.startswith("return for each argument of `forward` a gradient of it")


@pytest.mark.parametrize("wrapped", [lambda f: f, gs.differentiable], ids=["eager", "compiled"])
def test_a_wrong_tangent_of_a_function_is_an_error_at_its_jvp(wrapped):
    apply = of_backward(lambda t: gs.cat([t, t]))
    with forward_ad.dual_level(), pytest.raises(RuleError, match="different size") as caught:
        wrapped(apply)(forward_ad.make_dual(gs.tensor(X), gs.tensor(X)))
    assert "def jvp(ctx, tangent):" in str(caught.value)
    assert caught.value.advice.startswith("return for each result of `forward` a tangent of its")


# -- memory --------------------------------------------------------------------------------------

KEPT = []
BUFFERS = {n: np.empty(n) for n in range(20)}


def buffered(x):
    return np.multiply(x, 2, out=BUFFERS[len(x)])


def kept(x):
    KEPT.append(x)
    return KEPT[0] * 2


MEMORY = {
    "the argument": lambda x: x,
    "a view of it": lambda x: x[::-1],
    "a view in a tuple": lambda x: (x[:], 0)[0],
    "memory that is used again": buffered,
}


@pytest.mark.parametrize("function", MEMORY.values(), ids=MEMORY)
def test_results_have_memory_of_their_own(function):
    op = primitive(lambda out, x, *, d_out: function(d_out).copy(), function=function)

    def f(x):
        total = 0.0
        y = x * 1.0
        for _ in range(3):
            z = op(y)
            w = op(y)
            z[0] = 5.0
            total = total + np.sum(z * w * w)
            y[1] = y[1] * 2
        return total

    steps = 1e-6 * np.eye(3)
    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gs.grad(f)(X), expected, rtol=1e-6)


def test_what_a_primitive_keeps_is_not_changed_later():
    KEPT.clear()
    op = primitive(lambda out, x, *, d_out: None, function=kept)
    op.like(doubled)

    def f(x):
        total = 0.0
        y = x * 0 + 1
        for k in range(3):
            total = total + np.sum(op(y) * x)
            y = y * 2
            y += 1
        return total

    expected = f(X)
    KEPT.clear()
    value, gradient = gs.value_and_grad(f)(X)
    assert value == expected
    assert gradient.tolist() == [6, 6, 6]


def fill_first(arrays):
    arrays[0][...] = 0.0
    return arrays[1] * 2


def replaced(arrays):
    arrays[0] = arrays[0] * 2
    return arrays[0]


def filled(named):
    named["out"][:1] = 3.0
    return named["x"] * 1


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (fill_first, (np.ones(2), np.ones(2))),
        (fill_first, [np.ones(2), np.ones(2)]),
        (replaced, [np.ones(2)]),
        (filled, {"out": np.ones(2), "x": np.ones(2)}),
        (lambda x: x[1:].fill(0.0), np.ones(3)),
    ],
)
def test_what_is_written_in_containers_and_through_views_is_an_error(function, argument):
    with pytest.raises(ArgumentError, match="wrote to an argument") as caught:
        gs.primitive(function)(argument)
    assert caught.value.location.line == function.__code__.co_firstlineno


def test_a_second_derivative_is_to_be_made_a_primitive_too():
    @gs.primitive
    def cubed(x):
        return np.array([v**3 for v in x.tolist()])

    @cubed.adjoint
    def _(out, x, *, d_out):
        return d_out * slope(x)

    @gs.primitive
    def slope(x):
        return np.array([3 * v**2 for v in x.tolist()])

    def f(x):
        return np.sum(cubed(x))

    np.testing.assert_allclose(gs.grad(f)(X), 3 * X**2)
    with pytest.raises(NoDerivativeError, match=r"give it one by `@slope.adjoint`"):
        gs.hessian(f)(X)

    @slope.adjoint
    def _(out, x, *, d_out):
        return d_out * 6 * x

    np.testing.assert_allclose(gs.hessian(f)(X), np.diag(6 * X))


# -- what its results are, and what it reads -------------------------------------------------------


def test_results_are_of_one_type_for_arguments_of_the_same_types() -> None:
    operation = gs.primitive(lambda v: 2 * v if v[0] > 0.5 else np.sum(v))
    operation.adjoint(lambda out, v, *, d_out: 2 * d_out if np.ndim(out) else d_out * np.ones(3))
    x = np.array([0.3, -0.8, 0.5])

    def function(x):
        return np.sum(operation(x)) + np.sum(operation(x + 1))

    for options in ({}, {"compile": False}):
        with pytest.raises(ArgumentError, match=r"returned .*, and .* for other arguments"):
            gs.grad(function, **options)(x)


def test_lengths_of_results_follow_those_of_the_arguments_as_in_the_examples() -> None:
    operation = gs.primitive(lambda v: v[v > 0] * 2)

    @operation.adjoint
    def _(out, v, *, d_out):
        found = np.zeros_like(v)
        found[v > 0] = 2 * d_out
        return found

    gradient = gs.grad(lambda x: np.sum(operation(x)) * x[0])
    gradient(np.ones(3))
    with pytest.raises(ArgumentError, match=r"returned an array of shape \(2,\)"):
        gradient(np.array([0.3, -0.8, 0.5]))


def test_a_length_of_one_in_the_examples_is_no_constant() -> None:
    @gs.primitive
    def repeated(v, n):
        return np.concatenate([v] * n)

    repeated.adjoint(lambda out, v, n, *, d_out: (np.sum(d_out.reshape(n, -1), axis=0), None))
    gradient = gs.grad(lambda v, n: np.sum(repeated(v, n) ** 2))
    for length in (1, 2, 3):
        for n in (1, 2, 4):
            np.testing.assert_array_equal(gradient(np.ones(length), n), np.full(length, 2.0 * n))


def test_results_of_all_kinds_are_as_their_examples() -> None:
    @gs.primitive
    def scaled(v, by, axis=None, names=("a", "b")):
        return np.sum(v, axis=axis) * by["k"] if isinstance(by, dict) else v * by, len(names) * v

    @scaled.adjoint
    def _(out, v, by, axis, names, *, d_out):
        return d_out[0] * by + 2 * d_out[1], np.sum(d_out[0] * v), None, None

    for v, by in ((np.ones(3), 2.0), (np.ones((2, 3)), np.float64(3.0)), (np.ones(0), 1)):
        total = gs.grad(lambda v, by=by: sum(map(np.sum, scaled(v, by))))
        np.testing.assert_array_equal(total(v), np.full(v.shape, by + 2.0))


TABLE = np.ones(3)
PICKED = [1.0]
look_up = gs.primitive(lambda v: float(np.sum(v) * TABLE[1]), pure=True)
multiplied = gs.primitive(lambda v: v * PICKED[0])
multiplied.adjoint(lambda out, v, *, d_out: d_out * PICKED[0])


def of_a_table(x):
    TABLE[1] = 1.0
    return look_up(np.ones(3)) * np.sum(x**2)


def of_a_list(x):
    PICKED[0] = x[0]
    y = multiplied(x)
    PICKED[0] = 1.0
    return np.sum(y)


@pytest.mark.parametrize("function", [of_a_table, of_a_list])
def test_it_reads_nothing_from_outside_that_the_program_changes(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="is both read and changed"):
        gs.grad(function)(np.array([0.3, -0.8, 0.5]))


@pytest.mark.parametrize(
    "function",
    [len, functools.partial(lambda a, v: a, 3), lambda v, /, k=3: k],
    ids=["built in", "partial", "positional"],
)
def test_functions_of_any_kind_are_primitives(function: Any) -> None:
    operation = gs.primitive(function, pure=True)
    for options in ({}, {"compile": False}):
        gradient = gs.grad(lambda x: np.sum(operation(np.ones(3)) * x), **options)
        assert gradient(np.ones(2)).tolist() == [3.0, 3.0]


def test_a_ufunc_is_none() -> None:
    with pytest.raises(ArgumentError, match="name them"):
        gs.primitive(np.sin)
