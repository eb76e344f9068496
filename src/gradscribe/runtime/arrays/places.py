"""`layout=` and `pin_memory=`: in which memory a new Tensor lies, of which there is one kind."""

from __future__ import annotations

from typing import Any

from gradscribe.errors import UnsupportedError
from gradscribe.runtime.arrays.dtypes import strided


def drop_place(options: dict[str, Any]) -> None:
    """Take the two out of the options of a call; the error for other memory than there is."""
    layout = options.pop("layout", None)
    if layout is not None and layout is not strided:
        raise UnsupportedError(f"the layout {layout}", "leave it away: Tensors are dense")
    if options.pop("pin_memory", False):
        raise RuntimeError("Need to provide pin_memory allocator to use pin memory.")
