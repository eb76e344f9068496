"""All texts with which the compiler refuses something, read from its source.

`python -m tests.refusals` writes the page `docs/refusals.md` anew.
"""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "gradscribe"
PAGE = ROOT / "docs" / "refusals.md"
PARTS = ("frontend", "primitives", "transforms", "compiler", "api")

HEAD = """# All refusals, by their texts

Written by `python -m tests.refusals` from the source of the compiler: what each refusal says, and
what to write instead. Names of yours stand where there is `…`.
[What is refused](errors.md) explains the kinds, with examples.
"""
TITLES = {
    "frontend": "What Python means",
    "primitives": "What operations take",
    "transforms": "What has a derivative",
    "compiler": "What functions are given",
    "api": "What transforms and Tensors are given",
}

_CALLS = {
    "unsupported": 1,
    "UnsupportedError": 0,
    "AliasingError": 0,
    "NoDerivativeError": 0,
    "TypeRuleError": 0,
    "ArgumentError": 0,
    "UnsupportedDtypeError": 0,
    "MisfitError": 0,
}
"""Which argument says what is refused; the next one is the advice."""


def refusals(part: str) -> list[tuple[str, str]]:
    """The texts of a part of the package, each with its advice, in alphabetical order."""
    found = set()
    for path in sorted((SOURCE / part).rglob("*.py")):
        found |= set(_in_file(ast.parse(path.read_text())))
    return sorted(found)


def _in_file(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.Module)):
            continue
        named = dict(_named_texts(function))
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and _name(call.func) in _CALLS:
                texts = [_text(argument, named) for argument in call.args]
                what, advice = (*texts[_CALLS[_name(call.func)] :], "", "")[:2]
                if what.strip("…. "):
                    yield what, advice


def _named_texts(function: ast.AST) -> Iterator[tuple[str, str]]:
    """The texts that are given names first: `what = f"…"`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = _text(node.value, {})
            if text.strip("…"):
                yield node.targets[0].id, text


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.expr, named: dict[str, str]) -> str:
    """A text, with `…` for what is computed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, named) for part in node.values)
    if isinstance(node, ast.IfExp):
        return f"{_text(node.body, named)} / {_text(node.orelse, named)}"
    if isinstance(node, ast.Name):
        return named.get(node.id, "…")
    return "…"


def page() -> str:
    lines = [HEAD]
    for part in PARTS:
        lines.append(f"## {TITLES[part]}\n")
        for what, advice in refusals(part):
            instead = f" Instead: {advice}" if advice.strip("…. ") else ""
            lines.append(f"- {what}.{instead}".replace("\n", " "))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
