"""Calls of Python functions that are recorded at run time, where they cannot be compiled.

Comes in: for such a call (a `Site`), the form of what it returned in a recorded run. Goes out: the
operation `effect`, whose callee is a `Recorded` function; `passes.recorded` makes it one that
is differentiated. The other calls are compiled as always, and noted: an error that leaves them
tells by which calls it came about (`GradscribeError.calls`), so that one of these is recorded when
the program is compiled again.

What a recorded call is given may be kept by it; what it returns may be memory that others have,
too: it is not stored to.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from gradscribe.errors import GradscribeError
from gradscribe.frontend.interface import Call, Recording
from gradscribe.frontend.kinds.trees import parts_of
from gradscribe.frontend.kinds.varying import may_vary
from gradscribe.frontend.memory import kept_variables
from gradscribe.frontend.memory.reach import storages
from gradscribe.frontend.memory.sequences import known_items
from gradscribe.frontend.opaque import foreign
from gradscribe.frontend.prelude import recorded_prelude
from gradscribe.frontend.state.dependencies import is_library, is_tool_module
from gradscribe.frontend.state.frame import Frame
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.structures.function_objects import captured
from gradscribe.frontend.structures.run_time_arguments import argument_of
from gradscribe.frontend.values.values import (
    DictRef,
    FrontendValue,
    ListRef,
    LocalFunction,
    Ref,
    Static,
    Storage,
    TupleOf,
    opaque_type,
)
from gradscribe.ir.affine import Affine
from gradscribe.ir.core import Value
from gradscribe.ir.types import Array
from gradscribe.primitives import observed
from gradscribe.primitives.argument_trees import leaves_of
from gradscribe.primitives.contracts import is_immutable
from gradscribe.primitives.control import EFFECT
from gradscribe.primitives.recorded_functions import NotRecordedError, Recorded, Site, unseen
from gradscribe.primitives.typing import TypeRuleError

Given = tuple[tuple[FrontendValue, ...], dict[str, FrontendValue]]
"""The arguments and keywords of a call."""

Compile = Callable[
    [Lowering, Any, Any, tuple[FrontendValue, ...], dict[str, FrontendValue]], FrontendValue
]


def call(
    lowering: Lowering,
    node: Any,
    function: FunctionType,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
    compile: Compile,
) -> FrontendValue:
    """A call that is recorded, if it is one of those; otherwise compiled, and noted."""
    recording = lowering.recording
    assert recording is not None
    noted = _noted(lowering, node, function, recording)
    form = recording.form(noted.site)
    if isinstance(form, observed.UnseenForm) and not noted.is_noted:
        form = None
    try:
        if isinstance(form, observed.UnseenForm):
            error = Static(unseen(noted.site))
            return compile(lowering, node, recorded_prelude.leave, (error,), {})
        if form is not None:
            return _record(lowering, node, noted, form, arguments, keywords)
        recording.compiled.append(noted)
        recording.around.append(noted)
        try:
            return compile(lowering, node, function, arguments, keywords)
        finally:
            recording.around.pop()
    except GradscribeError as error:
        error.calls.append(noted)
        raise


def typed(
    lowering: Lowering,
    node: Any,
    function: FunctionType,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue | None:
    """A call of a library's function that is not compiled, and that nothing differentiated goes
    into: typed by what it returned in a recorded run. None where that is not known."""
    recording = lowering.recording
    if recording is None:
        return None
    noted = _noted(lowering, node, function, recording)
    form = recording.seen(noted.site)
    if form is None:
        return None
    return _record(lowering, node, noted, form, arguments, keywords)


def _noted(lowering: Lowering, node: Any, function: FunctionType, recording: Recording) -> Call:
    place = lowering.location(node) if node is not None else lowering.builder.location
    where: tuple[Any, ...] = ("", 0, None)
    if place is not None:
        is_told = sys.version_info >= (3, 11) and node is not None
        is_told = is_told and node.lineno == node.end_lineno
        columns = (place.column, place.end_column) if is_told else None
        where = (place.filename, place.line, columns)
    code = function.__code__
    last = max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    return Call(
        function,
        Site(id(code), *where),
        recording.around[-1] if recording.around else None,
        is_library(_caller(lowering).function),
        (code.co_filename, code.co_firstlineno, last),
        recording.remembering > 0,
        not is_tool_module(_caller(lowering).function.__module__),
    )


@contextmanager
def remembering(lowering: Lowering) -> Iterator[None]:
    """Within the block, a function is called that remembers its results."""
    recording = lowering.recording
    if recording is None:
        yield
        return
    recording.remembering += 1
    try:
        yield
    finally:
        recording.remembering -= 1


def _caller(lowering: Lowering) -> Frame:
    """The frame of the program that a call stands in, not one of our own."""
    return next((f for f in reversed(lowering.frames) if f.called_at is None), lowering.frame)


def _record(
    lowering: Lowering,
    node: Any,
    noted: Call,
    form: observed.Form,
    arguments: tuple[FrontendValue, ...],
    keywords: dict[str, FrontendValue],
) -> FrontendValue:
    given = (*arguments, *keywords.values())
    for item in given:
        _refuse_unlike(lowering, node, item)
    if observed.has_text(form) and any(may_vary(lowering, item) for item in given):
        raise _refusal(lowering, node, "it makes a text of what may be differentiated")
    tree = (
        tuple(argument_of(lowering, item) for item in arguments),
        {key: argument_of(lowering, item) for key, item in keywords.items()},
    )
    _refuse_changing(lowering, node, given)
    _refuse_changed(lowering, node)
    parameters = inspect.signature(noted.function, follow_wrapped=False)
    places = parameters.bind(
        *((0, i) for i in range(len(arguments))), **{key: (1, key) for key in keywords}
    )
    place_of = functools.partial(_place_of, places.arguments, parameters)
    try:
        type_, axes = observed.type_for(form, list(_known(lowering, tree)), place_of)
    except (TypeRuleError, LookupError) as error:
        raise _refusal(lowering, node, f"it returned {form}: {error}") from None
    name = noted.function.__name__.replace("<lambda>", "function")
    recording = lowering.recording
    assert recording is not None
    callee = Recorded(noted.function, name, noted.site, form, axes, recording.machine)
    reached = _keep(lowering, node, noted, given)
    value = lowering.emit(EFFECT, {"args": tree[0], "keywords": tree[1], "type": type_}, callee)
    recording.made.append(noted)
    return _returned(lowering, lowering.wrap(value, reached), form, axes, (arguments, keywords))


def _place_of(
    places: Mapping[str, Any], signature: inspect.Signature, steps: observed.Steps
) -> observed.Steps:
    """Where an argument stands in a call, from where it stands in the parameters."""
    name, *rest = steps
    if signature.parameters[name].kind in (_KINDS.VAR_POSITIONAL, _KINDS.VAR_KEYWORD):
        return (*places[name][rest[0]], *rest[1:])
    return (*places[name], *rest)


_KINDS = inspect.Parameter


def _part(lowering: Lowering, given: Given, steps: observed.Steps) -> FrontendValue:
    """What stands at a place of the arguments of a call."""
    form, place, *below = steps
    item: FrontendValue = given[form][place]
    for step in below:
        parts = parts_of(item, lowering.contents)
        assert parts is not None
        item = parts.by_key()[step]
    return item


def _returned(
    lowering: Lowering, item: FrontendValue, form: observed.Form, axes: observed.Axes, given: Given
) -> FrontendValue:
    """What a call returns whose value is this one: nobody may change it. given: what it is given,
    which it may return itself."""
    if axes.argument is not None:
        return _part(lowering, given, axes.argument)
    if isinstance(form, observed.StaticForm):
        return Static(form.value)
    if isinstance(item, Ref):
        item.storage.read_only = True
    below = known_items(lowering, item)
    if below is None or not isinstance(form, observed.TupleForm):
        return item
    items = tuple(
        _returned(lowering, *parts, given)
        for parts in zip(below, form.items, axes.items, strict=True)
    )
    if form.cls is tuple:
        return TupleOf(items)
    storage = Storage()
    lowering.contents[storage] = items
    lowering.cached.lists.add(storage)
    return ListRef(storage)


def _known(lowering: Lowering, tree: Any) -> Iterator[tuple[Affine, int, observed.Axis]]:
    """The lengths of the arrays that a call is given."""
    samples = lowering.builder.facts.samples
    for steps, leaf in leaves_of(tree, lambda item: isinstance(item, Value)):
        if isinstance(leaf, Value) and isinstance(leaf.type, Array):
            for number, length in enumerate(leaf.type.dims):
                terms = [samples.get(symbol) for symbol, _ in length.terms]
                if all(term is not None for term in terms):
                    pairs = zip(terms, length.terms, strict=True)
                    sample = length.constant + sum((n or 0) * c for n, (_, c) in pairs)
                    yield length, sample, (steps, number)


def _keep(
    lowering: Lowering, node: Any, noted: Call, given: tuple[FrontendValue, ...]
) -> frozenset[Storage]:
    """The arrays that a call is given. Note what it may keep; refuse it where another one may have
    kept what has changed since."""
    recording = lowering.recording
    assert recording is not None
    for storage, contents in recording.kept.items():
        if lowering.contents.get(storage, contents) is not contents:
            raise _refusal(lowering, node, "what another such call may have kept has changed since")
    reached = {
        storage: lowering.contents[storage]
        for item in given
        for storage in storages(lowering, item)
        if storage in lowering.contents
    }
    if noted.site in recording.keeping:
        recording.kept.update(reached)
    return frozenset(s for s, contents in reached.items() if isinstance(contents, Value))


def _refuse_unlike(lowering: Lowering, node: Any, item: FrontendValue) -> None:
    """Refuse to hand over what the called function would find to be another object."""
    if lowering.has_tensors:
        raise _refusal(lowering, node, "it is given a Tensor")
    if isinstance(item, TupleOf):
        if item.cls is not tuple:
            raise _refusal(lowering, node, f"it is given a {item.cls.__name__}")
        for below in item.items:
            _refuse_unlike(lowering, node, below)
    elif isinstance(item, (ListRef, DictRef)):
        contents = lowering.contents[item.storage]
        if not isinstance(contents, Value):
            for below in contents.values() if isinstance(contents, dict) else contents:
                _refuse_unlike(lowering, node, below)
    elif isinstance(item, Ref):
        type_ = lowering.value(item).type
        if isinstance(type_, Array) and (type_.spelling, type_.module) != ("numpy", "numpy"):
            raise _refusal(lowering, node, "it is given a Tensor")
    elif (opaque := opaque_type(item)) and not is_immutable(opaque.cls):
        raise _refusal(lowering, node, "it is given an object of the running program")


def _refuse_changing(lowering: Lowering, node: Any, given: tuple[FrontendValue, ...]) -> None:
    """Refuse to hand over a function that leads to memory, or to variables, of the program: what it
    does with them is not seen."""
    called = foreign.all_called(lowering, given)
    is_bound_anew = bool(called) and kept_variables.count(lowering) > 0
    for item in called:
        held = captured(lowering, item).values() if isinstance(item, LocalFunction) else ()
        is_shared = any(map(kept_variables.is_shared, held)) or foreign.reaches(lowering, [item])
        if is_bound_anew or is_shared:
            why = "it is given a function that may change what the program has made"
            raise _refusal(lowering, node, why)


def _refuse_changed(lowering: Lowering, node: Any) -> None:
    """Refuse a call that may read, or change, what unread code has kept; and one where a container,
    or an attribute of an object, from outside is another one now: that is stored at the end."""
    if lowering.kept.handles or lowering.kept.lists or kept_variables.count(lowering):
        raise _refusal(lowering, node, "it may change what compiled code has kept")
    outside = lowering.outside
    for storage in (*outside.containers, *outside.owners):
        before = outside.entered[storage]
        if lowering.contents.get(storage, before) is not before:
            raise _refusal(
                lowering, node, "it may read what is changed outside before it is called"
            )


def _refusal(lowering: Lowering, node: Any, why: str) -> NotRecordedError:
    what = f"a call that cannot be compiled cannot be recorded by itself: {why}"
    return NotRecordedError(what, "", lowering.location(node) if node is not None else None)
