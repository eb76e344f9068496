"""`checkpoint`: run a part of the forward run again in the backward, and save nothing meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradscribe.runtime.backward import backward
from gradscribe.runtime.engine import current_run
from gradscribe.runtime.function import Function
from gradscribe.runtime.grad_mode import enable_grad, is_grad_enabled, no_grad
from gradscribe.runtime.randomness import default_generator
from gradscribe.runtime.saved import saved_tensors_hooks
from gradscribe.runtime.tensor import Tensor


class CheckpointError(RuntimeError):
    """The second run did not save what the first one did."""


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], tuple[Any, Any]] | None = None,
    determinism_check: str = "default",
    debug: bool = False,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, run again when a backward needs what it would have saved.

    use_reentrant: run backward within the backward; this is the older way, which differentiates
    only with respect to args. preserve_rng_state: random numbers are the same in both runs.
    context_fn: gives two context managers, for the first run and for the second.
    """
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not None or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    first, second = (contextlib.nullcontext(),) * 2 if context_fn is None else context_fn()
    if not is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    again = _Again(lambda: function(*args, **kwargs), second, preserve_rng_state)
    if determinism_check == "none":
        again.types = None
    with first, saved_tensors_hooks(again.number, again.value):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Apply the functions one after the other, in so many segments, of which all but the last
    are checkpointed."""
    chain = list(functions)
    size = max(1, len(chain) // segments)

    def run(part: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
        def through(value: Any) -> Any:
            for function in part:
                value = function(value)
            return value

        return through

    start = 0
    for start in range(0, size * (segments - 1), size):
        input = checkpoint(
            run(chain[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return run(chain[size * (segments - 1) :])(input)


class _Enough(BaseException):
    """The second run has made all values."""


class _Again:
    """The second run, when the first value is asked for; values are numbered in the order in
    which both runs save them."""

    def __init__(self, function: Callable[[], Any], context: Any, preserve: bool) -> None:
        self._function = function
        self._context = context
        self._state = _random_state() if preserve else None
        self._values: dict[int, Tensor] = {}
        self._count = 0
        self.types: list[Any] | None = []

    def number(self, tensor: Tensor) -> int:
        """In place of a value, its number."""
        if self.types is not None:
            self.types.append((tensor.array.shape, tensor.array.dtype))
        self._count += 1
        return self._count - 1

    def value(self, number: int) -> Tensor:
        """The value of a number; each is handed out once for each run."""
        if number not in self._values:
            self._run()
        return self._values.pop(number)

    def _run(self) -> None:
        values: list[Tensor] = []

        def keep(tensor: Tensor) -> Tensor:
            values.append(tensor.detach())
            if len(values) == self._count:
                raise _Enough
            return tensor

        with (
            contextlib.suppress(_Enough),
            enable_grad(),
            _random_numbers_from(self._state),
            self._context,
            saved_tensors_hooks(keep, lambda tensor: tensor),
        ):
            self._function()
        if self.types is not None:
            _compare(self.types, values)
        self._values = dict(enumerate(values))


def _compare(types: list[Any], values: Sequence[Tensor]) -> None:
    if len(types) != len(values):
        raise CheckpointError(
            "torch.utils.checkpoint: A different number of tensors was saved during the original "
            "forward and recomputation.\n"
            f"Number of tensors saved during forward: {len(types)}\n"
            f"Number of tensors saved during recomputation: {len(values)}."
        )
    found = [(value.array.shape, value.array.dtype) for value in values]
    differing = [i for i, (a, b) in enumerate(zip(types, found, strict=True)) if a != b]
    if differing:
        lines = [
            f"tensor at position {i}:\nsaved metadata: {_metadata(types[i])}\n"
            f"recomputed metadata: {_metadata(found[i])}"
            for i in differing
        ]
        raise CheckpointError(
            "torch.utils.checkpoint: Recomputed values for the following tensors have different "
            "metadata than during the forward pass.\n" + "\n".join(lines)
        )


def _metadata(kind: Any) -> str:
    shape, dtype = kind
    return f"{{'shape': torch.Size({list(shape)}), 'dtype': torch.{dtype}, 'device': cpu}}"


def _random_state() -> Any:
    return default_generator.numpy.bit_generator.state


@contextlib.contextmanager
def _random_numbers_from(state: Any) -> Iterator[None]:
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


class CheckpointFunction(Function):
    """A function whose backward runs it again, recorded, and that record backward."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.state = _random_state() if preserve else None
        ctx.positions = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.args = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*(args[i] for i in ctx.positions))
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        run = current_run()
        if run is None or run.is_partial:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        args = list(ctx.args)
        for position, tensor in zip(ctx.positions, ctx.saved_tensors, strict=True):
            args[position] = tensor.detach().requires_grad_(tensor.requires_grad)
        with enable_grad(), _random_numbers_from(ctx.state):
            outputs = ctx.function(*args)
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        pairs = [
            (out, gradient)
            for out, gradient in zip(listed, gradients, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([out for out, _ in pairs], [gradient for _, gradient in pairs])
        return None, None, *(a.grad if isinstance(a, Tensor) else None for a in args)
