"""`gs.jacobian`, `jacfwd`, `jacrev`, `hessian`: values, structure, number of runs, composition."""

import dataclasses
import functools
import itertools
import re
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors, torchlike

X = np.array([0.3, -1.0, 0.8])
A = np.random.default_rng(0).standard_normal((4, 3))
TRANSFORMS = {
    "auto": gs.jacobian,
    "forward": functools.partial(gs.jacobian, mode="forward"),
    "reverse": functools.partial(gs.jacobian, mode="reverse"),
}


@dataclasses.dataclass
class Layer:
    weights: np.ndarray
    scale: float


def affine(x, a):
    return np.tanh(a @ x) * x[0]


def recurrence(x):
    states, h = np.zeros_like(x), x[0]
    for i in range(len(x)):
        h = np.tanh(h * x[i] + 0.1)
        states[i] = h
    return states


def until_small(x):
    while np.max(np.abs(x)) > 0.1:
        x = x * np.array([0.5, 0.3, 0.7]) * np.cos(x)
    return x


def outer_product(layer):
    return {
        "y": np.outer(layer.weights, X) * layer.scale,
        "total": (layer.weights.sum(), "text", 3),
    }


def squared_items(items):
    return [item * item * items[0] for item in items]


def difference_quotients(f, args, argnum, step=1e-6):
    """Derivatives of the leaves of f(*args), each of shape `leaf + argument`, of an array."""

    def along(index):
        moved = [[*args], [*args]]
        for values, sign in zip(moved, (1, -1), strict=True):
            values[argnum] = np.array(values[argnum], dtype=float)
            values[argnum][index] += sign * step
        up, down = (np.asarray(f(*values)) for values in moved)
        return (up - down) / (2 * step)

    shape = np.shape(args[argnum])
    columns = [along(index) for index in np.ndindex(shape)]
    return np.stack(columns, axis=-1).reshape(*columns[0].shape, *shape)


@pytest.mark.parametrize("mode", TRANSFORMS)
@pytest.mark.parametrize(
    ("f", "args", "argnum"),
    [
        (affine, (X, A), 0),
        (affine, (X, A), 1),
        (recurrence, (X,), 0),
        (until_small, (X,), 0),
        (lambda x: x[x > 0] ** 2, (X,), 0),
        (lambda x: np.outer(x, x), (X,), 0),
        (lambda a: np.linalg.inv(a.T @ a), (A,), 0),
        (lambda x: np.sum(x**3), (X,), 0),
        (lambda x: x.reshape(3, 1, 1) * A, (X,), 0),
    ],
)
def test_every_element_agrees_with_difference_quotients(mode, f, args, argnum):
    found = TRANSFORMS[mode](f, argnum)(*args)
    np.testing.assert_allclose(found, difference_quotients(f, args, argnum), atol=1e-8)


@pytest.mark.parametrize("f", [lambda x: np.sum(affine(x, A) ** 2), lambda x: recurrence(x)[-1]])
def test_a_hessian_is_the_derivative_of_the_gradient(f):
    expected = difference_quotients(gs.grad(f), (X,), 0)
    np.testing.assert_allclose(gs.hessian(f)(X), expected, atol=1e-8)


@pytest.mark.parametrize("mode", TRANSFORMS)
def test_the_structure_of_the_argument_stands_at_each_leaf_of_the_result(mode):
    found = TRANSFORMS[mode](outer_product)(Layer(np.array([1.0, 2.0]), 3.0))
    assert isinstance(found["y"], Layer)
    assert found["y"].weights.shape == (2, 3, 2)
    np.testing.assert_allclose(found["y"].scale, np.outer([1, 2], X))
    total, text, number = found["total"]
    np.testing.assert_array_equal(total.weights, [1, 1])
    assert (total.scale, text, number) == (0.0, None, None)


