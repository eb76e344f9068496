"""The composition root of the frontend: which functions its parts reach through `Lowering`."""

from __future__ import annotations

from gradscribe.frontend.assignments import assign
from gradscribe.frontend.calls import (
    builtin_functions,
    callables,
    iterating,
    iterator_tools,
    object_builtins,
    own_rules,
    progress_bars,
    recorded_rules,
    remembering,
)
from gradscribe.frontend.calls.application import apply_primitive
from gradscribe.frontend.calls.dispatch import call
from gradscribe.frontend.calls.frames import inline_frame
from gradscribe.frontend.calls.inlining import inline
from gradscribe.frontend.calls.lent_containers import leave
from gradscribe.frontend.calls.raised import misfit
from gradscribe.frontend.calls.reducing import listed
from gradscribe.frontend.calls.unpacking import unpacked
from gradscribe.frontend.data.attributes import attribute
from gradscribe.frontend.entries import Entries
from gradscribe.frontend.expressions import expression
from gradscribe.frontend.inputs import captured_variable
from gradscribe.frontend.operators import membership, operate, truth
from gradscribe.frontend.statements import statements

del (
    builtin_functions,
    callables,
    iterating,
    iterator_tools,
    object_builtins,
    own_rules,
    progress_bars,
    recorded_rules,
    remembering,
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
