"""The second run of a checkpointed function: what it saved in the first run, made again.

In the first run each saved value is replaced by its number, in the order of saving. The first
value that a backward asks for starts the second run, which saves in the same order; the values
belong to that backward and are handed out once. Another backward runs the function again, but
within a `GraphExecGroup`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar, Token
from typing import Any
from weakref import WeakKeyDictionary

from gradscribe.runtime.graph.engine import current_run
from gradscribe.runtime.graph.grad_mode import enable_grad
from gradscribe.runtime.graph.modes import Mode, enter, leave
from gradscribe.runtime.graph.node import Node
from gradscribe.runtime.modes.function_node import Saved
from gradscribe.runtime.tensors.randomness import default_generator
from gradscribe.runtime.tensors.saved import innermost_hooks, saved_tensors_hooks
from gradscribe.runtime.tensors.tensor import Tensor

_early_stop: ContextVar[bool | None] = ContextVar("gradscribe_checkpoint_early_stop", default=None)
_debug: ContextVar[bool | None] = ContextVar("gradscribe_checkpoint_debug", default=None)
_group: ContextVar[GraphExecGroup | None] = ContextVar("gradscribe_checkpoint_group", default=None)


class CheckpointError(RuntimeError):
    """The second run did not save what the first one did."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Within the block, checkpoints leave their second run early, or not, whatever they are
    told."""
    token = _early_stop.set(enable)
    try:
        yield
    finally:
        _early_stop.reset(token)


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Within the block, checkpoints tell the operations of both runs where they differ, or not,
    whatever they are told; None: as they are told."""
    token = _debug.set(enabled)
    try:
        yield
    finally:
        _debug.reset(token)


def early_stop_setting(told: bool) -> bool:
    """Whether to leave the second run early."""
    setting = _early_stop.get()
    return told if setting is None else setting


def debug_setting(told: bool) -> bool:
    """Whether to tell the operations of both runs."""
    setting = _debug.get()
    return told if setting is None else setting


class GraphExecGroup:
    """Within the block, several backwards over disjoint parts of a graph share one second run."""

    _token: Token[GraphExecGroup | None]

    def __enter__(self) -> GraphExecGroup:
        if _group.get() is not None:
            raise RuntimeError(
                "GraphExecGroup contexts cannot be nested. Please make sure to exit the outer one."
            )
        self._token = _group.set(self)
        return self

    def __exit__(self, *_: Any) -> None:
        _group.reset(self._token)


class _Enough(BaseException):
    """The second run has made all values."""


class _OutsideOfRuns:
    """Stands for a backward where a value is asked for outside of any."""


class _Names(Mode):
    """Takes down the names of the nodes that are recorded."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def recorded(self, node: Node) -> None:
        self.names.append(node.name())

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Within the block, the mode is on."""
        enter(self)
        try:
            yield
        finally:
            leave(self)


