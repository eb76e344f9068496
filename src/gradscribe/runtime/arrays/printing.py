"""The text of a Tensor, by the rules of PyTorch's `_tensor_str.py`: four digits, one format for
all elements, scientific where the magnitudes differ too much, long Tensors summarized."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.arrays.floating_point_errors import silent

Array = np.ndarray[Any, np.dtype[Any]]
Format = Callable[[Any], str]

PREFIX = "tensor("


@dataclass
class PrintOptions:
    """See `set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()

_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how Tensors are printed. profile: "default", "short" or "full", whose settings hold
    where none is given. sci_mode: None chooses by the elements."""
    if profile is not None:
        vars(OPTIONS).update(vars(_PROFILES[profile]))
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name, value in given.items():
        if value is not None:
            setattr(OPTIONS, name, value)
    OPTIONS.sci_mode = sci_mode


def tensor_text(array: Array, node: str, requires_grad: bool, tangent: Any) -> str:
    """`tensor([1., 2.], grad_fn=<MulBackward0>)`; node: the name of the node, or nothing."""
    suffixes = _type_suffixes(array)
    if node:
        suffixes.append(f"grad_fn=<{node.rpartition('::')[2]}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    body = _array_text(array, len(PREFIX)) if array.size else "[]"
    return _with_suffixes(PREFIX + body, suffixes)


def _type_suffixes(array: Array) -> list[str]:
    name = f"dtype={dtypes.dtype_name(array.dtype)}"
    default = dtypes.default()
    if array.size == 0:
        shape = [f"size={tuple(array.shape)}"] if array.ndim != 1 else []
        return shape + ([name] if array.dtype != default else [])
    default_complex = dtypes.complex128 if default == dtypes.float64 else dtypes.complex64
    implied = (default, default_complex, dtypes.int64, dtypes.bool_)
    return [] if array.dtype in implied else [name]


def _with_suffixes(text: str, suffixes: list[str]) -> str:
    parts = [text]
    last_line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last_line + len(suffix) + 2 > OPTIONS.linewidth:
            parts.append(",\n" + " " * len(PREFIX) + suffix)
            last_line = len(PREFIX) + len(suffix)
        else:
            parts.append(", " + suffix)
            last_line += len(suffix) + 2
    return "".join([*parts, ")"])


def _array_text(array: Array, indent: int) -> str:
    summarize = array.size > OPTIONS.threshold
    shown = _summarized(array) if summarize else array
    format_, width = _element_format(shown)
    return _nested_text(array, indent, summarize, format_, width)


def _summarized(array: Array) -> Array:
    """The elements that a summary shows."""
    edge = OPTIONS.edgeitems
    for axis in range(array.ndim):
        if array.shape[axis] > 2 * edge:
            ends = np.r_[0:edge, array.shape[axis] - edge : array.shape[axis]]
            array = np.take(array, ends, axis=axis)
    return array


def _nested_text(array: Array, indent: int, summarize: bool, format_: Format, width: int) -> str:
    if array.ndim == 0:
        return format_(array.item())
    edge = OPTIONS.edgeitems
    cut = summarize and len(array) > 2 * edge
    if array.ndim == 1:
        return _vector_text(array, indent, edge if cut else None, format_, width)

    def below(rows: Array) -> list[str]:
        return [_nested_text(row, indent + 1, summarize, format_, width) for row in rows]

    parts = [*below(array[:edge]), "...", *below(array[-edge:])] if cut else below(array)
    separator = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return f"[{separator.join(parts)}]"


def _vector_text(array: Array, indent: int, edge: int | None, format_: Format, width: int) -> str:
    per_line = max(1, (OPTIONS.linewidth - indent) // (width + 2))
    items = [format_(item) for item in array.tolist()] if edge is None else []
    if edge is not None:
        head, tail = array[:edge].tolist(), array[-edge:].tolist()
        items = [*map(format_, head), " ...", *map(format_, tail)]
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _element_format(array: Array) -> tuple[Format, int]:
    """The text of one element, and how wide the widest is."""
    if array.dtype.kind == "c":
        return _complex_format(array)
    return _float_format(array) if array.dtype.kind == "f" else _plain_format(array)


def _plain_format(array: Array) -> tuple[Format, int]:
    width = max([1, *(len(str(item)) for item in array.ravel().tolist())])
    return lambda item: str(item).rjust(width), width


def _complex_format(array: Array) -> tuple[Format, int]:
    (real, real_width), (imaginary, imaginary_width) = (
        _float_format(array.real),
        _float_format(array.imag),
    )

    def text(item: complex) -> str:
        imag = imaginary(item.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{real(item.real)}{sign}{imag}j"

    return text, real_width + imaginary_width + 1


@silent
def _float_format(array: Array) -> tuple[Format, int]:
    values = array[np.isfinite(array) & (array != 0)].astype(np.float64)
    whole = bool(np.all(values == np.ceil(values)))
    scientific = bool(values.size) and _is_scientific(values, whole)
    if values.size and OPTIONS.sci_mode is not None:
        scientific = OPTIONS.sci_mode
    text = _number_text(scientific, whole)
    widths = (len(text(value)) for value in values.tolist())
    width = max([1, *widths])
    return lambda item: text(item).rjust(width), width


def _is_scientific(values: Array, whole: bool) -> bool:
    magnitudes = np.abs(values)
    smallest, largest = magnitudes.min(), magnitudes.max()
    too_small = not whole and smallest < 1e-4
    return bool(largest / smallest > 1000 or largest > 1e8 or too_small)


def _number_text(scientific: bool, whole: bool) -> Format:
    precision = OPTIONS.precision
    if scientific:
        return lambda item: f"{item:.{precision}e}"
    if not whole:
        return lambda item: f"{item:.{precision}f}"
    return lambda item: f"{item:.0f}." if math.isfinite(item) else f"{item:.0f}"
