"""Texts to callables: compiled, executed, and known to `linecache`.

Tracebacks, pdb and `inspect.getsource` then show the lines of generated functions as they
show those of files; `tracebacks` shows the user's statements with them.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradscribe.codegen.emit import emitters_of, render
from gradscribe.codegen.located import located
from gradscribe.codegen.namespace import Namespace
from gradscribe.ir.core import Function, Location
from gradscribe.tracebacks import ORIGINS

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
    bindings = {**rendered.bindings, ORIGINS: _Origins(function, defaults, called)}
    loaded: Callable[..., Any] = execute(text, filename, bindings)[function.name]
    weakref.finalize(loaded, linecache.cache.pop, filename, None)
    return loaded


@dataclass(frozen=True, eq=False)
class _Origins:
    """Where the lines of a loaded function come from: found out when an error has to tell."""

    function: Function
    defaults: tuple[tuple[str, str], ...]
    called: tuple[Function, ...]

    def __call__(self, line: int) -> Location | None:
        return self._locations.get(line)

    @cached_property
    def _locations(self) -> dict[int, Location]:
        namespace = Namespace(frozenset(each.name for each in self.called))
        emitters = emitters_of(self.function, self.defaults, self.called, namespace)
        text = "\n\n".join(emitter.text() for emitter in emitters)
        return {
            number: location
            for _, numbers, location in located(text, emitters)
            if location is not None
            for number in numbers
        }


def execute(source: str, filename: str, bindings: Mapping[str, Any]) -> dict[str, Any]:
    """Run the text of some definitions in a namespace of these bindings; the namespace."""
    variables: dict[str, Any] = {"__name__": "gradscribe.generated_code", **bindings}
    exec(compile(source, filename, "exec"), variables)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return variables
