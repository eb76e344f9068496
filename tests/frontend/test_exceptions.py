"""`try`: what is known to raise, what cannot raise, and what is decided at run time."""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from tests.frontend.oracles import agrees
from tests.properties.grammar.programs import compiled

x5 = np.linspace(0.5, 2.0, 5)


class SolverError(Exception):
    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


def checked(x):
    if x.sum() > 100:
        raise SolverError("too large", code=3)
    return x * x


def division(x, y):
    try:
        v = 1 / y
    except ZeroDivisionError:
        v = 0.5
    return (x * v).sum()


def helper_that_raises(x):
    try:
        y = checked(x)
    except SolverError:
        y = checked(x / 100) * 3
    return y.sum()


def loop_past_the_end(x, n):
    s = 0.0
    for i in range(n):
        try:
            s = s + x[i] * i
        except IndexError:
            s = s * s
            continue
    return s


def retries(x, k):
    for _ in range(3):
        try:
            y = math.log(x - k)
            break
        except ValueError:
            x = x * 2
    else:
        y = 0.0
    return y * x


def else_and_several_handlers(x, t):
    try:
        y = x * 2
        if t > 1:
            raise ValueError(f"t={t}")
        if t < -1:
            raise KeyError(t)
        z = y * t
    except ValueError:
        z = x * x
    except (KeyError, IndexError):
        z = x * x * x
    else:
        z = z + 1
    return z.sum()


def returns_from_each_part(x, t):
    try:
        return (x * math.sqrt(t)).sum()
    except ValueError:
        return (x * x).sum()
    finally:
        print("done")


def suppressed(x, i):
    y = 1.0
    with contextlib.suppress(IndexError, KeyError):
        y = x[i] ** 2
    return y * x.sum()


def nested(x, t):
    try:
        try:
            y = math.log(t) * x
        except ZeroDivisionError:
            y = x
    except ValueError:
        y = x * x
    return y.sum()


def user_name_completed(x, y):
    completed = 2.0
    try:
        v = 1 / y
    except ZeroDivisionError:
        v = 3.0
    return (x * v * completed).sum()


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (division, (x5, 2.0)),
        (helper_that_raises, (x5,)),
        (helper_that_raises, (x5 * 100,)),
        (loop_past_the_end, (x5, 4)),
        (loop_past_the_end, (x5, 7)),
        *[(retries, (1.0, k)) for k in (0.5, 3.0, 100.0)],
        *[(else_and_several_handlers, (x5, t)) for t in (0.5, 2.0, -2.0)],
        *[(returns_from_each_part, (x5, t)) for t in (0.5, -2.0)],
        *[(suppressed, (x5, i)) for i in (2, 7)],
        *[(nested, (x5, t)) for t in (0.5, -2.0)],
        (user_name_completed, (x5, 2.0)),
    ],
)
def test_handlers_run_where_python_runs_them(function: Any, args: Any) -> None:
    agrees(function, *args)


def test_adjoint_of_a_handler_is_that_of_what_it_did() -> None:
    value, (d_x, d_y) = gs.value_and_grad(division, argnums=(0, 1))(x5, 0.0)
    assert value == division(x5, 0.0)
    assert d_x.tolist() == [0.5] * 5
    assert d_y == 0.0


def test_try_stays_a_try_around_what_may_raise() -> None:
    source = gs.differentiable(division).specialize(x5, 2.0).forward_source
    assert source.splitlines()[1:7] == [
        "    try:",
        "        v = 1 / y",
        "        completed = True",
        "    except ZeroDivisionError:",
        "        v = 0.5",
        "        completed = False",
    ]


def known_key(x):
    settings = {"scale": 2.0}
    try:
        shift = settings["shift"]
    except KeyError:
        shift = 3.0
    try:
        scale = settings["scale"]
    except KeyError as error:
        raise ValueError("no scale") from error
    return (x * scale + shift).sum()


