"""Arrays from outside that are mapped from a file: what writes to files may change them."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.ir.core import Block, Operation, walk
from gradscribe.ir.mapped_memory import file_of
from gradscribe.ir.overlaps import root_of
from gradscribe.ir.probing import probe
from gradscribe.primitives.call_contracts import contract_of_call
from gradscribe.primitives.contract_kinds import FILES
from gradscribe.primitives.control import EFFECT, RUN

_CONSOLE = frozenset({"logging", "pprint", "sys", "tqdm", "traceback", "warnings"})
_SHOWING = (print, input)
_MAPPING = (np.memmap, np.lib.format.open_memmap, mmap.mmap)


def refuse_written(lowering: Lowering) -> None:
    """Refuse to read an array that is mapped from a file, where the function may write to files."""
    memory = lowering.outside.memory.items()
    mapped = [storage.name for storage, array in memory if _is_mapped(array)]
    for operation in walk(Block((), tuple(lowering.builder.operations), ())) if mapped else ():
        if operation.primitive in (EFFECT, RUN) and _writes_files(operation):
            name = probe(operation.callee, "name") or probe(operation.callee, "__name__")
            raise UnsupportedError(
                f"`{mapped[0]}` is mapped from a file, to which `{name}` may write",
                "pass a copy of it as an argument, or write the file elsewhere",
                operation.location,
            )


def _is_mapped(array: Any) -> bool:
    """Whether an array is mapped from a file to which something may write by its name: memory that
    processes share (under `/dev`) is not written so."""
    if isinstance(array, np.ndarray) and isinstance(root_of(array), np.memmap):
        return True
    file = file_of(array)
    return file is not None and not file.name.startswith("/dev/")


def _writes_files(call: Operation) -> bool:
    callee = call.callee
    module = str(probe(callee, "__module__") or "").partition(".")[0]
    is_shown = any(callee is shows for shows in _SHOWING) or module in _CONSOLE
    if any(callee is maps for maps in _MAPPING):
        return True
    return not is_shown and FILES in contract_of_call(call).changes
