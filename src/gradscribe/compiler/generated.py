"""One generated function: its IR, and, only when asked for, its text and the callable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from gradscribe import codegen
from gradscribe.codegen.loops import Native, Refusal
from gradscribe.compiler.conditions import compiling
from gradscribe.ir.core import Callee, Function, callees
from gradscribe.transforms.kernels import NotLoopsError, in_loops
from gradscribe.transforms.passes.bufferize import bufferize
from gradscribe.transforms.passes.plain_values import plain_values
from gradscribe.transforms.passes.records.flatten_records import flatten_records
from gradscribe.transforms.passes.records.pack_records import pack_records
from gradscribe.transforms.passes.schedule import schedule
from gradscribe.transforms.passes.simplify import simplify

_is_native: ContextVar[bool] = ContextVar("gradscribe_native", default=False)


@contextmanager
def tier(jit: bool) -> Iterator[None]:
    """Within the block, generated functions are asked for as native code, or as NumPy's."""
    if _is_native.get() is jit:
        yield
        return
    token = _is_native.set(jit)
    try:
        yield
    finally:
        _is_native.reset(token)


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
    def native(self) -> Native:
        """The function as native code, where that can be."""
        return Native(self._loops(), lambda: self.of_numpy)

    def _loops(self) -> Function | Refusal:
        """The IR with loops over elements for operations on arrays; or why it cannot have them."""
        try:
            return flatten_records(in_loops(self.bufferized))
        except NotLoopsError as error:
            return Refusal(error.what, error.location)

    @property
    def callable(self) -> Callable[..., Any]:
        """The function of the tier that is asked for here."""
        return self.native if _is_native.get() else self.of_numpy

    @cached_property
    @compiling
    def of_numpy(self) -> Callable[..., Any]:
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
