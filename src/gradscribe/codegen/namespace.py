"""The modules, functions and constant objects that a text names, and how it names them.

A function of a known library is written through its module (`np.linalg.norm`, `math.tanh`),
a built-in by its name, anything else (the user's helpers and classes) by its own name. The
names of local variables and parameters come first: whatever they take, is called otherwise.
"""

from __future__ import annotations

import ast
import builtins
import sys
from types import BuiltinMethodType, MethodType, ModuleType, NoneType
from typing import Any

from gradscribe.codegen.names import clean
from gradscribe.ir.probing import probe

LIBRARIES = ("numpy", "cupy", "math", "cmath", "scipy")
ALIASES = {"numpy": "np", "cupy": "cp"}


class Namespace:
    """The global names of the functions that are loaded together.

    bindings: what the namespace must hold, by name; built-ins are not among them. defined: the
    names of those functions.
    """

    def __init__(self, defined: frozenset[str] = frozenset()) -> None:
        self.bindings: dict[str, Any] = {}
        self._defined = defined
        self._builtins: set[str] = set()
        self._names: dict[int, str] = {}

    def name(self, wanted: str, value: Any, taken: set[str]) -> str:
        """The name of a global object in a function whose local names are taken."""
        if wanted not in taken and self._is_builtin(wanted, value):
            self._builtins.add(wanted)
            return wanted
        known = self._names.get(id(value))
        if known is not None and known not in taken:
            return known
        name, number = wanted, 0
        while any(name in names for names in (taken, self._builtins, self.bindings, self._defined)):
            number += 1
            name = f"{wanted}_{number}"
        self.bindings[name] = value
        self._names[id(value)] = name
        return name

    def _is_builtin(self, name: str, value: Any) -> bool:
        return name not in self.bindings and getattr(builtins, name, self) is value


class Scope:
    """How one function refers to global objects."""

    def __init__(self, namespace: Namespace, taken: set[str]) -> None:
        self._namespace = namespace
        self._taken = taken

    def reference(self, value: Any) -> ast.expr:
        """The expression that gives a module, function, class or other object."""
        if _is_attribute_of_owner(value):
            return ast.Attribute(self.reference(value.__self__), value.__name__, ast.Load())
        stream = next((name for name in _STREAMS if getattr(sys, name, None) is value), None)
        if stream is not None and value is not None:
            return ast.Attribute(self._global("sys", sys), stream, ast.Load())
        module = _shared_by(value)
        if module is not None:
            name = module.__name__
            return self.numpy("random") if name == "numpy.random" else self.reference(module)
        path = _library_path(value) if callable(value) else None
        if path is not None:
            root, *attributes = path
            node = self._global(ALIASES.get(root, root), sys.modules[root])
            for attribute in attributes:
                node = ast.Attribute(node, attribute, ast.Load())
            return node
        return self._global(_own_name(value), value)

    def builtin(self, name: str) -> ast.expr:
        return self._global(name, getattr(builtins, name))

    def numpy(self, name: str) -> ast.expr:
        """`np.name`."""
        module = self._global("np", sys.modules["numpy"])
        return ast.Attribute(module, name, ast.Load())

    def called(self, name: str) -> ast.expr:
        """The name of another generated function, to be found in the namespace by itself."""
        return ast.Name(name, ast.Load())

    def _global(self, name: str, value: Any) -> ast.expr:
        return ast.Name(self._namespace.name(name, value, self._taken), ast.Load())


_STREAMS = ("stdout", "stderr", "stdin")


def _is_attribute_of_owner(value: Any) -> bool:
    """Whether this is a method that its object or class has under its name: functions in C belong
    to a module, if any, and some to an object without such an attribute."""
    if not isinstance(value, (BuiltinMethodType, MethodType)):
        return False
    if isinstance(value.__self__, (ModuleType, NoneType)):
        return False
    found = probe(value.__self__, value.__name__)
    return type(found) is type(value) and bool(found == value)


def _own_name(value: Any) -> str:
    if isinstance(value, ModuleType):
        root = value.__name__
        return ALIASES.get(root, root.rpartition(".")[2])
    name = probe(value, "__name__", "") or type(value).__name__.lower()
    return clean(name.strip("<>")) or "constant"


def _shared_by(value: Any) -> ModuleType | None:
    """The module whose functions are the methods of this one generator of random numbers."""
    for name, function in (("random", "random"), ("numpy.random", "rand")):
        module = sys.modules.get(name)
        shared = getattr(module, function, None)  # none while another thread imports the module
        if shared is not None and shared.__self__ is value:
            return module
    return None


def _library_path(value: Any) -> tuple[str, ...] | None:
    """Where a library's function or class is found: ("numpy", "linalg", "norm")."""
    name = str(probe(value, "__name__") or probe(value, "name", ""))
    module = probe(value, "__module__") or _module_of_ufunc(value, name)
    return _path_in(value, name, module) if module.partition(".")[0] in LIBRARIES else None


def _path_in(value: Any, name: str, module: str) -> tuple[str, ...] | None:
    """Where an object of a library is found that says that it is of this module."""
    packages = module.split(".")
    for candidate in (packages[: n + 1] for n in range(len(packages))):
        found = sys.modules.get(".".join(candidate))
        if found is not None and getattr(found, name, None) is value:
            path = (*candidate, name)
            return path if not any(part.startswith("_") for part in path) else None
    return None


def _module_of_ufunc(ufunc: Any, name: str) -> str:
    """The library of a ufunc, which does not tell it itself."""
    special = sys.modules.get("scipy.special")
    return "scipy.special" if getattr(special, name, None) is ufunc else "numpy"