def known_import(x):
    try:
        import numpy_that_is_not_there as fast

        y = fast.square(x)
    except ImportError:
        y = x * x
    return y.sum()


def known_type(x):
    try:
        n = len(x)
    except TypeError:
        n = 1
    try:
        scale = x.scale
    except AttributeError:
        scale = 2.0
    return x.sum() * n * scale


def known_conversion(x, text):
    try:
        v = float(text)
    except ValueError:
        v = 2.0
    return x.sum() * v


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (known_key, (x5,)),
        (known_import, (x5,)),
        (known_conversion, (x5, "3.5")),
        (known_conversion, (x5, "three")),
    ],
)
def test_what_is_known_when_compiling_leaves_no_try(function: Any, args: Any) -> None:
    agrees(function, *args)
    assert "try" not in gs.differentiable(function).specialize(*args).forward_source


def count_assigned_late(x):
    count = 0
    try:
        y = np.linalg.inv(x)
        count = 1
    finally:
        print(count)
    return y.sum()


def array_made_late(x):
    y = x
    try:
        y = np.linalg.inv(x)
    finally:
        print(y[0, 0])
    return y.sum()


def told_by_a_name(x):
    y = None
    try:
        y = np.linalg.inv(x)
    finally:
        if y is None:
            print("failed")
    return y.sum()


@pytest.mark.parametrize("function", [count_assigned_late, array_made_late, told_by_a_name])
def test_finally_does_not_read_what_an_exception_leaves_open(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="may or may not have been assigned when the except"):
        gs.grad(function)(np.eye(2))


@pytest.mark.parametrize("x", [np.eye(2), np.zeros((2, 2))])
def test_finally_reads_what_was_assigned_before_an_exception(x: Any, capsys: Any) -> None:
    def function(x):
        try:
            scaled = x + 1.0
            y = np.linalg.inv(x)
        finally:
            print(scaled[0, 1])
        return y.sum()

    with contextlib.suppress(np.linalg.LinAlgError):
        gs.grad(function)(x)
    assert capsys.readouterr().out == "1.0\n"


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_finally_runs_when_an_exception_passes(scale: float, capsys: Any) -> None:
    def run(x):
        try:
            print("begin")
            y = checked(x)
        finally:
            print("end")
        return y.sum()

    outcomes = []
    for function in (run, gs.grad(run)):
        with contextlib.suppress(SolverError):
            function(x5 * scale)
        outcomes.append(capsys.readouterr().out)
    assert outcomes == ["begin\nend\n"] * 2


def test_exception_that_leaves_the_function_is_simply_raised() -> None:
    def wrapped(x, t):
        try:
            w = 1.0 / t
        except ZeroDivisionError as error:
            raise SolverError(f"bad step {t}", code=7) from error
        return x.sum() * w

    agrees(wrapped, x5, 2.0)
    with pytest.raises(SolverError, match=r"bad step 0\.0") as raised:
        gs.grad(wrapped)(x5, 0.0)
    assert raised.value.code == 7
    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_handled_exception_can_be_shown_and_raised_again(capsys: Any) -> None:
    def logged(x, t):
        try:
            w = math.log(t)
        except ValueError as error:
            print("caught", type(error).__name__, error)
            raise
        return x.sum() * w

    with pytest.raises(ValueError, match=r"math domain error|expected a positive input"):
        gs.grad(logged)(x5, -1.0)
    assert capsys.readouterr().out.startswith("caught ValueError")


def test_known_exception_that_is_raised_again_is_caught_around():
    def twice(x):
        try:
            try:
                scale = [1.0][3]
            except IndexError:
                raise
        except IndexError as error:
            scale = 2.0 * len(error.args)
        return (x * scale).sum()

    agrees(twice, x5)


def unsettled(x, y):
    a = x[0]
    try:
        a = a * 2
        b = 1 / y
        a = b * 3
        c = 1 / (y - 1)
    except ZeroDivisionError:
        c = a
    return a * c


