"""Whose text is compiled: always that of the function which runs."""

import ast
import importlib
import linecache
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import SourceNotFoundError

LAYOUT = """
import functools

def plain(x):
    return {factor} * x

def outer(scale):
    def inner(x):
        return scale * x * {factor}
    return inner

class Model:
    __rate = 2.0

    def step(self, x):
        "Mangled names, and a docstring."
        return self.__rate * x * {factor}

def wrapped(f):
    @functools.wraps(f)
    def call(x):
        return f(x)
    return call

@wrapped
def decorated(x):
    return (lambda y: y * {factor})(x)

pair = (lambda x: x * {factor}, lambda x: x + {factor})
times = lambda k: lambda x: k * x * {factor}
"""


def written(directory: Path, factor: float) -> ModuleType:
    """A fresh module whose functions use the factor."""
    (directory / "edited.py").write_text(LAYOUT.format(factor=factor))
    sys.modules.pop("edited", None)
    importlib.invalidate_caches()
    linecache.checkcache()
    return importlib.import_module("edited")


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return written(tmp_path, 2.0)


FUNCTIONS = {
    "plain": lambda m: m.plain,
    "closure": lambda m: m.outer(3.0),
    "method": lambda m: m.Model().step,
    "decorated": lambda m: m.decorated,
    "first lambda of a line": lambda m: m.pair[0],
    "lambda of a lambda": lambda m: m.times(3.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_text_of_every_kind_of_function_is_found(name: str, module: ModuleType) -> None:
    gs.testing.check_grad(FUNCTIONS[name](module), 1.5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_file_edited_after_its_import_is_refused(
    name: str, module: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "edited.py").write_text(LAYOUT.format(factor=50.0))
    with pytest.raises(SourceNotFoundError, match="does not show the function that is running"):
        gs.grad(FUNCTIONS[name](module))(1.5)


def test_an_edit_elsewhere_in_the_file_changes_nothing(module: ModuleType, tmp_path: Path) -> None:
    text = LAYOUT.format(factor=2.0)
    (tmp_path / "edited.py").write_text(text + "\n\ndef added(x):\n    return x\n")
    assert gs.grad(module.plain)(1.5) == 2.0


def test_a_module_that_is_reloaded_is_read_again(module: ModuleType, tmp_path: Path) -> None:
    assert gs.grad(module.plain)(1.5) == 2.0
    assert gs.grad(written(tmp_path, 50.0).plain)(1.5) == 50.0


def test_assertions_rewritten_by_pytest_do_not_matter() -> None:
    def f(x: float) -> float:
        assert x > 0, "positive"
        return x * x

    assert gs.grad(f)(np.float64(3.0)) == 6.0


def test_cells_of_notebooks_are_compiled_statement_by_statement():
    text = "import numpy as np\ndef squares(x):\n    return np.sum(x * x)\n"
    linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
    names = {}
    for statement in ast.parse(text).body:
        exec(compile(ast.Module([statement], []), "<cell>", "exec"), names)
    assert gs.grad(names["squares"])(np.ones(2)).tolist() == [2, 2]
