"""Texts to callables: compiled, executed, and known to `linecache`.

Tracebacks, pdb and `inspect.getsource` then show the lines of generated functions as they
show those of files.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from gradscribe.codegen.emit import render
from gradscribe.ir.core import Function

_serial = itertools.count(1)


def load(
    function: Function,
    source: str | None = None,
    defaults: tuple[tuple[str, str], ...] = (),
    called: tuple[Function, ...] = (),
) -> Callable[..., Any]:
    """The callable of a function, made of its source (emitted here where it is not given).

    Its namespace holds the modules and functions that the text names, the function, and those
    that it calls.
    """
    rendered = render(function, defaults, called)
    filename = f"<gradscribe {next(_serial)}: {function.name}>"
    text = rendered.text if source is None else source
    loaded: Callable[..., Any] = execute(text, filename, rendered.bindings)[function.name]
    weakref.finalize(loaded, linecache.cache.pop, filename, None)
    return loaded


def execute(source: str, filename: str, bindings: Mapping[str, Any]) -> dict[str, Any]:
    """Run the text of some definitions in a namespace of these bindings; the namespace."""
    variables: dict[str, Any] = {"__name__": "gradscribe.generated_code", **bindings}
    exec(compile(source, filename, "exec"), variables)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return variables
