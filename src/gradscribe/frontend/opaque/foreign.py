"""Calls of code that cannot be read, and the memory that such code may write to.

Comes in: a call of a function (C, Cython, Fortran, ctypes, …), and what `contracts` knows of it.
Goes out: the operation `effect`, and for each array that the call can reach, a new value. The call
is given a copy of the array (`lent`), in which it may write; what is in it afterwards (`written`)
is what the array holds from there on. So all that follows from a store follows from such a call:
derivatives through it are refused, records and undo keep what was there before, the caller's own
arrays get the new contents where plain Python would have changed them.

A call that may keep what it is given may use that when another function of the kind is called:
see `kept_memory`.
"""

from __future__ import annotations

import functools
import math
import re
import types
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradscribe.frontend.kinds import known_sets, presence
from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.memory import (
    aliasing,
    contiguity,
    kept_memory,
    kept_variables,
    outside,
    outside_functions,
    outside_reach,
    outside_state,
    places,
    sharing,
    unread_code,
)
from gradscribe.frontend.memory.reach import is_read_only, storages
from gradscribe.frontend.opaque import (
    changed_containers,
    folded_calls,
    leading,
    lent_containers,
    placing,
    shown_calls,
    trial_calls,
)
from gradscribe.frontend.opaque.changed_containers import is_array, name_of
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.function_objects import may_call, parts_of
from gradscribe.frontend.structures.run_time_arguments import argument_of
from gradscribe.frontend.values.values import (
    FrontendValue,
    ObjectRef,
    Ref,
    Static,
    Storage,
    TupleOf,
    may_overlap,
    opaque_type,
)
from gradscribe.ir.core import Method, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Array, Type
from gradscribe.primitives.contract_kinds import CODE, SHOWN, UNKNOWN, Contract, parameters
from gradscribe.primitives.contracts import (
    called_back,
    contract_of,
    contract_of_method,
)
from gradscribe.primitives.control import COPY, EFFECT, LENT, WRITTEN
from gradscribe.primitives.generator_managers import is_maker
from gradscribe.primitives.indexing import READ_ONLY

Items = Sequence[FrontendValue]
"""Values, as a call is given them."""


