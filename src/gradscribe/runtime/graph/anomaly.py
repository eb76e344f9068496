"""Anomaly detection: which operation of the forward run made a NaN, or an error, in a backward.

While it is on, every node notes where it was recorded, and the engine looks at each gradient.
For a compiled function, which is one node, the statement of the user's function that the NaN or
the error comes from is told, too (`nan_search.py`).
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradscribe.runtime.graph.function_context import hidden
from gradscribe.runtime.graph.modes import Mode, enter, is_on, leave
from gradscribe.runtime.graph.nan_search import culprit, has_nan
from gradscribe.runtime.graph.node import AccumulateGrad, Edge, Node

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_NOT_OF_USERS = _PACKAGE + os.sep, np.__path__[0] + os.sep
_running: ContextVar[Node | None] = ContextVar("gradscribe_running_node", default=None)


class _Anomaly(Mode):
    """The mode; one for all contexts in which it is on."""

    def recorded(self, node: Node) -> None:
        if "traceback_" in node.metadata:
            return
        node.metadata["traceback_"] = _stack()
        parent = _running.get()
        if parent is not None:
            node.metadata["parent_"] = parent.public

    def backward(self, node: Node, cotangents: list[Any], create_graph: bool) -> Sequence[Any]:
        """The node's `backward`, with a word of where the node was recorded if it fails."""
        token = _running.set(node)
        given = list(cotangents)
        try:
            results = node.backward(cotangents, create_graph)
        except Exception:
            _warn(node, _culprit(node, given))
            raise
        finally:
            _running.reset(token)
        if is_anomaly_check_nan_enabled():
            for position, result in enumerate(node.arranged_by_input(results)):
                if has_nan(result):
                    _warn(node, _culprit(node, given))
                    raise RuntimeError(
                        f"Function '{node.name()}' returned nan values in its {position}th output."
                    )
        return results


_ANOMALY = _Anomaly()
_check_nan: ContextVar[bool] = ContextVar("gradscribe_check_nan", default=True)


def current() -> _Anomaly | None:
    """The mode, if it is on."""
    return _ANOMALY if is_on(_ANOMALY) else None


def is_anomaly_enabled() -> bool:
    """Whether anomalies are looked for."""
    return is_on(_ANOMALY)


def is_anomaly_check_nan_enabled() -> bool:
    """Whether NaN counts as an anomaly."""
    return _check_nan.get()


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Look for anomalies in this context from now on, or not."""
    if not isinstance(mode, bool):
        raise TypeError(
            "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    leave(_ANOMALY)
    if mode:
        enter(_ANOMALY)
    _check_nan.set(check_nan)


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
    while frames and frames[-1].filename.startswith(_NOT_OF_USERS):
        frames.pop()
    return traceback.format_list(frames)


def _warn(node: Node, culprit: str = "") -> None:
    """Tell where a node was recorded, and where the nodes whose backward made it, each in a warning
    of its own."""
    _tell(_place(node, f"Error detected in {node.name()}", "caused the error", culprit))
    parent = hidden(node.metadata.get("parent_"))
    while parent is not None:
        induced = f"\n\nPrevious calculation was induced by {parent.name()}"
        _tell(_place(parent, induced, "induced the previous calculation"))
        parent = hidden(parent.metadata.get("parent_"))


def _place(node: Node, what: str, did: str, culprit: str = "") -> str:
    """The text that tells where a node was recorded; what, did: what it has done."""
    known = node.metadata.get("traceback_")
    if known is None:
        return (
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information."
        )
    return f"{what}. Traceback of forward call that {did}:\n{''.join(known)}{culprit}"


def _tell(text: str) -> None:
    """Warn; as an error, it would hide the one that it tells of."""
    try:
        warnings.warn(text, stacklevel=4)
    except Warning:
        print(text, file=sys.stderr)


def _culprit(node: Node, cotangents: list[Any]) -> str:
    """For a compiled function, the statement whose adjoint made the NaN or the error."""
    try:
        run = node.generated_run(cotangents)
    except RuntimeError:  # what it has kept is freed, or was changed
        return ""
    return "" if run is None else culprit(*run)


_HINT_IN_ANOMALY_MODE = (
    " Hint: the backtrace further above shows the operation that failed to compute its gradient. "
    "The variable in question was changed in there or anywhere later. Good luck!"
)
_HINT = (
    " Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
    "with gs.autograd.set_detect_anomaly(True)."
)


def modified_in_place(
    type_name: str, shape: Iterable[int], producer: Edge, found: int, expected: int
) -> RuntimeError:
    """The error for a saved value that was changed after it had been saved."""
    hint = _HINT_IN_ANOMALY_MODE if is_anomaly_enabled() else _HINT
    node, index = producer
    is_leaf = node is None or isinstance(node, AccumulateGrad)
    source = "" if node is None or is_leaf else f", which is output {index} of {node.name()},"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{type_name} [{', '.join(map(str, shape))}]]{source} is at version {found}; "
        f"expected version {expected} instead.{hint}"
    )
