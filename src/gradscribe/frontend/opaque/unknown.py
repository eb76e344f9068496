"""Calls that the compiler does not look into, and the values that come of them.

Such a call runs once, where the program has it, in the forward part. Its result is typed where
that is known beforehand (clocks, random numbers, library functions of integers, whose type a
trial call tells); otherwise it is opaque: it can be passed on, printed, asked for attributes and
converted (`float(…)`), but not computed with. A derivative that would have to pass through it is
refused when the function is differentiated.
"""

from __future__ import annotations

import io
import operator
import os
import sys
import time
import types
from collections.abc import Mapping
from typing import Any, NoReturn, TypeGuard

import numpy as np

from gradscribe.errors import CompiledCodeError, UnknownTypeError, UnsupportedError
from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.memory import outside_reach, outside_state
from gradscribe.frontend.opaque import (
    addresses,
    folded_calls,
    foreign,
    leading,
    lent_containers,
    shown_calls,
    trial_calls,
    warning_filters,
    weak_references,
)
from gradscribe.frontend.opaque.changed_containers import name_of
from gradscribe.frontend.state.interruptions import unknown_type
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures import instances
from gradscribe.frontend.structures.run_time_arguments import argument_of
from gradscribe.frontend.values import texts
from gradscribe.frontend.values.iterations import Iteration
from gradscribe.frontend.values.values import (
    FrontendValue,
    ObjectRef,
    Static,
    TupleOf,
    opaque_type,
)
from gradscribe.ir.core import Method, Primitive, Value
from gradscribe.ir.probing import gives, in_class, probe
from gradscribe.ir.types import (
    BOOL,
    FLOAT,
    INT,
    Opaque,
    Tuple,
    Type,
    is_differentiable,
)
from gradscribe.primitives import interpreter
from gradscribe.primitives.contract_kinds import HOLDS, PURE, UNKNOWN, Contract
from gradscribe.primitives.contracts import is_immutable
from gradscribe.primitives.control import EFFECT, RUN
from gradscribe.primitives.registry import available

RESULTS: dict[Any, Type] = {
    time.time: FLOAT,
    time.perf_counter: FLOAT,
    time.monotonic: FLOAT,
    time.process_time: FLOAT,
    time.thread_time: FLOAT,
    time.time_ns: INT,
    time.perf_counter_ns: INT,
    time.monotonic_ns: INT,
    time.process_time_ns: INT,
    **dict.fromkeys((os.path.exists, os.path.isfile, os.path.isdir, os.path.islink), BOOL),
    **dict.fromkeys((os.path.getmtime, os.path.getatime, os.path.getctime), FLOAT),
    **dict.fromkeys((os.path.getsize, os.getpid), INT),
}
"""What calls for their effect return, where it is known."""

CONVERSIONS: dict[Any, Type] = {
    float: FLOAT,
    int: INT,
    bool: BOOL,
    len: INT,
    ord: INT,
    **dict.fromkeys((str, repr, ascii, format, chr), texts.TEXT),
}
"""Functions that give one type, whatever they are given."""

_ADDRESSES = (id, hash, object, *interpreter.TELLING)
_NAMES = (globals, locals, vars, dir)
_PROGRAMS = (eval, exec, compile)
_HANDLED = (sys.exc_info, *available(sys, "exception"))


def is_opaque(item: FrontendValue) -> TypeGuard[Value]:
    """Whether nothing is known of a run-time value, or its class at most."""
    return opaque_type(item) is not None


def holds_state(item: FrontendValue) -> bool:
    """Whether this is an object of the running program that may be another one in a while: what is
    computed of it is computed where the program does so."""
    type_ = opaque_type(item)
    return type_ is not None and not is_immutable(type_.cls)


def class_at_run_time(item: FrontendValue) -> type | None:
    """The class of such a value, if it is known."""
    type_ = opaque_type(item)
    return None if type_ is None else type_.cls


