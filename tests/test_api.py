"""The functional transforms: gradients in any nesting, products with derivatives, compositions."""

import copy
import dataclasses
import functools
import inspect
import linecache
from collections import namedtuple

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from tests.programs.targets import arrays, control_flow, inplace

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape)


def x2_exp(x):
    return x**2 * np.exp(x)


# -- grad ----------------------------------------------------------------------------------------


def test_the_gradient_of_a_formula_is_the_hand_derivative():
    x = 1.5
    assert gs.grad(x2_exp)(x) == pytest.approx((2 * x + x**2) * np.exp(x), rel=1e-14)


def test_second_and_third_derivatives_compose():
    x = 0.7
    second, third = gs.grad(gs.grad(x2_exp)), gs.grad(gs.grad(gs.grad(x2_exp)))
    assert second(x) == pytest.approx((2 + 4 * x + x**2) * np.exp(x), rel=1e-13)
    assert third(x) == pytest.approx((6 + 6 * x + x**2) * np.exp(x), rel=1e-13)
    assert gs.grad(gs.grad(lambda x: x**2))(5.0) == 2.0


def test_mixed_second_derivatives():
    def f(x, y):
        return x**3 * y**2

    assert gs.grad(gs.grad(f, 0), 1)(2.0, 3.0) == 72.0
    assert gs.grad(gs.grad(f, 1), 0)(2.0, 3.0) == 72.0
    assert gs.grad(gs.grad(f, 0), (0, 1))(2.0, 3.0) == (108.0, 72.0)


def test_argnums_choose_and_order_the_result():
    def f(x, y, z):
        return x * y**2 * z**3

    assert gs.grad(f, 1)(2.0, 3.0, 1.0) == 12.0
    assert gs.grad(f, (2, 0))(2.0, 3.0, 1.0) == (54.0, 9.0)
    assert gs.grad(f, (2, 0, 1))(2.0, 3.0, 1.0) == (54.0, 9.0, 12.0)
    assert gs.grad(f, (0,))(2.0, 3.0, 1.0) == (9.0,)
    assert gs.grad(f, -1)(2.0, 3.0, 1.0) == 54.0


def test_keyword_arguments_and_defaults():
    def f(x, scale=3.0, *, power=2):
        return scale * x**power

    gradient = gs.grad(f)
    assert gradient(2.0) == 12.0
    assert gradient(2.0, power=3) == 36.0
    assert gradient(x=2.0, scale=1.0) == 4.0


def test_value_and_grad_runs_the_function_once():
    value, gradient = gs.value_and_grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    assert value == 5.0
    np.testing.assert_array_equal(gradient, [2.0, 4.0])


def test_aux_is_returned_and_not_differentiated():
    def f(x):
        y = np.sum(x**2)
        return y, {"double": 2 * x, "count": 3}

    x = np.array([1.0, 2.0])
    gradient, aux = gs.grad(f, has_aux=True)(x)
    np.testing.assert_array_equal(gradient, [2.0, 4.0])
    np.testing.assert_array_equal(aux["double"], [2.0, 4.0])
    (value, aux), gradient = gs.value_and_grad(f, has_aux=True)(x)
    assert (value, aux["count"]) == (5.0, 3)
    np.testing.assert_array_equal(gradient, [2.0, 4.0])


def test_the_gradient_has_a_source_after_a_call():
    gradient = gs.grad(x2_exp)
    with pytest.raises(errors.NotSpecializedError):
        gradient.source
    gradient(1.0)
    assert gradient.source.startswith("def x2_exp_gradient(x, ")


def test_gradients_work_on_decorated_functions():
    assert gs.grad(gs.differentiable(x2_exp))(1.0) == pytest.approx(3 * np.e)


Pair = namedtuple("Pair", "w b")


@dataclasses.dataclass
class Layer:
    w: object
    b: object
    activation: str = "tanh"


CONTAINERS = {
    "tuple": lambda w, b: (w, b),
    "list": lambda w, b: [w, b],
    "dict": lambda w, b: {"w": w, "b": b},
    "namedtuple": Pair,
    "dataclass": Layer,
}


def use_tuple(p, x):
    w, b = p
    return np.sum(np.tanh(x @ w + b))


