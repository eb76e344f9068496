"""`profile`: the mode that measures; `record_function`: a name for a part of a program."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Sequence
from os import PathLike
from types import TracebackType
from typing import Any

import numpy as np

from gradscribe.runtime.graph.modes import Mode, enter, leave, modes_here, timed
from gradscribe.runtime.graph.node import Node
from gradscribe.runtime.modes.events import EventList, FunctionEvent, FunctionEventAvg

_NOT_THE_USERS = frozenset({__name__.partition(".")[0], "contextlib"})


class profile(Mode):
    """Measure each operation on Tensors, each compiled function, and each node of a backward run.

        with gs.autograd.profiler.profile() as prof:
            loss(w, x, y).backward()
        print(prof.key_averages().table(sort_by="self_cpu_time_total"))

    The first call of a compiled function, and of an operation at new shapes, has the time in it
    that compiling takes. Operations are named as in PyTorch, `aten::mul`; a compiled function, a
    `Function` and a node have their own names.

    enabled: False measures nothing. record_shapes: note the shapes of operands. with_stack: note
    the lines of the program that made each call, the innermost first. use_cuda: there are times
    of the CPU only; True warns, and is ignored. use_cpu, use_kineto: accepted for PyTorch's sake;
    there is one way to measure.

    Errors: RuntimeError for a second entry, and for results before the profile has ended.
    """

    everywhere = True

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        record_shapes: bool = False,
        with_stack: bool = False,
        use_cpu: bool = True,
        use_kineto: bool = False,
    ) -> None:
        if use_cuda:
            warnings.warn("CUDA is not available, disabling CUDA profiling", stacklevel=2)
        self.enabled = enabled
        self.record_shapes = record_shapes
        self.with_stack = with_stack
        self._is_entered = False
        self._events: EventList | None = None
        self._found: list[FunctionEvent] = []
        self._open: dict[int, list[FunctionEvent]] = {}
        self._threads: dict[int, int] = {}
        self._numbers = itertools.count(1)
        self._zero = 0.0

    def __enter__(self) -> profile:
        if self._is_entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._is_entered = True
        self._zero = time.perf_counter()
        if self.enabled:
            enter(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.enabled:
            leave(self)
        self._events = EventList(event for event in self._found if event.end_us)

    def begun(self, name: str, operands: Sequence[Any], sequence_nr: int) -> None:
        thread = threading.get_ident()
        calls = self._open.setdefault(thread, [])
        parent = calls[-1] if calls else None
        shapes = tuple(np.shape(_array(o)) for o in operands) if self.record_shapes else ()
        event = FunctionEvent(
            next(self._numbers),
            name,
            self._threads.setdefault(thread, len(self._threads) + 1),
            input_shapes=shapes,
            stack=_lines() if self.with_stack else (),
            sequence_nr=max(sequence_nr, -1),
            cpu_parent=parent,
        )
        if parent is not None:
            parent.cpu_children.append(event)
        self._found.append(event)
        calls.append(event)
        event.start_us = 1e6 * (time.perf_counter() - self._zero)

    def ended(self) -> None:
        end = 1e6 * (time.perf_counter() - self._zero)
        calls = self._open.get(threading.get_ident())
        if calls:
            calls.pop().end_us = end

    def recorded(self, node: Node) -> None:
        calls = self._open.get(threading.get_ident())
        if calls:
            calls[-1].sequence_nr = node.sequence_nr

    @property
    def function_events(self) -> EventList:
        """All calls, in the order in which they began."""
        if self._events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """The averages of the calls of each name; see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """All calls as one."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time that was measured, in microseconds."""
        return self.function_events.self_cpu_time_total

    def table(self, *args: Any, **options: Any) -> str:
        """The calls as a table; see `EventList.table`."""
        return self.function_events.table(*args, **options)

    def export_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write the calls for Chrome's viewer; see `EventList.export_chrome_trace`."""
        self.function_events.export_chrome_trace(path)

    def __str__(self) -> str:
        return "<unfinished profiler_profile>" if self._events is None else str(self._events)

    __repr__ = __str__


def kineto_available() -> bool:
    """False: there is one way to measure, and it is not the library of that name."""
    return False


def is_profiling() -> bool:
    """Whether a profile is on."""
    return any(isinstance(mode, profile) for mode in modes_here())


class record_function(contextlib.ContextDecorator):
    """A name for what runs inside `with record_function(name):`, or in a decorated function, in
    the profiles that are on."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._entered: list[contextlib.AbstractContextManager[None]] = []

    def __enter__(self) -> record_function:
        self._entered.append(timed(self.name))
        self._entered[-1].__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._entered.pop().__exit__(*error)


def _array(operand: Any) -> Any:
    return getattr(operand, "array", operand)


def _lines() -> list[str]:
    """The lines of the user's program that lead here, the innermost first."""
    frames = traceback.walk_stack(sys._getframe(1))
    return [
        f"{frame.f_code.co_filename}({line}): {frame.f_code.co_name}"
        for frame, line in frames
        if frame.f_globals.get("__name__", "").partition(".")[0] not in _NOT_THE_USERS
    ]