@pytest.mark.parametrize("mode", TRANSFORMS)
def test_lists_are_structure(mode):
    found = TRANSFORMS[mode](squared_items)([2.0, 3.0])
    assert found == [[12.0, 0.0], [9.0, 12.0]]
    of_arrays = TRANSFORMS[mode](squared_items)([X, 2 * X])
    np.testing.assert_allclose(of_arrays[1][0], np.diag((2 * X) ** 2))
    np.testing.assert_allclose(of_arrays[1][1], np.diag(4 * X * X))
    by_array = TRANSFORMS[mode](lambda x: [item * x[0] for item in x])(X)
    np.testing.assert_allclose(by_array[1], [X[1], X[0], 0])
    from_list = TRANSFORMS[mode](lambda v: sum(item * X for item in v))([1.0, 2.0])
    np.testing.assert_allclose(from_list, [X, X])


@pytest.mark.parametrize(
    ("f", "argnums", "expected"),
    [
        (lambda x: x**3, 0, 12.0),
        (lambda a, b: a * b * b, (0, 1), (9.0, 12.0)),
        (lambda a, b: a * b * b, -1, 12.0),
        (lambda a, b: a * b * b, (1,), (12.0,)),
    ],
)
@pytest.mark.parametrize("mode", TRANSFORMS)
def test_numbers_give_numbers(mode, f, argnums, expected):
    found = TRANSFORMS[mode](f, argnums)(2.0, *[3.0] * (f.__code__.co_argcount - 1))
    assert found == expected