def use_dict(p, x):
    return np.sum(np.tanh(x @ p["w"] + p["b"]))


def use_fields(p, x):
    return np.sum(np.tanh(x @ p.w + p.b))


USES = {
    "tuple": use_tuple,
    "list": use_tuple,
    "dict": use_dict,
    "namedtuple": use_fields,
    "dataclass": use_fields,
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_gradients_have_the_structure_of_the_arguments(kind):
    w, b, x = normal(3, 2), normal(2), normal(5, 3)
    make = CONTAINERS[kind]
    gradient = gs.grad(USES[kind])(make(w, b), x)
    assert type(gradient) is type(make(w, b))
    slope = 1 - np.tanh(x @ w + b) ** 2
    expected = {"w": x.T @ slope, "b": slope.sum(axis=0)}
    found = gradient if kind == "dict" else dict(zip("wb", _parts(gradient), strict=True))
    for name in "wb":
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)


def _parts(gradient):
    return (gradient.w, gradient.b) if isinstance(gradient, Layer) else gradient


def test_leaves_without_derivative_get_none():
    gradient = gs.grad(lambda p: p[0] * p[1])((2.0, 3))
    assert gradient == (3.0, None)


def test_the_caller_s_arrays_are_not_changed():
    A = normal(6, 6)
    before = A.copy()
    gs.grad(inplace.seidel)(A, 2)
    gs.value_and_grad(inplace.seidel)(A, 2)
    gs.vjp(lambda A: inplace.seidel(A, 2), A)[1](1.0)
    np.testing.assert_array_equal(A, before)


def test_gradients_alias_neither_each_other_nor_the_inputs():
    x, y = normal(3), normal(3)
    d_x, d_y = gs.grad(lambda x, y: np.sum(x + y), (0, 1))(x, y)
    assert not np.shares_memory(d_x, d_y)
    d_x, d_y = gs.grad(lambda x, y: np.sum(x * y), (0, 1))(x, y)
    assert not np.shares_memory(d_x, y)
    (d_z,) = gs.vjp(lambda z: z, x)[1](y)
    assert not np.shares_memory(d_z, y)


def test_float32_stays_float32():
    x = np.ones(3, np.float32)
    assert gs.grad(lambda x: np.sum(x * 2.5))(x).dtype == np.float32


def test_a_number_of_single_precision_keeps_it_beside_arrays_of_double_precision():
    gradient = gs.grad(lambda s, x: np.sum(s * x * x))(np.float32(2), np.arange(3.0))
    assert (type(gradient), gradient) == (np.float32, 5.0)


def test_methods_partials_and_callable_objects():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        def loss(self, x):
            return self.scale * x * x

        def __call__(self, x):
            return self.loss(x)

    model = Model(3.0)
    assert gs.grad(model.loss)(2.0) == 12.0
    assert gs.grad(model)(2.0) == 12.0
    assert gs.grad(functools.partial(lambda a, x: a * x**2, 5.0))(2.0) == 20.0


# -- vjp, jvp, hvp -------------------------------------------------------------------------------


def test_vjp_and_jvp_are_transposes():
    def f(x, p):
        return {"y": np.outer(x, p[0]), "z": np.sum(x) * p[1]}

    x, p = normal(3), (normal(2), 0.5)
    out, pullback = gs.vjp(f, x, p)
    direction = normal(3), (normal(2), 0.3)
    cotangent = {"y": normal(3, 2), "z": 0.7}
    same, tangent = gs.jvp(f, (x, p), direction)
    np.testing.assert_array_equal(out["y"], same["y"])
    left = np.sum(cotangent["y"] * tangent["y"]) + cotangent["z"] * tangent["z"]
    d_x, d_p = pullback(cotangent)
    right = d_x @ direction[0] + d_p[0] @ direction[1][0] + d_p[1] * direction[1][1]
    assert left == pytest.approx(right, rel=1e-12)
    d_x_again, _ = pullback(cotangent)
    np.testing.assert_array_equal(d_x, d_x_again)


def test_arguments_without_derivative_have_none_as_cotangent_and_need_no_tangent():
    def f(x, n):
        return x * n

    assert gs.vjp(f, 2.0, 3)[1](1.0) == (3.0, None)
    assert gs.jvp(f, (2.0, 3), (1.0, None)) == (6.0, 3.0)


