"""Families of operations of libraries that need not be there: entered when the library is."""

from __future__ import annotations

import contextlib
import importlib
import sys

_PACKAGE = "gradscribe.primitives.scipy"

FAMILIES = {
    "scipy.special": (
        "gamma",
        "special",
        "elliptic",
        "distributions",
        "bessel",
        "polynomials",
        "sums",
        "several",
    ),
    "scipy.linalg": ("linalg", "solving", "matrix_functions", "polar", "schur"),
    "scipy.fft": ("fft",),
    "scipy.signal": ("signal",),
    "scipy.integrate": ("integrate",),
    "scipy.stats": ("stats", "positive_stats", "bounded_stats", "real_stats", "multivariate"),
}
"""The modules that enter the functions of a module of a library."""


def enter_imported() -> None:
    """Enter the families of the libraries that the program has imported."""
    for library, families in FAMILIES.items():
        if library in sys.modules and f"{_PACKAGE}.{families[0]}" not in sys.modules:
            for family in families:
                importlib.import_module(f"{_PACKAGE}.{family}")


def enter_all() -> list[str]:
    """Import the libraries that are installed, and enter their families: the names of those."""
    for library in FAMILIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(library)
    enter_imported()
    return [library for library in FAMILIES if library in sys.modules]
