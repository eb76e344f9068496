"""One generated function: its IR, and, only when asked for, its text and the callable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from gradscribe import codegen
from gradscribe.ir.core import Function
from gradscribe.transforms.bufferize import bufferize
from gradscribe.transforms.flatten_records import flatten_records
from gradscribe.transforms.simplify import simplify


class Generated:
    """A function that the compiler made.

    make: gives the value-semantics IR. defaults: default values of parameters, as source.
    copies: results are to be made free of aliases (not so where a view is wanted as such).
    """

    def __init__(
        self,
        make: Callable[[], Function],
        defaults: Mapping[str, str] | None = None,
        *,
        copies: bool = True,
    ) -> None:
        self._make = make
        self._defaults = defaults or {}
        self._copies = copies

    @cached_property
    def bufferized(self) -> Function:
        """The IR with stores in place."""
        function = simplify(self._make())
        return bufferize(function) if self._copies else function

    @cached_property
    def ir(self) -> Function:
        """The IR as it is emitted."""
        return flatten_records(self.bufferized)

    @cached_property
    def source(self) -> str:
        """The text of the `def`."""
        return codegen.emit(self.ir, self._defaults)

    @cached_property
    def callable(self) -> Callable[..., Any]:
        """The function itself, which debuggers and tracebacks can see into."""
        return codegen.load(self.ir, self.source)