class Recomputation:
    """The second run of one checkpointed call; see the module's text.

    The Tensors among the arguments are kept as if for a backward, so that the hooks of an outer
    checkpoint see them.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        context: Any,
        state: Any,
        early_stop: bool,
        compares: bool,
        debug: bool,
    ) -> None:
        self._function = function
        self._args = [_kept(value) for value in args]
        self._kwargs = {name: _kept(value) for name, value in kwargs.items()}
        self._context = context
        self._state = state
        self._early_stop = early_stop
        self._compares = compares
        self._names = _Names() if debug else None
        self._types: list[Any] = []
        self._is_complete = False
        self._values: WeakKeyDictionary[Any, dict[int, Tensor]] = WeakKeyDictionary()

    @contextlib.contextmanager
    def first_run(self) -> Iterator[None]:
        """What the first run is run in. A backward within it may start a second run already, of
        which the beginning is then needed."""
        watching = self._names.on() if self._names else contextlib.nullcontext()
        with watching, saved_tensors_hooks(self.number, self.value):
            yield
        self._is_complete = True

    def number(self, tensor: Tensor) -> int:
        """In place of a value, its number."""
        self._types.append((tensor.array.shape, tensor.array.dtype))
        return len(self._types) - 1

    def value(self, number: int) -> Tensor:
        """The value of a number, handed out once for each backward."""
        of_backward = _group.get() or current_run() or _OutsideOfRuns()
        values = self._values.get(of_backward)
        if values is None:
            values = self._values[of_backward] = self._run()
        if number not in values:
            raise CheckpointError(
                "gs.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. "
                + ("" if _group.get() is None else _OVERLAP)
                + "If you are calling ctx.saved_tensors in backward, make sure to do so only once. "
                "Otherwise please open an issue with details on your use case."
            )
        return values.pop(number)

    def _run(self) -> dict[int, Tensor]:
        values: list[Tensor] = []
        names = _Names()

        def keep(tensor: Tensor) -> Tensor:
            if len(values) == len(self._types):
                if not self._is_complete:
                    return tensor.detach()
                raise CheckpointError(
                    "gs.utils.checkpoint: trying to save more tensors during recomputation "
                    f"than during the original forward pass.{_TIP}"
                )
            values.append(tensor.detach() if tensor.requires_grad else tensor)
            if self._early_stop and len(values) == len(self._types):
                raise _Enough
            return tensor

        with (
            contextlib.suppress(_Enough),
            enable_grad(),
            random_numbers_from(self._state),
            self._context,
            contextlib.nullcontext() if self._names is None else names.on(),
            saved_tensors_hooks(keep, lambda tensor: tensor),
        ):
            self._function(
                *map(_given, self._args), **{k: _given(v) for k, v in self._kwargs.items()}
            )
        mismatch = _mismatch(self._types, values, self._compares)
        if mismatch and self._names is None:
            raise CheckpointError(f"{mismatch}{_TIP}")
        if mismatch and self._names is not None:
            raise CheckpointError(_told(mismatch, self._names.names, names.names))
        return dict(enumerate(values))


_OVERLAP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order "
    "to compute gradients) is not allowed while under the gs.utils.checkpoint.GraphExecGroup "
    "context. "
)
_TIP = (
    "\n\nTip: To see a more detailed error message, either pass `debug=True` to\n"
    "`gs.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
    "with `with gs.utils.checkpoint.set_checkpoint_debug_enabled(True):`."
)


def _told(mismatch: str, first: Sequence[str], second: Sequence[str]) -> str:
    return (
        f"{mismatch}\n\n"
        "You are seeing this error because you passed `debug=True` to checkpoint and the two runs "
        "differ.\n"
        f"Nodes recorded by the original forward: {', '.join(first)}\n"
        f"Nodes recorded by the recomputation: {', '.join(second)}"
    )


def _kept(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    saved = Saved(value, None)
    hooks = innermost_hooks()
    if hooks is not None:
        saved.pack(hooks.packed)
    return saved


def _given(value: Any) -> Any:
    return value.unpack() if isinstance(value, Saved) else value


def _mismatch(types: Sequence[Any], values: Sequence[Tensor], compares_types: bool) -> str:
    """How the values of the second run differ from those of the first; "" where they do not."""
    if len(types) != len(values):
        return (
            "gs.utils.checkpoint: A different number of tensors was saved during the original "
            "forward and recomputation.\n"
            f"Number of tensors saved during forward: {len(types)}\n"
            f"Number of tensors saved during recomputation: {len(values)}."
        )
    found = [(value.array.shape, value.array.dtype) for value in values]
    lines = [
        f"tensor at position {i}:\nsaved metadata: {_metadata(saved)}\n"
        f"recomputed metadata: {_metadata(again)}"
        for i, (saved, again) in enumerate(zip(types, found, strict=True))
        if saved != again and compares_types
    ]
    return "\n".join([_DIFFERENT, *lines]) if lines else ""


_DIFFERENT = (
    "gs.utils.checkpoint: Recomputed values for the following tensors have different metadata "
    "than during the forward pass."
)


def _metadata(kind: Any) -> str:
    shape, dtype = kind
    described = f"'shape': torch.Size({list(shape)}), 'dtype': torch.{dtype}"
    return f"{{{described}, 'device': device(type='cpu')}}"


def random_state() -> Any:
    """Where the random numbers stand."""
    return default_generator.numpy.bit_generator.state


@contextlib.contextmanager
def random_numbers_from(state: Any) -> Iterator[None]:
    """Within the block, random numbers as they were at a state."""
    if state is None:
        yield
        return
    generator = default_generator.numpy.bit_generator
    present = generator.state
    generator.state = state
    try:
        yield
    finally:
        generator.state = present
