"""Lowering of `import` statements inside functions."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
from typing import Any

from gradscribe.frontend.interface import AccessPath
from gradscribe.frontend.memory.outside import of_library
from gradscribe.frontend.prelude import attribute_prelude
from gradscribe.frontend.state.dependencies import depend, is_watched
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import FrontendValue, Static
from gradscribe.ir.probing import has


def import_statement(lowering: Lowering, node: Any) -> None:
    """`import a.b, c as d`."""
    for alias in node.names:
        module = _module(lowering, node, alias.name)
        top, *below = alias.name.split(".")
        if below:
            module = _module(lowering, node, top)
        if alias.asname:
            for name in below:
                module = _member(lowering, node, module, name)
        lowering.frame.names[alias.asname or top] = module


def import_from(lowering: Lowering, node: Any) -> None:
    """`from .a import b as c`."""
    name = "." * (node.level or 0) + (node.module or "")
    module = _module(lowering, node, name)
    for alias in node.names:
        found = _member(lowering, node, module, alias.name)
        lowering.frame.names[alias.asname or alias.name] = found


def _member(lowering: Lowering, node: Any, module: FrontendValue, name: str) -> FrontendValue:
    """`from module import name`: an attribute, or a module in that package."""
    owner, where = module.value if isinstance(module, Static) else None, "<unknown module name>"
    if isinstance(owner, types.ModuleType):
        where = owner.__name__
        full = f"{where}.{name}"
        if not has(owner, name) and has(owner, "__path__"):
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(full)
        if has(owner, name):
            return lowering.attribute(node, module, name)
        if full in sys.modules:
            depend(lowering, AccessPath(owner), name, "absent")
            return _module(lowering, node, full)
    given = (module, Static(name), Static(f"cannot import name {name!r} from {where!r}"))
    return lowering.inline(node, attribute_prelude.imported, given)


def _module(lowering: Lowering, node: Any, name: str) -> FrontendValue:
    """The module of that name, which may be relative, among those that are imported."""
    package = lowering.frame.function.__globals__.get("__package__")
    if name.startswith(".") and not package:
        what = "attempted relative import with no known parent package"
        return lowering.raises(node, ImportError(what))
    try:
        full = importlib.util.resolve_name(name, package)
        module = importlib.import_module(full)
    except ImportError as error:
        return lowering.raises(node, error)
    if isinstance(module, types.ModuleType) and not is_watched(lowering, module):
        return Static(module)
    return of_library(lowering, module, AccessPath(sys.modules).item(full), full)
