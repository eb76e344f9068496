"""What a profile has found: its events, their averages, and the table that shows them.

Times are in microseconds. The time of its own (`self`) of an event is what is not spent in the
events inside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

Shapes = tuple[Sequence[int], ...]


@dataclass(eq=False)
class FunctionEvent:
    """One call.

    start_us, end_us: on the clock of the profile. thread: numbered from 1. sequence_nr: that of the
    node that was recorded, or run; -1 where there is none. input_shapes, stack: empty unless asked
    for.
    """

    id: int
    name: str
    thread: int = 1
    start_us: float = 0.0
    end_us: float = 0.0
    input_shapes: Shapes = ()
    stack: Sequence[str] = ()
    sequence_nr: int = -1
    cpu_parent: FunctionEvent | None = None
    cpu_children: list[FunctionEvent] = field(default_factory=list)

    count = 1

    @property
    def key(self) -> str:
        return self.name

    @property
    def cpu_time_total(self) -> float:
        return self.end_us - self.start_us

    @property
    def self_cpu_time_total(self) -> float:
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def cpu_time(self) -> float:
        return self.cpu_time_total

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={shown(self.cpu_time_total)} "
            f"thread={self.thread} input_shapes={[list(s) for s in self.input_shapes]}>"
        )


@dataclass(eq=False)
class FunctionEventAvg:
    """All calls of one name (of the same shapes, from the same place, where that was asked for)."""

    key: str = ""
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    input_shapes: Shapes = ()
    stack: Sequence[str] = ()

    def add(self, event: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Count one more; the first gives the name."""
        self.key = self.key or event.key
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        return self

    @property
    def cpu_time(self) -> float:
        """The time of a call, on average."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={shown(self.self_cpu_time_total)} "
            f"cpu_time={shown(self.cpu_time)} count={self.count}>"
        )


class EventList(list[Any]):
    """Events, or averages of them; prints as a table."""

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """The averages of the calls of each name.

        group_by_input_shape: calls with operands of other shapes count apart (`record_shapes`).
        group_by_stack_n: so do calls whose innermost n lines differ (`with_stack`).
        """
        groups: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = tuple(event.input_shapes) if group_by_input_shape else ()
            stack = tuple(event.stack[:group_by_stack_n])
            group = groups.get((event.key, shapes, stack))
            if group is None:
                group = FunctionEventAvg(input_shapes=shapes, stack=stack)
                groups[event.key, shapes, stack] = group
            group.add(event)
        return EventList(groups.values())

    def total_average(self) -> FunctionEventAvg:
        """All events as one, of the name "Total"."""
        total = FunctionEventAvg(key="Total")
        for event in self:
            total.add(event)
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """The time that was measured."""
        return float(sum(event.self_cpu_time_total for event in self))

    def export_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write the events as a file of Chrome's trace format (`chrome://tracing`, Perfetto)."""
        events = [
            {"name": event.name, "ph": "X", "ts": event.start_us, "dur": event.cpu_time_total}
            | {"tid": event.thread, "pid": "CPU functions", "args": {}}
            for event in self
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(events, file)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """A table of the events.

        sort_by: a name of what is shown, the greatest first: "cpu_time_total",
        "self_cpu_time_total", "cpu_time" or "count". row_limit: so many rows (-1: all).
        """
        events = list(self)
        if sort_by is not None:
            if sort_by not in _SORTED_BY:
                known = ", ".join(f'"{name}"' for name in _SORTED_BY)
                raise ValueError(f"cannot sort by {sort_by!r}: choose one of {known}")
            events.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        if top_level_events_only:
            events = [event for event in events if getattr(event, "cpu_parent", None) is None]
        has_shapes = any(event.input_shapes for event in events)
        columns = [*_COLUMNS, ("Input Shapes", _shapes)] if has_shapes else _COLUMNS
        total = self.self_cpu_time_total
        rows = [
            [text(event, total) for _, text in columns]
            for event in (events if row_limit < 0 else events[:row_limit])
        ]
        limits = [max_name_column_width, *[12] * (len(_COLUMNS) - 1), max_shapes_column_width]
        lines = _lined([title for title, _ in columns], rows, limits)
        head = [] if header is None else ["=" * len(lines[0]), header]
        return "\n".join([*head, *lines, f"Self CPU time total: {shown(total)}", ""])

    __str__ = table


_SORTED_BY = ("cpu_time_total", "self_cpu_time_total", "cpu_time", "count")
Column = tuple[str, Callable[[Any, float], str]]


def _shapes(event: Any, _: float) -> str:
    return str([list(shape) for shape in event.input_shapes])


def _share(part: float, total: float) -> str:
    return f"{100 * part / total:.2f}%" if total else "--"


_COLUMNS: list[Column] = [
    ("Name", lambda event, _: event.key),
    ("Self CPU %", lambda event, total: _share(event.self_cpu_time_total, total)),
    ("Self CPU", lambda event, _: shown(event.self_cpu_time_total)),
    ("CPU total %", lambda event, total: _share(event.cpu_time_total, total)),
    ("CPU total", lambda event, _: shown(event.cpu_time_total)),
    ("CPU time avg", lambda event, _: shown(event.cpu_time)),
    ("# of Calls", lambda event, _: str(event.count)),
]


def _lined(
    titles: Sequence[str], rows: Sequence[Sequence[str]], limits: Sequence[int]
) -> list[str]:
    """The lines of a table between rules; what is wider than its column is cut."""
    widths = [
        max(len(title), min(limit, max((len(row[i]) for row in rows), default=0)))
        for i, (title, limit) in enumerate(zip(titles, limits, strict=False))
    ]
    rule = "  ".join("-" * width for width in widths)
    return [rule, _line(titles, widths), rule, *(_line(row, widths) for row in rows), rule]


def _line(texts: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(_cut(text, width) for text, width in zip(texts, widths, strict=True))


def _cut(text: str, width: int) -> str:
    return text.rjust(width) if len(text) <= width else f"{text[: width - 3]}..."


def shown(microseconds: float) -> str:
    """A time in the unit that suits it."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    return f"{microseconds / 1e3:.3f}ms" if microseconds >= 1e3 else f"{microseconds:.3f}us"
