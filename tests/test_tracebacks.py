"""Tracebacks show the user's frames and generated code: as Python prints them, in pytest, in
notebooks."""

import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors, torchlike, tracebacks

HOME = os.path.dirname(gs.__file__)
ROOT = Path(__file__).parents[1]

# CPython 3.10 keeps one frame of each error that a public function handles and raises again.
KEPT = 1 if sys.version_info < (3, 11) else 0

PROGRAM = """\
import sys
import numpy as np
import gradscribe as gs

def check(x):
    if x[0] > 1:
        raise ValueError("too large")

def helper(x):
    return exec("x")

def refused(x):
    return np.sum(helper(x))

def raising(x):
    check(x)
    return np.sum(x * x)

def test_refused():
    gs.grad(refused)(np.ones(3))

def test_raising():
    gs.grad(raising)(2 * np.ones(3))
"""


def raised(call, kind=Exception):
    with pytest.raises(kind) as caught:
        call()
    return caught.value


def entries(error):
    return traceback.extract_tb(error.__traceback__)


def own(error):
    return [entry for entry in entries(error) if entry.filename.startswith(HOME)]


def refused(x):
    return np.sum(exec("x"))


PRIMITIVE = gs.primitive(lambda x: x)


class Doubled(gs.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        raise KeyError("mine")


def parameter():
    return gs.tensor([1.0, 2.0], requires_grad=True)


def twice():
    loss = parameter().exp().sum()
    loss.backward()
    loss.backward()


CALLS = {
    "grad": lambda: gs.grad(refused)(np.ones(2)),
    "grad of no function": lambda: gs.grad(3),
    "value_and_grad": lambda: gs.value_and_grad(refused)(np.ones(2)),
    "grad of grad": lambda: gs.grad(gs.grad(refused))(1.0),
    "jacobian": lambda: gs.jacobian(refused)(np.ones(2)),
    "hessian": lambda: gs.hessian(refused)(np.ones(2)),
    "vjp": lambda: gs.vjp(refused, np.ones(2)),
    "cotangent": lambda: gs.vjp(np.sin, np.ones(2))[1](np.ones(3)),
    "jvp": lambda: gs.jvp(refused, (np.ones(2),), (np.ones(2),)),
    "hvp": lambda: gs.hvp(refused, np.ones(2), np.ones(2)),
    "differentiable": lambda: gs.differentiable(refused)(parameter()),
    "specialize": lambda: gs.differentiable(refused).specialize("float64[:]"),
    "source": lambda: gs.differentiable(refused).gradient_source,
    "trace": lambda: gs.trace(refused, np.ones(2)),
    "check_grad": lambda: gs.testing.check_grad(refused, np.ones(2)),
    "without a rule": lambda: gs.grad(lambda x: np.sum(PRIMITIVE(x)))(np.ones(2)),
    "operator": lambda: parameter() + gs.ones(3),
    "reflected operator": lambda: np.ones(3) @ parameter(),
    "index": lambda: parameter()[5],
    "store": lambda: gs.ones(2).__setitem__(5, 1.0),
    "checkpoint": lambda: gs.utils.checkpoint.checkpoint(gs.exp, 3, nosuch=True),
    "in place": lambda: gs.ones(2).add_(gs.ones(3)),
    "function": lambda: gs.cat([gs.ones(2, 3), gs.ones(4, 5)]),
    "network": lambda: torchlike.nn.functional.linear(gs.ones(2, 3), gs.ones(4, 5)),
    "backward": lambda: parameter().exp().backward(),
    "backward twice": twice,
    "autograd.grad": lambda: gs.autograd.grad(gs.ones(1), gs.ones(1)),
    "rule of a Function": lambda: Doubled.apply(parameter()).sum().backward(),
    "autograd.functional": lambda: gs.autograd.functional.hessian(gs.exp, gs.ones(2)),
    "gradcheck": lambda: gs.autograd.gradcheck(gs.exp, (gs.ones(2),)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_frame_of_the_package_is_shown(call):
    assert len(own(raised(call))) <= KEPT


def test_the_users_frames_above_and_below_are_shown():
    error = raised(CALLS["rule of a Function"], KeyError)
    shown = [entry.name for entry in entries(error) if entry.filename == __file__]
    assert shown == ["raised", "<lambda>", "backward"]


def test_an_error_in_generated_code_shows_its_line_and_the_users():
    def f(x):
        return np.sum(np.linalg.inv(x))

    error = raised(lambda: gs.grad(f)(np.zeros((2, 2))), np.linalg.LinAlgError)
    place, generated = entries(error)[2 + KEPT : 4 + KEPT]
    assert (place.filename, place.line) == (__file__, "return np.sum(np.linalg.inv(x))")
    assert place.name == "code compiled to `t = np.linalg.inv(x)`"
    assert (generated.name, generated.line) == ("f_gradient", "t = np.linalg.inv(x)")


def test_the_users_line_is_shown_once_by_calls_within_calls():
    inner = gs.grad(lambda x: np.sum(np.linalg.inv(x)))

    @gs.differentiable
    def outer(x):
        return inner(x)

    error = raised(lambda: outer(np.zeros((2, 2))), np.linalg.LinAlgError)
    assert [entry.name[:16] for entry in entries(error)].count("code compiled to") == 1
    assert len(own(error)) <= KEPT


def test_internal_frames_are_shown_on_demand():
    errors.show_internal_frames()
    try:
        error = raised(CALLS["grad"])
        assert len(own(error)) > 5
    finally:
        errors.show_internal_frames(False)
    assert len(own(raised(CALLS["grad"]))) <= KEPT


@tracebacks.shortened
def looked_up(raise_from):
    """A public function, as if it stood in the package."""
    exec(compile(LOOK_UP, f"{HOME}/example.py", "exec"), {"raise_from": raise_from})


LOOK_UP = """
try:
    {}["key"]
except KeyError as error:
    if raise_from:
        raise ValueError("text") from error
    raise ValueError("text")
"""


def test_errors_that_the_package_has_handled_are_not_shown():
    error = raised(lambda: looked_up(False), ValueError)
    assert error.__context__ is None


def test_a_cause_keeps_the_place_where_it_was_raised():
    error = raised(lambda: looked_up(True), ValueError)
    assert [entry.lineno for entry in entries(error.__cause__)] == [3]


def test_what_the_user_was_handling_is_still_shown():
    def call():
        try:
            {}["key"]
        except KeyError:
            gs.grad(refused)(np.ones(2))

    error = raised(call, errors.UnsupportedError)
    assert isinstance(error.__context__, KeyError)
    assert [entry.name for entry in entries(error.__context__)] == ["call"]


def printed(tmp_path, *command, **variables):
    path = tmp_path / "test_program.py"
    path.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **variables}
    run = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", run.stdout + run.stderr)


def call_of(name):
    return "-c", f"import test_program; test_program.{name}()"


def test_python_prints_at_most_fifteen_lines_of_a_refusal(tmp_path):
    text = printed(tmp_path, *call_of("test_refused"))
    assert len(text.splitlines()) <= 15
    assert "gs.grad(refused)(np.ones(3))" in text
    assert 'return exec("x")' in text
    assert text.count(HOME) == KEPT


def test_python_prints_the_generated_line_and_the_users(tmp_path):
    text = printed(tmp_path, *call_of("test_raising"))
    place = f'  File "{tmp_path}/test_program.py", line 7, in code compiled to '
    assert place + '`raise ValueError("too large")`\n' in text
    assert '"<gradscribe 1: raising_gradient>", line 3, in raising_gradient\n' in text
    assert len(text.splitlines()) <= 15


def test_the_environment_asks_for_internal_frames(tmp_path):
    text = printed(tmp_path, *call_of("test_refused"), GRADSCRIBE_INTERNAL_FRAMES="1")
    assert text.count(HOME) > 5


def test_pytest_shows_the_same(tmp_path):
    text = printed(tmp_path, "-m", "pytest", "-q", "--tb=long", "-p", "no:cacheprovider")
    places = re.findall(r"^(\S+):(\d+): ?\w*$", text, re.MULTILINE)
    shown = [place for place in places if not place[0].startswith((HOME, "..", "src"))]
    assert len(places) - len(shown) <= 2 * KEPT
    assert [line for name, line in shown if name == "test_program.py"] == ["20", "23", "7"]


def test_notebooks_show_the_same(tmp_path):
    pytest.importorskip("IPython")
    run = "from IPython.core.interactiveshell import InteractiveShell as Shell\n"
    run += 'Shell().run_cell("import test_program; test_program.test_raising()")'
    text = printed(tmp_path, "-c", run)
    assert text.count(f"{HOME}{os.sep}") <= KEPT
    assert "in code compiled to `raise ValueError" in text
    assert "too large" in text


def test_what_the_user_was_handling_is_printed_as_in_python(tmp_path):
    run = "import test_program\ntry:\n    {}['key']\nexcept KeyError:\n    test_program.test_{}()\n"
    for name in ("refused", "raising"):
        text = printed(tmp_path, "-c", run.replace("test_{}", f"test_{name}"))
        assert text.startswith("Traceback (most recent call last):\n")
        assert "KeyError: 'key'\n\nDuring handling of the above exception, another" in text
        assert text.count("During handling") == 1


def test_second_derivatives_and_returned_expressions_have_origins():
    def singular(x):
        return np.sum(np.linalg.inv(np.outer(x, x)))

    for transform in (gs.hessian, gs.jacobian):
        error = raised(lambda: transform(singular)(np.ones(2)), np.linalg.LinAlgError)
        (place,) = [e for e in entries(error) if e.name.startswith("code compiled to")]
        assert place.line == "return np.sum(np.linalg.inv(np.outer(x, x)))"


def test_a_rule_of_the_user_is_shown_where_it_raises():
    @gs.primitive
    def doubled(x):
        return x * 2

    @doubled.adjoint
    def _(out, x, *, d_out):
        raise ValueError("no rule")

    def f(x):
        return np.sum(doubled(x))

    error = raised(lambda: gs.grad(f)(np.ones(2)), ValueError)
    assert entries(error)[-1].line == 'raise ValueError("no rule")'
    assert len(own(error)) <= KEPT


@pytest.mark.parametrize("compile", [True, False, "auto"])
def test_an_error_of_the_function_did_not_arise_while_another_was_handled(compile):
    def misshapen(x):
        return np.sum(x @ np.ones(len(x) + 1))

    error = raised(lambda: gs.grad(misshapen, compile=compile)(np.ones(3)), ValueError)
    assert error.__suppress_context__ or error.__context__ is None
    assert len(entries(error)) <= 3 + KEPT
