"""What users call: the functions of the rows, which take arrays for Tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.arrays.rows import IN_PLACE_FUNCTION, Table
from gradscribe.runtime.tensors.tensor import wrap
from gradscribe.torchlike.nn.functional.rows import twin
from gradscribe.tracebacks import shorten


def publish(table: Table, namespace: dict[str, Any]) -> list[str]:
    """Put the functions of a table, and their twins, in a namespace, and say what it is called."""
    functions = {name: row.function for name, row in table.rows.items()}
    functions |= {
        f"{row.name}_": twin(row.function) for row in table if IN_PLACE_FUNCTION in row.spelling
    }
    namespace.update({name: _taking_arrays(function) for name, function in functions.items()})
    return sorted(functions)


def _taking_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Tensors that takes arrays for such. Compiled code, where arrays are Tensors,
    calls the function itself."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if np.ndarray in map(type, args) or np.ndarray in map(type, kwargs.values()):
                args = tuple(map(_tensor, args))
                kwargs = {name: _tensor(item) for name, item in kwargs.items()}
            return function(*args, **kwargs)
        except Exception as error:
            shorten(error)
            raise

    call.__gradscribe_function__ = function  # type: ignore[attr-defined]
    return call


def _tensor(item: Any) -> Any:
    return wrap(item) if isinstance(item, np.ndarray) else item
