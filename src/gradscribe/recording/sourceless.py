"""Functions that are not followed, for their source cannot be read: what they make of values that
record is not seen where such a function asks for their class, or handles what C raises of them."""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from gradscribe.compiler.observing import HANDING_ON
from gradscribe.errors import GradscribeError, NoDerivativeError
from gradscribe.ir.probing import probe
from gradscribe.recording import exits, foreign, texts
from gradscribe.recording.levels import refused


def guarded(function: FunctionType) -> Callable[..., Any]:
    """Such a function: what it raises of values that record, the program may not handle."""
    reason = _reason_of(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        if reason and foreign.leads_to_active([args, kwargs, function.__closure__]):
            raise refused(
                NoDerivativeError(
                    f"`{function.__name__}`, of which there is no source, {reason}",
                    "define it in a file, or use functions of NumPy in it",
                )
            )
        try:
            return texts.call(function, args, kwargs)
        except Exception as error:  # of the program, which may raise anything
            if isinstance(error, GradscribeError) or not exits.is_of_recorded(error):
                raise
            raise refused(exits.of_recorded(error)) from None

    HANDING_ON.add(call.__code__)
    return functools.update_wrapper(call, function)


def _reason_of(function: FunctionType) -> str:
    """Why a function is not given what is differentiated."""
    seen = _seen(function.__code__)
    if seen.compares_classes:
        return "compares classes, of which that of an array that records is another"
    kinds = (_resolved(names, function.__globals__) for names in seen.handled)
    if any(issubclass(raised, kind) for kind in kinds for raised in _RAISED):
        return "handles exceptions, which code in C may raise of what is differentiated alone"
    return ""


_RAISED = (AttributeError, BufferError, RuntimeError, SystemError, TypeError, ValueError)
"""What C raises of objects that it does not know."""

_ALL = (BaseException,)


def _resolved(names: tuple[str, ...], namespace: dict[str, Any]) -> tuple[type, ...]:
    """The classes that an `except` names by a global name and attributes; all if that is not
    known."""
    first, *others = names or ("",)
    found = namespace.get(first, probe(builtins, first))
    for name in others:
        found = probe(found, name)
    kinds = found if isinstance(found, tuple) and found else (found,)
    return kinds if all(isinstance(kind, type) for kind in kinds) else _ALL


class _Seen(NamedTuple):
    """What the code of a function, and of what is defined in it, shows. handled: the names of the
    classes of each `except`; none for what has no names."""

    compares_classes: bool
    handled: frozenset[tuple[str, ...]]


@functools.lru_cache(maxsize=4096)
def _seen(code: CodeType) -> _Seen:
    steps = list(dis.get_instructions(code))
    compares = any(step.opname in _BY_NAME and step.argval == "type" for step in steps)
    compares = compares and any(step.opname in _COMPARING for step in steps)
    handled = set(_handled(steps))
    if "suppress" in code.co_names:
        handled.add(())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = _seen(constant)
            compares, handled = compares or inner.compares_classes, handled | inner.handled
    return _Seen(compares, frozenset(handled))


def _handled(steps: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    named: list[tuple[str, ...]] = []
    for number, step in enumerate(steps):
        if step.opname in _MATCHING:
            yield from named or [()]
        elif step.opname in _BY_NAME:
            named.append((step.argval,))
            continue
        elif step.opname == "LOAD_ATTR" and named:
            named[-1] += (step.argval,)
            continue
        elif step.opname in ("BUILD_TUPLE", "CACHE", "EXTENDED_ARG"):
            continue
        elif _is_bare(steps, number):
            yield ()
        named = []


def _is_bare(steps: Sequence[Any], number: int) -> bool:
    """Whether an `except:` without classes begins here."""
    before = [step.opname for step in steps[max(number - 3, 0) : number]]
    names = [step.opname for step in steps[number : number + 3]]
    if names[0] == "PUSH_EXC_INFO":
        return bool(names[1] == "POP_TOP")
    is_last = names == ["POP_TOP"] * 3 and steps[number].is_jump_target  # before Python 3.11
    return bool(is_last and "WITH_EXCEPT_START" not in before)


_BY_NAME = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_COMPARING = frozenset({"COMPARE_OP", "CONTAINS_OP", "IS_OP"})
_MATCHING = frozenset({"CHECK_EXC_MATCH", "CHECK_EG_MATCH", "JUMP_IF_NOT_EXC_MATCH"})
