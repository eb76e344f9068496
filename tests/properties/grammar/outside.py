"""Programs of references, of which a part was made outside the function: the state of a module.

Functions and context managers of the module change it, too. `world()` gives all of it, so that
what a call leaves there can be compared.
"""

from __future__ import annotations

import re

from tests.properties.grammar import reference_forms as forms
from tests.properties.grammar.references import COMPOUND, MAIN, Names, References, lent

ACTIVE = re.compile(r"\b[xAsn]\b")


class Outside(References):
    """Writes one program about the state of its module."""

    managers: list[tuple[str, str]]
    compound = COMPOUND
    main = tuple(kind for kind in MAIN if kind != "group")

    def program(self) -> str:
        self.managers, self.is_outside = [], True
        world = Names({}, depth=0)
        self.choose_kinds()
        for kind in self.kinds:
            for _ in range(self.pick([1, 1, 2])):
                self.bind(world, self.name(kind[0].upper()), kind, self.made(world, kind))
        for _ in range(self.pick([0, 1, 2])):
            self.action(world)
        for _ in range(self.pick([0, 1, 1, 2])):
            self.manager(world)
        made = ", ".join(name for names in world.known.values() for name in names)
        self.emit(0, "def world():")
        self.emit(1, f"return [{made}]")
        self.is_outside = False
        world.known.setdefault("vector", []).append("x")
        world.depth = 1
        if self.managers:
            self.compound = [*COMPOUND, entered, entered]
        return self.function(world, self.pick([0, 1]))

    def made(self, world: Names, kind: str) -> str:
        known = world.known.get(kind)
        shared = known and self.pick([0, 0, 0, 1])
        return self.pick(known) if shared else self.form(world, forms.NEW[kind], kind=kind)

    def reference(self, names: Names, kind: str) -> str:
        """Most that is in something of the module is in that alone."""
        if self.is_outside and self.pick([0, 1, 1, 1]):
            return self.form(names, forms.NEW[kind], 1, kind)
        return super().reference(names, kind)

    def fits(self, names: Names, form: str, depth: int) -> bool:
        if self.is_outside and ACTIVE.search(re.sub(r"\{[\w.:]*\}", "", form)):
            return False
        return super().fits(names, form, depth)

    def own(self, names: Names, kind: str) -> list[str]:
        return [name for name in super().own(names, kind) if name[0].islower()]

    def change(self, names: Names, kind: str = "", anew: bool = False) -> None:
        """No name of the module is bound anew."""
        super().change(names, kind, anew=False)

    def action(self, world: Names) -> None:
        """A function of the module that changes its state."""
        name = self.name("act")
        self.emit(0, f"def {name}():")
        self.changes(world)
        world.actions.append(name)

    def changes(self, world: Names, kind: str = "") -> None:
        inner = world.inner()
        inner.depth = 1
        for _ in range(self.pick([1, 1, 2])):
            self.change(inner, kind)

    def manager(self, world: Names) -> None:
        """A context manager that hands out what the module has, and changes it."""
        name, kind = self.name("M"), self.kind(world)
        self.emit(0, f"class {name}(Lent):")
        for method in ("enter", "leave"):
            self.emit(1, f"def {method}(self, q):")
            inner = Names({**world.inner().known, kind: ["q"]}, depth=2)
            self.change(inner, kind)
        item = self.pick(world.known[kind])
        self.emit(0, f"{name.lower()} = {name}({item})")
        self.managers.append((name.lower(), kind))


def entered(writer: Outside, names: Names) -> None:
    """A `with` of a manager from outside."""
    name, kind = writer.pick(writer.managers)
    lent(writer, names, kind, name)
