"""The table of operations: one file for each family, one short entry for each operation.

Importing this package imports all families, which enter their primitives in
`registry.PRIMITIVES` (by function) and `registry.METHODS` (by name of method or attribute).
"""

from gradscribe.primitives import (
    choices,
    comparisons,
    control,
    creation,
    cumulative,
    einsum,
    elementwise,
    indexing,
    joining,
    linalg,
    lists,
    matrices,
    nan_reductions,
    nonzero,
    norms,
    numbers,
    parts,
    rearranging,
    reductions,
    shaping,
    sorting,
    special,
    statistics,
)

__all__ = [
    "choices",
    "comparisons",
    "control",
    "creation",
    "cumulative",
    "einsum",
    "elementwise",
    "indexing",
    "joining",
    "linalg",
    "lists",
    "matrices",
    "nan_reductions",
    "nonzero",
    "norms",
    "numbers",
    "parts",
    "rearranging",
    "reductions",
    "shaping",
    "sorting",
    "special",
    "statistics",
]
