"""Texts that are formatted: f-strings."""

from __future__ import annotations

from typing import Any

import gast

from gradscribe.frontend.memory import kept_memory
from gradscribe.frontend.opaque import leading, shown_calls, unknown
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import protocols
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.ir.core import Value
from gradscribe.primitives.control import FORMAT, FORMAT_NOW


def formatted(lowering: Lowering, node: Any) -> Static | Value:
    """An f-string: static if all its parts are, else a value that is only passed along."""
    parts: list[Any] = []
    for part in node.values:
        if isinstance(part, gast.Constant):
            parts.append(part.value)
            continue
        item = lowering.expression(part.value)
        form = "" if part.format_spec is None else formatted(lowering, part.format_spec)
        if isinstance(form, Static):
            form = form.value
        if not isinstance(form, str):
            lowering.unsupported(
                part,
                "a computed format specification is not supported",
                "write the format as a literal",
            )
        conversion = part.conversion
        own = _own_text(lowering, part, item, form) if isinstance(item, Static) else None
        if own is not None:
            (item, form), conversion = own, -1
        if isinstance(item, Static):
            text = {-1: item.value, 114: repr(item.value), 115: str(item.value)}.get(
                conversion, ascii(item.value)
            )
            try:
                parts.append(format(text, form))
            except (TypeError, ValueError) as error:
                lowering.raises(part, error)
        else:
            shown_calls.note_texts(lowering, [item])
            parts.append((lowering.value(item), conversion, form))
    if all(isinstance(part, str) for part in parts):
        return Static("".join(parts))
    values = [part[0] for part in parts if isinstance(part, tuple)]
    if leading.may_lead_to_memory(lowering, values):
        kept_memory.bring_into_step(lowering)
    changes = any(map(unknown.holds_state, values))
    return lowering.emit(FORMAT_NOW if changes else FORMAT, {"parts": tuple(parts)})


def _own_text(
    lowering: Lowering, part: Any, item: Static, form: str
) -> tuple[FrontendValue, str] | None:
    """The text that methods of the user's make of what is known, and how that is formatted."""
    if part.conversion == -1:
        made = protocols.call(lowering, part, item, "__format__", Static(form))
        if made is not None:
            return made, ""
    if part.conversion == -1 and isinstance(item.value, str):
        return None
    made = protocols.text(lowering, part, item, _CONVERSIONS.get(part.conversion, repr))
    return None if made is None else (made, form)


_CONVERSIONS = {-1: str, ord("s"): str}
