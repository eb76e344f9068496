"""Statements and expressions that are refused."""

from __future__ import annotations

from tests.refused import refused

TOTAL = 0.0


@refused("`eval` is not supported: a program in a string has no source to compile", 2.0)
def evaluated(x):
    return eval("x * x")


@refused("`globals` is not supported: names are resolved when the function is compiled", 2.0)
def by_name(x):
    return x * globals()["TOTAL"]


@refused("`id` is not supported: what it gives differs from run to run", 2.0)
def by_address(x):
    return x * id(x)


@refused("stores to the global variable `TOTAL` are not supported", 2.0)
def added_to_a_global(x):
    global TOTAL
    TOTAL = TOTAL + x
    return TOTAL
