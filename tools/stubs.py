"""Writes the stubs of what is made of rows: `attached.pyi`, the methods of Tensor, `namespace.pyi`,
the names of `gs`, and that of `torchlike.nn.functional`. Type checkers and editors do not see what
is attached to a class, nor what is put into a namespace.

`make stubs` runs it; linting, building a wheel and an editable install do so, too
(`hatch_build.py`).
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RUNTIME = ROOT / "src" / "gradscribe" / "runtime"
FUNCTIONAL = ROOT / "src" / "gradscribe" / "torchlike" / "nn" / "functional"
STUBS = {
    RUNTIME / "tensors" / "attached.pyi": "attached",
    RUNTIME / "namespace.pyi": "namespace",
    FUNCTIONAL / "__init__.pyi": "functional",
}

HEAD = '''"""{}, for editors and type checkers. Made by tools/stubs.py."""

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradscribe.runtime.arrays import dtypes
from gradscribe.runtime.tensors.randomness import Generator
from gradscribe.runtime.tensors.tensor import Array, Tensor
'''
_KNOWN = {"Any", "Tensor", "Generator", "Array", "Callable", "Iterator", "Sequence", "np", "dtypes"}
_BUILTIN = {"bool", "int", "float", "complex", "str", "bytes", "tuple", "list", "dict", "type"}
_OPERATORS = {
    f"__{prefix}{name}__"
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
    )
    for prefix in ("", "r", "i")
} | {f"__{name}__" for name in ("lt", "le", "gt", "ge", "eq", "ne")}


class _Qualified(ast.NodeTransformer):
    """Annotations in which names of Python's are not those of `gs`."""

    def __init__(self) -> None:
        self.is_known = True

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in _BUILTIN:
            return ast.Attribute(ast.Name("builtins"), node.id)
        self.is_known = self.is_known and node.id in _KNOWN
        return node


def annotation(given: Any, otherwise: str = "Any") -> str:
    """The text of an annotation in the stub; another one where it has names of its module."""
    if not isinstance(given, str):
        given = getattr(given, "__name__", "") if isinstance(given, type) else ""
    if given in ("", "_empty"):
        return otherwise
    qualified = _Qualified()
    tree = qualified.visit(ast.parse(given, mode="eval"))
    return ast.unparse(tree) if qualified.is_known else otherwise


def declaration(name: str, function: Any, is_method: bool = False) -> str:
    """The function as a stub declares it, with its docstring."""
    signature = inspect.signature(function)
    parameters, has_star = [], False
    for position, parameter in enumerate(signature.parameters.values()):
        kind, text = parameter.kind, parameter.name
        if is_method and parameter.name == "out":  # of the function; methods of PyTorch have none
            continue
        if is_method and not position:
            parameters.append("self")
            continue
        if kind is parameter.VAR_POSITIONAL:
            text, has_star = f"*{text}", True
        elif kind is parameter.VAR_KEYWORD:
            text = f"**{text}"
        elif kind is parameter.KEYWORD_ONLY and not has_star:
            parameters, has_star = [*parameters, "*"], True
        of_out = "Any" if parameter.name == "out" else annotation(parameter.annotation)
        default = " = ..." if parameter.default is not parameter.empty else ""
        parameters.append(f"{text}: {of_out}{default}")
    result = "Tensor" if name in _OPERATORS else annotation(signature.return_annotation)
    ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    head = f"def {name}({', '.join(parameters)}) -> {result}:"
    text = inspect.getdoc(function) or ""
    if not text or name.startswith("__"):
        return f"{head} ...{ignored}"
    lines = "\n".join(f"    {line}".rstrip() for line in f'"""{text}"""'.splitlines())
    return f"{head}\n{lines}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())


