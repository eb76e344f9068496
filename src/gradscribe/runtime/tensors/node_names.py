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


def _difference(operands: Sequence[Any], _: Mapping[str, Any]) -> str:
    return "SubBackward0" if isinstance(operands[0], Tensor) else "RsubBackward1"


def _power(operands: Sequence[Any], _: Mapping[str, Any]) -> str:
    if not isinstance(operands[0], Tensor):
        return "PowBackward2"
    return f"PowBackward{int(isinstance(operands[1], Tensor))}"


def _middle(stem: str) -> tuple[str, Form]:
    """0 of all elements, 1 along an axis."""
    return stem, lambda _, static: f"{stem}Backward{int('axis' in static)}"


def _clamp(operands: Sequence[Any], _: Mapping[str, Any]) -> str:
    return f"ClampBackward{int(len(operands) == 1)}"


def _by_operand(stem: str, position: int, of_tensor: int) -> tuple[str, Form]:
    """One number where the operand at a position is a Tensor, the other where it is a number."""

    def form(operands: Sequence[Any], _: Mapping[str, Any]) -> str:
        is_tensor = isinstance(operands[position], Tensor)
        return f"{stem}Backward{of_tensor if is_tensor else 1 - of_tensor}"

    return stem, form


def _squeeze(_: Sequence[Any], static: Mapping[str, Any]) -> str:
    return f"SqueezeBackward{int(static.get('axis') is not None)}"


_FORMS: dict[str, Form] = {
    **dict(map(_numbered, ("Sum", "Mean", "Prod"))),
    **dict(map(_extremum, ("Max", "Min"))),
    **dict(map(_middle, ("Median", "Nanmedian"))),
    **dict(_by_operand(stem, 1, 1) for stem in ("Fmod", "MaskedFill", "Remainder")),
    **dict(_by_operand(stem, 1, 1) for stem in ("ClampMin", "ClampMax")),
    **dict(_by_operand(stem, 2, 1) for stem in ("IndexFill", "Lerp")),
    "Copysign": _by_operand("Copysign", 1, 0)[1],
    "Scatter": _by_operand("Scatter", 2, 0)[1],
    "Sub": _difference,
    "Pow": _power,
    "Clamp": _clamp,
    "Squeeze": _squeeze,
    "DivMode": lambda *_: "DivBackward2",
    "Square": lambda *_: "PowBackward0",
}


_IN_PLACE = {
    "AsinhBackward0": "AsinhBackward1",
    "AtanhBackward0": "AtanhBackward1",
    "PolygammaBackward0": "PolygammaBackward1",
    "AsStridedBackward0": "AsStridedBackward1",
    "SqueezeBackward0": "SqueezeBackward3",
    "SqueezeBackward1": "SqueezeBackward4",
    "SqueezeBackward2": "SqueezeBackward5",
    "TBackward0": "TBackward1",
    "TransposeBackward0": "TransposeBackward1",
    "UnsqueezeBackward0": "UnsqueezeBackward1",
}


def named_in_place(name: str) -> str:
    """The name of the node of a Tensor that was changed in place by the operation of a name."""
    return _IN_PLACE.get(name, name)
