"""Writes `gradscribe/runtime/attached.pyi`: `python -m tests.runtime.stub`, after methods of Tensor
were added."""

import ast
import inspect
from pathlib import Path

import gradscribe as gs
from gradscribe.runtime.tensors import tensor

STUB = Path(tensor.__file__).with_name("attached.pyi")
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
NOT_ATTACHED = frozenset({"__slots__", "__doc__", "__module__", "__init__", "__weakref__"})


def attached_names():
    """The attributes of Tensor that do not stand in its class body."""
    body = ast.parse(inspect.getsource(gs.Tensor)).body[0].body
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
        return f"    @property\n    def {name}(self) -> Tensor: ..."
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


if __name__ == "__main__":
    STUB.write_text(HEAD + "\n".join(map(declaration, attached_names())) + "\n")
