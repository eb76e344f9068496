"""Compiled functions on disk: what one process has compiled, others read.

A generated function comes in, with its text and the objects that it names; out comes Numba's
function, which looks for compiled code in the user's cache folder (`cache_files.py`) before it
compiles, and leaves there what it has compiled. An entry is named by a hash of all that decides
what is compiled: the text, what it names, the mathematics it calls, the options, the versions,
the types, and the CPU.

Numba's own cache (`cache=True`) stores the same, but it is not used: it runs damaged code as it is,
two processes that compile for different types at once may give one's code the other's name, and its
first reading prepares all that compiling needs, for 0.6 s.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import math
import pathlib
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import NoneType
from typing import Any

import numpy as np

from gradscribe.codegen.loops import cache_files, checked, vectorized
from gradscribe.version import __version__

MODULE = __name__
"""The `__name__` of generated functions: Numba imports it when it reads their code."""


def compiled(
    function: Callable[..., Any], text: str, bindings: Mapping[str, Any], options: dict[str, Any]
) -> Callable[..., Any]:
    """A generated function as one of Numba's, which is compiled, or read from disk, when called.

    bindings: the objects that the text names, but for the checked functions. options: of
    `numba.njit`.
    """
    numba: Any = importlib.import_module("numba")  # optional, and slow to import
    identity = _identity(text, bindings, options)
    if identity is None:
        return numba.njit(**options)(function)  # type: ignore[no-any-return]
    # Numba finds code by the function's name: those of two processes must not have the same.
    function.__qualname__ = f"{function.__qualname__}_{identity}"
    dispatcher = numba.njit(**options)(function)
    dispatcher._cache = _Cache(identity)
    return dispatcher  # type: ignore[no-any-return]


class _Cache:
    """The cache of a function, as Numba's dispatchers use theirs (`numba.core.caching._Cache`).

    It raises nothing: where there is something wrong, the function is compiled.
    """

    def __init__(self, identity: str) -> None:
        self._identity = identity

    @property
    def cache_path(self) -> str:
        return cache_files.folder()

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function for these types; None where there is none."""
        try:
            content = cache_files.read(self._name(signature, target_context.codegen()))
            return None if content is None else _loaded(content, signature, target_context)
        except Exception as error:
            _warn(error)
            return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Leave what was compiled for these types on disk."""
        try:
            if not result.library.has_dynamic_globals:  # addresses of this process
                cache_files.write(self._name(signature, result.library.codegen), _dumped(result))
        except Exception as error:
            _warn(error)

    def _name(self, signature: Any, codegen: Any) -> str:
        return _hash((self._identity, str(signature), codegen.magic_tuple()))

    def enable(self) -> None:
        """Nothing: it always is."""

    disable = flush = enable


def _dumped(result: Any) -> bytes:
    serialize: Any = importlib.import_module("numba.core.serialize")
    needed = tuple(_symbols(result.library._final_module))
    return serialize.dumps((needed, result._reduce()))  # type: ignore[no-any-return]


def _symbols(module: Any) -> Iterator[str]:
    """What an LLVM module refers to and does not define."""
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration and not value.name.startswith("llvm."):
            yield value.name


def _loaded(content: bytes, signature: Any, target_context: Any) -> Any:
    compiler: Any = importlib.import_module("numba.core.compiler")
    needed, reduced = pickle.loads(content)
    _prepare(needed, target_context)
    result = compiler.CompileResult._rebuild(target_context, *reduced)
    if result.signature.args != tuple(signature):
        raise cache_files.DamagedError(f"code for {signature} is for {result.signature.args}")
    return result


def _prepare(needed: tuple[str, ...], target_context: Any) -> None:
    """Let Numba define these symbols: LLVM ends a process where one is missing. What defines all of
    them comes last: it takes longer than to import Numba."""
    binding: Any = importlib.import_module("llvmlite.binding")
    runtime: Any = importlib.import_module("numba.core.runtime").rtsys
    for define in (lambda: runtime.initialize(target_context), target_context.refresh):
        if all(map(binding.address_of_symbol, needed)):
            return
        define()
    if not all(map(binding.address_of_symbol, needed)):
        raise cache_files.DamagedError("compiled code needs what is not there")


_has_warned = False


def _warn(error: Exception) -> None:
    """Say, once in a process, that something is wrong with the cache."""
    global _has_warned
    if not _has_warned:
        _has_warned = True
        warnings.warn(
            f"the cache of native code is ignored: {error or type(error).__name__} "
            f"(`{cache_files.VARIABLE}` may name another folder)",
            stacklevel=2,
        )


# -- the identity of a function --------------------------------------------------------------------


def _identity(text: str, bindings: Mapping[str, Any], options: Mapping[str, Any]) -> str | None:
    """The hash of all that the compiled code depends on, but for types and CPU; None where that
    cannot be told."""
    try:
        named = [(name, _described(value)) for name, value in sorted(bindings.items())]
        return _hash((text, named, sorted(options.items()), _settings(), *_versions()))
    except (_UnknownError, OSError):
        return None


def _hash(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@functools.cache
def _versions() -> tuple[str, ...]:
    """The versions of what compiles, and the source of what is compiled with each function."""
    libraries = (importlib.import_module(name) for name in ("numba", "llvmlite", "numpy"))
    versions = [library.__version__ for library in libraries]
    python = f"{sys.version} {sys.flags.optimize}"
    return (__version__, *versions, python, inspect.getsource(checked), *_vectorized())


def _vectorized() -> Iterator[str]:
    """The source of the vectorized mathematics."""
    folder = pathlib.Path(vectorized.__file__).parent
    return (path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))


_SETTINGS = (
    *("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT"),
    *("LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS", "USING_SVML", "ENABLE_AVX"),
)


def _settings() -> list[str]:
    """Numba's settings that change what it compiles; the CPU is no part of these."""
    config = importlib.import_module("numba.core.config")
    return [str(getattr(config, name, None)) for name in _SETTINGS]


class _UnknownError(Exception):
    """An object of which it is not known how to tell it from others in another process."""


def _described(value: Any) -> object:
    """What an object is to Numba, which takes numbers and arrays for constants; the same text in
    every process."""
    cls = type(value)
    if cls in (bool, int, float, complex, str, NoneType):
        return repr(value)
    if value is np or value is math:
        return f"module {value.__name__}"
    if cls is tuple:
        return tuple(map(_described, value))
    if isinstance(value, np.generic) or cls is np.ndarray:
        if value.dtype.kind not in "biufc":
            raise _UnknownError
        return (cls.__name__, value.dtype.str, value.shape, value.strides, value.tobytes())
    raise _UnknownError
