"""The table of contracts is run: what its functions do to arrays is what it says."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest

from gradscribe.primitives.contract_kinds import UNKNOWN, Contract, parameters
from gradscribe.primitives.contracts import contract_of, contract_of_method
from gradscribe.primitives.known_calls import METHODS
from tests.border import entries, fortran
from tests.border.entries import Entry
from tests.border.samples import Done, arrays, done, same
from tests.sampling import one_in


def may_write(callee: Any, call: Done, contract: Contract, **keywords: Any) -> frozenset[int]:
    written = {id(a) for a in arrays(contract.written(callee, call.arguments, keywords))}
    held = enumerate(arrays((call.arguments, list(keywords.values()))))
    return frozenset(i for i, array in held if id(array) in written)


def check(callee: Any, call: Done, **keywords: Any) -> None:
    contract = contract_of(callee, len(call.arguments), keywords)
    allowed = may_write(callee, call, contract, **keywords)
    assert call.wrote <= allowed, (call.arguments, keywords)
    assert contract.connects or call.shares <= allowed, (call.arguments, keywords)
    assert contract.keeps or not call.kept, (call.arguments, keywords)


@pytest.mark.parametrize("entry", one_in(32, entries.functions() + entries.methods()), ids=str)
def test_a_call_does_to_arrays_no_more_than_the_table_says(entry: Entry) -> None:
    if str(entry) in entries.NOT_RUN:
        pytest.skip(f"`{entry}` {entries.NOT_RUN[str(entry)]}")
    if entries.is_missing(entry):
        pytest.skip(f"`{entry}` is not in this version")
    run, drawn = 0, np.random.get_state()[1].tobytes()
    for callee, call in entries.calls(entry, 3):
        check(callee, call)
        run += 1
    assert run, "no call of it works: `entries.txt` should say how it is called"
    assert np.random.get_state()[1].tobytes() == drawn
    for flag in parameters(callee):
        if flag.startswith("overwrite_"):
            for callee, call in entries.calls(entry, 2, **{flag: True}):
                check(callee, call, **{flag: True})
    if contract_of(callee).computes:
        for (_, first), (_, second) in zip(
            entries.calls(entry, 1), entries.calls(entry, 1), strict=True
        ):
            assert same(first.result, second.result)


def test_functions_with_out_write_to_that_alone() -> None:
    for entry in one_in(32, [e for e in entries.functions() if e.place.startswith("numpy")]):
        if entries.is_missing(entry):
            continue
        for callee, call in entries.calls(entry, 1):
            if "out" not in parameters(callee) or len(call.result) != 1:
                continue
            out = np.zeros_like(call.result[0])
            given = done(callee, call.arguments, "C", {"out": out})
            assert given is None or given.wrote <= may_write(
                callee, given, contract_of(callee, len(call.arguments), {"out"}), out=out
            ), str(entry)


def test_what_is_not_run_stands_in_the_table() -> None:
    known = {str(entry) for entry in entries.functions() + entries.methods()}
    assert known >= entries.NOT_RUN.keys()
    missing = entries.GIVEN.keys() - known - entries.NEW
    assert not [name for name in missing if not entries.is_inherited(name)]


@pytest.mark.parametrize("module", ["blas", "lapack"])
def test_functions_of_f2py_write_to_what_their_documentation_says(module: str) -> None:
    for name in one_in(32, fortran.functions(module)):
        run = 0
        for callee, call, keywords in fortran.calls(module, name):
            check(callee, call, **keywords)
            run += 1
        assert run, name


# -- what does not stand there -------------------------------------------------------------------


@pytest.mark.parametrize(
    "callee",
    [
        np.apply_along_axis,
        np.vectorize,
        np.nditer,
        np.lib.stride_tricks.as_strided,
        np.ndarray,
        np.frompyfunc(abs, 1, 1),
        np.add.at,
        memoryview,
        bytearray,
        np.random.default_rng(0).shuffle,
        np.zeros(3).fill,
    ],
    ids=lambda callee: getattr(callee, "__name__", type(callee).__name__),
)
def test_what_does_not_stand_in_the_table_may_do_anything(callee: Any) -> None:
    assert contract_of(callee) is UNKNOWN


def test_a_function_of_the_same_name_is_another_one() -> None:
    def sqrt(x: Any) -> Any:
        return x

    sqrt.__module__ = "math"
    assert contract_of(sqrt) is UNKNOWN


def test_a_function_that_calls_another_is_known_if_that_is() -> None:
    assert contract_of(max, 1, {"key"}, [[3, 1], np.sin]).computes
    assert contract_of(max, 1, {"key"}, [[3, 1], np.zeros(3).fill]) is UNKNOWN


def test_a_method_is_known_where_its_class_defines_it() -> None:
    class Text(str):
        def upper(self) -> str:
            return self

    assert contract_of_method(Text, "lower").computes
    assert contract_of_method(Text, "upper") is UNKNOWN


def test_the_names_of_the_table_are_functions_and_classes() -> None:
    missing = {
        str(entry)
        for entry in entries.functions()
        if entry.place.partition(".")[0] not in ("numpy", "scipy") and entries.is_missing(entry)
    }
    assert missing <= entries.NEW, sorted(missing - entries.NEW)
    for row in METHODS:
        module, _, cls = row.place.partition(":")
        assert inspect.isclass(getattr(importlib.import_module(module), cls)), row.place
