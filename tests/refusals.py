"""All texts with which the compiler refuses something, read from its source.

`python -m tests.refusals` writes the page `docs/refusals.md` anew.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import pathlib
import re
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "gradscribe"
PAGE = ROOT / "docs" / "refusals.md"
PARTS = ("frontend", "primitives", "transforms", "compiler", "api")

HEAD = """# All refusals, by their texts

Written by `python -m tests.refusals` from the source of the compiler: what each refusal says, and
what to write instead. Names of yours stand where there is `…`. For every text there is a program
in `tests/refused` that is refused with it. [What is refused](errors.md) explains the kinds, with
examples.
"""
TITLES = {
    "frontend": "What Python means",
    "primitives": "What operations take",
    "transforms": "What has a derivative",
    "compiler": "What functions are given",
    "api": "What transforms and Tensors are given",
}

_KINDS = (
    "UnsupportedError UnknownTypeError AliasingError NoDerivativeError TypeRuleError ArgumentError "
    "MisfitError UnsupportedDtypeError AlwaysRaisesError RunTimeKeyError SourceNotFoundError "
    "NonScalarError ReadOnlyError NotSpecializedError RuleError ShapeError Refused "
    "ReadsOutsideError"
)
Calls = dict[str, tuple[int, tuple[str, ...]]]

_CALLS: Calls = {
    **{kind: (0, ()) for kind in _KINDS.split()},
    "unsupported": (1, ()),
    "check": (1, ("let it return what is new",)),
    "refuse_unless_decided": (0, ()),
    "raises": (2, ("correct it: plain Python raises here, too",)),
    "Unbound": (0, ("give the name a value on every path", "…")),
}
"""Which argument says what is refused; the next one is the advice, or there is this one."""

_REASONS = {"TypeRuleError", "JoinError", "ReadsOutsideError"}
"""Classes of errors whose text ends a longer one."""

Named = dict[str, list[str]]


@dataclasses.dataclass(frozen=True, order=True)
class Refusal:
    """What is refused, and what may be advised instead, with `…` for what is computed; the file
    of the source that says so; whether it is the end of a longer text (what a type rule says)."""

    what: str
    advices: tuple[str, ...]
    file: str = dataclasses.field(compare=False)
    is_reason: bool = dataclasses.field(compare=False, default=False)

    def fits(self, text: str) -> bool:
        return _pattern(("…: " if self.is_reason else "") + self.what).fullmatch(text) is not None

    def fits_advice(self, text: str) -> bool:
        return any(_pattern(advice).fullmatch(text) for advice in self.advices)

    def __str__(self) -> str:
        advices = [advice for advice in self.advices if advice.strip("…. ")]
        instead = f" Instead: {' / '.join(advices)}" if advices else ""
        return f"{self.what}.{instead}".replace("\n", " ")


@functools.lru_cache(None)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, text.split("…"))), re.DOTALL)


@functools.lru_cache(None)
def all_refusals() -> list[Refusal]:
    return [refusal for part in PARTS for refusal in refusals(part)]


@functools.lru_cache(None)
def closest(text: str) -> list[Refusal]:
    """The refusals that may have said a text, and its reason: those that say most of it
    literally. Several where one text stands beside several advices."""
    fitting = [refusal for refusal in all_refusals() if refusal.fits(text)]
    reasons = [refusal for refusal in fitting if refusal.is_reason]
    return _longest(reasons) + _longest([r for r in fitting if not r.is_reason])


def _longest(fitting: list[Refusal]) -> list[Refusal]:
    lengths = [len(refusal.what.replace("…", "")) for refusal in fitting]
    return [r for r, length in zip(fitting, lengths, strict=True) if length == max(lengths)]


@functools.lru_cache(None)
def refusals(part: str) -> list[Refusal]:
    """The texts of a part of the package, each with its advice, in alphabetical order."""
    found: set[Refusal] = set()
    for path in sorted((SOURCE / part).rglob("*.py")):
        file = str(path.relative_to(ROOT))
        found |= set(_in_file(ast.parse(path.read_text()), file))
    return sorted(found)


def _in_file(tree: ast.Module, file: str) -> Iterator[Refusal]:
    calls = _CALLS | _own_calls(tree)
    held = _assigned(tree, ast.Attribute, {})
    for scope in ast.walk(tree):
        if isinstance(scope, (ast.FunctionDef, ast.Module)):
            said = [
                (node, name)
                for node in _own_nodes(scope)
                if isinstance(node, ast.Call) and (name := _name(node.func)) in calls
            ]
            named = held | _assigned(scope, ast.Name, held) if said else held
            for node, name in said:
                texts = [_texts(argument, named) for argument in node.args]
                position, usual = calls[name]
                advices = (*texts[position + 1 :], usual or ("",))[0]
                for what in itertools.chain(*texts[position : position + 1]):
                    if what.strip("…. "):
                        yield Refusal(what, tuple(advices), file, name in _REASONS)


def _own_calls(tree: ast.Module) -> Calls:
    """The functions of a file that refuse with a text that they are given, and the errors that
    know their text themselves."""
    found: Calls = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            parameters = [a.arg for a in node.args.args if a.arg != "self"]
            for call in _own_nodes(node):
                if isinstance(call, ast.Call) and (name := _name(call.func)) in _CALLS:
                    what = (*call.args[_CALLS[name][0] :], None)[0]
                    if isinstance(what, ast.Name) and what.id in parameters:
                        usual = tuple(_texts(default, {})[0] for default in node.args.defaults)
                        found[node.name] = parameters.index(what.id), usual or _CALLS[name][1]
        elif isinstance(node, ast.ClassDef) and node.name.endswith("Error"):
            found["__init__"] = 0, ()
    return found


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function or module that are not in a function of their own."""
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, ast.FunctionDef):
            yield node
            yield from _own_nodes(node)


def _assigned(scope: ast.AST, target: type[ast.Name] | type[ast.Attribute], held: Named) -> Named:
    """The texts that are given names, or attributes, first: `what = f"…"`. held: those that
    attributes have been given."""
    named: Named = dict(held)
    nodes = ast.walk(scope) if isinstance(scope, ast.Module) else _own_nodes(scope)
    for node in nodes:
        if isinstance(node, ast.Assign):
            pairs = [(node.targets[0], node.value)]
            if isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(node.targets[0].elts, node.value.elts, strict=True))
            for left, value in pairs:
                if isinstance(left, target):
                    named[_name(left)] = named.get(_name(left), []) + _texts(value, named)
    return {name: texts for name, texts in named.items() if any(" " in text for text in texts)}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _texts(node: ast.expr, named: Named) -> list[str]:
    """The texts that an expression may give, with `…` for what is computed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = [_texts(part, named) for part in node.values]
        return ["".join(choice) for choice in itertools.product(*parts)]
    if isinstance(node, ast.FormattedValue):
        return _texts(node.value, named)
    if isinstance(node, ast.IfExp):
        return [*_texts(node.body, named), *_texts(node.orelse, named)]
    if isinstance(node, ast.BoolOp):
        return [text for value in node.values for text in _texts(value, named)]
    if isinstance(node, (ast.Name, ast.Attribute)):
        return named.get(_name(node), ["…"])
    return ["…"]


def page() -> str:
    lines = [HEAD]
    for part in PARTS:
        lines.append(f"## {TITLES[part]}\n")
        lines += [f"- {refusal}" for refusal in refusals(part)]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