def call(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
    known: Type | None = None,
) -> FrontendValue:
    """A call of a function without rule and source, at run time. known: the type of its result."""
    name = probe(callee, "__qualname__") or probe(callee, "__name__", repr(callee))
    given = (*arguments, *keywords.values())
    text = probe(callee, "__self__")
    if isinstance(text, str):
        return _in_text(lowering, Method(callee.__name__), (Static(text), *arguments), keywords)
    _refuse_by_name(lowering, node, callee, name)
    weak_references.refuse(lowering, node, callee, arguments)
    warning_filters.refuse(lowering, node, callee, arguments, keywords)
    lowering.outside.show(callee)
    addresses.note(lowering, callee, arguments)
    unused = node is lowering.statement.discarded or callee in shown_calls.TEXTS
    if not unused and any(may_vary(lowering, item, surely=True) for item in given):
        lowering.unsupported(
            node,
            f"`{name}` cannot be differentiated: it has no rule and no Python source "
            "that is compiled",
            "give it a rule by `gs.primitive`, or write it with NumPy functions that have one",
            CompiledCodeError,
        )
    contract = foreign.contract(callee, arguments, keywords)
    calls_back = foreign.calls_back(callee, given)
    if contract.computes and not contract.is_pure and not foreign.reaches(lowering, given):
        contract = PURE
    if folded_calls.is_pure(callee, given) and node is not lowering.statement.discarded:
        every = arguments, keywords
        sample = None if calls_back else trial_calls.tried(lowering, callee, *every)
        type_ = trial_calls.type_of_sample(sample, given)
        is_sure = callee in CONVERSIONS or trial_calls.is_sure(lowering, callee, *every)
        if type_ is not None and contract.is_pure:
            result = emit(lowering, callee, arguments, keywords, type_, RUN, is_sure=is_sure)
            result = trial_calls.made(lowering, result, sample)
            return foreign.possible_view(lowering, result, given) if contract.connects else result
        if type_ is not None:
            result = foreign.call(lowering, node, callee, every, type_, contract, is_sure)
            return trial_calls.made(lowering, result, sample)
    cls = callee if isinstance(callee, type) else None
    type_ = known or RESULTS.get(callee) or CONVERSIONS.get(callee) or _of_scipy(callee, keywords)
    type_ = type_ or Opaque(io.TextIOWrapper if _is_text_file(callee, arguments, keywords) else cls)
    is_leading = node is not lowering.statement.discarded and leading.leads(type_, contract)
    if not contract.is_pure or calls_back or is_leading:
        return foreign.call(lowering, node, callee, (arguments, keywords), type_, contract)
    return emit(lowering, callee, arguments, keywords, type_, contract=PURE)


def as_it_is(lowering: Lowering, value: Value) -> Value:
    """An operand of an operation; an object that may show memory which unread code has kept, as an
    array of what is in that now."""
    if not leading.may_lead_to_memory(lowering, [value]):
        return value
    return lowering.value(emit(lowering, np.asarray, (value,), {}, Opaque(np.ndarray)))


def _of_scipy(callee: Any, keywords: Mapping[str, FrontendValue]) -> Type | None:
    """What roots and integrals of SciPy are: floats, and an integral one with its error."""
    name = probe(callee, "__name__")
    if folded_calls.module_of(callee) != "scipy" or not _PLAIN.issuperset(keywords):
        return None
    return FLOAT if name in _ROOTS else Tuple((FLOAT, FLOAT)) if name in _INTEGRALS else None


_ROOTS = frozenset({"bisect", "brenth", "brentq", "ridder", "toms748"})
_INTEGRALS = frozenset({"quad", "dblquad", "tplquad"})
_PLAIN = frozenset(
    {"args", "a", "b", "xtol", "rtol", "maxiter", "disp", "k", "epsabs", "epsrel"}
) | {
    *("limit", "points", "weight", "wvar", "wopts", "maxp1", "limlst"),
}
"""Options that do not add to what is returned."""


def _is_text_file(
    callee: Any, arguments: tuple[FrontendValue, ...], keywords: Mapping[str, FrontendValue]
) -> bool:
    """Whether this opens a file of Python's own that holds a text."""
    mode = keywords.get("mode", arguments[1] if len(arguments) > 1 else Static("r"))
    how = mode.value if callee is open and isinstance(mode, Static) else None
    return isinstance(how, str) and "b" not in how


def _refuse_by_name(lowering: Lowering, node: Any, callee: Any, name: str) -> None:
    """Refuse what depends on names, programs or addresses that a compiled function has not."""
    if callee in _NAMES:
        lowering.unsupported(
            node,
            f"`{name}` is not supported: names are resolved when the function is compiled",
            "use the name itself",
        )
    if callee in _PROGRAMS:
        lowering.unsupported(
            node,
            f"`{name}` is not supported: a program in a string has no source to compile",
            "write the code itself, or make a function of it outside and call that",
        )
    if callee in _HANDLED:
        lowering.unsupported(
            node,
            f"`{name}` is not supported: an exception that is known when the function is compiled "
            "is not raised when it runs",
            "name it: `except ValueError as error`",
        )
    if callee in interpreter.STARTING:
        lowering.unsupported(
            node,
            f"`{name}` is not supported: what another thread does, and when, is not known",
            "call the function itself",
        )
    if callee in _ADDRESSES:
        lowering.unsupported(
            node,
            f"`{name}` is not supported: what it gives differs from run to run",
            "call it outside, and pass the result in",
        )