@pytest.mark.parametrize("mode", TRANSFORMS)
def test_dtypes_and_empty_arrays_keep_theirs(mode):
    transform = TRANSFORMS[mode]
    assert transform(lambda x: x**2)(X.astype(np.float32)).dtype == np.float32
    assert transform(lambda x: x**2)(np.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert transform(np.sin)(np.array(0.0)).shape == ()


@pytest.mark.parametrize("mode", TRANSFORMS)
def test_results_are_new_arrays(mode):
    weights = X.copy()

    def weighted_sum(x):
        return np.sum(weights * x)

    def weighted_first(x):
        return weights * x[0]

    for f in (weighted_sum, weighted_first):
        found = TRANSFORMS[mode](f)(X)
        assert not np.shares_memory(found, weights)


def test_keywords_defaults_and_callables_work_as_for_grad():
    expected = np.diag(2 * X)
    for f in (
        lambda x, power=2: x**power,
        functools.partial(lambda power, x: x**power, 2),
        lambda *xs: xs[0] ** 2,
        gs.differentiable(lambda x: x * x),
    ):
        np.testing.assert_allclose(gs.jacobian(f)(X), expected)
    np.testing.assert_allclose(gs.jacobian(lambda x, power=3: x**power)(X, power=2), expected)
    np.testing.assert_allclose(gs.jacobian(lambda x: x * x)(gs.tensor(X)), expected)


# -- the mode ------------------------------------------------------------------------------------


def is_forward(transform):
    return "for column in" in transform.source


def test_auto_chooses_the_mode_of_fewer_runs_for_each_call():
    product = gs.jacobian(lambda a, x: a @ x, 1)
    for shape, forward in {(2, 5): False, (5, 2): True, (3, 3): True, (4, 9): False}.items():
        found = product(np.ones(shape), np.ones(shape[1]))
        assert found.shape == shape
        assert is_forward(product) == forward


def test_reverse_mode_runs_the_function_once():
    jacobian = gs.jacrev(recurrence)
    jacobian(X)
    code = re.sub(r"  # .*", "", jacobian.source)
    assert code.count("np.tanh") == 1
    assert code.index("np.tanh") < code.index("for row in")


def test_what_a_function_prints_is_printed_once(capsys):
    def shown(x):
        print("once")
        return x * x

    for transform in (gs.jacobian, gs.jacrev):
        transform(shown)(X)
        assert capsys.readouterr().out == "once\n"


@pytest.mark.parametrize("transform", [gs.jacobian, gs.jacrev, gs.jacfwd])
def test_random_draws_are_those_of_one_call(transform, capsys):
    def scaled(x):
        print(x[0])
        return x * np.random.rand() * np.random.normal(size=x.shape)

    np.random.seed(0)
    expected = np.diag(scaled(np.ones(3)))
    np.random.seed(0)
    np.testing.assert_array_equal(transform(scaled)(np.ones(3)), expected)
    assert capsys.readouterr().out == "1.0\n" * 2


@pytest.mark.parametrize("transform", [gs.jacfwd, gs.hessian])
def test_what_unread_code_writes_is_written_once(transform):
    def weighed(x):
        weights, size = np.ones(3), {1, 2}
        struct.pack_into("d", weights, 8, 5.0)
        size.add(3)
        return np.sum(weights * x**3) * len(size)

    factor = {gs.jacfwd: 3 * X**2, gs.hessian: np.diag(6 * X)}[transform]
    np.testing.assert_allclose(transform(weighed)(X), 3 * factor * [1.0, 5.0, 1.0])

    def packed(x):
        weights = np.ones(3)
        struct.pack_into("d", weights, 8, x[0])
        return np.sum(weights * x**3)

    with pytest.raises(errors.NoDerivativeError, match="of `pack_into`"):
        transform(packed)(X)


# -- composition ---------------------------------------------------------------------------------

MODES = ("forward", "reverse")


@pytest.mark.parametrize(("outer", "inner"), list(itertools.product(MODES, MODES)))
def test_jacobians_of_jacobians_are_second_derivatives(outer, inner):
    f = TRANSFORMS[outer](TRANSFORMS[inner](lambda x: np.array([x[0] ** 2 * x[1], x[2] ** 3])))
    expected = np.zeros((2, 3, 3))
    expected[0, 0, 0], expected[0, 0, 1], expected[0, 1, 0] = 2 * X[1], 2 * X[0], 2 * X[0]
    expected[1, 2, 2] = 6 * X[2]
    np.testing.assert_allclose(f(X), expected, rtol=1e-12)


def determinant_of_a_jacobian(x):
    return np.linalg.det(gs.jacobian(lambda y: np.array([y[0] * y[1], y[1] ** 2, y[2] * x[0]]))(x))


def trace_of_a_hessian(x):
    return np.trace(gs.hessian(lambda y: np.sum(y**4) * x[0])(x))


def newton_step(x):
    residual = lambda y: np.array([y[0] ** 2 + y[1] - 3.0, y[1] ** 3 - 2.0, y[2] - y[0]])
    return np.sum(x - np.linalg.solve(gs.jacfwd(residual)(x), residual(x)))


rows_made_outside = gs.jacrev(lambda x: np.sin(x) * x[0])


def of_a_jacobian_made_outside(x):
    return np.sum(rows_made_outside(x) ** 2)


@pytest.mark.parametrize(
    "f",
    [determinant_of_a_jacobian, trace_of_a_hessian, newton_step, of_a_jacobian_made_outside],
)
def test_programs_with_jacobians_in_them_are_differentiated_in_both_modes(f):
    gs.testing.check_grad(f, X + 2.0)


def test_reverse_mode_goes_through_the_forward_jacobian_of_a_loop():
    gs.testing.check_grad(lambda x: np.sum(gs.jacfwd(recurrence)(x) ** 2), X)


# -- complex numbers -----------------------------------------------------------------------------

Z = np.array([1 + 2j, 0.5 - 1j])


def parts_of(numbers):
    return np.concatenate((np.real(numbers), np.imag(numbers)))


def waves(x):
    return np.exp(1j * x) * x[0]


def intensities(z):
    return np.abs(z) ** 2 + np.real(z[0]) * np.imag(z[1])


def polynomial(z):
    return np.array([z[0] ** 2 * z[1], 1j * z[1] ** 3, z[0] + 0j])


@pytest.mark.parametrize("jacobian", TRANSFORMS.values(), ids=TRANSFORMS)
def test_of_complex_results_by_real_arguments_both_parts_are_given(jacobian):
    whole = gs.jacobian(lambda x: parts_of(waves(x)))(X)
    np.testing.assert_allclose(jacobian(waves)(X), whole[:3] + 1j * whole[3:], rtol=1e-14)


@pytest.mark.parametrize("jacobian", TRANSFORMS.values(), ids=TRANSFORMS)
def test_of_real_results_by_complex_arguments_the_gradients_are_given(jacobian):
    rows = [gs.grad(lambda z, i=i: intensities(z)[i])(Z) for i in range(2)]
    np.testing.assert_allclose(jacobian(intensities)(Z), rows, rtol=1e-14)


@pytest.mark.parametrize("jacobian", TRANSFORMS.values(), ids=TRANSFORMS)
def test_of_holomorphic_functions_the_complex_derivative_is_given(jacobian):
    found = jacobian(polynomial, holomorphic=True)(Z)
    expected = [[2 * Z[0] * Z[1], Z[0] ** 2], [0, 3j * Z[1] ** 2], [1, 0]]
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert jacobian(np.exp, holomorphic=True)(1j) == pytest.approx(np.exp(1j))


def test_second_derivatives_of_holomorphic_functions():
    found = gs.hessian(lambda z: z[0] ** 2 * z[1], holomorphic=True)(Z)
    np.testing.assert_allclose(found, [[2 * Z[1], 2 * Z[0]], [2 * Z[0], 0]], rtol=1e-14)
    nested = gs.jacrev(gs.jacfwd(np.exp, holomorphic=True), holomorphic=True)
    assert nested(1j) == pytest.approx(np.exp(1j))


@pytest.mark.parametrize("jacobian", [gs.jacfwd, gs.jacrev])
def test_leaves_may_be_real_and_complex_and_of_single_precision(jacobian):
    def mixed(at):
        return {"real": at["x"] * np.abs(at["z"]), "complex": at["x"] * 1j}

    x, z = np.array([3.0, 4.0], np.float32), np.array([1j, 2.0], np.complex64)
    found = jacobian(mixed, holomorphic=True)({"x": x, "z": z})
    np.testing.assert_allclose(found["real"]["x"], np.diag([1, 2]))
    np.testing.assert_allclose(found["real"]["z"], np.diag([3j, 4]))
    np.testing.assert_allclose(found["complex"]["x"], 1j * np.eye(2))
    np.testing.assert_allclose(found["complex"]["z"], np.zeros((2, 2)))
    dtypes = [block.dtype for of in found.values() for block in of.values()]
    assert dtypes == [np.float32, np.complex64, np.complex64, np.complex64]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (torchlike.nn.functional.mse_loss, (A, A + X)),
        (torchlike.nn.functional.conv1d, (np.ones((1, 2, 5)), np.ones((3, 2, 2)))),
        (lambda a: torchlike.nn.functional.dropout(a, 0.5, training=False), (A,)),
        (lambda a: torchlike.nn.functional.scaled_dot_product_attention(a, a, a), (A,)),
    ],
)
def test_warnings_and_the_texts_of_errors_are_no_reason_to_refuse_forward_mode(function, arguments):
    found = gs.jacfwd(function)(*arguments)
    np.testing.assert_allclose(found, gs.jacrev(function)(*arguments), rtol=1e-12, atol=1e-14)


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gs.jacobian(affine, 2)(X, A), "argnums says 2"),
        (lambda: gs.jacobian(lambda n: n * 2.0)(3), "argument 0 has nothing to differentiate"),
        (lambda: gs.jacobian(np.argmax)(X), "the result of the function has nothing"),
        (lambda: gs.jacobian(affine, mode="fast"), "mode='fast'"),
        (lambda: gs.jacobian(lambda z: z * z)(1j), "complex results by complex arguments"),
        (lambda: gs.jacobian(affine).source, "was not called yet"),
    ],
)
def test_what_has_no_jacobian_is_refused(call, message):
    with pytest.raises(errors.GradscribeError, match=message):
        call()