def attached() -> str:
    """The text of `attached.pyi`."""
    import gradscribe as gs

    sample = gs.ones(2, 2, dtype=gs.complex128)
    types = {gs.Tensor: "Tensor", bool: "builtins.bool", int: "builtins.int"}
    parts = [HEAD.format("What `methods.py` attaches to Tensor"), "class Attached:"]
    for name in attached_names():
        attribute = vars(gs.Tensor)[name]
        if isinstance(attribute, property):
            known = types.get(type(getattr(sample, name)), "Any")
            parts.append(f"    @property\n    def {name}(self) -> {known}: ...")
        else:
            parts.append(_indented(declaration(name, attribute, is_method=True)))
    return "\n".join(parts) + "\n"


def attached_names() -> list[str]:
    """The attributes of Tensor that do not stand in its class body."""
    import gradscribe as gs
    from gradscribe.runtime.tensors import tensor

    body = next(
        node.body
        for node in ast.parse(inspect.getsource(tensor)).body
        if isinstance(node, ast.ClassDef) and node.name == "Tensor"
    )
    own = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    own |= {
        t.id
        for n in body
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    own |= {*gs.Tensor.__slots__, "__slots__", "__doc__", "__module__", "__weakref__"}
    of_python = {name for name in vars(gs.Tensor) if name.startswith("__") and name not in _DUNDERS}
    return sorted({*vars(gs.Tensor)} - own - of_python)


_DUNDERS = _OPERATORS | {
    f"__{name}__"
    for name in (
        *("neg", "pos", "abs", "invert", "lshift", "rlshift", "ilshift", "rshift", "rrshift"),
        *("irshift", "iter", "reversed", "deepcopy", "reduce", "getitem", "delitem", "setitem"),
        *("array_ufunc", "array_function"),
    )
}


def namespace() -> str:
    """The text of `namespace.pyi`."""
    module = importlib.import_module("gradscribe.runtime.namespace")
    imports, others = [], []
    for name in sorted({*module.__all__}):
        value = getattr(module, name)
        if name in _CLASSES:
            imports.append(_CLASSES[name])
        elif inspect.isfunction(value) and name not in _IMPORTED:
            others.append(declaration(name, value))
        elif inspect.isclass(value) or inspect.isfunction(value):
            home = _IMPORTED.get(name, value.__module__)
            of_its_own = home != "gradscribe" and hasattr(sys.modules[home], value.__name__)
            text = (
                f"from {home} import {value.__name__} as {name}" if of_its_own else f"{name}: Any"
            )
            (imports if of_its_own else others).append(text)
        else:
            is_float = type(value) is builtins.float
            kind = "builtins.float" if is_float else _KINDS.get(type(value).__name__, "Any")
            others.append(f"{name}: {'None' if value is None else kind}")
    head = HEAD.format("The names that the runtime gives to `gs`")
    names = f"__all__ = {sorted({*module.__all__})}"
    return "\n".join([head, *imports, "", names, "", *others, ""])


def functional() -> str:
    """The text of the stub of `torchlike.nn.functional`."""
    module = importlib.import_module("gradscribe.torchlike.nn.functional")
    functions = [declaration(name, getattr(module, name)) for name in module.__all__]
    head = HEAD.format("The functions of `torchlike.nn.functional`")
    return "\n".join([head, f"__all__ = {module.__all__}", "", *functions, ""])


_IMPORTED = {
    "is_grad_enabled": "gradscribe.runtime.graph.grad_mode",
    "is_inference": "gradscribe.runtime.graph.inference",
    "is_inference_mode_enabled": "gradscribe.runtime.graph.inference",
}
"""Where functions are that are no operations."""

_CLASSES = {
    "Tensor": "from gradscribe.runtime.tensors.tensor import Tensor as Tensor",
    "dtype": "from gradscribe.runtime.arrays.dtypes import PublicDtype as dtype",
}
"""Where classes are that users know under another module."""

_KINDS = {"PublicDtype": "dtypes.PublicDtype"}


def write() -> None:
    """Write the stubs, where they have changed."""
    for path, make in STUBS.items():
        text = globals()[make]()
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    write()
