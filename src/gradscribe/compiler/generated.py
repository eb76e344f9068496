"""One generated function: its IR, and, only when asked for, its text and the callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from gradscribe import codegen
from gradscribe.compiler.conditions import compiling
from gradscribe.ir.core import Callee, Function, callees
from gradscribe.transforms.passes.bufferize import bufferize
from gradscribe.transforms.passes.plain_values import plain_values
from gradscribe.transforms.passes.records.flatten_records import flatten_records
from gradscribe.transforms.passes.records.pack_records import pack_records
from gradscribe.transforms.passes.schedule import schedule
from gradscribe.transforms.passes.simplify import simplify


class Generated:
    """A function that the compiler made.

    make: gives the simplified IR in value semantics. defaults: default values of parameters,
        as source.
    sharing: the leaves of the result that may share memory with arguments and one another, as
        a record does.
    flatten: gives the IR with flat records, where another function shares them.
    """

    def __init__(
        self,
        make: Callable[[], Function],
        defaults: Mapping[str, str] | None = None,
        *,
        sharing: slice = slice(0),
        flatten: Callable[[], Function] | None = None,
    ) -> None:
        self._make = make
        self._defaults = tuple((defaults or {}).items())
        self._sharing = sharing
        self._flatten = flatten or (lambda: flatten_records(self.bufferized))

    @cached_property
    @compiling
    def bufferized(self) -> Function:
        """The IR with stores in place."""
        function = schedule(pack_records(plain_values(self._make())))
        leaves = range(len(function.body.yields))
        return bufferize(function, record=leaves[self._sharing])

    @cached_property
    @compiling
    def ir(self) -> Function:
        """The IR as it is emitted."""
        return self._flatten()

    @cached_property
    @compiling
    def called(self) -> tuple[Function, ...]:
        """The IR of the functions that it calls, as it is emitted."""
        return tuple(map(_emitted, callees(self.ir)))

    @cached_property
    @compiling
    def source(self) -> str:
        """The text of the `def`, after those of the functions that it calls."""
        return codegen.emit(self.ir, dict(self._defaults), self.called)

    @cached_property
    @compiling
    def stepwise(self) -> codegen.Stepwise:
        """The function with a statement for each operation, to find the one that fails."""
        return codegen.itemize(self.ir, self.called)

    @cached_property
    @compiling
    def callable(self) -> Callable[..., Any]:
        """The function itself, which debuggers and tracebacks can see into."""
        return codegen.load(self.ir, self.source, self._defaults, self.called)


@lru_cache(maxsize=256)
def _emitted(callee: Callee) -> Function:
    """A function that is called by others, as it is emitted."""
    function = plain_values(simplify(callee.function))
    leaves = range(len(function.body.yields))
    record = leaves[len(leaves) - function.record :]
    function = flatten_records(bufferize(function, record=record))
    return replace(function, name=callee.name)
