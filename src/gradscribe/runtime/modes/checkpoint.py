"""`checkpoint`: run a part of the forward run again in the backward, and save nothing meanwhile.

Two ways. The older one, "reentrant", is a custom Function whose backward runs the part again,
recorded, and that record backward. The other records the part as ever, with hooks on what is
saved: in place of each value stands a number, and when a backward asks for the first of them,
the part is run again to make them all (`recomputation.py`).
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from gradscribe.runtime.graph.engine import current_run
from gradscribe.runtime.graph.grad_mode import enable_grad, is_grad_enabled, no_grad
from gradscribe.runtime.modes.function import Function
from gradscribe.runtime.modes.recomputation import (
    Recomputation,
    debug_setting,
    early_stop_setting,
    random_numbers_from,
    random_state,
)
from gradscribe.runtime.tensors.backward import backward
from gradscribe.runtime.tensors.tensor import Tensor
from gradscribe.tracebacks import shortened

_DETERMINISM_CHECKS = ["default", "none"]


def noop_context_fn() -> tuple[Any, Any]:
    """Two context managers that do nothing: what `context_fn` gives by default."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@shortened
def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """`function(*args, **kwargs)`, run again when a backward needs what it would have saved.

    use_reentrant: run backward within the backward; this is the older way, which differentiates
    only with respect to args, and is taken where none is named. context_fn: gives two context
    managers, for the first run and for the second. determinism_check: "none" does not compare the
    two runs. debug: tell the operations of both where they differ. early_stop: leave the second
    run when it has made all values. preserve_rng_state: random numbers are the same in both runs.
    """
    if use_reentrant is None:
        use_reentrant = True
        text = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an"
        warnings.warn(_PASS_IT.format("", f"{text} exception."), stacklevel=3)
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        check_backward_validity(args)
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in _DETERMINISM_CHECKS:
        raise ValueError(
            f"determinism_check should be one of {_DETERMINISM_CHECKS}, but got {determinism_check}"
        )
    first, second = context_fn()
    if not is_grad_enabled():
        with first:
            return function(*args, **kwargs)
    again = Recomputation(
        function,
        args,
        kwargs,
        second,
        random_state() if preserve_rng_state else None,
        early_stop_setting(early_stop),
        determinism_check == "default",
        debug_setting(debug),
    )
    with first, again.first_run():
        return function(*args, **kwargs)


_PASS_IT = (
    "gs.utils.checkpoint{}: the use_reentrant parameter should be passed explicitly. {} "
    "use_reentrant=False is recommended, but if you need to preserve the current default "
    "behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences "
    "between the two variants."
)


@shortened
def checkpoint_sequential(
    functions: Sequence[Callable[..., Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Apply the functions one after the other, in so many segments, of which all but the last
    are checkpointed."""
    if use_reentrant is None:
        use_reentrant = True
        text = "In version 2.9 we will raise an exception if use_reentrant is not passed."
        warnings.warn(_PASS_IT.format(".checkpoint_sequential", text), stacklevel=3)
    chain = list(functions)
    size = max(1, len(chain) // segments)

    def run(part: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
        def through(value: Any) -> Any:
            for function in part:
                value = function(value)
            return value

        return through

    for start in range(0, size * (segments - 1), size):
        input = checkpoint(
            run(chain[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return run(chain[size * (segments - 1) :])(input)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, the Tensors among them as leaves that require gradients as before."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: ",
            type(inputs).__name__,
        )
    return tuple(
        value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value
        for value in inputs
    )


def check_backward_validity(inputs: Sequence[Any]) -> None:
    """Warn where no input requires a gradient."""
    if not any(isinstance(value, Tensor) and value.requires_grad for value in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=3
        )


class CheckpointFunction(Function):
    """A function whose backward runs it again, recorded, and that record backward."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        ctx.function = function
        ctx.state = random_state() if preserve else None
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
                "When use_reentrant=True, gs.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        args = list(ctx.args)
        for position, tensor in zip(ctx.positions, detach_variable(ctx.saved_tensors), strict=True):
            args[position] = tensor
        with enable_grad(), random_numbers_from(ctx.state):
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