def test_tangents_are_converted_to_the_type_of_their_primal():
    assert gs.jvp(lambda x: x * x, (2.0,), (1,)) == (4.0, 4.0)
    out, tangent = gs.jvp(lambda x: x * x, (np.ones(2, np.float32),), ([1, 2],))
    assert (out.dtype, tangent.dtype) == (np.float32, np.float32)


def test_a_tangent_of_another_shape_is_refused():
    with pytest.raises(errors.ArgumentError, match=r"tangent of shape \(3,\) for a value of shape"):
        gs.jvp(lambda x: np.sum(x), (np.ones(2),), (np.ones(3),))
    with pytest.raises(errors.ArgumentError, match="structure"):
        gs.vjp(lambda x: (x, x), 1.0)[1](1.0)


def test_the_pullback_has_a_source():
    assert gs.vjp(x2_exp, 1.0)[1].source.startswith("def x2_exp_adjoint(record, ")


def test_hvp_is_the_hessian_times_the_vector():
    A = normal(4, 4)
    x, v = normal(4), normal(4)

    def f(x):
        return 0.5 * x @ A @ x

    np.testing.assert_allclose(gs.hvp(f, x, v), 0.5 * (A + A.T) @ v, rtol=1e-12)
    np.testing.assert_allclose(gs.hvp(f, (x,), (v,))[0], 0.5 * (A + A.T) @ v, rtol=1e-12)


def test_hvp_runs_the_function_once():
    def drawn(x):
        return np.sum(np.random.rand(2) * x**3)

    np.random.seed(0)
    found = gs.hvp(drawn, np.ones(2), np.ones(2))
    after = np.random.rand()
    np.random.seed(0)
    np.testing.assert_allclose(found, 6 * np.random.rand(2))
    assert np.random.rand() == after


def test_hvp_through_several_arguments():
    d_x, d_y = gs.hvp(lambda x, y: x**2 * y, (2.0, 3.0), (1.0, 10.0))
    assert (d_x, d_y) == (2 * 3.0 + 2 * 2.0 * 10.0, 2 * 2.0)


# -- stop_gradient -------------------------------------------------------------------------------


def test_stop_gradient_cuts_in_both_modes_and_in_second_order():
    def f(x):
        return x * gs.stop_gradient(x)

    assert f(3.0) == 9.0
    assert gs.grad(f)(3.0) == 3.0
    assert gs.jvp(f, (3.0,), (1.0,)) == (9.0, 3.0)
    assert gs.grad(gs.grad(f))(3.0) == 0.0


def test_stop_gradient_of_a_literal_is_the_literal():
    assert gs.grad(lambda x: x * gs.stop_gradient(2.0))(3.0) == 2.0


@pytest.mark.parametrize("cotangent", ["a", 1j])
def test_a_cotangent_that_is_no_number_is_refused(cotangent):
    _, vjp = gs.vjp(lambda x: x * x, 1.0)
    with pytest.raises(errors.ArgumentError, match="as a cotangent, where a number is expected"):
        vjp(cotangent)


def test_stop_gradient_of_containers_cuts_each_part():
    def f(p):
        held = gs.stop_gradient({"pair": (p["a"], p["b"]), "kind": "x", "n": None})
        return np.sum(p["a"] * held["pair"][1]) + gs.stop_gradient([p["b"]])[0]

    found = gs.grad(f)({"a": np.ones(2), "b": 3.0})
    np.testing.assert_array_equal(found["a"], [3.0, 3.0])
    assert found["b"] == 0.0


def test_stop_gradient_emits_nothing():
    gradient = gs.grad(lambda x: np.sum(x * gs.stop_gradient(np.exp(x))))
    x = normal(3)
    np.testing.assert_allclose(gradient(x), np.exp(x))
    assert "stop_gradient(" not in gradient.source.split("#")[0]


def test_stop_gradient_of_a_tensor_is_detached():
    x = gs.tensor([1.0], requires_grad=True)
    assert not gs.stop_gradient(x).requires_grad
    assert gs.stop_gradient((x, 3.0))[1] == 3.0


