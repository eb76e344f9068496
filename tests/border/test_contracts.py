"""The table of contracts is run: what its functions do to arrays is what it says."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import numpy as np
import pytest

from gradscribe.primitives.contract_kinds import STREAM, UFUNC, UNKNOWN, Contract, parameters
from gradscribe.primitives.contracts import contract_of, contract_of_method
from gradscribe.primitives.known_calls import FUNCTIONS, METHODS
from tests.border.samples import MATRIX, VECTOR, Done, arrays, calls, done, same
from tests.sampling import one_in

_RUN = ("numpy", "scipy", "math", "operator", "statistics", "zlib", "base64", "copy", "pickle")

ENTRIES = [
    (row.place, name)
    for row in FUNCTIONS
    if row.place.partition(".")[0] in _RUN and row.contract is not STREAM
    for name in row.names.split()
    if row.place != "scipy.special" or (row.contract is UFUNC and name < "o")
]
"""What is run: of SciPy's special functions some ufuncs; others loop for long on some arguments."""


def function(place: str, name: str) -> Any:
    found = getattr(importlib.import_module(place), name, None)
    if found is None:
        pytest.skip(f"`{place}.{name}` is not in this version")
    return found


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


@pytest.mark.parametrize(("place", "name"), one_in(32, ENTRIES))
def test_a_function_does_to_arrays_no_more_than_the_table_says(place: str, name: str) -> None:
    callee = function(place, name)
    drawn = np.random.get_state()[1].tobytes()
    for call in calls(callee, 3):
        check(callee, call)
    assert np.random.get_state()[1].tobytes() == drawn
    for flag in parameters(callee):
        if flag.startswith("overwrite_"):
            for call in calls(callee, 2, **{flag: True}):
                check(callee, call, **{flag: True})
    if contract_of(callee).computes:
        for first, second in zip(calls(callee, 1), calls(callee, 1), strict=True):
            assert same(first.result, second.result)


def test_functions_with_out_write_to_that_alone() -> None:
    for place, name in one_in(32, [entry for entry in ENTRIES if entry[0].startswith("numpy")]):
        callee = getattr(importlib.import_module(place), name, None)
        if "out" in parameters(callee):
            for call in calls(callee, 1):
                if len(call.result) == 1:
                    out = np.zeros_like(call.result[0])
                    given = done(callee, call.arguments, "C", {"out": out})
                    assert given is None or given.wrote <= may_write(
                        callee, given, contract_of(callee, len(call.arguments), {"out"}), out=out
                    ), name


# -- what f2py says of its functions -------------------------------------------------------------


FORTRAN = {
    "blas": "axpy copy dot scal swap nrm2 asum gemv ger symv trmv trsv gemm symm syrk trmm trsm",
    "lapack": "gesv getrf potrf posv geev syev gesdd geqrf gels sysv gehrd",
}
"""Of those that take arrays of any shapes, some."""


def fortran(module: str) -> list[str]:
    linalg = pytest.importorskip(f"scipy.linalg.{module}")
    names = (kind + name for name in FORTRAN[module].split() for kind in "sd")
    return [name for name in names if hasattr(linalg, name)]


def samples_of(callee: Any) -> tuple[list[Any], list[str]] | None:
    """Arguments by the ranks that the documentation says, and the flags; None where it takes
    numbers whose meaning is not told."""
    required, _, optional = callee.__doc__.partition("Other Parameters")
    found = re.findall(r"^(\w+) : (?:input )?(.*)$", required.partition("-\n")[2], re.MULTILINE)
    given: list[Any] = []
    for _, text in found:
        kind = re.search(r"rank-(\d) array\('(\w)'\)", text)
        if kind is not None:
            given.append((VECTOR[:4] if kind.group(1) == "1" else MATRIX).astype(kind.group(2)))
        elif text.startswith(("float", "complex")):
            given.append(1.5)
        else:
            return None
    return given, re.findall(r"^(overwrite_\w+) : ", optional, re.MULTILINE)


@pytest.mark.parametrize("module", ["blas", "lapack"])
def test_functions_of_f2py_write_to_what_their_documentation_says(module: str) -> None:
    run = 0
    for name in one_in(4, fortran(module)):
        callee = getattr(importlib.import_module(f"scipy.linalg.{module}"), name)
        sample = samples_of(callee)
        if sample is None or not sample[0]:
            continue
        arguments, flags = sample
        for flag in [None, *flags]:
            for value in (0, 1):
                keywords = {} if flag is None else {flag: value}
                for layout in ("C", "Fortran", "strided", "float32"):
                    call = done(callee, tuple(arguments), layout, keywords)
                    if call is not None:
                        check(callee, call, **keywords)
                        run += 1
    assert run > 3


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
        f"{row.place}.{name}"
        for row in FUNCTIONS
        if row.place.partition(".")[0] not in ("numpy", "scipy")
        for name in row.names.split()
        if not callable(getattr(importlib.import_module(row.place), name, None))
    }
    assert missing <= NEW, sorted(missing - NEW)
    for row in METHODS:
        module, _, cls = row.place.partition(":")
        assert inspect.isclass(getattr(importlib.import_module(module), cls)), row.place


NEW = frozenset({"copy.replace", "math.cbrt", "math.exp2", "math.fma", "math.sumprod"})
"""What older versions of Python have not."""