def stores_before_raising(x, y):
    z = x * 1
    try:
        for i in range(3):
            z[i] = 1 / (y - i)
    except ZeroDivisionError:
        pass
    return z.sum()


def unsettled_in_another_try(x, y):
    try:
        return unsettled(x, y)
    except Exception:
        return 0.0


class Fit:
    def __init__(self, x):
        self.x, self.history = x, []

    def step(self, k):
        self.x = np.linalg.solve(np.eye(len(self.x)) * (k + 1.5), self.x * self.x)
        self.history.append(self.x.sum())

    def run(self):
        for k in range(3):
            try:
                self.step(k)
            except np.linalg.LinAlgError:
                return None
        return self


def object_that_is_changed(x, y):
    fit = Fit(x * y)
    fit.run()
    return fit.x.sum() + sum(fit.history)


@pytest.mark.parametrize("function", [unsettled, stores_before_raising, object_that_is_changed])
def test_what_a_handler_would_depend_on_is_compiled_for_calls_without_exception(function) -> None:
    agrees(function, x5, 5.0)


def test_state_that_depends_on_when_the_exception_came_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="`a` may or may not have been assigned"):
        gs.grad(unsettled)(x5, 1.0)
    with pytest.raises(UnsupportedError, match="changes an array or list in a `try`"):
        gs.grad(stores_before_raising)(x5, 2.0)


def item_for_the_exception(x, y):
    items = [1.0, 2.0]
    try:
        if y < 3:
            raise ValueError(f"no {items.pop()}")
    except ValueError:
        pass
    return x.sum() * sum(items)


def variable_for_the_exception(x, y):
    count = 1

    def counted():
        nonlocal count
        count += 1
        return count

    try:
        if y < 3:
            raise ValueError(counted())
    except ValueError:
        pass
    return x.sum() * count


def cause_of_the_exception(x, y):
    items = [1.0]
    for _ in range(2):
        try:
            if y < 3:
                raise ValueError from KeyError(items.append(2.0))
        except ValueError:
            pass
    return x.sum() * sum(items)


def iterator_for_the_exception(x, y):
    items = iter([1.0, 2.0])
    try:
        if y < 3:
            raise ValueError(next(items))
    except ValueError:
        pass
    return x.sum() * next(items)


def named_before_the_exception(x, y):
    scale = 1.0
    try:
        if y < 3:
            scale = 2.0
            raise ValueError
    except ValueError:
        pass
    return x.sum() * scale


@pytest.mark.parametrize(
    "function",
    [
        item_for_the_exception,
        variable_for_the_exception,
        cause_of_the_exception,
        iterator_for_the_exception,
        named_before_the_exception,
    ],
)
def test_what_a_side_changes_before_it_raises_is_not_lost(function) -> None:
    agrees(function, x5, 5.0)
    with pytest.raises(UnsupportedError, match=r"may be left by an exception|when the exception"):
        gs.grad(function)(x5, 2.0)


def message_that_takes(x):
    items = [3.0]
    assert x[0] > -9, f"bad {items.pop()}"
    return x.sum() * sum(items)


def message_that_stores(x):
    y = x * 2
    assert x[0] > -9, y.fill(0.0)
    return y.sum()


def message_that_names(x):
    count, items = 2, iter([1.0, 2.0])
    for _ in range(2):
        assert x[0] > -9, (count := 5)  # noqa: RUF018
    assert x[0] > -9, next(items)
    return x.sum() * count * next(items)


def message_of_a_function(x):
    seen, count = [], 1

    def noted():
        nonlocal count
        count += 1
        seen.append(x)
        return "bad"

    assert x[0] > -9, noted()
    return x.sum() * count * (1 + len(seen))


def message_that_raises(x):
    count = len(x) - 5
    assert x[0] > -9, 1 / count
    return x.sum()


def message_of_parts(x):
    assert x[0] > -9, ("bad", x)
    return x.sum()


