"""The seam to the compiler: who is asked for the derivatives of an operation.

The compiler is reached through one function of the type `Provider`: by default
`gradscribe.compiler.derivatives`, imported when it is first needed (`set_provider` changes it).
Nothing else of the compiler is known to the runtime.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

from gradscribe.runtime.loading import LOADING
from gradscribe.runtime.operations.kernel import Derivatives, Kernel

KERNELS: dict[Hashable, Kernel] = {}
"""The kernel for each operation, static arguments, and operands' dtypes and shapes."""

WAYS: list[dict[Any, Any]] = []
"""What launchers have made of kernels."""


class Provider(Protocol):
    """What the runtime asks of the compiler."""

    def __call__(
        self,
        callee: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        leaves: Sequence[Any],
        active: tuple[int, ...],
    ) -> Derivatives:
        """The derivatives of `callee(*args, **kwargs)`.

        callee: a function of `primitives.registry.PRIMITIVES` (np.sum, operator.getitem), or a
            Python function over arrays, compiled like a user's.
        args, kwargs: the call in the callee's own terms, static trees of tuples in which
            `Operand(i)` stands for leaves[i]. An index is a tuple of None, Ellipsis, `Operand`
            and `SliceOf`.
        leaves: arrays and Python or NumPy numbers: samples of the types. The answer is used
            for all calls with arrays of the same dtypes and shapes (not strides) and numbers
            of the same classes; integers of shapes and indices are always the same ones.
        active: the positions of the leaves that gradients are wanted for.

        Raises an error of `gradscribe.errors` where there is no derivative. May be slow (the
        runtime remembers the answer) but should itself share its work between shapes.
        """


def _compiler(
    callee: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    active: tuple[int, ...],
) -> Derivatives:
    with LOADING:
        from gradscribe import compiler

    set_provider(compiler.derivatives)
    return _provider(callee, args, kwargs, leaves, active)


_provider: Provider = _compiler


def set_provider(provider: Provider) -> Provider:
    """Ask another compiler from now on; returns the one before."""
    global _provider
    previous, _provider = _provider, provider
    KERNELS.clear()
    for ways in WAYS:
        ways.clear()
    return previous


def derivatives_of(
    callee: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    active: tuple[int, ...],
) -> Derivatives:
    """What the present provider answers."""
    return _provider(callee, args, kwargs, leaves, active)
