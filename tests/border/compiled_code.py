"""Compiled code that the compiler cannot read, built by the tests themselves.

In: the C sources in `native/`. Out: `native`, an extension module, and `plain`, a shared library
behind ctypes; both are built when they are first asked for (`from tests.border.compiled_code import
native`), once for each version of their source and of Python. Without a C compiler, what asks for
them is skipped.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SOURCES = Path(__file__).parent / "native"

VECTOR = np.ctypeslib.ndpointer(np.float64, flags="C_CONTIGUOUS")
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def __getattr__(name: str) -> Any:
    makers = {"native": extension, "plain": library}
    if name not in makers:
        raise AttributeError(name)
    return makers[name]()


@functools.cache
def extension() -> ModuleType:
    """The extension module `border_native`."""
    path = _built("border_native", sysconfig.get_config_var("EXT_SUFFIX"))
    loader = importlib.machinery.ExtensionFileLoader("border_native", str(path))
    spec = importlib.util.spec_from_file_location("border_native", path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules["border_native"] = module
    return module


@functools.cache
def library() -> ctypes.CDLL:
    """The shared library `border_plain`, with the types of its functions."""
    plain = ctypes.CDLL(str(_built("border_plain", ".so")))
    number, length, pointer = ctypes.c_double, ctypes.c_long, ctypes.POINTER(ctypes.c_double)
    signatures = {
        "total": (number, VECTOR, length),
        "twice": (number, number),
        "scale": (None, VECTOR, length, number),
        "scale_into": (None, VECTOR, VECTOR, length, number),
        "accumulate": (None, VECTOR, VECTOR, length),
        "apply": (None, CALLBACK, VECTOR, length),
        "place": (pointer, VECTOR, length),
        "remember": (None, VECTOR, length),
        "scale_remembered": (None, number),
    }
    for name, (result, *arguments) in signatures.items():
        function = getattr(plain, name)
        function.restype, function.argtypes = result, arguments
    return plain


def _built(name: str, suffix: str) -> Path:
    """The file that the C source of this name compiles to."""
    source, include = SOURCES / f"{name}.c", sysconfig.get_path("include")
    build = sysconfig.get_config_var("EXT_SUFFIX") + include
    digest = hashlib.sha256(source.read_bytes() + build.encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gradscribe-border-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{name}-{digest}{suffix}"
    if not path.exists():
        fresh = folder / f"{name}-{digest}-{os.getpid()}"
        command = [_compiler(), "-O1", "-shared", "-fPIC", f"-I{include}", str(source)]
        subprocess.run([*command, "-o", str(fresh), "-lm"], check=True)
        fresh.replace(path)  # processes that build it at the same time do not see half of it
    return path


def _compiler() -> str:
    """A C compiler; without one, or without Python's headers, the test is skipped."""
    found = shutil.which(os.environ.get("CC", "cc"))
    headers = Path(sysconfig.get_path("include"), "Python.h")
    if found is None or not headers.exists():
        pytest.skip("no C compiler, or no Python.h: not tested", allow_module_level=True)
    return found
