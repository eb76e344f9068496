"""Families of operations of libraries that need not be there: entered when the library is."""

from __future__ import annotations

import importlib
import sys

FAMILIES = {"scipy.special": "gradscribe.primitives.scipy_special"}
"""The module that enters the functions of a module of a library."""


def enter_imported() -> None:
    """Enter the families of the libraries that the program has imported."""
    for library, family in FAMILIES.items():
        if library in sys.modules and family not in sys.modules:
            importlib.import_module(family)
