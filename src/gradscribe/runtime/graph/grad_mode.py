"""Whether operations are recorded: `no_grad`, `enable_grad`, `set_grad_enabled`.

The mode is a context variable, so threads and asynchronous tasks each have their own. The
context managers are decorators, too, of functions and of generator functions.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, ClassVar, TypeVar

import numpy as np

# fmt: off
__all__ = [
    "enable_grad", "is_grad_enabled", "no_grad", "set_grad_enabled",
]
# fmt: on

_enabled: ContextVar[bool] = ContextVar("gradscribe_grad_enabled", default=True)

grad_enabled = _enabled.get
"""Whether operations are recorded now."""

INFERENCE: ContextVar[bool | None] = ContextVar("gradscribe_inference_mode", default=None)
"""None outside of `inference_mode`; within, where nothing is recorded, whether recording is asked
for."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operations on Tensors are recorded now, or would be, but for `inference_mode`."""
    enabled: bool = _asked().get()
    return enabled


def _asked() -> ContextVar[Any]:
    """Where it is kept whether recording is asked for."""
    return _enabled if INFERENCE.get() is None else INFERENCE


def enter_mode(enabled: bool) -> Token[bool]:
    """Set the mode; `leave_mode` with the token sets it back."""
    return _enabled.set(enabled and INFERENCE.get() is None)


leave_mode = _enabled.reset


class GradMode:
    """A context manager that is also a decorator: each call of the function runs in the mode."""

    _previous: bool

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        asked = _asked()
        self._previous = asked.get()
        asked.set(self.enabled)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _asked().set(self._previous)

    def clone(self) -> GradMode:
        """A fresh manager of the same mode, for one call of a decorated function."""
        return GradMode(self.enabled)

    def __call__(self, function: Decorated) -> Decorated:
        if inspect.isclass(function):
            warnings.warn(_DECORATED_CLASS, FutureWarning, stacklevel=2)
        if inspect.isgeneratorfunction(function):
            return _decorate_generator(self.clone, function)  # type: ignore[return-value]

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorated  # type: ignore[return-value]


_DECORATED_CLASS = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only "
    "decorate functions or methods. To preserve the current behavior of class decoration, you can "
    "directly decorate the `__init__` method and nothing else."
)


def _decorate_generator(
    manager: Callable[[], GradMode], function: Callable[..., Any]
) -> Callable[..., Any]:
    """Run each stretch between two `yield`s in the mode, and the consumer outside it."""

    @functools.wraps(function)
    def decorated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        resume: Callable[[], Any] = functools.partial(next, generator)
        while True:
            try:
                with manager():
                    item = resume()
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield item
            except GeneratorExit:
                with manager():
                    generator.close()
                raise
            except BaseException as error:
                resume = functools.partial(generator.throw, error)
            else:
                resume = functools.partial(generator.send, sent)

    return decorated


class _FixedMode(GradMode):
    """A mode that the class names; as a decorator with or without parentheses."""

    _is_on: ClassVar[bool]

    def __new__(cls, function: Any = None) -> Any:
        instance = super().__new__(cls)
        if function is None:
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(function)

    def __init__(self) -> None:
        super().__init__(self._is_on)


class no_grad(_FixedMode):
    """Operations inside are not recorded. Also a decorator, with or without parentheses."""

    _is_on = False


class enable_grad(_FixedMode):
    """Operations inside are recorded, also within `no_grad`. Also a decorator."""

    _is_on = True


class set_grad_enabled(GradMode):
    """Set the mode now: for good as a plain call, for the block as a context manager."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, (bool, np.bool_)):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        super().__init__(bool(mode))
        asked = _asked()
        self._previous = asked.get()
        asked.set(self.enabled)

    def __enter__(self) -> None:
        _asked().set(self.enabled)

    def __call__(self, function: Decorated) -> Decorated:
        _asked().set(self._previous)
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.enabled})"


_multithreading: ContextVar[bool] = ContextVar("gradscribe_multithreading", default=True)


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` has set."""
    return _multithreading.get()


class set_multithreading_enabled:
    """For good as a plain call, for the block as a context manager. A backward runs in the thread
    that calls it, whatever is set here."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._previous = _multithreading.get()
        _multithreading.set(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        _multithreading.set(self._previous)
