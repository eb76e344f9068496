"""What is known of the calls in the IR: contracts by what is called, and on what."""

from __future__ import annotations

import functools
import types

from gradscribe.ir.core import Method, Operand, Operation, Value
from gradscribe.ir.probing import probe
from gradscribe.ir.types import Opaque
from gradscribe.primitives.contract_kinds import LEADS, Contract
from gradscribe.primitives.contracts import called_back, contract_of, contract_of_method
from gradscribe.primitives.control import ENTER


def contract_of_call(call: Operation) -> Contract:
    """What is known of a call of code that cannot be read."""
    callee, given = call.callee, call.attributes["args"]
    if call.primitive is ENTER:  # what the manager hands out may lead to what it was given
        return LEADS
    if isinstance(callee, Method):
        owner = call.operands[given[0].index].type if isinstance(given[0], Operand) else None
        cls = owner.cls if isinstance(owner, Opaque) else None
        found = contract_of_method(cls, callee.name)
    else:
        keywords = call.attributes["keywords"]
        found = contract_of(callee, len(given), keywords, (*given, *keywords.values()))
    is_declared = probe(callee, "__gradscribe_contract__") is not None
    if not is_declared and any(map(is_function, call.operands)):
        return called_back(callee, found)
    return found


def is_function(value: Value) -> bool:
    """Whether an object is a function or method of the program."""
    cls = value.type.cls if isinstance(value.type, Opaque) else None
    return cls is not None and issubclass(cls, _FUNCTIONS)


_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