@pytest.mark.parametrize(
    "function",
    [
        message_that_takes,
        message_that_stores,
        message_that_names,
        message_of_a_function,
        message_that_raises,
        message_of_parts,
    ],
)
def test_the_message_of_an_assertion_is_made_where_that_fails(function) -> None:
    agrees(function, x5)


def test_the_message_of_an_assertion_that_fails_is_that_of_python() -> None:
    with pytest.raises(AssertionError, match=r"^bad 3\.0$"):
        gs.grad(message_that_takes)(x5 - 100.0)


def test_the_refusal_of_an_exception_is_not_taken_for_one_of_the_program() -> None:
    with pytest.raises(UnsupportedError, match="`a` may or may not have been assigned"):
        gs.grad(unsettled_in_another_try)(x5, 1.0)


def exponential(x):
    try:
        return math.exp(x[0])
    except OverflowError:
        return x[1] * 2


def logarithm(x):
    try:
        return math.log(x[0] - 1)
    except ValueError:
        return x[1] * 2


def power_of_a_number_that_is_handed_on(x):
    base = 10.0 if x[0] > 500 else x[1]
    try:
        return x[1] + base**400
    except OverflowError:
        return x[1] * 2


def powers_in_a_loop(x):
    total = x[0]
    for k in range(307, 310):
        try:
            total = total + 10.0**k * 1e-300 * x[1]
        except OverflowError:
            total = total + x[2]
    return total


@pytest.mark.parametrize(
    "function", [exponential, logarithm, power_of_a_number_that_is_handed_on, powers_in_a_loop]
)
def test_what_numbers_cannot_be_computed_of_is_handled(function: Any) -> None:
    for x in (np.array([1.5, 1.001, 0.5]), np.array([1000.0, 1.5, 0.5]), np.array([0.5, 1.0, 2])):
        value, gradient = gs.value_and_grad(function)(x)
        assert value == function(x)
        slopes = gs.value_and_grad(function, compile=False)(x)[1]
        np.testing.assert_allclose(gradient, slopes)


def result_that_no_derivative_reads(x, y, d):
    try:
        z = x + y / d
    except ZeroDivisionError:
        z = x * x
    return z


def test_what_decides_between_the_paths_is_computed_though_no_derivative_reads_it() -> None:
    gradient = gs.grad(result_that_no_derivative_reads)
    assert gradient(3.0, 1.0, 2.0) == 1.0
    assert gradient(3.0, 1.0, 0.0) == 6.0
    assert gs.jvp(result_that_no_derivative_reads, (3.0, 1.0, 0.0), (1.0, 0.0, 0.0))[1] == 6.0


def over_known_steps(x, y):
    total = 0.0
    for d in (1.0, 0.0, 2.0):
        try:
            total += x / d
        except ZeroDivisionError:
            total += y
    return total


def test_division_by_a_known_number_leaves_no_try() -> None:
    agrees(over_known_steps, 2.0, 0.3)
    source = gs.differentiable(over_known_steps).specialize(2.0, 0.3).forward_source
    assert source.count("try:") == 1


