"""The names of the nodes of eager operations: PyTorch numbers the forms of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradscribe.runtime.tensors.tensor import Tensor

Form = Callable[[Sequence[Any], Mapping[str, Any]], str]


def node_name(stem: str, operands: Sequence[Any], static: Mapping[str, Any]) -> str:
    """The name of the node of a call of the operation of this stem."""
    form = _FORMS.get(stem)
    if form is not None:
        return form(operands, static)
    stem, *copied = stem.partition("_")
    return f"{stem}Backward0{''.join(copied)}"


def _numbered(stem: str) -> tuple[str, Form]:
    """0 of all elements, 1 along axes."""
    return stem, lambda _, static: f"{stem}Backward{int(static.get('axis') is not None)}"


def _extremum(stem: str) -> tuple[str, Form]:
    """0 along an axis, 1 of all elements."""
    return stem, lambda _, static: f"{stem}Backward{int('axis' not in static)}"


def _by_divisor(stem: str) -> tuple[str, Form]:
    """0 by a number, 1 by a Tensor."""
    return stem, lambda operands, _: f"{stem}Backward{int(isinstance(operands[1], Tensor))}"


def _difference(operands: Sequence[Any], _: Mapping[str, Any]) -> str:
    return "SubBackward0" if isinstance(operands[0], Tensor) else "RsubBackward1"


def _power(operands: Sequence[Any], _: Mapping[str, Any]) -> str:
    if not isinstance(operands[0], Tensor):
        return "PowBackward2"
    return f"PowBackward{int(isinstance(operands[1], Tensor))}"


def _clamp(operands: Sequence[Any], _: Mapping[str, Any]) -> str:
    return f"ClampBackward{int(len(operands) == 1)}"


def _squeeze(_: Sequence[Any], static: Mapping[str, Any]) -> str:
    return f"SqueezeBackward{int(static.get('axis') is not None)}"


_FORMS: dict[str, Form] = {
    **dict(map(_numbered, ("Sum", "Mean", "Prod"))),
    **dict(map(_extremum, ("Max", "Min"))),
    **dict(map(_by_divisor, ("Fmod", "Remainder"))),
    "Sub": _difference,
    "Pow": _power,
    "Clamp": _clamp,
    "Squeeze": _squeeze,
}


_IN_PLACE = {
    "AsStridedBackward0": "AsStridedBackward1",
    "SqueezeBackward0": "SqueezeBackward3",
    "SqueezeBackward1": "SqueezeBackward4",
    "SqueezeBackward2": "SqueezeBackward5",
    "TBackward0": "TBackward1",
    "TransposeBackward0": "TransposeBackward1",
    "UnsqueezeBackward0": "UnsqueezeBackward1",
}


def named_in_place(name: str) -> str:
    """The name of the node of a Tensor whose axes were changed in place."""
    return _IN_PLACE.get(name, name)