def emit(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
    type_: Type,
    primitive: Primitive = EFFECT,
    contract: Contract = HOLDS,
    is_sure: bool = True,
) -> FrontendValue:
    """Append a call whose result has this type. Of an object that may lead to memory which unread
    code has kept, it is one of those that may use that; and one that gives an object, or changes
    one, may let that hold what it is given. contract: what is known of that."""
    items = (*arguments, *keywords.values())
    name = name_of(callee)
    callee, arguments, seen_as, is_noted = shown_calls.seen(lowering, callee, arguments, keywords)
    if callee in _STORING:
        outside_reach.note_buffers(lowering, items)
    is_led = leading.may_lead_to_memory(lowering, items)
    is_unknown = primitive is EFFECT and contract is HOLDS and not _is_known(callee)
    if is_unknown and any(map(may_run, items)):
        seen_as = UNKNOWN
    is_led = is_led or leading.may_run_kept(lowering, items)
    if seen_as or is_led or (leading.leads(type_, contract) and foreign.reaches(lowering, items)):
        contract = seen_as or (UNKNOWN if is_led and callee in _STORING else HOLDS)
        node, given = lowering.frame.statement, (arguments, keywords)
        return foreign.call(lowering, node, callee, given, type_, contract, is_sure)
    made = {} if callee in shown_calls.TEXTS else lent_containers.met_twice(lowering, items)
    tree = {
        "args": tuple(argument_of(lowering, item, made) for item in arguments),
        "keywords": {key: argument_of(lowering, item, made) for key, item in keywords.items()},
        "type": type_,
    }
    result = trial_calls.emitted(lowering, primitive, tree, callee, is_sure)
    if is_noted:
        outside_state.after_call(lowering, f"`{name}`", result, items)
    found: FrontendValue = lowering.wrap(result)
    return found


def _is_known(callee: Any) -> bool:
    """Whether it is known what a call runs of its arguments: a method, nothing, what makes a text
    of them."""
    is_exception = isinstance(callee, type) and issubclass(callee, BaseException)
    is_known = callee in shown_calls.ASKING or callee in shown_calls.TEXTS
    return isinstance(callee, Method) or is_exception or is_known


_OPERATORS = "iadd isub imul imatmul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift"
_STORING = frozenset({operator.setitem, operator.delitem, setattr, delattr}) | {
    getattr(operator, name) for name in _OPERATORS.split()
}
"""What changes an object in place."""


def _refuse_compiled(lowering: Lowering, node: Any, target: Any) -> NoReturn:
    """Refuse the call of an object of compiled code: of ctypes, of Numba, …"""
    name = probe(target, "__name__", "")
    lowering.unsupported(
        node,
        f"`{name or type(target).__name__}`, which is compiled code, cannot be differentiated",
        "make a primitive of a function that calls it, with a rule: `gs.primitive`",
        CompiledCodeError,
    )


def method_of_number(
    lowering: Lowering, receiver: FrontendValue, name: str, arguments: tuple[FrontendValue, ...]
) -> FrontendValue | None:
    """`n.bit_length()` and the like; None if there is no such method without derivative."""
    callee = operator.methodcaller(name)
    type_ = trial_calls.type_on_trial(lowering, callee, (receiver,), {}) if not arguments else None
    if type_ is None or is_differentiable(type_):
        return None
    if type_ != BOOL and may_vary(lowering, receiver):  # `as_integer_ratio` tells all of a number
        return None
    return emit(lowering, Method(name), (receiver,), {}, type_, RUN)


# -- operations on opaque values -----------------------------------------------------------------


