"""The composition root of the frontend: which functions its parts reach through `Lowering`."""

from __future__ import annotations

from gradscribe.frontend.calls import (
    builtin_functions,
    cached_functions,
    callables,
    calls_of_many_forms,
    ends_of_iterators,
    iterating,
    iterator_tools,
    mathematics,
    object_builtins,
    progress_bars,
)
from gradscribe.frontend.calls.application import apply_primitive
from gradscribe.frontend.calls.dispatch import call
from gradscribe.frontend.calls.frames import inline_frame
from gradscribe.frontend.calls.inlining import inline
from gradscribe.frontend.calls.operators import membership, operate
from gradscribe.frontend.calls.truths import truth
from gradscribe.frontend.containers.reducing import listed
from gradscribe.frontend.containers.unpacking import unpacked
from gradscribe.frontend.expressions.assignments import assign
from gradscribe.frontend.expressions.attributes import attribute
from gradscribe.frontend.expressions.expressions import expression
from gradscribe.frontend.kinds.raised import misfit
from gradscribe.frontend.opaque import own_rules, recorded_rules
from gradscribe.frontend.opaque.lent_containers import leave
from gradscribe.frontend.state.entries import Entries
from gradscribe.frontend.statements import statements
from gradscribe.frontend.structures.inputs import captured_variable

del (
    builtin_functions,
    callables,
    calls_of_many_forms,
    ends_of_iterators,
    iterating,
    iterator_tools,
    mathematics,
    object_builtins,
    own_rules,
    progress_bars,
    recorded_rules,
    cached_functions,
)  # they have entered what they know

ENTRIES = Entries(
    statements=statements,
    expression=expression,
    operate=operate,
    truth=truth,
    membership=membership,
    attribute=attribute,
    assign=assign,
    unpacked=unpacked,
    captured_variable=captured_variable,
    misfit=misfit,
    call=call,
    apply_primitive=apply_primitive,
    inline=inline,
    inline_frame=inline_frame,
    listed=listed,
    leave=leave,
)
