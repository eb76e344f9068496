"""What the documentation says of functions and methods that the compiler cannot read, as a table.

A row: the module (or the class) in which the names are found, what a call of them may do, the
names. The sources are the reference of Python's library (docs.python.org/3/library, under the name
of the module), and the references of NumPy (numpy.org/doc) and SciPy (docs.scipy.org), by the
signature of each function: what has a parameter `out` or `output` writes to that alone.
`tests/border/test_contracts.py` runs the rows and looks at the memory. What does not stand here is
not trusted.
"""

from __future__ import annotations

from gradscribe.primitives.known_calls import numpy, python, scipy
from gradscribe.primitives.known_calls.rows import Row

FUNCTIONS: tuple[Row, ...] = (*python.FUNCTIONS, *numpy.FUNCTIONS, *scipy.FUNCTIONS)

METHODS: tuple[Row, ...] = (*python.METHODS, *numpy.METHODS)

UNTOLD: dict[str, str] = {"larf": "work", "ppsv": "ap", "stemr": "e"}
"""Arguments of LAPACK's functions (without the letter of the dtype) that are written to, of which
the documentation by f2py does not tell."""

__all__ = ["FUNCTIONS", "METHODS", "UNTOLD", "Row"]
