"""Anomaly detection: which operation of the forward run made a NaN, or an error, in a backward.

While it is on, every node notes where it was recorded, and the engine looks at each gradient.
For a compiled function, which is one node, the generated adjoint is run once more, line by
line, and the statement of the user's function that the first line with a NaN comes from is told.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import FrameType
from typing import Any

import numpy as np

from gradscribe.runtime.graph.modes import MODES, Mode
from gradscribe.runtime.graph.node import Node

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_running: ContextVar[Node | None] = ContextVar("gradscribe_running_node", default=None)


class _Anomaly(Mode):
    """The mode, while it is on; one for all threads."""

    check_nan = True

    def recorded(self, node: Node) -> None:
        if "traceback_" in node.metadata:
            return
        node.metadata["traceback_"] = _stack()
        parent = _running.get()
        if parent is not None:
            node.metadata["parent_"] = parent

    def backward(self, node: Node, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        """The node's `backward`, with a word of where the node was recorded if it fails."""
        token = _running.set(node)
        try:
            given = list(cotangents)
            results = node.backward(cotangents, create_graph)
        except Exception:
            _warn(node)
            raise
        finally:
            _running.reset(token)
        if self.check_nan:
            for position, result in enumerate(node.arranged_by_input(results)):
                if _has_nan(result):
                    _warn(node, _culprit(node, given))
                    raise RuntimeError(
                        f"Function '{node.name()}' returned nan values in its {position}th output."
                    )
        return results


_ANOMALY = _Anomaly()


def current() -> _Anomaly | None:
    """The mode, if it is on."""
    return _ANOMALY if _ANOMALY in MODES else None


def is_anomaly_enabled() -> bool:
    """Whether anomalies are looked for."""
    return _ANOMALY in MODES


def is_anomaly_check_nan_enabled() -> bool:
    """Whether NaN counts as an anomaly."""
    return _ANOMALY.check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Look for anomalies from now on, or not."""
    if not isinstance(mode, bool):
        raise TypeError(
            "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    if _ANOMALY in MODES:
        MODES.remove(_ANOMALY)
    if mode:
        MODES.append(_ANOMALY)
    _ANOMALY.check_nan = check_nan


class set_detect_anomaly:
    """Look for anomalies, or not: for good as a plain call, for the block as a context manager.

    check_nan: whether a NaN in a gradient is an error.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        set_anomaly_enabled(*self._before)


class detect_anomaly:
    """Within the block, a backward that fails or gives NaN tells where the operation that it
    belongs to was called. Slow."""

    def __init__(self, check_nan: bool = True) -> None:
        self._before = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        self._check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self._check_nan)

    def __exit__(self, *_: Any) -> None:
        set_anomaly_enabled(*self._before)


def _stack() -> list[str]:
    """The lines of a traceback to here, down to the last frame of the user's."""
    frames = traceback.extract_stack(sys._getframe(1))
    while frames and frames[-1].filename.startswith(_PACKAGE):
        frames.pop()
    return traceback.format_list(frames)


def _warn(node: Node, culprit: str = "") -> None:
    """Tell where a node was recorded, and where the nodes whose backward made it."""
    text = f"Error detected in {node.name()}. "
    known = node.metadata.get("traceback_")
    if known is None:
        text += (
            "No forward pass information available. Enable detect anomaly during forward pass "
            "for more information."
        )
    else:
        text += f"Traceback of forward call that caused the error:\n{''.join(known)}{culprit}"
    parent = node.metadata.get("parent_")
    child = node
    while parent is not None:
        text += (
            f"\n\nPrevious calculation that induced {child.name()}. Traceback of forward call that "
            f"induced the previous calculation:\n{''.join(parent.metadata.get('traceback_', []))}"
        )
        child, parent = parent, parent.metadata.get("parent_")
    try:
        warnings.warn(text, stacklevel=2)
    except Warning:  # as an error it would hide the one that it tells of
        print(text, file=sys.stderr)


def _has_nan(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_nan, value))
    array = getattr(value, "array", value)
    if not isinstance(array, (np.ndarray, float, complex, np.inexact)):
        return False
    array = np.asarray(array)
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())


def _culprit(node: Node, cotangents: list[Any]) -> str:
    """For a compiled function, the statement whose adjoint made the first NaN."""
    kernel = getattr(node, "kernel", None)
    if kernel is None or kernel.call is not None:
        return ""
    search = _FirstNan(kernel.derivatives.locate)
    before = sys.gettrace()
    sys.settrace(search.enter)
    try:
        node.backward(cotangents, False)
    except Exception:
        return ""
    finally:
        sys.settrace(before)
    return search.text


class _FirstNan:
    """Follows generated code and keeps the first line after which a variable holds a NaN."""

    def __init__(self, locate: Callable[[str], Sequence[tuple[str, int]]]) -> None:
        self.text = ""
        self._locate = locate
        self._last: dict[FrameType, int] = {}

    def enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A trace function; only generated code is followed."""
        if not frame.f_code.co_filename.startswith("<gradscribe"):
            return None
        self._last[frame] = frame.f_lineno
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if self.text:
            return None
        result = [argument] if event == "return" else []
        if any(map(_has_nan, [*frame.f_locals.values(), *result])):
            code, statement = _line_and_statement(frame, self._last[frame])
            where = self._locate(statement) if statement else ()
            if where:
                name, filename = frame.f_code.co_name, where[0][0]
                lines = " or ".join(str(line) for file, line in where if file == filename)
                self.text = f'  File "{filename}", line {lines}, whose derivative is NaN\n'
                self.text += f"    {statement}\n  In the generated {name}\n    {code}\n"
        self._last[frame] = frame.f_lineno
        return self._step


def _line_and_statement(frame: FrameType, number: int) -> tuple[str, str]:
    """A line of generated code, and the user's statement that it comes from: the comment of the
    line itself, or of the nearest line above, which begins what comes of the statement."""
    name, first = frame.f_code.co_filename, frame.f_code.co_firstlineno
    code = linecache.getline(name, number).strip().partition("  # ")[0]
    for above in range(number, first, -1):
        statement = linecache.getline(name, above).strip().partition("  # ")[2]
        if statement:
            return code, statement
    return code, ""
