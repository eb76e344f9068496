"""Functions whose source is not what runs, or is more than can be compiled."""

from __future__ import annotations

import linecache
import sys

import gradscribe as gs
from gradscribe.errors import SourceNotFoundError
from tests.refused import refused_when_run

DOUBLED = "def doubled(x):\n    return x * 2\n"


def made_of(text, shown):
    """The function that a text defines, in a file that shows this text."""
    linecache.cache["<made>"] = len(shown), None, shown.splitlines(keepends=True), "<made>"
    namespace = {}
    exec(compile(text, "<made>", "exec"), namespace)
    (function,) = (item for name, item in namespace.items() if name != "__builtins__")
    return function


@refused_when_run(
    "the source of `doubled` (line 1 of <made>) does not show the function that is running",
    SourceNotFoundError,
)
def edited_function():
    gs.grad(made_of(DOUBLED, DOUBLED.replace("2", "3")))(1.0)


@refused_when_run("'<made>' does not parse: invalid syntax (line 4)", SourceNotFoundError)
def half_a_file():
    gs.grad(made_of(DOUBLED, DOUBLED + "\n+\n"))(1.0)


@refused_when_run("this is nested too deeply to be compiled")
def sum_of_thousands():
    text = "def total(x):\n    return x" + " + x" * 2000
    gs.grad(made_of(text, text))(1.0)


if sys.version_info >= (3, 11):
    GROUP = """
def guarded(x):
    try:
        return x * 2
    except* ValueError:
        pass
    return x
"""

    @refused_when_run("`except*` statements are not supported")
    def group_of_exceptions():
        gs.grad(made_of(GROUP, GROUP))(1.0)
