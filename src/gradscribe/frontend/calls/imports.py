"""Lowering of `import` statements inside functions: modules are known objects."""

from __future__ import annotations

import importlib
from typing import Any

from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static


def import_statement(lowering: Lowering, node: Any) -> None:
    """`import a.b, c as d`."""
    for alias in node.names:
        module = _module(lowering, node, alias.name)
        top = alias.name.partition(".")[0]
        bound = module if alias.asname else _module(lowering, node, top)
        lowering.frame.names[alias.asname or top] = Static(bound)


def import_from(lowering: Lowering, node: Any) -> None:
    """`from .a import b as c`."""
    name = "." * (node.level or 0) + (node.module or "")
    module = _module(lowering, node, name)
    for alias in node.names:
        if not hasattr(module, alias.name) and hasattr(module, "__path__"):
            _module(lowering, node, f"{module.__name__}.{alias.name}")
        if not hasattr(module, alias.name):
            missing = ImportError(f"cannot import name {alias.name!r} from {module.__name__!r}")
            lowering.raises(node, missing)
        found = Static(getattr(module, alias.name))
        lowering.frame.names[alias.asname or alias.name] = found


def _module(lowering: Lowering, node: Any, name: str) -> Any:
    package = lowering.frame.function.__globals__.get("__package__")
    try:
        return importlib.import_module(name, package)
    except ImportError as error:
        return lowering.raises(node, error)
    except TypeError:  # a relative name, where there is no package
        what = "attempted relative import with no known parent package"
        return lowering.raises(node, ImportError(what))
