"""`emit_nvtx`: operations and nodes as ranges in the time line of NVIDIA's profilers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from gradscribe.runtime.graph.modes import Mode, enter, leave


class emit_nvtx(Mode):
    """Within the block, each operation on Tensors, each compiled function and each node of a
    backward run is a range of NVIDIA's tools extension, for a program that runs under their
    profiler.

    A range has the name that `profile` gives to the event; that of a node also has the number of
    the node. enabled: False emits nothing. record_shapes: the names have the operands' shapes, too.

    Errors: RuntimeError for a second entry, and where CuPy, which gives access to the extension,
    is not installed.
    """

    everywhere = True

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.record_shapes = record_shapes
        self._is_entered = False
        self._nvtx: Any = None

    def __enter__(self) -> emit_nvtx:
        if not self.enabled:
            return self
        if self._is_entered:
            raise RuntimeError("NVTX annotation context manager is not reentrant")
        self._nvtx = _extension()
        self._is_entered = True
        enter(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.enabled:
            leave(self)

    def begun(self, name: str, operands: Sequence[Any], sequence_nr: int) -> None:
        if sequence_nr >= 0:
            name += f", seq = {sequence_nr}"
        if self.record_shapes:
            name += f", sizes = {[list(np.shape(getattr(o, 'array', o))) for o in operands]}"
        self._nvtx.RangePush(name)

    def ended(self) -> None:
        self._nvtx.RangePop()


def _extension() -> Any:
    try:
        return importlib.import_module("cupy.cuda.nvtx")
    except ImportError as error:
        raise RuntimeError(
            "emit_nvtx needs CuPy, which gives access to NVIDIA's tools extension: install it, or "
            "use gradscribe.autograd.profiler.profile"
        ) from error
