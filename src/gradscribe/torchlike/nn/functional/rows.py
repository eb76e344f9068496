"""The rows of `torchlike.nn.functional`, and what makes several functions of one: those for one,
two and three axes of space, `inplace=`, and the ways to ask for a reduction of losses.

What is made stays plain Python over its arguments, which the compiler lowers as it stands.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, TypeAlias

from gradscribe.runtime.arrays.rows import FUNCTION, IN_PLACE_FUNCTION, Spelling, Table
from gradscribe.runtime.operations import inplace as changes
from gradscribe.runtime.tensors.tensor import Tensor

FUNCTIONAL = Table("torchlike.nn.functional")
SAME = "(…) -> (…)"
TWIN = FUNCTION | IN_PLACE_FUNCTION
"""`name(x, inplace=True)` is also `name_(x)`."""

Function: TypeAlias = "Callable[..., Tensor]"
Space: TypeAlias = "tuple[str, ...]"
"""The names of axes of space. Compiled code knows how many names there are, where it would take a
number for an input."""

SPACES: tuple[Space, ...] = (("l",), ("h", "w"), ("d", "h", "w"))


def named(function: Function, name: str, meaning: str) -> Function:
    """The function under its public name, with the first lines of its docstring. Its module stays
    its own, by which the compiler knows that it is over Tensors."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = meaning
    return function


def for_spaces(
    name: str, shapes: str, *, dtypes: str = "", spaces: tuple[Space, ...] = SPACES
) -> Callable[[Callable[[Space], Function]], Callable[[Space], Function]]:
    """Decorator of what makes a function of axes of space: enters one for each number of them.

    In name, shapes and docstring, {rank} is that number, {space} the lengths of the axes and
    {made} those of the result.
    """

    def enter(make: Callable[[Space], Function]) -> Callable[[Space], Function]:
        for space in spaces:
            made = ", ".join(f"{axis}'" for axis in space)
            words = {"rank": len(space), "space": ", ".join(space), "made": made}
            function = make(space)
            named(function, name.format(**words), (function.__doc__ or "").format(**words))
            FUNCTIONAL.operation(shapes=shapes.format(**words), dtypes=dtypes)(function)
        return make

    return enter


def changing(spelling: Spelling = FUNCTION) -> Callable[[Function], Function]:
    """Decorator of a function of each element: enters it with `inplace=` as its last parameter."""

    def enter(function: Function) -> Function:
        signature = inspect.signature(function)
        names = tuple(signature.parameters)

        @functools.wraps(function)
        def called(input: Tensor, *args: Any, inplace: bool = False, **options: Any) -> Tensor:
            if len(args) == len(names):
                args, inplace = args[:-1], args[-1]
            if inplace:
                return changes.update(input, function, *args, **options)
            return function(input, *args, **options)

        called.__signature__ = _with(signature, "inplace", False, "bool")  # type: ignore[attr-defined]
        _add(called, "inplace: input itself is changed, and is the result.")
        return FUNCTIONAL.operation(spelling, shapes=SAME)(called)

    return enter


def twin(function: Function) -> Function:
    """`name_(x)`, which changes x, of a function with `inplace=`."""
    plain: Function = inspect.unwrap(function)

    @functools.wraps(plain)
    def changed(input: Tensor, *args: Any, **options: Any) -> Tensor:
        return changes.update(input, plain, *args, **options)

    return named(changed, f"{plain.__name__}_", f"`{plain.__name__}`, in place.")


_ALSO = ', or "{}"'
_OLDER = " size_average and reduce are an older way to say which."


def loss(
    operands: str = "(…), (…)", losses: str = "(…)", *, also: str = "", older: str = "reduce"
) -> Callable[[Function], Function]:
    """Decorator of a loss function, which is given a reduction that there is: enters it.

    operands, losses: shapes. also: one more reduction, which has the last word. older: the
    parameter before which `size_average` stands; "" where neither that nor `reduce` is taken.
    """

    def enter(function: Function) -> Function:
        signature = inspect.signature(function)
        if older:
            signature = _with(signature, "reduce", None, "bool | None", before="reduction")
            signature = _with(signature, "size_average", None, "bool | None", before=older)
        kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
        names = tuple(n for n, k in kinds.items() if k is inspect.Parameter.POSITIONAL_OR_KEYWORD)

        @functools.wraps(function)
        def called(*args: Any, **options: Any) -> Tensor:
            given = dict(zip(names, args, strict=False)) | options
            if len(given) < len(args) + len(options):
                _refuse(function.__name__, signature, args, options)
            size_average, reduce = None, None
            if older:
                size_average, reduce = given.pop("size_average", None), given.pop("reduce", None)
            reduction = given.pop("reduction", "mean")
            if reduction != also:
                reduction = reduction_of(size_average, reduce, reduction)
            return function(**given, reduction=reduction)

        called.__signature__ = signature  # type: ignore[attr-defined]
        about = f'reduction: "mean" or "sum" of the losses, or "none" for each{also and _ALSO}. '
        _add(called, about.format(also) + f"ValueError for any other.{older and _OLDER}")
        shapes = f'{operands} -> (), or {losses} where reduction is "none"'
        return FUNCTIONAL.operation(shapes=shapes)(called)

    return enter


def _refuse(name: str, signature: inspect.Signature, args: Any, options: Any) -> None:
    """Raise the error for arguments that are too many, or of which one is given twice."""
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None


def _add(function: Function, paragraph: str) -> None:
    """Say more in the docstring of a function."""
    about = inspect.cleandoc(function.__doc__ or "")
    function.__doc__ = f"{about}\n\n{textwrap.fill(paragraph, 96)}"


def _with(
    signature: inspect.Signature, name: str, default: Any, annotation: str, *, before: str = ""
) -> inspect.Signature:
    """The signature with one more parameter, by default at its end."""
    parameters = list(signature.parameters.values())
    place = [*signature.parameters, ""].index(before)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    added = inspect.Parameter(name, kind, default=default, annotation=annotation)
    return signature.replace(parameters=[*parameters[:place], added, *parameters[place:]])


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction; also as the arguments say that PyTorch had for it before."""
    if size_average is not None or reduce is not None:
        if reduce is False:
            return "none"
        return "sum" if size_average is False else "mean"
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction
