"""Arrays as arguments of functions over Tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from gradscribe.runtime.tensors.tensor import wrap
from gradscribe.tracebacks import shorten


def taking_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
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