# -- the targets -----------------------------------------------------------------------------------


def target_calls():
    params = (normal(4, 5), normal(5)), (normal(5, 3), normal(3))
    yield arrays.mlp_loss, (params, normal(7, 4), normal(7, 3)), 0
    yield arrays.logistic_loss, (normal(4), normal(9, 4), RNG.integers(0, 2, size=9)), 0
    W, U, b, h, target = (normal(*s) for s in ((4, 4), (4, 3), (4,), (4,), (4,)))
    yield arrays.rnn_loss, (W, U, b, h, list(normal(6, 3)), target), (0, 1, 2, 3)
    yield control_flow.absolute, (-2.0,), 0
    yield control_flow.absolute, (1.5,), 0
    yield control_flow.product, (np.arange(-2.0, 4.0),), 0
    yield control_flow.newton_sqrt, (2.0, 1e-3), 0
    A = normal(7, 7)
    yield inplace.seidel, (A, 3), 0
    yield inplace.cholesky_logdet, (A @ A.T + 7 * np.eye(7),), 0


CALLS = list(target_calls())


@pytest.mark.parametrize(("f", "args", "argnums"), CALLS, ids=[f.__name__ for f, *_ in CALLS])
def test_the_targets_agree_with_the_gradients_by_hand(f, args, argnums):
    module = inspect.getmodule(f)
    by_hand = getattr(module, f"{f.__name__}_gradient", None)
    if by_hand is not None:
        expected = by_hand(*args)
    else:
        _, record = getattr(module, f"{f.__name__}_forward")(*args)
        expected = getattr(module, f"{f.__name__}_adjoint")(record, 1.0)
    found = gs.grad(f, argnums)(*args)
    pullback = gs.vjp(f, *args)[1]
    pulled = pullback(1.0)
    chosen = tuple(pulled[n] for n in argnums) if isinstance(argnums, tuple) else pulled[argnums]
    for gradient in (found, chosen):
        for a, b in zip(leaves(gradient), leaves(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def leaves(value):
    from gradscribe.ir.trees import flatten

    return flatten(value)[1]


@pytest.mark.parametrize(("f", "args", "argnums"), CALLS, ids=[f.__name__ for f, *_ in CALLS])
def test_the_targets_pass_check_grad_to_second_order(f, args, argnums):
    if f is control_flow.product:
        args = (args[0] + 0.5,)  # no element where the branch turns
    gs.testing.check_grad(f, *args)


def test_check_grad_finds_a_wrong_derivative():
    def f(x):
        return x * gs.stop_gradient(x)

    with pytest.raises(errors.CheckError, match=r"the reverse mode gives .* central differences"):
        gs.testing.check_grad(f, 3.0)


# -- modes in any mix ------------------------------------------------------------------------------


def quartic(x):
    return np.sum(x**4)


def test_the_tangent_of_a_gradient_is_a_hessian_vector_product():
    x, v = normal(3), normal(3)
    out, tangent = gs.jvp(gs.grad(quartic), (x,), (v,))
    np.testing.assert_allclose(out, 4 * x**3, rtol=1e-12)
    np.testing.assert_allclose(tangent, 12 * x**2 * v, rtol=1e-12)


def test_the_pullback_of_a_gradient_is_so_too():
    x, u = normal(3), normal(3)
    out, pullback = gs.vjp(gs.grad(quartic), x)
    np.testing.assert_allclose(out, 4 * x**3, rtol=1e-12)
    np.testing.assert_allclose(pullback(u)[0], 12 * x**2 * u, rtol=1e-12)


def test_the_pullback_of_a_gradient_reaches_the_other_arguments():
    def f(x, y):
        return np.sum(x**2 * y**3)

    x, y, u = normal(3), normal(3), normal(3)
    d_x, d_y = gs.vjp(gs.grad(f), x, y)[1](u)
    np.testing.assert_allclose(d_x, 2 * y**3 * u, rtol=1e-12)
    np.testing.assert_allclose(d_y, 6 * x * y**2 * u, rtol=1e-12)


def test_hvp_of_a_derivative():
    assert gs.hvp(gs.grad(lambda x: x**4), 2.0, 1.5) == pytest.approx(24 * 2.0 * 1.5)


def test_the_tangent_of_a_second_derivative():
    out, tangent = gs.jvp(gs.grad(gs.grad(lambda x: x**5)), (2.0,), (1.0,))
    assert (out, tangent) == (160.0, 240.0)


def test_value_and_grad_of_a_derivative():
    assert gs.value_and_grad(gs.grad(lambda x: x**3))(2.0) == (12.0, 12.0)


def test_gradients_pass_check_grad_themselves():
    gs.testing.check_grad(gs.grad(quartic), normal(3))
    gs.testing.check_grad(gs.grad(gs.grad(x2_exp)), 0.3)


def test_the_gradient_of_a_numpy_function():
    assert gs.grad(np.sin)(0.3) == pytest.approx(np.cos(0.3))
    assert gs.grad(np.multiply, 1)(2.0, 3.0) == 2.0
    np.testing.assert_array_equal(gs.grad(np.sum)(np.ones(3)), np.ones(3))


@dataclasses.dataclass
class Linear:
    w: object
    b: object = 0.0

    def __call__(self, x):
        return np.sum(self.w * x) + self.b

    def penalty(self):
        return np.sum(self.w**2)


def test_dataclasses_with_methods_are_differentiated_by_their_fields():
    w, x = normal(3), normal(3)
    gradient = gs.grad(lambda model, x: model(x) + model.penalty())(Linear(w, 1.0), x)
    assert isinstance(gradient, Linear)
    np.testing.assert_allclose(gradient.w, x + 2 * w)
    assert gradient.b == 1.0


def test_several_lambdas_on_one_line_are_told_apart():
    first, second = gs.grad(lambda x: np.sum(x * x)), gs.grad(lambda x: np.sum(x * x * x))
    assert (first(2.0), second(2.0)) == (4.0, 12.0)


def test_items_of_a_list_may_get_names_of_their_own():
    def f(x):
        items = [x * 2]
        first = items[0]
        again = items[0]
        return first * again

    assert gs.grad(f)(3.0) == 24.0


# -- what the caller changes meanwhile -------------------------------------------------------------


@pytest.mark.parametrize(
    "f",
    [
        np.exp,
        lambda a: a * a,
        lambda a: [np.exp(v) for v in a],
        lambda a: (np.exp(a), a * 2),
        gs.grad(lambda a: np.sum(np.exp(a))),
    ],
)
def test_a_pullback_survives_changes_of_arguments_and_result(f):
    def g(a):
        return f(a)

    x = np.array([1.0, 2.0, 3.0])
    out, pullback = gs.vjp(f if isinstance(f, type(gs.grad(g))) else g, x)
    expected = pullback(out)
    cotangent = [v + 0 for v in out] if isinstance(out, list) else out
    cotangent = copy.deepcopy(cotangent)
    if isinstance(out, list):
        out.clear()
    for changed in (x, *(out if isinstance(out, tuple) else (out,))):
        if isinstance(changed, np.ndarray):
            changed[:] = 0
    np.testing.assert_array_equal(pullback(cotangent), expected)


def test_a_pullback_survives_changes_of_captured_arrays_and_of_lists():
    w = np.array([2.0, 3.0])

    def f(rows):
        total = 0.0
        for row in rows:
            total = total + np.sum(row * w * row)
        return total

    rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    _, pullback = gs.vjp(f, rows)
    expected = copy.deepcopy(pullback(1.0))
    w[:] = 0
    rows[0][:] = 0
    rows.pop()
    np.testing.assert_array_equal(pullback(1.0), expected)


def stored_in(a, b):
    a[0] = 5.0
    return (a * b).sum()


def test_the_callables_of_a_specialization_refuse_what_is_stored_to_under_two_names():
    x, y = normal(3), normal(3)
    special = gs.differentiable(stored_in).specialize(x, y)
    for call in (
        lambda: special.forward(x, x),
        lambda: special.gradient(x, x),
        lambda: special.tangent(x, x, y, y),
    ):
        with pytest.raises(errors.AliasingError, match="shares memory with `b`"):
            call()
    assert special.forward(x, y)[0] == stored_in(x.copy(), y)


def test_a_store_to_a_read_only_argument_is_refused_as_in_plain_python():
    x, y = normal(3), normal(3)
    x.flags.writeable = False
    calls = [
        lambda: stored_in(x, y),
        lambda: gs.grad(stored_in)(x, y),
        lambda: gs.vjp(stored_in, x, y),
        lambda: gs.differentiable(stored_in)(x, gs.tensor(y, requires_grad=True)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="assignment destination is read-only"):
            call()
    gs.grad(stored_in)(y, x)


def test_a_list_of_any_length_passes_check_grad():
    def squares(x):
        out = []
        for v in x:
            out.append(v * v)
        out.reverse()
        return out

    gs.testing.check_grad(squares, normal(3))


# -- check_grad and arguments ----------------------------------------------------------------------


def test_check_grad_takes_functions_of_the_tensor_namespace():
    gs.testing.check_grad(lambda x: gs.softmax(x, 0)[0], normal(3))


def test_check_grad_grants_what_coarser_numbers_need():
    x = normal(4).astype(np.float32)
    gs.testing.check_grad(lambda x: np.sin(x) * x, x)
    with pytest.raises(errors.CheckError):
        gs.testing.check_grad(lambda x: x * x + gs.stop_gradient(x), x)


def test_check_grad_keeps_arrays_without_axes():
    def f(x):
        assert isinstance(x, np.ndarray)
        return np.sum(x * x)

    gs.testing.check_grad(f, np.array(1.0))


def test_the_cotangent_of_an_empty_list_is_one():
    def f(items, x):
        for item in items:
            x = x + item
        return x

    assert gs.vjp(f, [], 2.0)[1](1.0) == ([], 1.0)
    gs.testing.check_grad(f, [], 2.0)


@pytest.mark.parametrize("argnums", ["a", 1.5, (0, "b"), True])
def test_argnums_that_are_no_integers_are_refused(argnums):
    decorated = gs.differentiable(x2_exp)
    for make in (
        lambda: gs.grad(x2_exp, argnums),
        lambda: gs.value_and_grad(x2_exp, argnums),
        lambda: gs.differentiable(x2_exp, argnums),
        lambda: decorated.specialize(1.0, argnums=argnums),
    ):
        with pytest.raises(errors.ArgumentError, match="argnums is"):
            make()


def test_argnums_may_be_a_list_or_numpy_integers():
    assert gs.grad(lambda x, y: x * y, [np.int64(1)])(2.0, 3.0) == (2.0,)


@pytest.mark.parametrize("text", ["float64[:, :", "list[float", "float[:]]", "tuple[int, int"])
def test_a_malformed_type_string_is_no_static_string(text):
    with pytest.raises(errors.ArgumentError):
        gs.differentiable(lambda x: x).specialize(text)


def test_an_eager_refusal_shows_no_line_of_our_own():
    x = gs.tensor([1.0, 2.0, 4.0], requires_grad=True)
    with pytest.raises(errors.UnsupportedError, match="`sort_complex` cannot be") as caught:
        np.sort_complex(x)
    assert "File" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "marked"),
    [
        (lambda: gs.grad(stored_in)(*[np.ones(3)] * 2), "stored_in"),
        (lambda: gs.grad(np_exp)(np.ones(3)), "np_exp"),
        (lambda: gs.hvp(np_exp, np.ones(3), np.ones(3)), "np_exp"),
        (lambda: gs.grad(x2_exp)(3), "x"),
        (lambda: gs.grad(lambda x: [x])(1.0), "lambda"),
    ],
)
def test_refusals_of_a_call_show_the_definition(call, marked):
    with pytest.raises(errors.GradscribeError) as caught:
        call()
    place = caught.value.location
    assert place.filename == __file__
    line = linecache.getline(place.filename, place.line)
    assert line[place.column : place.end_column] == marked


def np_exp(x):
    return np.exp(x)


def test_a_check_names_the_modes_that_there_are():
    gs.testing.check_grad(np.sin, 0.5, modes=("forward",))
    gs.testing.check_grad(np.sin, 0.5, modes=("reverse",))
    for modes in ((), ("backward",), "reverse"):
        with pytest.raises(errors.ArgumentError, match=r"Instead: name \"reverse\", \"forward\""):
            gs.testing.check_grad(np.sin, 0.5, modes=modes)