def call(
    lowering: Lowering,
    node: Any,
    callee: Any,
    given: tuple[tuple[FrontendValue, ...], Mapping[str, FrontendValue]],
    type_: Type,
    contract: Contract,
    is_sure: bool = True,
) -> FrontendValue:
    """A call that may write to the arrays that it is given. given: its arguments and keywords.
    is_sure: whether the type is that of each such call.

    Where an object among these leads to memory that other calls use, this is such a call, too; and
    what it gives may keep what it is given, if nothing more is known of that.
    """
    arguments, keywords = given
    name = name_of(callee)
    callee, arguments, seen_as, is_noted = shown_calls.seen(lowering, callee, arguments, keywords)
    contract = seen_as or contract
    if leading.may_run_kept(lowering, [*arguments, *keywords.values()]):
        contract = UNKNOWN
    if leading.may_lead_to_memory(lowering, [*arguments, *keywords.values()]):
        contract = replace(contract, keeps=True)
    items = contract.written(callee, arguments, keywords)
    called = [] if is_declared(callee) else all_called(lowering, [*arguments, *keywords.values()])
    functions = [*called, *_functions(callee, [*arguments, *keywords.values()])]
    runs_unread = leading.runs_unread(lowering, callee, functions)
    if runs_unread and not contract.keeps:
        contract = replace(called_back(callee, contract), keeps=True)
    may_run = contract.keeps or bool(called) or calls_back(callee, ())
    is_later = is_maker(callee)  # it runs code where what it makes is entered
    others = [*arguments[isinstance(callee, Method) :], *keywords.values()]
    has_methods = bool(called) or any(map(leading.has_own_methods, others))
    lowering.kept.has_functions |= contract.keeps and not is_later and has_methods
    if may_run:
        called += kept_variables.current(lowering)
        outside_reach.note(lowering, [*items, *called, Static(callee)])
        outside_reach.refuse_pending(lowering)
    if not contract.only_reads:
        outside_reach.note_buffers(lowering, items)
        for item in items:
            known_sets.refuse_change(lowering, node, item)
            _refuse_of_others(lowering, node, name, item)
    own: dict[Storage, Value] = {}
    if contract.keeps:
        called += lent_containers.kept(lowering)
        if contract.only_reads:
            own = placing.placed(lowering, node, callee, [*arguments, *keywords.values()])
        if not own:
            placing.refuse_looking(lowering, node, name_of(callee), contract.only_reads)
    changed_containers.refuse(lowering, node, callee, [*items, *called], called)
    if contract.keeps:
        items = [*arguments, *keywords.values()]
    items += [item for item in called if item not in items]
    is_leading = node is not lowering.statement.discarded and leading.leads(type_, contract)
    shows = replace(contract, keeps=contract.keeps or is_leading)
    reached = _arrays(lowering, [*items, *arguments, *keywords.values()] if shows.keeps else items)
    reached = {s: None for s in reached if s not in own and not _is_undefined(lowering, s)}
    for number, item in enumerate(items):
        is_receiver = number == 0 and isinstance(callee, Method)
        if isinstance(item, ObjectRef) and is_receiver and hasattr(item.target, "__dict__"):
            continue
        for below in _objects(lowering, item) if contract is not SHOWN else ():
            outside.expose(lowering, below)
    for storage in reached:
        value = lowering.value_in(storage)
        contiguity.check_shown(lowering, node, name_of(callee), value)
        if not contract.only_reads:
            contiguity.check_given(lowering, node, name_of(callee), storage.name, value)
    shown = _shown(lowering, node, callee, reached, shows)
    looks = contract.keeps and CODE in contract.reads and contract is not SHOWN
    looks &= runs_unread or folded_calls.module_of(callee) not in ("numpy", "scipy")
    if is_later and looks:
        unread = unread_code.runs_unread([probe(callee, "__wrapped__", callee)])
        looks = unread or any(map(opaque_type, arguments))
    if looks:
        seen = {*reached, *own, *lowering.kept.handles, *lowering.kept.lists}
        outside_state.refuse_pending(lowering, node, name, seen)
    held = {storage: lowering.contents[storage] for storage in (*reached, *own)}
    lowering.contents.update({storage: shown[storage] for storage in reached} | own)
    if may_run:
        outside_reach.refuse_given(lowering, reached)
    lents = lent_containers.before_call(lowering, node, name_of(callee), items, contract.keeps)
    known = lent_containers.objects_of(lents)
    if contract.only_reads:
        known = lent_containers.met_twice(lowering, [*arguments, *keywords.values()]) | known
    lowering.kept.keeps = contract.keeps
    tree = {
        "args": tuple(argument_of(lowering, item, known) for item in arguments),
        "keywords": {key: argument_of(lowering, item, known) for key, item in keywords.items()},
        "type": type_,
        "reached": tuple(shown.values()),
    }
    if may_run:
        kept_variables.synchronize(lowering, lambda item: argument_of(lowering, item, known))
    lowering.contents.update(held)
    result = trial_calls.emitted(lowering, EFFECT, tree, callee, is_sure)
    if contract.keeps and (shown or called or lents or lowering.kept.has_functions):
        lowering.lasting.keepers.add(result)
    if may_run:
        kept_variables.read_back(lowering)
    if not contract.only_reads:
        for storage, array in shown.items():
            _write(lowering, storage, array, result, shows)
    if is_noted or (may_run and CODE in contract.reads and not is_later):
        read = (*arguments, *keywords.values(), *called)
        outside_state.after_call(lowering, f"`{name}`", result, read)
    if not contract.only_reads:
        lent_containers.after_call(lowering, node, name_of(callee), lents)
    items = [*arguments, *keywords.values()]
    if isinstance(type_, Array) and contract.keeps:
        return _protected(lowering, kept_memory.returned(lowering, result), items)
    if isinstance(type_, Array):  # it may be a view of what was given
        copied = lowering.emit(COPY, {"x": result})
        return _protected(lowering, _linked(lowering, lowering.wrap(copied), result, shown), items)
    return _linked(lowering, lowering.wrap(result), None, shown)


def _linked(
    lowering: Lowering, item: FrontendValue, returned: Value | None, shown: Mapping[Storage, Value]
) -> FrontendValue:
    """What unread code returns, each array of which may be (part of) one that it was shown.
    returned: the array itself, if that is a copy."""
    if isinstance(item, TupleOf):
        items = tuple(_linked(lowering, below, None, shown) for below in item.items)
        return replace(item, items=items)

    def shares(base: Storage) -> Value:
        found = lowering.value(item) if returned is None else returned
        return sharing.overlap(lowering, found, shown[base])

    return sharing.link(lowering, item, shown, shares)


