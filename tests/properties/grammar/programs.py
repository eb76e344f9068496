"""Whole programs: as a strategy, as functions, and their arguments."""

from __future__ import annotations

import copy
import linecache
import math
import zlib
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.properties.grammar import (  # noqa: F401
    assignments,
    border,
    callbacks,
    calls,
    containers,
    control,
    idioms,
    kept,
    keyed,
    language,
    stores,
)
from tests.properties.grammar.outside import Outside
from tests.properties.grammar.references import References
from tests.properties.grammar.writer import LENGTH, ROWS, Writer

KINDS = {
    "idioms": frozenset({"assignments", "branches", "idioms"}),
    "straight": frozenset({"assignments", "stores", "calls", "masks"}),
    "branches": frozenset({"assignments", "branches", "calls"}),
    "loops": frozenset({"assignments", "branches", "loops"}),
    "found": frozenset({"assignments", "branches", "found"}),
    "language": frozenset({"assignments", "branches", "loops", "language"}),
    "recursion": frozenset({"assignments", "branches", "loops", "recursion", "peeled", "lists"}),
    "everything": frozenset(
        {
            "assignments",
            "branches",
            "loops",
            "stores",
            "lists",
            "dicts",
            "calls",
            "language",
            "masks",
            "comprehensions",
            "recursion",
            "peeled",
        }
    ),
    "scratch": frozenset(
        {"assignments", "branches", "loops", "calls", "scratch", "kept scratch"}
        | {"callbacks", "kept callbacks"}
    ),
    "border": frozenset(
        {"assignments", "branches", "loops", "stores", "scratch", "kept scratch", "border"}
        | {"callbacks", "kept callbacks", "active callbacks", "kept references"}
    ),
    "keyed": frozenset({"assignments", "branches", "keyed"}),
    "references": frozenset(),
    "outside": frozenset(),
}


WRITERS = {"references": References, "outside": Outside}


@st.composite
def programs(draw: Any, kind: str) -> str:
    """Source text of a function `program(x, A, s, n)` that returns a number."""
    return WRITERS.get(kind, Writer)(draw, KINDS[kind]).program()


def compiled(text: str) -> Any:
    """The function that the text defines, with its source findable."""
    filename = f"<program {zlib.crc32(text.encode()):08x}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"np": np, "math": math, "copy": copy}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace["program"]


def arguments(seed: int) -> tuple[Any, ...]:
    """Arguments that no branch of a program has a tie at."""
    rng = np.random.default_rng(seed)
    return (
        rng.uniform(-1, 1, LENGTH),
        rng.uniform(-1, 1, (ROWS, LENGTH)),
        float(rng.uniform(0.1, 1)),
        3,
    )