def test_an_error_shows_the_function_that_the_user_wrote():
    with pytest.raises(errors.ArgumentError, match="def affine"):
        gs.jacobian(affine, 2)(X, A)


class Scaled:
    def __init__(self):
        self.weights, self.power = np.arange(12.0).reshape(4, 3) / 9, 2.0

    def layer(self, x):
        return np.tanh(self.weights @ x) ** self.power

    def product(self, x, y):
        return np.sum(self.weights @ x * y) ** 3

    def __call__(self, x):
        return self.weights @ x * x[0]


@pytest.mark.parametrize("mode", TRANSFORMS)
def test_methods_partials_and_callable_objects(mode):
    scaled, y = Scaled(), np.array([1.0, 2.0, 0.5, -1.0])
    jacobian = TRANSFORMS[mode]
    for f in (scaled.layer, scaled, functools.partial(np.multiply, A[0])):
        of_f = jacobian(f)
        np.testing.assert_allclose(of_f(X), difference_quotients(f, (X,), 0), atol=1e-8)
    for argnum in (0, 1, -1):
        found = jacobian(gs.grad(scaled.product, argnum), argnum)(X, y)
        expected = gs.hessian(lambda x, y: scaled.product(x, y), argnum)(X, y)
        np.testing.assert_allclose(found, expected, atol=1e-12)
    of_layer = jacobian(scaled.layer)
    of_layer(X)
    scaled.weights, scaled.power = scaled.weights * 2, 3.0
    np.testing.assert_allclose(of_layer(X), difference_quotients(scaled.layer, (X,), 0), atol=1e-8)
    with pytest.raises(errors.ArgumentError, match="argnums says 1, but `layer` has 1 argument"):
        jacobian(scaled.layer, 1)(X)


