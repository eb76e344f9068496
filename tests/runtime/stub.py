"""Writes `attached.pyi` and `namespace.pyi`: `python -m tests.runtime.stub`, then `make format`,
after methods of Tensor, or names of `gs`, were added. Type checkers do not see what is attached to
a class, nor the sum of the `__all__` of many modules."""

import ast
import builtins
import importlib
import inspect
import re
from pathlib import Path

import gradscribe as gs
from gradscribe.runtime import namespace
from gradscribe.runtime.tensors import tensor

STUB = Path(tensor.__file__).with_name("attached.pyi")
NAMESPACE = Path(namespace.__file__).with_suffix(".pyi")
NAMESPACE_HEAD = '''"""The names that the runtime gives to `gs`, for editors and type checkers."""

import builtins
from collections.abc import Callable
from typing import Any

from gradscribe.runtime.arrays import dtypes

'''
HEAD = '''"""What `methods.py` attaches to Tensor, for editors and type checkers."""

import builtins
from collections.abc import Iterator
from typing import Any

from gradscribe.runtime.tensors.tensor import Tensor

class Attached:
'''
OPERATORS = frozenset(
    f"__{prefix}{name}__"
    for name in "add sub mul truediv floordiv mod pow matmul and or xor".split()
    for prefix in ("", "r", "i")
)
BOOLS = frozenset({"allclose", "equal", "array_equal"})
PROPERTIES = {gs.Tensor: "Tensor", bool: "builtins.bool", int: "builtins.int"}
NOT_ATTACHED = frozenset({"__slots__", "__doc__", "__module__", "__init__", "__weakref__"})


def attached_names():
    """The attributes of Tensor that do not stand in its class body."""
    body = next(
        node.body
        for node in ast.parse(inspect.getsource(tensor)).body
        if isinstance(node, ast.ClassDef) and node.name == "Tensor"
    )
    own = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    own |= {t.id for node in body if isinstance(node, ast.Assign) for t in node.targets}
    return sorted(
        {*vars(gs.Tensor)}
        - own
        - {*gs.Tensor.__slots__}
        - NOT_ATTACHED
        - {
            "__annotations__",
            "__firstlineno__",
            "__static_attributes__",
            "__annotate_func__",
            "__annotations_cache__",
        }
    )


def declared_names():
    """The names in the stub."""
    return sorted(node.name for node in ast.parse(STUB.read_text()).body[-1].body)


def declaration(name):
    """The lines of one attribute."""
    attribute = vars(gs.Tensor)[name]
    if isinstance(attribute, property):
        known = PROPERTIES.get(type(getattr(gs.ones(2, 2, dtype=gs.complex128), name)), "Any")
        return f"    @property\n    def {name}(self) -> {known}: ..."
    ignored = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
    return f"    def {name}({parameters(attribute)}) -> {result(name, attribute)}: ...{ignored}"


def parameters(function):
    texts, seen_star = ["self"], False
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        kind, name = parameter.kind, parameter.name
        if name == "out":  # of the function; methods of PyTorch have none
            continue
        if kind is parameter.VAR_POSITIONAL:
            name, seen_star = f"*{name}", True
        elif kind is parameter.VAR_KEYWORD:
            name = f"**{name}"
        elif kind is parameter.KEYWORD_ONLY and not seen_star:
            texts, seen_star = [*texts, "*"], True
        texts.append(
            f"{name}: Any" + (" = ..." if parameter.default is not parameter.empty else "")
        )
    return ", ".join(texts)


def result(name, function):
    if name in BOOLS:
        return "builtins.bool"
    known = str(inspect.signature(function).return_annotation)
    is_comparison = name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__")
    if known == "Tensor" or name in OPERATORS or is_comparison:
        return "Tensor"
    return known if known in ("None", "Iterator[Tensor]", "tuple[Tensor, ...]") else "Any"


def namespace_stub():
    """The text of `namespace.pyi`: where each name comes from, or of what type it is."""
    imports, others = [], []
    for node in ast.parse(inspect.getsource(namespace)).body:
        if isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            module = importlib.import_module(node.module)
            public = {*(module.__all__ if names == ["*"] else names)} & {*namespace.__all__}
            written = set(re.findall(r"^(?:class |def )?(\w+)", inspect.getsource(module), re.M))
            imports += [f"from {node.module} import {n} as {n}" for n in sorted(public & written)]
            others += [f"{name}: Callable[..., Tensor]" for name in sorted(public - written)]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if target.id in namespace.__all__]
            others += [f"{name}: {kind(getattr(namespace, name))}" for name in names]
    names = f"__all__ = {sorted(namespace.__all__)}"
    return NAMESPACE_HEAD + "\n".join([*imports, "", names, "", *others, ""])


def kind(value):
    """The type of a constant, as text."""
    if isinstance(value, (builtins.float, gs.dtype)):
        return {builtins.float: "builtins.float"}.get(type(value), "dtypes.PublicDtype")
    return "None" if value is None else "Any"


def namespace_names():
    """The names in that stub."""
    for node in ast.parse(NAMESPACE.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            yield from (alias.asname for alias in node.names if alias.asname)
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


if __name__ == "__main__":
    NAMESPACE.write_text(namespace_stub())
    STUB.write_text(HEAD + "\n".join(map(declaration, attached_names())) + "\n")
