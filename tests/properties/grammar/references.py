"""Programs of references: names that lead to one object, on some paths only, whose changes by one
name are read by the others.

Each program is about vectors and two other kinds of objects (`reference_forms`). Names are bound to
objects, their parts, or copies of them; objects are changed by whatever leads to them; in the end
each name is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.properties.grammar import reference_forms as forms
from tests.properties.grammar.writer import Writer

MAIN = [kind for kind in forms.NEW if kind != "vector"]
PLACE = re.compile(r"\{([A-Za-z][\w.:]*)\}")
ANEW = re.compile(r"\{\w+\.1\} [-|+]=")
NEEDS = {"holder": ["numbers", "table"], "nest": ["numbers"], "boxes": ["box"]}


@dataclass
class Names:
    """What is in scope: names by kind, integers, functions without arguments."""

    known: dict[str, list[str]] = field(default_factory=lambda: {"vector": ["x"]})
    integers: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    depth: int = 1

    def inner(self) -> Names:
        known = {kind: list(names) for kind, names in self.known.items()}
        return Names(known, [*self.integers], [*self.actions], self.depth + 1)


class References(Writer):
    """Writes one program of references."""

    sizes = (2, 3, 4, 5, 6, 7)
    compound: Sequence[Any] = ()
    main: Sequence[str] = MAIN

    def program(self) -> str:
        self.compound = COMPOUND
        self.choose_kinds()
        return self.function(Names(), 2)

    def choose_kinds(self) -> None:
        kinds = [self.pick(self.main), self.pick(self.main)]
        needed = [other for kind in kinds for other in NEEDS.get(kind, ())]
        self.kinds = list(dict.fromkeys(["vector", *needed, *kinds]))

    def function(self, names: Names, each: int) -> str:
        """The program, with a function about these names and so many new ones of each kind."""
        self.emit(0, "def program(x, A, s, n):")
        if self.flip():  # what the caller has is not read later
            self.emit(1, "x, A = 1.0 * x, 1.0 * A")
        for kind in self.kinds:
            for _ in range(each):
                self.bind(names, self.new_name(kind), kind, self.form(names, forms.NEW[kind]))
        for _ in range(self.pick(self.sizes)):
            self.statement(names)
        reads = [
            f"{0.3 + 0.2 * i:.1f} * ({forms.READ[kind].format(q=name)})"
            for i, (kind, name) in enumerate((k, n) for k in self.kinds for n in names.known[k])
        ]
        self.emit(1, "t = s * np.sum(A ** 2)")
        for read in reads:
            self.emit(1, f"t = t + {read}")
        self.emit(1, "return t")
        return forms.PRELUDE + "\n".join(self.lines) + "\n"

    # -- expressions -------------------------------------------------------------------------

    def form(self, names: Names, options: list[str], depth: int = 2, kind: str = "") -> str:
        """One of these forms, with what is in scope in its places."""
        fitting = [form for form in options if self.fits(names, form, depth)]
        memo: dict[str, str] = {}

        def place(match: re.Match[str]) -> str:
            text = match[1]
            if text not in memo or "." not in text:
                memo[text] = self.filled(names, text, depth, kind)
            return memo[text]

        return PLACE.sub(place, self.pick(fitting))

    def fits(self, names: Names, form: str, depth: int) -> bool:
        kinds = {place.split(".")[0] for place in PLACE.findall(form)} & forms.NEW.keys()
        return kinds <= names.known.keys() and (depth > 0 or "{number}" not in form)

    def filled(self, names: Names, text: str, depth: int, kind: str) -> str:
        place, _, same = text.partition(".")
        if place == "index":
            return str(self.pick(["0", "1", "2", "-1", *names.integers]))
        if place in ("bit", "digit"):
            return str(self.pick(["0", "1"] if place == "bit" else ["1", "2", "3", "5"]))
        if place == "number":
            return self.form(names, forms.NUMBERS, depth - 1)
        if place == "condition":
            more = [f"{i} == 1" for i in names.integers] + [f"{i} > 0" for i in names.integers]
            return self.form(names, forms.CONDITIONS + more, 1)
        if place.startswith("NEW"):
            return self.form(names, forms.NEW[place[4:] or kind], 1)
        if same:  # a place that may be assigned to
            return str(self.pick(names.known[place]))
        return self.reference(names, kind if place == "K" else place)

    def reference(self, names: Names, kind: str) -> str:
        """A name, or a part of something that a name leads to."""
        parts = [f for f in forms.PARTS.get(kind, ()) if self.fits(names, f, 1)]
        if parts and self.pick([0, 0, 1]):
            return self.form(names, parts, 1)
        return str(self.pick(names.known[kind]))

    def value(self, names: Names, kind: str) -> str:
        """An expression of a kind: mostly one that shares memory with others."""
        true = forms.TRUE if kind != "vector" else []
        groups = [["{K}"], ["{K}"], forms.ANY + true, forms.ANY + true]
        groups += [[*forms.SHARED.get(kind, ()), *forms.PARTS.get(kind, ())]] * 2
        groups += [[*forms.COPIES[kind], *forms.ALL_COPIES], forms.NEW[kind]]
        fitting = [group for group in groups if any(self.fits(names, f, 2) for f in group)]
        return self.form(names, self.pick(fitting), 2, kind)

    # -- statements --------------------------------------------------------------------------

    def statement(self, names: Names) -> None:
        compound = self.compound if names.depth < 3 else ()
        calls = [type(self).call] if names.actions else []
        simple = [type(self).binding, type(self).change] * 4
        self.pick([*simple, *calls, *compound])(self, names)

    def nested(self, names: Names) -> Names:
        inner = names.inner()
        for _ in range(self.pick([1, 1, 2])):
            self.statement(inner)
        return inner

    def kind(self, names: Names) -> str:
        return str(self.pick([k for k in self.kinds if k in names.known]))

    def new_name(self, kind: str) -> str:
        return self.name("w" if kind == "vectors" else kind[0])

    def own(self, names: Names, kind: str) -> list[str]:
        """The names that the function itself has bound."""
        return [name for name in names.known[kind] if not name.startswith("q")]

    def target(self, names: Names, kind: str) -> str:
        """A name to bind: mostly one that exists."""
        old = self.own(names, kind)
        if old and (names.depth > 1 or self.flip()):
            return str(self.pick(old))
        return self.new_name(kind)

    def bind(self, names: Names, name: str, kind: str, value: str) -> None:
        self.emit(names.depth, f"{name} = {value}")
        if name not in names.known.setdefault(kind, []):
            names.known[kind].append(name)

    def binding(self, names: Names) -> None:
        kind = self.kind(names)
        form, known = self.pick(["one", "one", "one", "two", "unpacked"]), names.known[kind]
        if form == "two" and len(known) > 1:
            first, second = self.reference(names, kind), self.reference(names, kind)
            a, b = self.target(names, kind), self.target(names, kind)
            if a in known and b in known and self.flip():
                first, second = b, a
            self.emit(names.depth, f"{a}, {b} = {first}, {second}")
            known += {a, b} - set(known)
            return
        value = self.value(names, kind)
        name = self.target(names, kind)
        if form == "unpacked":
            pattern = self.pick([f"{name}, _", f"_, {name}", f"({name},), _", f"_, *[{name}]"])
            other = self.reference(names, kind)
            text = {"_": f"({other}, {value})", "(": f"[({value},), {other}]"}.get(
                pattern[0], f"[{value}, {other}]"
            )
            self.emit(names.depth, f"{pattern} = {text}")
            if name not in known:
                known.append(name)
        else:
            self.bind(names, name, kind, value)

    def change(self, names: Names, kind: str = "", anew: bool = True) -> None:
        """anew: whether the statement may bind a name anew."""
        kind = kind or self.kind(names)
        changes = [f for f in forms.CHANGES[kind] if anew or not ANEW.match(f)]
        self.emit(names.depth, self.form(names, changes, 2, kind))

    def call(self, names: Names) -> None:
        self.emit(names.depth, f"{self.pick(names.actions)}()")


def branch(writer: References, names: Names) -> None:
    writer.emit(names.depth, f"if {writer.filled(names, 'condition', 1, '')}:")
    writer.nested(names)
    if writer.flip():
        writer.emit(names.depth, "else:")
        writer.nested(names)


def loop(writer: References, names: Names) -> None:
    index = writer.name("i")
    inner = names.inner()
    inner.integers.append(index)
    form = writer.pick(["for", "for", "while"])
    if form == "for":
        writer.emit(names.depth, f"for {index} in range({writer.pick(['n', '2', 'n - 1'])}):")
    else:
        writer.emit(names.depth, f"{index} = 0")
        writer.emit(names.depth, f"while {index} < {writer.pick(['n', '2'])}:")
        writer.emit(inner.depth, f"{index} += 1")
    for _ in range(writer.pick([1, 2, 2])):
        writer.statement(inner)
    if writer.pick([0, 0, 1]):
        writer.emit(inner.depth, f"if {writer.filled(inner, 'condition', 1, '')}:")
        writer.emit(inner.depth + 1, writer.pick(["break", "continue"]))
        writer.statement(inner)


def over(writer: References, names: Names) -> None:
    """A loop over references."""
    kind = writer.kind(names)
    inner = names.inner()
    q, a, b = writer.name("q"), writer.reference(names, kind), writer.reference(names, kind)
    whole = {"vector": ["vectors", "pair"], "numbers": ["nest"], "box": ["boxes"]}.get(kind, [])
    options = [f"({a}, {b})", f"[{a}, {b}]"]
    options += [f"{name}[:2]" for other in whole for name in names.known.get(other, ())] * 2
    writer.emit(names.depth, f"for {q} in {writer.pick(options)}:")
    inner.known[kind].append(q)
    writer.change(inner, kind)
    if writer.flip():
        writer.statement(inner)


def function(writer: References, names: Names) -> None:
    """A closure that changes what it captures or has as a default, or binds a name anew."""
    name, kind = writer.name("f"), writer.kind(names)
    inner = names.inner()
    inner.depth = names.depth + 1
    own = ["nonlocal"] if writer.own(names, kind) else []
    q, form = writer.name("q"), writer.pick(["captured", "default", *own])
    if form == "default":
        writer.emit(names.depth, f"def {name}({q}={writer.reference(names, kind)}):")
        inner.known[kind].append(q)
        writer.change(inner, kind, anew=False)
    elif form == "nonlocal":
        target = writer.pick(writer.own(names, kind))
        writer.emit(names.depth, f"def {name}():")
        writer.emit(inner.depth, f"nonlocal {target}")
        writer.emit(inner.depth, f"{target} = {writer.value(inner, kind)}")
    else:
        writer.emit(names.depth, f"def {name}():")
        writer.change(inner, kind, anew=False)
    if writer.pick([0, 0, 1]):
        writer.change(names)
    writer.emit(names.depth, f"{name}()")
    names.actions.append(name)


def attempt(writer: References, names: Names) -> None:
    error, quiet = writer.pick(["ValueError", "KeyError"]), writer.pick([False, False, True])
    writer.emit(names.depth, f"with contextlib.suppress({error}):" if quiet else "try:")
    inner = names.inner()
    writer.statement(inner)
    writer.emit(inner.depth, f"if {writer.filled(names, 'condition', 1, '')}:")
    writer.emit(inner.depth + 1, f"raise {error}")
    writer.statement(inner)
    if not quiet:
        writer.emit(names.depth, f"except {error}:")
        writer.nested(names)


def lent(writer: References, names: Names, kind: str = "", manager: str = "") -> None:
    kind, name = kind or writer.kind(names), writer.name("q")
    inner = names.inner()
    manager = manager or f"Lent({writer.value(names, kind)})"
    writer.emit(names.depth, f"with {manager} as {name}:")
    inner.known[kind].append(name)
    writer.change(inner, kind)
    if writer.flip():
        writer.statement(inner)


PATTERNS = {
    "vector": ("[{vector}, {number}]", "[Q, _]"),
    "pair": ("{pair}", "(Q, _)"),
    "frame": ("{frame}", '{"a": Q}'),
    "box": ("{box}", "Box(w=Q)"),
    "nest": ("{nest}", "[Q, *_]"),
    "vectors": ("{vectors}", "[*_, Q]"),
    "holder": ("{holder}", "Holder(l=Q)"),
}


def matched(writer: References, names: Names) -> None:
    kind = writer.pick([k for k in PATTERNS if k in names.known])
    found = {"nest": "numbers", "holder": "numbers"}.get(kind, "vector")
    subject, pattern = PATTERNS[kind]
    name, inner = writer.name("q"), names.inner()
    inner.known[found].append(name)
    writer.emit(names.depth, f"match {writer.form(names, [subject], 2, kind)}:")
    guard = f" if {writer.filled(names, 'condition', 1, '')}" if writer.flip() else ""
    inner.depth += 1
    writer.emit(names.depth + 1, f"case {pattern.replace('Q', name)}{guard}:")
    writer.change(inner, found)
    target = writer.own(names, found)
    if target and writer.flip():
        writer.emit(inner.depth, f"{writer.pick(target)} = {name}")
    if writer.flip():
        writer.emit(names.depth + 1, "case _:")
        other = names.inner()
        other.depth += 1
        writer.statement(other)


COMPOUND = [branch, branch, loop, loop, over, function, attempt, lent, matched]
