"""The modules of the frontend import each other in one direction, at their heads."""

from __future__ import annotations

import ast
import graphlib
import pathlib
from collections.abc import Iterator

import gradscribe

ROOT = pathlib.Path(gradscribe.__file__).parent.parent
PACKAGE = "gradscribe.frontend"


def _modules() -> dict[str, ast.Module]:
    found = {}
    for path in (ROOT / PACKAGE.replace(".", "/")).rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text())
    return found


MODULES = _modules()


def _imports(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """What of the frontend is imported, with the statements, those in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module, node
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {
        name: {found for found, _ in _imports(tree) if found in MODULES and found != name}
        for name, tree in MODULES.items()
    }
    graphlib.TopologicalSorter(graph).prepare()  # raises a CycleError, with the cycle


def test_imports_stand_at_the_heads_of_modules() -> None:
    late = [
        f"{name}:{node.lineno}"
        for name, tree in MODULES.items()
        for found, node in _imports(tree)
        if found.startswith("gradscribe") and node not in tree.body
    ]
    assert late == []
