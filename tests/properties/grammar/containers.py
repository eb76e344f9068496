"""Lists and dicts: made, changed, grown in loops, read."""

from tests.properties.grammar.assignments import scalar
from tests.properties.grammar.writer import Scope, Writer, statement


@statement("lists")
def grown(writer: Writer, scope: Scope, depth: int) -> None:
    """A list that grows in a loop, of new arrays or of numbers, and is read afterwards."""
    if depth > 2:
        return scalar(writer, scope, depth)
    held, index, item = writer.name("held"), writer.name("i"), writer.name("h")
    inner = scope.inner(in_loop=True, indices=[*scope.indices, index])
    writer.emit(depth, f"{held} = []")
    writer.emit(depth, f"for {index} in range({writer.pick(['n', '2', 'n - 1'])}):")
    if writer.flip():
        writer.pick(writer.statements)(writer, inner, depth + 1)
    arrays = writer.flip()
    value = f"np.tanh({writer.vector(inner) if arrays else writer.scalar(inner)})"
    if writer.flip():
        writer.emit(depth + 1, f"if {writer.condition(inner)}:")
        writer.emit(depth + 2, f"{held}.append({value})")
    else:
        writer.emit(depth + 1, f"{held}.append({value})")
    total = writer.name("t")
    writer.emit(depth, f"{total} = 0.1 * len({held})")
    writer.emit(depth, f"for {item} in {held}:")
    read = f"np.sum({item} * {item})" if arrays else item
    writer.emit(depth + 1, f"{total} += np.sin({read})")
    if writer.flip():
        writer.emit(depth, f"if len({held}) > 0:")
        last = f"{held}[-1]" if not arrays else f"{held}[-1][1]"
        writer.emit(depth + 1, f"{total} *= np.cos({last})")
    scope.scalars.append(total)
    return None


@statement("lists")
def of_numbers(writer: Writer, scope: Scope, depth: int) -> None:
    name = writer.name("L")
    first, second = f"np.sin({writer.scalar(scope, 1)})", f"np.cos({writer.scalar(scope, 1)})"
    writer.emit(depth, f"{name} = [{first}, {second}]")
    scope.numbers.append(name)


@statement("lists")
def changed(writer: Writer, scope: Scope, depth: int) -> None:
    if not scope.numbers:
        return of_numbers(writer, scope, depth)
    name, value = writer.pick(scope.numbers), f"np.sin({writer.scalar(scope, 1)})"
    forms = [
        f"{name}.append({value})",
        f"{name}[{writer.pick(['0', '-1'])}] = {value}",
        f"{name}[0] *= {value}",
    ]
    writer.emit(depth, writer.pick(forms))
    total = writer.name("t")
    writer.emit(depth, f"{total} = np.tanh(sum({name}))")
    scope.scalars.append(total)
    return None


@statement("dicts")
def table(writer: Writer, scope: Scope, depth: int) -> None:
    name = writer.name("d")
    vector, number = writer.pick(scope.arrays), f"np.sin({writer.scalar(scope, 1)})"
    writer.emit(depth, f"{name} = {{'a': {vector}, 'b': {number}}}")
    scope.tables.append(name)


@statement("dicts")
def table_changed(writer: Writer, scope: Scope, depth: int) -> None:
    if not scope.tables:
        return table(writer, scope, depth)
    name = writer.pick(scope.tables)
    forms = [
        f"{name}['a'] = np.sin({writer.vector(scope, 1)})",
        f"{name}['a'][{writer.index(scope)}] = np.cos({writer.scalar(scope, 1)})",
        f"{name}['b'] = np.tanh({writer.scalar(scope, 1)})",
        f"{name}['b'] += np.sum({name}['a'])",
    ]
    writer.emit(depth, writer.pick(forms))
    return None


@statement("comprehensions")
def comprehension(writer: Writer, scope: Scope, depth: int) -> None:
    name, item, total = writer.name("L"), writer.name("c"), writer.name("t")
    inner = scope.inner(scalars=[*scope.scalars, item])
    value, source = f"np.sin({writer.scalar(inner, 1)})", writer.pick(scope.arrays)
    clause = f" if {item} > {writer.scalar(scope, 0)}" if writer.flip() else ""
    writer.emit(depth, f"{name} = [{value} for {item} in {source}{clause}]")
    writer.emit(depth, f"{total} = np.tanh(sum({name}) + 0.1 * len({name}))")
    scope.scalars.append(total)
