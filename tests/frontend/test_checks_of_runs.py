"""What the compiler has taken for granted is checked when generated code runs: as a refusal that no
handler of the program takes for an exception of its own, and that `python -O` does not leave out.
"""

import contextlib
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Callable

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import NoDerivativeError, UnsupportedError

FLOATS = np.array([-0.7, 1.3, 0.4])
INTEGERS = np.array([0.7, 1.3, 0.4])
"""Of these, `stored` makes an array of integers."""


def stored(x):
    y = np.full(3, 1 if x[0] > 0 else x[0])
    y[0] = x[1]
    return y.sum()


def by_its_class(x):
    try:
        return stored(x)
    except AssertionError:
        return x[2]


def by_several_classes(x):
    try:
        return stored(x)
    except (IndexError, RuntimeError):
        return x[2]


def by_any_exception(x):
    try:
        total = stored(x)
    except Exception as error:
        total = x[2] * isinstance(error, ValueError)
    return total


def by_a_bare_handler(x):
    try:
        total = stored(x)
    except:
        total = x[2]
    return total


def by_base_exceptions(x):
    try:
        total = stored(x)
    except BaseException:
        total = x[2]
    else:
        total = total * 2
    return total


def by_the_refusal_itself(x):
    try:
        return stored(x)
    except NotImplementedError:
        return x[2]


def suppressed(x):
    total = x[2]
    with contextlib.suppress(Exception):
        total = stored(x)
    return total


def in_a_loop(x):
    total = x[2]
    for k in range(3):
        try:
            total = total + stored(x) / x[k]
        except Exception:
            continue
    return total


def with_a_final_block(x):
    try:
        try:
            total = stored(x)
        finally:
            print("done")
    except Exception:
        total = x[2]
    return total


def in_a_handler(x):
    try:
        try:
            total = x[1] * (1 / len(x[3:]))
        except ZeroDivisionError:
            total = stored(x)
    except Exception:
        total = x[2]
    return total


def summed(x, n):
    return stored(x) if n == 0 else summed(x, n - 1) * x[1]


def by_recursion(x):
    try:
        return summed(x, round(x[1]))
    except Exception:
        return x[2]


@pytest.mark.parametrize(
    "function",
    [by_its_class, by_several_classes, by_any_exception, by_a_bare_handler, by_base_exceptions]
    + [by_the_refusal_itself, suppressed, in_a_loop, with_a_final_block, in_a_handler]
    + [by_recursion],
)
def test_no_handler_takes_a_check_for_an_exception(function: Callable[..., float]) -> None:
    gs.testing.check_grad(function, FLOATS)
    lines, first = inspect.getsourcelines(stored)
    for run in (gs.grad(function), lambda x: gs.jvp(function, (x,), (x,))):
        with pytest.raises(UnsupportedError, match="cuts them off") as caught:
            run(INTEGERS)
        assert caught.value.location is not None
        assert lines[caught.value.location.line - first].strip() == "y[0] = x[1]"


def test_who_calls_a_compiled_function_catches_its_checks() -> None:
    try:
        gs.grad(stored)(INTEGERS)
    except Exception as error:
        assert type(error) is UnsupportedError


def test_a_check_is_a_condition_that_raises_by_handlers() -> None:
    def function(x):
        y = np.array([1 if x[0] > 0 else x[0]])
        try:
            y[0] = x[1]
        except IndexError:
            return 0.0
        return y[0]

    primal = gs.differentiable(function).specialize(FLOATS).forward_source
    assert primal == textwrap.dedent(
        """\
        def function_forward(x):
            t = x[0]
            branch = t > 0
            y = np.array([1 if branch else t])
            try:
                t_1 = x[1]
                if y.dtype != np.float64:
                    raise UnsupportedError(
                        "numbers are stored to an array of integers, which cuts them off",
                        "make it of floats"
                    )
                y[0] = t_1
                branch_1 = True
            except UnsupportedError:
                raise
            except IndexError:
                branch_1 = False
                result = 0.0
            if branch_1:
                result = y[0]
            return result, (x, branch, branch_1, y)
        """
    )


def complex_number(x, y):
    try:
        return abs(x**y)
    except Exception:
        return 0.0


def test_checks_of_powers_pass_handlers() -> None:
    assert gs.grad(complex_number)(2.0, 1.0) == 1.0
    with pytest.raises(NoDerivativeError, match="is complex"):
        gs.grad(complex_number)(-2.0, 0.5)


def of_two_kinds(x):
    eval("None")  # is not compiled
    return x[0] if x[0] > 0 else x[:2] * 1.0


def test_a_run_that_is_given_up_is_not_handled() -> None:
    def function(x):
        try:
            return np.sum(of_two_kinds(x))
        except BaseException:
            return 0.0

    gradient = gs.grad(function, compile="auto")
    for x, expected in ((INTEGERS, [1, 0, 0]), (INTEGERS, [1, 0, 0]), (FLOATS, [1, 1, 0])):
        np.testing.assert_array_equal(gradient(x), expected)


PROGRAM = """
import numpy as np
import gradscribe as gs

def stored(x):
    y = np.array([1 if x[0] > 0 else x[0], 2])
    y[0] = x[1]
    return y[0]

def asserted(x):
    noted = []
    assert noted.append(1) and x[0] > 1
    return x[0] * (1 + len(noted))

x = np.array([0.5, 1.5])
print(gs.grad(asserted)(x))
try:
    print(gs.grad(stored)(x))
except gs.errors.UnsupportedError as error:
    print(error.what, error.location.line)
"""


def test_checks_are_made_without_assertions(tmp_path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    made = subprocess.run(
        [sys.executable, "-O", script], capture_output=True, text=True, check=True
    )
    assert made.stdout.splitlines() == [
        "[1. 0.]",
        "numbers are stored to an array of integers, which cuts them off 7",
    ]
