"""Calls with plain values of a function that is decorated with `jit=True`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from gradscribe.api.stored_outside import StoredOutside
from gradscribe.api.transform import Plan, Transform, prepared
from gradscribe.compiler import Primal, Target, target_of
from gradscribe.compiler.generated import Generated
from gradscribe.transforms.passes.simplify import simplify

NOT_NATIVE = object()
"""What a call gives that does not run as native code."""


class NativeCall(Transform):
    """The function itself as native code; `NOT_NATIVE` where it cannot be, or stores outside."""

    argnums = ()

    def __init__(self, function: Callable[..., Any]) -> None:
        self.given = function
        super().__init__(function, "native", (NativeCall,), jit=True)

    @cached_property
    def compiled(self) -> Target:
        return target_of(self.given)

    @property
    def is_first_order(self) -> bool:
        return True

    def unbound(self) -> NativeCall:
        return NativeCall(self.compiled.function)

    def recorded(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        return NOT_NATIVE

    def plan(self, target: Target, primal: Primal) -> Plan:
        generated = Generated(lambda: simplify(primal.function))
        stores = StoredOutside.of(primal, target) is not None
        if stores or primal.changes_inputs or not generated.native.is_native:
            return Plan(lambda values: NOT_NATIVE, generated)
        return Plan(prepared(primal, generated), generated)