def possible_view(lowering: Lowering, result: FrontendValue, given: Items) -> FrontendValue:
    """The result of a call that may be a view of what it was given, or lead to it, as a value of
    its own: what is stored to it, or to that, is refused as long as both are in use."""
    if isinstance(result, TupleOf):
        return replace(result, items=tuple(possible_view(lowering, i, given) for i in result.items))
    if not isinstance(result, Ref):
        return result
    returned = lowering.value(result)
    copied = lowering.emit(COPY, {"x": returned})

    def shares(base: Storage) -> Value | None:
        if sharing.as_it_lies(lowering, Ref(base), changed=False) is None:
            return None
        return sharing.overlap(lowering, returned, lowering.value_in(base))

    found = sharing.link(lowering, lowering.wrap(copied), _arrays(lowering, given), shares)
    return _protected(lowering, found, given)


def _protected(lowering: Lowering, found: FrontendValue, given: Items) -> FrontendValue:
    """A result that may be a view of what was given, which is not stored to where others may have
    that."""
    if isinstance(found, Ref):
        found.storage.read_only |= any(_of_others(lowering, item) for item in given)
    return found


def _shown(
    lowering: Lowering, node: Any, callee: Any, reached: Collection[Storage], contract: Contract
) -> dict[Storage, Value]:
    """The memory that a call may use, as the arrays that it sees: of what it may keep, or another
    call may have kept, their handles."""
    if contract.keeps:
        handled = kept_memory.before_call(lowering, node, name_of(callee), reached)
        if contract.only_reads:  # else that is checked as a store is
            aliasing.refuse_kept_twice(lowering, node, name_of(callee), reached, handled)
            aliasing.note_given(lowering, reached)
    else:
        handled = {s: lowering.plain(LENT, {"x": lowering.contents[s]}) for s in reached}
    if not contract.only_reads:
        for storage in handled:
            known = kept_memory.seen_through(lowering, storage) if contract.keeps else ()
            aliasing.check_store(lowering, node, storage, known=known)
    return handled


def _is_undefined(lowering: Lowering, storage: Storage) -> bool:
    """Whether there is no such array on this path."""
    found = presence.sources(lowering, lowering.value_in(storage))
    while len(found) == 1 and found[0] is not None:
        found = presence.sources(lowering, found[0])
    return found == [None]


def _write(
    lowering: Lowering, storage: Storage, array: Value, call: Value, contract: Contract
) -> None:
    """Let a storage hold what a call has left in the array that it has seen."""
    with places.changing(lowering, storage):
        if contract.keeps:
            lowering.contents[storage] = kept_memory.after_call(lowering, storage, call)
        else:
            name = storage.name or lowering.value_in(storage).name
            tree = {"x": array, "call": call}
            lowering.contents[storage] = lowering.plain(WRITTEN, tree, name=name)
    lowering.changes.stored.add(storage)


def contract(callee: Any, arguments: Items, keywords: Mapping[str, FrontendValue]) -> Contract:
    """What a call may do to what it is given."""
    given = [*arguments, *keywords.values()]
    known = [item.value for item in given if isinstance(item, Static)]
    found = contract_of(callee, len(arguments), keywords, known)
    if calls_back(callee, given):
        return called_back(callee, found)
    return _with_objects(callee, found, given)


def method_contract(cls: type | None, name: str, given: Items) -> Contract:
    """The same of a method of an object of this class."""
    return _with_objects(name, contract_of_method(cls, name), given)


def _with_objects(callee: Any, found: Contract, given: Items) -> Contract:
    """A function that calls what it is given, or takes its items, runs code that may be kept."""
    return UNKNOWN if any(_functions(callee, given)) else found


def _functions(callee: Any, given: Items) -> Iterator[FrontendValue]:
    """The objects of the running program that a function calls, or takes the items of."""
    is_root = folded_calls.module_of(callee) == "scipy" and probe(callee, "__name__") in ROOTS
    if is_root or (isinstance(callee, Hashable) and callee in _CALLING):
        yield from filter(_may_be_function, given)


ROOTS = frozenset(
    {"bisect", "brenth", "brentq", "fixed_quad", "newton", "quad", "quad_vec", "ridder", "toms748"}
)
"""Functions of SciPy that compute nothing but what a function makes of numbers."""

_CALLING = frozenset(
    {re.sub, re.subn, "sub", "subn", sorted, min, max, map, filter, functools.reduce}
    | {math.dist, math.fsum, math.prod}
    | {sum, any, all, list, tuple, set, frozenset, dict, next, iter}
)


def _may_be_function(item: FrontendValue) -> bool:
    """Whether an object of the running program may be a function or an iterator."""
    type_ = opaque_type(item)
    cls = str if type_ is None else type_.cls
    return cls is None or issubclass(cls, _FUNCTIONS) or unread_code.is_function_of_c(cls)


_FUNCTIONS = (types.FunctionType, types.MethodType, Iterator)


