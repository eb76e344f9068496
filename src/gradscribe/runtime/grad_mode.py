"""Whether operations are recorded: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`.

The mode is a context variable, so threads and asynchronous tasks each have their own. The
context managers are decorators, too, of functions and of generator functions.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, TypeVar

_enabled: ContextVar[bool] = ContextVar("gradscribe_grad_enabled", default=True)
_inference: ContextVar[bool] = ContextVar("gradscribe_inference_mode", default=False)

grad_enabled = _enabled.get
"""`is_grad_enabled` for the call path."""

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether operations on Tensors are recorded now."""
    return _enabled.get()


def is_inference_mode_enabled() -> bool:
    """Whether the innermost `inference_mode` is on."""
    return _inference.get()


def enter_mode(enabled: bool) -> Token[bool]:
    """Set the mode; `leave_mode` with the token sets it back."""
    return _enabled.set(enabled)


leave_mode = _enabled.reset


class _Mode:
    """A context manager that is also a decorator: each call of the function runs in the mode."""

    _previous: bool

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        self._previous = _enabled.get()
        _enabled.set(self.enabled)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _enabled.set(self._previous)

    def clone(self) -> _Mode:
        """A fresh manager of the same mode, for one call of a decorated function."""
        return _Mode(self.enabled)

    def __call__(self, function: Decorated) -> Decorated:
        if inspect.isgeneratorfunction(function):
            return _decorate_generator(self.clone, function)  # type: ignore[return-value]

        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return decorated  # type: ignore[return-value]


def _decorate_generator(
    manager: Callable[[], _Mode], function: Callable[..., Any]
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
                generator.close()
                raise
            except BaseException as error:
                resume = functools.partial(generator.throw, error)
            else:
                resume = functools.partial(generator.send, sent)

    return decorated


class no_grad(_Mode):
    """Operations inside are not recorded. Also a decorator, with or without parentheses."""

    def __new__(cls, function: Any = None) -> Any:
        instance = super().__new__(cls)
        if function is None:
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(function)

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_Mode):
    """Operations inside are recorded, also within `no_grad`. Also a decorator."""

    def __new__(cls, function: Any = None) -> Any:
        instance = super().__new__(cls)
        if function is None:
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(function)

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_Mode):
    """Set the mode now: for good as a plain call, for the block as a context manager."""

    def __init__(self, mode: bool) -> None:
        super().__init__(bool(mode))
        self._previous = _enabled.get()
        _enabled.set(self.enabled)

    def __enter__(self) -> None:
        _enabled.set(self.enabled)

    def __call__(self, function: Decorated) -> Decorated:
        _enabled.set(self._previous)
        return super().__call__(function)


class inference_mode(_Mode):
    """Like `no_grad`, and `is_inference_mode_enabled()` says so."""

    def __new__(cls, mode: Any = True) -> Any:
        instance = super().__new__(cls)
        if not callable(mode):
            return instance
        instance.__init__()  # type: ignore[misc]
        return instance(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode)
        self.mode = mode

    def __enter__(self) -> None:
        self._token = _inference.set(self.mode)
        self._previous = _enabled.get()
        if self.mode:
            _enabled.set(False)

    def __exit__(self, *_: Any) -> None:
        _inference.reset(self._token)
        _enabled.set(self._previous)

    def clone(self) -> _Mode:
        return inference_mode(self.mode)