def stores_to_its_argument(x):
    x[0] = x[1] * x[2]
    x *= 3
    return x * x


def bound_on_one_path(x):
    for v in x:
        if v > 0:
            y = v * x
        z = y * v
    return z


def handles_errors(x):
    try:
        if x[1] < 0:
            raise ValueError("negative")
        return x * x
    except ValueError:
        return x**3
    finally:
        x = x * 2


def stored_to_and_undone(x):
    y = np.tanh(A[:3] @ x)
    y[1] = np.sum(y)
    for _ in range(2):
        y *= np.cos(np.where(x > 0.1, y, x))
    if y[2] > 0:
        y *= np.cos(y)
    return y


@pytest.mark.parametrize("mode", TRANSFORMS)
def test_a_result_that_the_adjoint_undoes_is_there_before_it(mode):
    rows = gs.jacrev(stored_to_and_undone)
    expected = difference_quotients(stored_to_and_undone, (X,), 0)
    np.testing.assert_allclose(rows(X), expected, atol=1e-8)
    np.testing.assert_allclose(
        TRANSFORMS[mode](rows)(X), difference_quotients(rows, (X,), 0), atol=1e-7
    )


@pytest.mark.parametrize("mode", TRANSFORMS)
@pytest.mark.parametrize("f", [stores_to_its_argument, bound_on_one_path, handles_errors])
def test_what_ends_with_a_run_may_run_for_each_column(mode, f):
    given = X.copy()
    expected = difference_quotients(lambda x: f(x.copy()), (X,), 0)
    np.testing.assert_allclose(TRANSFORMS[mode](f)(given), expected, atol=1e-8)
    np.testing.assert_array_equal(given, X)


def test_seeds_take_no_more_memory_than_the_argument():
    of_few = gs.jacfwd(lambda x: np.sum(x[:2]) * np.ones(3))
    of_few(np.ones(5))
    tracemalloc.start()
    of_few(np.ones(5000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5000 * 5000


@pytest.mark.parametrize("transform", [gs.jacobian, gs.jacfwd, gs.jacrev, gs.hessian, gs.grad])
@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}])
def test_a_function_that_always_raises_does(transform: Any, options: Any) -> None:
    def failing(x: Any) -> Any:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        transform(failing, **options)(np.ones(3))
