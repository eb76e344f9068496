"""Stores with basic indices, into arrays, aliases and views."""

from tests.properties.grammar.writer import LENGTH, ROWS, Scope, Writer, statement

CUTS = [("1:", "[:-1]"), (":-1", "[1:]"), ("1:3", "[2:4]"), ("::2", "[2:]")]


@statement("stores", weight=2)
def element(writer: Writer, scope: Scope, depth: int) -> None:
    value = f"np.tanh({writer.scalar(scope)})"
    writer.emit(depth, f"{writer.place(scope)} = {value}")


@statement("stores")
def element_augmented(writer: Writer, scope: Scope, depth: int) -> None:
    op = writer.pick(["+=", "-=", "*=", "/="])
    value = f"1.5 + np.cos({writer.scalar(scope, 1)})"
    writer.emit(depth, f"{writer.place(scope)} {op} {value}")


@statement("stores")
def part_of_a_vector(writer: Writer, scope: Scope, depth: int) -> None:
    target, source = writer.pick(scope.arrays), writer.vector(scope, 1)
    cut, op = writer.pick(CUTS), writer.pick(["=", "+=", "*="])
    writer.emit(depth, f"{target}[{cut[0]}] {op} 0.5 * np.sin({source}){cut[1]}")


@statement("stores")
def row_or_column(writer: Writer, scope: Scope, depth: int) -> None:
    matrix, op = writer.pick(scope.matrices), writer.pick(["=", "+=", "-="])
    if writer.flip():
        row = f"np.sin({writer.vector(scope, 1)})"
        writer.emit(depth, f"{matrix}[{writer.index(scope)}] {op} {row}")
    else:
        column = f"np.cos({writer.vector(scope, 1)})[:4]"
        writer.emit(depth, f"{matrix}[:, {writer.index(scope)}] {op} {column}")


@statement("stores")
def whole_vector(writer: Writer, scope: Scope, depth: int) -> None:
    name, op = writer.pick(scope.arrays), writer.pick(["+=", "-=", "*="])
    writer.emit(depth, f"{name} {op} np.cos({writer.vector(scope, 1)})")


@statement("stores")
def two_places(writer: Writer, scope: Scope, depth: int) -> None:
    first, second = writer.place(scope), writer.place(scope)
    if writer.flip():
        writer.emit(depth, f"{first}, {second} = {second}, {first}")
    else:
        writer.emit(depth, f"{first} = {second} = np.sin({writer.scalar(scope, 1)})")


@statement("stores")
def alias(writer: Writer, scope: Scope, depth: int) -> None:
    name, target = writer.name("b"), writer.pick(scope.arrays)
    writer.emit(depth, f"{name} = {target}")
    writer.emit(depth, f"{name}[{writer.index(scope)}] *= 0.5")
    total = writer.name("t")
    writer.emit(depth, f"{total} = np.tanh(np.sum({target}) + {name}[0])")
    scope.scalars.append(total)
    if writer.flip():
        scope.arrays.append(name)


@statement("stores", weight=2)
def view(writer: Writer, scope: Scope, depth: int) -> None:
    """A view that lives on: of a vector, a matrix, or of another view."""
    name, matrix, vector = writer.name("v"), writer.pick(scope.matrices), writer.pick(scope.arrays)
    index = writer.index(scope)
    options = [
        (f"{matrix}[{index}]", LENGTH),
        (f"{matrix}[:, {index}]", ROWS),
        (f"{matrix}.T[{index}]", ROWS),
        (f"{vector}[1:4]", 3),
        (f"{vector}[::2]", 3),
        (f"{vector}[::-1]", LENGTH),
        (f"{matrix}[1:3, {index}]", 2),
    ]
    options += [(f"{part}[1:]", length - 1) for part, length in scope.parts if length > 1]
    text, length = writer.pick(options)
    writer.emit(depth, f"{name} = {text}")
    scope.parts.append((name, length))


@statement("stores")
def store_through_a_view(writer: Writer, scope: Scope, depth: int) -> None:
    if not scope.parts:
        return element(writer, scope, depth)
    name, _ = writer.pick(scope.parts)
    forms = [
        f"{name}[{writer.pick(['0', '-1'])}] = np.sin({writer.scalar(scope, 1)})",
        f"{name} *= np.cos({writer.scalar(scope, 1)})",
        f"{name}[:] = np.sin({name})",
        f"{name}[1:] += 0.5 * {name}[:-1]",
        f"{name} += 0.25 * {name}[::-1]",
    ]
    writer.emit(depth, writer.pick(forms))
    return None


@statement("masks", weight=2)
def masked(writer: Writer, scope: Scope, depth: int) -> None:
    target, other = writer.pick(scope.arrays), writer.pick(scope.arrays)
    mask = f"{other} > {writer.scalar(scope, 0)}"
    forms = [
        f"{target}[{mask}] = np.sin({writer.scalar(scope, 1)})",
        f"{target}[{mask}] *= 0.5",
        f"{target}[{mask}] += np.cos({other}[{mask}])",
    ]
    writer.emit(depth, writer.pick(forms))


@statement("masks")
def picked(writer: Writer, scope: Scope, depth: int) -> None:
    target, source = writer.pick(scope.arrays), writer.pick(scope.arrays)
    places = writer.pick(["[0, 2, 2]", "[1, -1, 0]", "np.array([3, 0, 3])"])
    forms = [
        f"{target}[{places}] = np.sin({source}[1:4])",
        f"{target}[{places}] += np.cos({source}[:3])",
        f"np.add.at({target}, {places}, 0.5 * {source}[2:])",
        f"{target}[1:4] = {source}[{places}]",
    ]
    writer.emit(depth, writer.pick(forms))


@statement("masks")
def masked_sum(writer: Writer, scope: Scope, depth: int) -> None:
    name, vector = writer.name("t"), writer.pick(scope.arrays)
    mask = f"{vector} > {writer.scalar(scope, 0)}"
    writer.emit(depth, f"{name} = np.tanh(np.sum({vector}[{mask}] ** 2))")
    scope.scalars.append(name)