def calls_back(callee: Any, given: Items) -> bool:
    """Whether a call may run code of the program, or such code in C, by what it is given; a class
    makes objects of the latter."""
    if is_declared(callee):
        return False
    in_c = not isinstance(callee, type)
    given_code = any(may_call(item, in_c=in_c) for item in given)
    return given_code or outside_functions.leads_to_python(callee)


def is_declared(callee: Any) -> bool:
    """Whether the user has said what a function does with what it is given."""
    return probe(callee, "__gradscribe_contract__") is not None


def all_called(lowering: Lowering, items: Items) -> list[FrontendValue]:
    """The functions, methods and iterators among these values, and all that those lead to: code
    that is given them may run code of the program."""
    parts = (parts_of(lowering, item) for item in items if may_call(item, in_c=True))
    return list(dict.fromkeys(part for found in parts for part in found))


def reaches(lowering: Lowering, items: Items) -> bool:
    """Whether there is memory in these values that a call could write to."""
    return any(True for item in items for _ in storages(lowering, item))


def _arrays(lowering: Lowering, items: Items) -> dict[Storage, None]:
    """The memory of the arrays that a call can reach and write to."""
    found: dict[Storage, None] = {}
    for item in items:
        for ref in _references(lowering, item):
            if is_array(lowering.contents[ref.storage]) and not is_read_only(ref):
                found[ref.storage] = None
    return found


def _refuse_of_others(lowering: Lowering, node: Any, name: str, item: FrontendValue) -> None:
    if _of_others(lowering, item):
        lowering.unsupported(
            node,
            f"`{name}` may write to an array that others may have",
            "give it a copy (`.copy()`)",
        )


def _of_others(lowering: Lowering, item: FrontendValue) -> bool:
    """Whether there is an array in this that a function returned which remembers its results, or is
    recorded: others may have it. (What NumPy makes read-only, it protects itself.)"""
    kept = (ref.storage for ref in _references(lowering, item) if ref.storage.read_only)
    values = map(lowering.contents.get, kept)
    made = [lowering.builder.definition(value) for value in values if isinstance(value, Value)]
    return any(m is None or m.primitive.name not in READ_ONLY for m in made)


def _objects(lowering: Lowering, item: FrontendValue) -> Iterator[ObjectRef]:
    """The objects from outside in a value."""
    pending = [item]
    for container in lent_containers.reached(lowering, [item]):
        pending += lent_containers.parts_of(lowering, container)
    while pending:
        item = pending.pop()
        if isinstance(item, TupleOf):
            pending += item.items
        elif isinstance(item, ObjectRef):
            yield item


def _references(lowering: Lowering, item: FrontendValue) -> Iterator[Ref]:
    """The arrays in a value."""
    if isinstance(item, Ref):
        yield item
        return
    if isinstance(item, TupleOf):
        for below in item.items:
            yield from _references(lowering, below)
        return
    for storage in storages(lowering, item):
        yield Ref(storage)


def may_overwrite(
    lowering: Lowering,
    node: Any,
    callee: Any,
    arguments: Items,
    keywords: Mapping[str, FrontendValue],
) -> bool:
    """Whether `overwrite_a=True` and the like may overwrite what is read later. What a library
    leaves in an array in which something is differentiated is not told."""
    options = _options(callee, arguments, keywords)
    if all(item == Static(False) for item in options.values()):
        return False
    given = [*arguments, *keywords.values()]
    for item in given:
        _refuse_of_others(lowering, node, name_of(callee), item)
    arrays = set(_arrays(lowering, given))
    name = lent_containers.name_read_later(lowering, arrays, node)
    if name is None:  # the next call of the program reads what is captured
        captured = (s for s in lowering.outside.entered if any(may_overlap(s, a) for a in arrays))
        name = next((storage.name for storage in captured), None)
    if name is not None and any(may_vary(lowering, item, surely=True) for item in given):
        option = next(option for option, item in options.items() if item != Static(False))
        lowering.unsupported(
            node,
            f"`{name_of(callee)}` may overwrite `{name}`, which is read later",
            f"leave `{option}` out, or pass a copy",
        )
    return name is not None


def _options(
    callee: Any, arguments: Items, keywords: Mapping[str, FrontendValue]
) -> dict[str, FrontendValue]:
    """What a call says of overwriting its arguments."""
    given = dict(keywords)
    if any(isinstance(item, Static) and item.value for item in arguments[1:]):
        given |= dict(zip(parameters(callee), arguments, strict=False))
    return {name: item for name, item in given.items() if name.startswith("overwrite")}
