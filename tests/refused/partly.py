"""What is refused of functions that are compiled in part (`compile="auto"`)."""

from __future__ import annotations

import numpy as np

import gradscribe as gs
from gradscribe.errors import AliasingError, ArgumentError, NotSpecializedError
from tests.refused import refused_when_run

X = np.linspace(0.5, 2.0, 4)
kind = "array"
table = np.ones(4)


def shown(x):
    eval("0")
    print(end="")
    if kind == "changed":
        x[0] = 1.0
    if kind == "filled":
        table[0] += 1.0
    return np.sum(x) if kind == "number" else x * 2.0


def run_as(function, *kinds):
    """Calls a gradient where `shown` does one thing, then where it does another."""
    global kind
    gradient = gs.grad(function, compile="auto")
    try:
        for kind in kinds:
            gradient(X)
    finally:
        kind = "array"


@refused_when_run(
    "a recorded call returned float64, not float64[4], as it was compiled for, and what ran before "
    "it must not run twice"
)
def of_another_type():
    run_as(lambda x: np.sum(shown(x) * x), "array", "array", "number")


@refused_when_run(
    "a recorded call changed what it was given, and what ran before it must not run twice"
)
def of_a_changed_argument():
    run_as(lambda x: np.sum(shown(x * 1.0)), "array", "array", "changed")


@refused_when_run(
    "a recorded call is come to for the first time, and what ran before it must not run twice"
)
def of_a_path_that_was_not_taken():
    def twice(x):
        eval("0")
        return x * 2.0

    def told(x):
        print(end="")
        return x

    def function(x):
        if x[0] > 0.0:
            return np.sum(twice(x))
        return np.sum(twice(told(-x)))

    gradient = gs.grad(function, compile="auto")
    for x in (X, X, -X):
        gradient(x)


@refused_when_run(
    "a recorded call changed what `beside_the_table` reads besides: its derivative may be wrong"
)
def of_what_is_read_besides():
    def beside_the_table(x):
        return np.sum(shown(x) * table)

    run_as(beside_the_table, "array", "array", "filled")


@refused_when_run(
    "`by_types` has calls that are recorded, and their types are seen when they run", ArgumentError
)
def specialized_by_types():
    def by_types(x):
        return np.sum(shown(x))

    gs.differentiable(by_types, compile="auto").specialize("float64[:]")


@refused_when_run(
    "`jit=True` runs generated code, and with `compile='auto'` some calls are recorded",
    ArgumentError,
)
def native_and_recorded():
    gs.grad(shown, jit=True, compile="auto")


@refused_when_run(
    "`grad_shown` was not called yet, so nothing is known of its calls", NotSpecializedError
)
def report_before_a_call():
    gs.grad(shown, compile="auto").report


@refused_when_run(
    "`eval_all` is recorded as a whole: `eval` is not supported: a program in a string has no "
    "source to compile; so it has no source",
    NotSpecializedError,
)
def source_of_what_is_recorded():
    def eval_all(x):
        return eval("x * x")

    gradient = gs.grad(eval_all, compile="auto")
    gradient(2.0)
    gradient.source


OUTSIDE = np.ones((2, 3))


@refused_when_run(
    "this stores into `part`, which shares memory with `OUTSIDE`, and what ran before it must not "
    "run twice",
    AliasingError,
)
def of_a_view_that_is_found_late():
    def shares(x):
        drawn = np.random.random()
        part = np.asfortranarray(OUTSIDE.reshape(1, 6))
        part[0, 0] = 3.0
        return np.sum(part) * x[0] * drawn

    gs.grad(shares, compile="auto")(X)