def method(
    lowering: Lowering,
    node: Any,
    receiver: FrontendValue,
    name: str,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> FrontendValue:
    """`receiver.name(…)` of an object that is only known at run time."""
    given = (*arguments, *keywords.values())
    if (found := in_class(_class_of(receiver) or object, name)) is not None:
        folded_calls.refuse_codecs(lowering, node, found, (receiver, *arguments), keywords)
    if node is not lowering.statement.discarded and any(
        may_vary(lowering, i, surely=True) for i in given
    ):
        if name == "__call__" and isinstance(receiver, ObjectRef):
            _refuse_compiled(lowering, node, receiver.target)
        lowering.unsupported(
            node,
            f"the method `{name}` of an object without known type cannot be differentiated",
            "make a function of the call, and give it a rule by `gs.primitive`",
            UnknownTypeError,
        )
    if name == "__call__" and isinstance(receiver, (ObjectRef, Static)):
        called = receiver.target if isinstance(receiver, ObjectRef) else receiver.value
        addresses.note(lowering, called, arguments)
    if texts.is_text(receiver) and not gives(str, name):
        what = f"'str' object has no attribute '{name}'"
        lowering.raises(node, AttributeError(what), what)
    type_ = texts.type_of_method(receiver, name)
    if type_ is not None:
        return emit(lowering, Method(name), (receiver, *arguments), keywords, type_, RUN)
    contract = foreign.method_contract(_class_of(receiver), name, given)
    calls_back = foreign.calls_back(Method(name), given)
    is_leading = node is not lowering.statement.discarded and leading.leads(Opaque(), contract)
    if not contract.is_pure or calls_back or is_leading:
        every = ((receiver, *arguments), keywords)
        return foreign.call(lowering, node, Method(name), every, Opaque(), contract)
    arguments = (receiver, *arguments)
    return emit(lowering, Method(name), arguments, keywords, Opaque(), contract=PURE)


def _class_of(receiver: FrontendValue) -> type | None:
    """The class of an object of the running program, if it is known."""
    if isinstance(receiver, ObjectRef):
        return type(receiver.target)
    return class_at_run_time(receiver)


def asked(
    lowering: Lowering, callee: Any, arguments: tuple[FrontendValue, ...], type_: Type
) -> FrontendValue | None:
    """What a function tells of an object that is only known at run time, as `np.ndim` does: it is
    asked there. None for what is known when the function is compiled."""
    known = arguments[0]
    return emit(lowering, callee, arguments, {}, type_) if is_opaque(known) else None


def attribute(lowering: Lowering, owner: Value | ObjectRef, name: str) -> FrontendValue:
    """`owner.name` of an object that is only known at run time, or whose class computes that in a
    way that is not known."""
    if class_at_run_time(owner) is types.TracebackType:
        raise UnsupportedError(
            f"`{name}` of a traceback is not supported: generated code raises elsewhere",
            "tell the cases apart by the exceptions themselves",
            lowering.builder.location,
        )
    return emit(lowering, getattr, (owner, Static(name)), {}, Opaque())


def operate(
    lowering: Lowering, node: Any, callee: Any, operands: tuple[FrontendValue, ...]
) -> FrontendValue:
    """An operator, some operands of which are opaque."""
    if any(may_vary(lowering, item) for item in operands):
        refuse(lowering, node)
    type_ = texts.type_of_operation(callee, operands)
    if type_ is not None:
        return emit(lowering, callee, operands, {}, type_, RUN)
    return emit(lowering, callee, operands, {}, Opaque())


def may_run(item: FrontendValue) -> bool:
    """Whether an operator, or a look at an attribute, may run any code: the methods of an object of
    which no more is known than its class. (Of NumPy's and Python's own classes they only compute.)
    """
    if not is_opaque(item) and not isinstance(item, ObjectRef):
        return False
    cls = _class_of(item)
    return not is_immutable(cls) and cls not in (list, tuple, dict, set, bytearray)


IN_PLACE = {
    getattr(operator, name): getattr(operator, "i" + name.strip("_"))
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("lshift", "rshift", "and_", "or_", "xor"),
    )
}
"""The operators by which `a op= b` changes an object, if that can be changed."""


def shown(lowering: Lowering, text: Static, values: FrontendValue) -> FrontendValue:
    """`text % values`."""
    items = values.items if isinstance(values, TupleOf) else ()
    known = tuple(item.value for item in items if instances.is_folded(item))
    if items and len(known) == len(items):
        return Static(text.value % known)
    return _in_text(lowering, operator.mod, (text, values), {})


def _in_text(
    lowering: Lowering,
    callee: Any,
    arguments: tuple[FrontendValue, ...],
    keywords: Mapping[str, FrontendValue],
) -> FrontendValue:
    """A text that shows values; nobody expects a derivative of it."""
    arguments = tuple(
        lowering.listed(None, item) if isinstance(item, Iteration) else item for item in arguments
    )
    return emit(lowering, callee, arguments, keywords, Opaque(str))


def refuse(lowering: Lowering, node: Any) -> None:
    """Refuse to compute with what has no known type."""
    raise unknown_type(lowering.location(node))
