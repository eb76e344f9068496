"""`with`: managers that are kept in the emitted code, and gradient modes."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.special

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees, tensors_agree

x5 = np.linspace(0.5, 2.0, 5)


def logarithm(x):
    with np.errstate(all="ignore"):
        y = np.log(x)
    return y.sum()


def masked_pole(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 1, x / (x - 0.5), 0.0).sum()


def left_by_break(x, n):
    s = 0.0
    for _ in range(n):
        with np.errstate(over="ignore"):
            if s > 100:
                break
            y = np.exp(x) * (s + 1)
        s = s + np.sum(y) + x[0]
    return s


def returns_inside(x):
    if x.sum() > 100:
        with np.errstate(all="ignore"):
            return x.sum()
    with contextlib.nullcontext(3.0) as c, np.errstate(all="ignore"):
        y = c * x
        if y.sum() > 3:
            return (y * x).sum()
    return y.sum()


def kept_in_a_name(x):
    quiet = np.errstate(all="ignore")
    total = 0.0
    with quiet:
        for i in range(len(x)):
            total += np.sqrt(x[i]) * x[0]
    return total


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (logarithm, (x5,)),
        (masked_pole, (x5,)),
        (left_by_break, (x5, 4)),
        (returns_inside, (x5,)),
        (returns_inside, (x5 / 100,)),
        (kept_in_a_name, (x5,)),
    ],
)
def test_error_states_are_transparent_to_derivatives(function: Any, args: Any) -> None:
    agrees(function, *args)


def test_error_state_surrounds_its_statements_and_their_adjoint() -> None:
    compiled = gs.differentiable(logarithm).specialize(x5)
    assert compiled.forward_source.splitlines()[1:3] == [
        '    with np.errstate(all="ignore"):',
        "        y = np.log(x)",
    ]
    assert compiled.gradient_source.splitlines()[1:3] == [
        '    with np.errstate(all="ignore"):',
        "        d_x = d_result / x  # y = np.log(x)",
    ]


def test_no_warning_comes_from_the_adjoint_either() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, gradient = gs.value_and_grad(logarithm)(np.array([0.0, 1.0]))
    assert value == -np.inf
    assert gradient.tolist() == [np.inf, 1.0]


def cut_in_block(x):
    with gs.no_grad():
        y = x * 2
        z = x[1:]
        w = x
    return (x * y).sum() + (z * z).sum() + w.sum()


def enabled_again(x):
    with gs.no_grad():
        m = x.max()
        with gs.enable_grad():
            q = (x * x).sum()
    return q * m


@gs.no_grad()
def norm(x):
    return np.sqrt((x * x).sum())


def by_decorated_helper(x):
    return (x / norm(x)).sum()


def filled_in_block(x):
    with gs.set_grad_enabled(False):
        scale = np.zeros(len(x))
        for i in range(len(x)):
            scale[i] = x[i] * 2
    return (scale * x).sum()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (cut_in_block, 2 * x5 + 1),
        (enabled_again, 2 * x5 * x5.max()),
        (by_decorated_helper, np.full(5, 1 / np.sqrt((x5 * x5).sum()))),
        (filled_in_block, 2 * x5),
    ],
)
def test_what_is_computed_under_no_grad_passes_no_derivative(function: Any, expected: Any) -> None:
    agrees(function, x5, differences=False)
    np.testing.assert_allclose(gs.grad(function)(x5), expected, rtol=1e-14)
    u, v = 0.7, np.linspace(-1, 1, 5)
    assert np.isclose(gs.jvp(function, (x5,), (v,))[1] * u, u * expected @ v)
    tensors_agree(function, x5)


def stored_under_no_grad(w, x):
    y = w * x
    with gs.no_grad():
        y[0] = 0.0
    return y.sum()


def test_store_from_under_no_grad_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="`y` from outside is stored to under `no_grad`"):
        gs.grad(stored_under_no_grad)(x5, x5)


def quiet(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.log(x - 2)
        for _ in range(3):
            y = np.where(y > 0, y, x) * np.sqrt(x)
    return y.sum()


def recorded(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("slow", stacklevel=1)
        y = x * len(caught)
    return x.sum() * len(caught) + y[-1]


@pytest.mark.parametrize("function", [quiet, recorded])
def test_warnings_are_caught_where_the_function_says(function: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(function, np.array([0.5, 1.5, 2.5, 3.5]))


@contextlib.contextmanager
def logged():
    try:
        yield 2.0
    except ValueError as error:
        warnings.warn(str(error), stacklevel=1)


@contextlib.contextmanager
def in_another():
    with contextlib.ExitStack() as stack, logged():
        stack.enter_context(np.errstate(all="ignore"))
        yield


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, cls, error, traceback):
        return cls is not None and issubclass(cls, ArithmeticError)


def raises_in_the_block(x):
    y = x[1]
    with logged():
        if x[0] > 1:
            raise ValueError
        y = x[1] ** 2
    return y


def raises_what_is_not_used(x):
    y = x[1]
    with np.errstate(all="ignore"), in_another():
        np.linalg.inv(np.zeros((2, 2)) if x[0] > 1 else np.eye(2))
        int("one" if x[0] > 1 else "1")
        y = x[1] ** 2
    return y


def leaves_a_branch_or_not(x):
    if x[1] > 0:
        with Swallow():
            1 / int(x[0] < 1)
            return x[1] ** 2
    return x[1] * x[2]


def leaves_a_loop_or_not(x):
    y = x[2]
    for _ in range(3):
        with contextlib.suppress(ValueError), np.errstate(all="ignore"):
            if x[0] > 1:
                raise ValueError
            break
        y = y * x[1]
    return y**2


def raises_what_is_passed_on(x):
    try:
        with logged(), Swallow():
            if x[0] > 1:
                raise KeyError
            return x[1] ** 2
    except KeyError:
        return x[1] * 9


@logged()
def decorated(x):
    if x[0] > 1:
        raise ValueError
    return x[1] ** 2


def by_a_decorated_helper(x):
    found = decorated(x)
    return x[1] * x[2] if found is None else found


def makes_its_manager(x):
    @contextlib.contextmanager
    def going_on(flag):
        try:
            yield
        except ValueError:
            if not flag:
                raise

    y = x[1]
    with going_on(x[2] > 0):
        if x[0] > 1:
            raise ValueError
        y = x[1] ** 2
    return y


@pytest.mark.parametrize("first", [0.5, 1.5])
@pytest.mark.parametrize(
    "function",
    [
        raises_in_the_block,
        raises_what_is_not_used,
        leaves_a_branch_or_not,
        leaves_a_loop_or_not,
        raises_what_is_passed_on,
        by_a_decorated_helper,
        makes_its_manager,
    ],
)
def test_managers_that_end_exceptions_end_them(function: Any, first: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agrees(function, np.array([first, 1.3, 0.4]))
        tensors_agree(function, np.array([first, 1.3, 0.4]))


@contextlib.contextmanager
def timed(times):
    start = time.perf_counter()
    try:
        with np.errstate(all="ignore"):
            yield
    except KeyError as error:
        raise RuntimeError from error
    finally:
        times.append(time.perf_counter() - start)


def in_managers_that_end_nothing(x):
    times = []
    with timed(times), threading.Lock(), open(os.devnull, "w") as stream:
        stream.write("sum")
        y = x.sum()
    return y


def test_managers_that_end_no_exception_stay_as_they_are_written() -> None:
    gradient = gs.grad(in_managers_that_end_nothing)
    assert gradient(x5).tolist() == [1.0] * 5
    assert "    with timed([]):" in gradient.source
    assert "__exit__" not in gradient.source


def ended_by_a_manager_of_its_own(x):
    class Ending:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return error[0] is KeyError

    try:
        with Ending():
            if x[0] > 1:
                raise KeyError
    except KeyError:
        return x[1]
    return x[0]


def test_managers_of_local_classes_may_end_exceptions():
    for x in (np.array([2.0, 5.0]), np.array([0.5, 5.0])):
        value, gradient = gs.value_and_grad(ended_by_a_manager_of_its_own)(x)
        assert (value, gradient.tolist()) == (x[0], [1, 0])


class OnObject:
    """Python does not ask an object for these methods, but its class."""

    def __init__(self) -> None:
        self.__enter__ = lambda: 7.0
        self.__exit__ = lambda *raised: False

    def __enter__(self):
        return 2.0

    def __exit__(self, cls, error, traceback):
        return cls is KeyError


class OfOtherKinds:
    __enter__ = staticmethod(lambda: 3.0)
    __exit__ = classmethod(lambda cls, *raised: raised[0] is KeyError)


ON_OBJECT = OnObject()


@pytest.mark.parametrize("make", [OnObject, OfOtherKinds, lambda: ON_OBJECT])
def test_the_methods_of_managers_are_those_of_the_class(make):
    def f(x):
        scales = []
        with make() as scale:
            scales.append(scale)
            if x[0] > 0:
                raise KeyError
        return x[0] * scales[0]

    value, gradient = gs.value_and_grad(f)(np.array([2.0]))
    assert value == f(np.array([2.0]))
    assert gradient == value / 2


def logarithm_or_double(x):
    try:
        with np.errstate(all="raise"):
            y = np.log(x - 0.6)
    except FloatingPointError:
        y = x * x
    return np.sum(y * x)


def tried_under_a_manager(x):
    with np.errstate(all="raise"):
        try:
            y = np.log(x - 0.6)
        except FloatingPointError:
            y = x * x
    return np.sum(y * x)


def tried_in_a_loop(x):
    t = 1.0
    with np.errstate(invalid="raise"):
        for i in range(3):
            try:
                t = t + np.sqrt(x[i] - 0.6)
            except FloatingPointError:
                t = t * x[i] * x[i]
    return t


@pytest.mark.parametrize("first", [0.5, 0.9])
@pytest.mark.parametrize("function", [logarithm_or_double, tried_under_a_manager, tried_in_a_loop])
def test_each_column_is_computed_under_the_managers_around(function, first: float) -> None:
    x = np.array([first, 1.2, 0.7])
    expected = gs.grad(function, compile=False)(x)
    hessian = gs.hessian(function, compile=False)(x)
    for transform in (gs.grad, gs.jacfwd, gs.jacrev):
        np.testing.assert_allclose(transform(function)(x), expected)
    for gradient in (gs.hessian(function), gs.jacfwd(gs.grad(function))):
        np.testing.assert_allclose(gradient(x), hessian)


def test_forward_mode_through_warnings_that_are_handled_is_refused() -> None:
    def f(x):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                y = np.log(x - 0.6)
            except RuntimeWarning:
                y = x * 2
        return np.sum(y * x)

    x = np.array([0.5, 1.2])
    np.testing.assert_allclose(gs.grad(f)(x), 4 * x)
    with pytest.raises(UnsupportedError, match="forward mode through a loop or branch that draws"):
        gs.jacfwd(f)(x)


def warned_of_unused(x):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        np.log(x - 1.0)
    return len(record) * x[0]


def warned_of_no_items(x):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        for i in range(2):
            np.mean(x[: i - 1])
    return x[1] if record else x[0]


@pytest.mark.parametrize("function", [warned_of_unused, warned_of_no_items])
def test_what_is_warned_of_is_taken_down(function) -> None:
    x = np.array([0.5, 2.0])
    value, gradient = gs.value_and_grad(function)(x)
    assert value == function(x)
    np.testing.assert_array_equal(gradient, gs.grad(function, compile=False)(x))


def roots_under_two_managers(x):
    with np.errstate(all="raise"):
        with np.errstate(invalid="ignore"):
            y = np.sqrt(x - 0.6)
        try:
            z = np.sqrt(x - 0.6)
        except FloatingPointError:
            z = x
    return np.nansum(y) * 0 + np.sum(z)


def logarithm_before_it_is_tried(x):
    with np.errstate(all="ignore"):
        y = np.log(x - 0.6)
    try:
        with np.errstate(all="raise"):
            z = np.log(x - 0.6)
    except FloatingPointError:
        z = x * x
    return np.nansum(y) + np.sum(z * x)


@pytest.mark.parametrize("first", [0.5, 0.9])
@pytest.mark.parametrize("function", [roots_under_two_managers, logarithm_before_it_is_tried])
def test_what_may_raise_is_not_shared_with_what_may_not(function, first: float) -> None:
    x = np.array([first, 1.2, 0.7])
    value, gradient = gs.value_and_grad(function)(x)
    assert value == function(x)
    differences = [(function(x + h) - function(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6)


def overflow_of_the_derivative_alone(x):
    try:
        with np.errstate(over="raise"):
            y = np.arctan(x * 1e200)
    except FloatingPointError:
        y = x * 5
    return np.sum(y * x)


def warning_of_the_derivative_alone(x):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        y = np.arctan(x * 1e200)
    return np.sum(y * x) + len(record) * x[0]


@pytest.mark.parametrize("options", [{}, {"compile": False}], ids=str)
@pytest.mark.parametrize(
    "function", [overflow_of_the_derivative_alone, warning_of_the_derivative_alone]
)
def test_derivatives_raise_nothing_that_the_program_handles(function, options) -> None:
    x, d_x = np.array([2.0, 1.2, 0.7]), np.array([1.0, 0.5, -1.0])
    value, tangent = gs.jvp(function, (x,), (d_x,), **options)
    assert value == function(x)
    np.testing.assert_allclose(tangent, np.pi / 2 * np.sum(d_x))
    np.testing.assert_allclose(gs.grad(function, **options)(x), np.full(3, np.pi / 2))


class Scaled:
    """A manager that says what a factor is in its block, and how deep that is nested."""

    def __init__(self, factor):
        self.factor, self.depth, self.log = factor, 0, []

    def __enter__(self):
        self.depth += 1
        self.factor = self.factor * 2.0
        self.log.append(self.depth)
        FACTORS["now"] = WEIGHTS[0] = self.factor
        return self

    def __exit__(self, *_):
        self.factor = self.factor / 2.0
        FACTORS["now"] = self.factor
        self.depth -= 1


class Closing(Scaled):
    """One whose `__exit__` looks at the exception."""

    def __exit__(self, cls, error, traceback):
        super().__exit__(cls, error, traceback)
        if cls is not None:
            LOG.append(cls.__name__)


FACTORS, WEIGHTS, LOG = {"now": 1.0}, np.ones(2), []


def by_attribute(manager, x):
    with manager:
        y = x[0] * manager.factor
    return y * manager.factor


def by_dict_and_array(manager, x):
    with manager:
        return x[0] * FACTORS["now"] + WEIGHTS[0] * x[1]


def as_a_name(manager, x):
    with manager as found:
        y = x * found.factor
        found.factor = found.factor + 1.0
    return y.sum() * found.factor


def in_a_loop(manager, x):
    y = x[0]
    for i in range(3):
        with manager:
            y = y * manager.factor + manager.depth
    return y * x[1]


def nested(manager, x):
    with manager:
        y = x[0] * manager.depth
        with manager:
            y = y + x[1] * manager.factor * manager.depth
    return y


@pytest.mark.parametrize("make", [Scaled, Closing])
@pytest.mark.parametrize("body", [by_attribute, by_dict_and_array, as_a_name, in_a_loop, nested])
def test_managers_from_outside_change_what_their_block_reads(make: Any, body: Any) -> None:
    def runs(transform: Any) -> list[Any]:
        FACTORS["now"] = WEIGHTS[0] = 1.0
        manager = make(1.5)

        def function(x):
            return body(manager, x)

        derive = transform(function)
        found = [float(derive(x5)) for _ in range(2)]
        held = [float(v) for v in (manager.factor, FACTORS["now"], WEIGHTS[0])]
        return [found, held, manager.depth, [int(n) for n in manager.log]]

    expected = runs(lambda function: function)
    assert runs(lambda f: lambda x: gs.value_and_grad(f)(x)[0]) == expected
    assert runs(lambda f: lambda x: gs.jvp(f, (x,), (x,))[0]) == expected
    assert runs(lambda f: lambda x: gs.value_and_grad(f, compile=False)(x)[0]) == expected

    def with_tensors(function: Any) -> Any:
        compiled = gs.differentiable(function)
        return lambda x: compiled(gs.tensor(x, requires_grad=True)).item()

    assert runs(with_tensors) == expected


LOCK = threading.Lock()


class Guarded:
    def __enter__(self):
        LOCK.acquire()

    def __exit__(self, *_):
        LOCK.release()


GUARD = Guarded()


def guarded(x):
    with GUARD:
        y = np.linalg.solve(x[:4].reshape(2, 2), x[:2])
    return y.sum()


def guarded_by_its_own(x):
    with Guarded():
        y = np.linalg.solve(x[:4].reshape(2, 2), x[:2])
    return y.sum()


@pytest.mark.parametrize("function", [guarded, guarded_by_its_own])
def test_a_manager_is_left_where_an_exception_passes(function: Any) -> None:
    singular = np.ones(4)
    for derive in (
        gs.grad(function),
        lambda x: gs.jvp(function, (x,), (x,)),
        lambda x: gs.differentiable(function)(gs.tensor(x, requires_grad=True)),
    ):
        with pytest.raises(np.linalg.LinAlgError):
            derive(singular)
        assert not LOCK.locked()
    agrees(function, np.array([2.0, 0.5, 1.0, 3.0]))


def test_a_manager_is_left_in_a_finally() -> None:
    gradient = gs.grad(guarded)
    gradient(np.array([2.0, 0.5, 1.0, 3.0]))
    lines = [line.strip() for line in gradient.source.splitlines()]
    assert lines[1:3] == ["LOCK.acquire()", "try:"]
    assert lines[lines.index("finally:") + 1] == "LOCK.release()"


def heeding_warnings(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            slope = np.polyfit(np.ones(3), np.arange(3.0), 2)[0]
        except np.exceptions.RankWarning:
            slope = 2.0
    return slope * x.sum()


def counting_warnings(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.nanmean(x[:0])
        np.nanmean(np.array([np.nan]))
    return len(caught) * x.sum()


def catching_a_warning(x):
    try:
        warnings.simplefilter("error")
        return np.nanmean(x[:0]) * x.sum()
    except RuntimeWarning:
        return x[0] * x[1]
    finally:
        warnings.simplefilter("default")


def silenced_by_numpy(x):
    with np.errstate(all="raise"):
        try:
            size = np.linalg.cond(np.zeros((2, 2)))
        except ArithmeticError:
            size = 2.0
    return (1.0 if np.isinf(size) else size) * x.sum()


def deviation_of_nothing(x):
    with np.errstate(all="raise"):
        try:
            size = np.nanstd(np.array([np.nan]))
        except ArithmeticError:
            size = 2.0
    return (1.0 if np.isnan(size) else size) * x.sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function",
    [
        heeding_warnings,
        counting_warnings,
        catching_a_warning,
        silenced_by_numpy,
        deviation_of_nothing,
    ],
)
def test_functions_of_numpy_warn_where_the_program_heeds_it(function: Any) -> None:
    value, gradient = gs.value_and_grad(function)(x5)
    assert value == function(x5)
    np.testing.assert_allclose(gs.jvp(function, (x5,), (x5,))[1], gradient @ x5)


def set_by_a_manager(x):
    with scipy.special.errstate(all="raise"):
        try:
            size = scipy.special.gammaln(-1.0)
        except scipy.special.SpecialFunctionError:
            size = 2.0
    return size * np.sum(x**2)


def test_what_says_which_exceptions_come_is_done_again_for_hessians() -> None:
    np.testing.assert_array_equal(gs.hessian(set_by_a_manager)(x5), 4 * np.eye(5))