class Carrying(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def numbers_of_an_exception(x: Any) -> Any:
    try:
        raise ValueError("message", x[0] * 2, 3)
    except ValueError as error:
        return error.args[1] * error.args[2] + len(error.args[0]) * x[1]


def test_numbers_that_an_exception_is_given_keep_their_derivative() -> None:
    agrees(numbers_of_an_exception, np.array([0.7, 1.3]))


def attribute_of_an_exception(x: Any) -> Any:
    try:
        raise Carrying(x[0] * 2)
    except Carrying as error:
        return error.value


def array_of_an_exception(x: Any) -> Any:
    try:
        raise ValueError(x)
    except ValueError as error:
        return error.args[0]


def exception_of_one_path(x: Any) -> Any:
    try:
        if x[0] > 0:
            raise Carrying(x[0])
        result = x[1]
    except Carrying as error:
        result = error.value
    return result


@pytest.mark.parametrize(
    "function", [attribute_of_an_exception, array_of_an_exception, exception_of_one_path]
)
def test_what_else_an_exception_carries_is_refused(function: Any) -> None:
    with pytest.raises(UnsupportedError, match="is read of an exception, which may carry"):
        gs.grad(function)(np.array([0.7, 1.3]))


def largest_of_none(x):
    try:
        return max([v for v in x if v > 9])
    except ValueError:
        return x[0]


def smallest_of_none(x):
    try:
        return min(v * 2 for v in x if v > 9)
    except ValueError:
        return x[1] * 2


def mean_of_none(x):
    above = [v for v in x if v > 9]
    try:
        return sum(above) / len(above)
    except ZeroDivisionError:
        return x[0] ** 2


def length_of_none(x, n=None):
    try:
        count = len(n)
    except TypeError:
        count = 2.0
    return count * x.sum()


@pytest.mark.parametrize(
    "function", [largest_of_none, smallest_of_none, mean_of_none, length_of_none]
)
@pytest.mark.parametrize("scale", [1.0, 11.0])
def test_what_python_raises_for_nothing_is_caught(function, scale):
    x = scale * np.array([0.5, 0.9, 1.3, 1.7])
    assert gs.vjp(function, x)[0] == function(x)
    gs.grad(function)(x)
    gs.testing.check_grad(function, x)


def test_the_largest_of_none_is_a_value_error():
    with pytest.raises(ValueError, match="empty"):
        gs.vjp(lambda x: max([v for v in x if v > 9]), np.ones(3))


def outside_along_an_axis(x, k):
    try:
        taken = np.take_along_axis(x, np.array([k]), 0).sum()
    except IndexError:
        taken = x[0] * 3
    return taken * x[1]


def inserted_outside(x, k):
    try:
        longer = np.insert(x, k, 1.0).sum()
    except IndexError:
        longer = x[0] * 3
    return longer * x[1]


@pytest.mark.parametrize("k", [1, 4, -2, 7, -7])
@pytest.mark.parametrize("function", [outside_along_an_axis, inserted_outside])
def test_places_that_functions_take_may_be_outside(function, k: int) -> None:
    agrees(function, np.array([0.7, 1.3, 2.1, 0.4]), k)


class Plain:
    """No items."""


@pytest.mark.parametrize(
    "make",
    [
        *(lambda x: iter(x[0]), lambda x: iter(np.asarray(x[0])), lambda x: iter(None), iter),
        *(lambda x: enumerate(2.0), lambda x: zip(x, x[0]), lambda x: reversed(x.sum())),
        *(lambda x: map(abs, np.array(2.0)), lambda x: filter(None, x[1]), lambda x: iter(len)),
        *(lambda x: iter(Plain()), lambda x: zip(x, Plain()), lambda x: iter(x.sum)),
        *(lambda x: (v for v in 2.0), lambda x: itertools.islice(x[0], 2), lambda x: iter("ab")),
        *(lambda x: itertools.chain(2.0), lambda x: itertools.product(x, 2.0), lambda x: zip()),
        *(lambda x: len(np.asarray(x[0])), lambda x: len(2.0)),
    ],
)
def test_what_has_no_items_raises_where_an_iterator_is_made(make):
    def function(x):
        try:
            make(x)
        except TypeError:
            return x[0] * 3
        return x[1] * 2

    agrees(function, np.array([0.7, 1.3]))


def states_behind_a_try(x, threshold):
    state, visits, total = "low", {"low": 0, "high": 0}, 0.0
    for v in x:
        if state == "low" and v > threshold:
            state = "high"
        else:
            try:
                if state == "high" and v < -threshold:
                    state = "low"
            except IndexError:
                pass
        visits[state] += 1
        total += v * (2 if state == "high" else 0.5)
    return total / len(x) + visits["high"]


def test_states_stay_known_behind_a_try() -> None:
    """They became texts at run time, and each read of one doubled what was lowered."""
    agrees(states_behind_a_try, np.array([0.2, 1.4, 0.3, -1.2, 0.1, 1.1, 2.0]), 1.0)


def needed_by_the_handler(x):
    first = x[0]
    with_axis = x[:2] * first
    try:
        bool(with_axis == first)
    except ValueError:
        return first * 3
    return x[1] * 2


def test_what_a_handler_reads_is_not_overwritten_by_what_raises():
    agrees(needed_by_the_handler, np.array([0.7, 1.3]))


def log_or_triple(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            y = np.log(x - 1.0)
        except RuntimeWarning:
            y = x * 3.0
    return np.sum(y)


def unused_mean_or_triple(x):
    y = x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            np.mean(x[x > 2.2])
        except Warning:
            y = x * 3.0
    return np.sum(y)


@pytest.mark.parametrize("function", [log_or_triple, unused_mean_or_triple])
@pytest.mark.parametrize("first", [0.5, 2.5])
def test_warnings_that_are_errors_are_handled(function, first: float) -> None:
    gs.testing.check_grad(function, np.array([first, 2.0]))


VAST = [
    "float(10**400)",
    "10**400 * 1.0",
    "10**400 + 1.5",
    "-(10**400) / 3",
    "n ** 400 * 1.5",
    "(n ** 400 + 1) * 0.5",
    "(1 << (n * 200)) * 0.5",
    "math.factorial(n * 30) * 0.5",
]


@pytest.mark.parametrize("vast", VAST)
@pytest.mark.parametrize("read", ["s", "s + (y if y < 1 else 4.0)"])
@pytest.mark.parametrize("n", [1, 10])
def test_integers_beyond_all_floats_raise_what_the_program_handles(vast, read, n):
    lines = (
        "def program(x, n):",
        "    s = x[0] * x[1]",
        "    try:",
        f"        y = {vast}",
        "        s = s * 2.0",
        "    except OverflowError:",
        "        s, y = s * 3.0, 1.0",
        f"    return {read}",
    )
    program = compiled("\n".join(lines))
    x = np.array([0.5, 1.5])
    value, gradient = gs.value_and_grad(program)(x, n)
    assert value == program(x, n)
    np.testing.assert_allclose(gradient, gs.grad(program, compile=False)(x, n))


def test_a_power_without_a_modulus_is_one():
    def program(x):
        try:
            return pow(x[0], 3, None)
        except TypeError:
            return 7 * x[0]

    assert gs.grad(program)(np.array([2.0])).tolist() == [12.0]


def which_array_was_chosen(x, c):
    y, z = 1.0 * x, 2.0 * x
    try:
        if x[-1] > 0.0:
            raise KeyError
        s, chosen = np.sum(5.0 * x), y
    except KeyError:
        chosen = y if c > 0.2 else z
        s = np.sum(np.sin(x))
    chosen[0] = 4.0 * x[1]
    return s + np.sum(y * y) + np.sum(z)


@pytest.mark.parametrize("last", [0.3, -0.3])
@pytest.mark.parametrize("c", [0.0, 1.0])
def test_which_side_was_taken_is_not_what_a_side_decides(last, c):
    agrees(which_array_was_chosen, np.array([0.5, 0.2, last]), c)


def leaves_without(x):
    try:
        if x[0] > 0.0:
            sys.exit()
        t = x[0]
    except SystemExit:
        t = x[0] * x[1]
    return t


def test_leaving_the_program_is_an_exception():
    x = np.array([0.5, 1.5])
    agrees(leaves_without, x)
    agrees(leaves_without, -x)

    def leaves(x):
        if x[0] > 0.0:
            sys.exit(3)
        return x[1]

    with pytest.raises(SystemExit) as caught:
        gs.grad(leaves)(x)
    assert caught.value.code == 3
