"""Assignments that make new values."""

from tests.properties.grammar.writer import Scope, Writer, statement


@statement("assignments", weight=2)
def scalar(writer: Writer, scope: Scope, depth: int) -> None:
    text, name = writer.scalar(scope), writer.name("t")
    writer.emit(depth, f"{name} = np.tanh({text})")
    scope.scalars.append(name)


@statement("assignments")
def rebound_scalar(writer: Writer, scope: Scope, depth: int) -> None:
    name, op = writer.pick(scope.scalars), writer.pick(["=", "+=", "*=", "-="])
    if op == "=":
        writer.emit(depth, f"{name} = np.sin({writer.scalar(scope)})")
    else:
        writer.emit(depth, f"{name} {op} np.cos({writer.scalar(scope, 1)})")


@statement("assignments")
def vector(writer: Writer, scope: Scope, depth: int) -> None:
    text = writer.vector(scope)
    existing = [a for a in scope.arrays if a != "x"]
    name = writer.pick([*existing, writer.name("y")]) if existing else writer.name("y")
    writer.emit(depth, f"{name} = np.tanh({text})")
    if name not in scope.arrays:
        scope.arrays.append(name)


@statement("assignments")
def exchange(writer: Writer, scope: Scope, depth: int) -> None:
    kind = writer.pick([scope.scalars, scope.arrays])
    a, b = writer.pick(kind), writer.pick(kind)
    writer.emit(depth, f"{a}, {b} = {b}, {a}")
