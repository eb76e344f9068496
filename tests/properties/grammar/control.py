"""Branches, loops and exits."""

from hypothesis import strategies as st

from tests.properties.grammar.assignments import scalar
from tests.properties.grammar.writer import Scope, Writer, statement


@statement("branches", weight=2)
def branch(writer: Writer, scope: Scope, depth: int) -> None:
    if depth > 3:
        return scalar(writer, scope, depth)
    writer.emit(depth, f"if {writer.condition(scope)}:")
    writer.block(scope.inner(), depth + 1, 3)
    if writer.flip():
        writer.emit(depth, "else:")
        writer.block(scope.inner(), depth + 1, 3)
    return None


@statement("branches")
def leave(writer: Writer, scope: Scope, depth: int) -> None:
    """An exit under a condition."""
    exits = [f"return {writer.result(scope)}"] + ["break", "continue"] * scope.in_loop
    writer.emit(depth, f"if {writer.condition(scope)}:")
    writer.emit(depth + 1, writer.pick(exits))


@statement("loops")
def over_a_range(writer: Writer, scope: Scope, depth: int) -> None:
    if depth > 2:
        return scalar(writer, scope, depth)
    index = writer.name("i")
    bounds = writer.pick(["n", "3", "1, 4", "n - 1", "3, 0, -1", "0"])
    writer.emit(depth, f"for {index} in range({bounds}):")
    _body(writer, scope, depth, indices=[index])
    if writer.flip():
        writer.emit(depth, "else:")
        writer.block(scope.inner(), depth + 1, 2)
    return None


@statement("loops")
def over_items(writer: Writer, scope: Scope, depth: int) -> None:
    if depth > 2:
        return scalar(writer, scope, depth)
    name = writer.name("e")
    kind = writer.pick(["vector", "matrix", "pairs", "numbered"])
    if kind == "vector":
        writer.emit(depth, f"for {name} in {_itself_or_new(writer, scope.arrays)}:")
        _body(writer, scope, depth, scalars=[name])
    elif kind == "matrix":
        writer.emit(depth, f"for {name} in {_itself_or_new(writer, scope.matrices)}:")
        writer.emit(depth + 1, f"{name}s = np.sum({name} * {name})")
        rows = [name] if writer.flip() else []
        _body(writer, scope, depth, scalars=[f"{name}s"], arrays=rows)
    elif kind == "pairs":
        first, second = (_itself_or_new(writer, scope.arrays) for _ in range(2))
        second = writer.pick([second, f"reversed({second})"])
        writer.emit(depth, f"for {name}, {name}b in zip({first}, {second}):")
        _body(writer, scope, depth, scalars=[name, f"{name}b"])
    else:
        vector = _itself_or_new(writer, scope.arrays)
        writer.emit(depth, f"for {name}i, {name} in enumerate({vector}[:4]):")
        _body(writer, scope, depth, scalars=[name], indices=[f"{name}i"])
    return None


def _itself_or_new(writer: Writer, arrays: list[str]) -> str:
    """An array, or a new one that is computed of it."""
    array = writer.pick(arrays)
    return str(writer.pick([array, f"np.sin({array})"]))


@statement("loops")
def while_true(writer: Writer, scope: Scope, depth: int) -> None:
    if depth > 2:
        return scalar(writer, scope, depth)
    count, limit = writer.name("k"), writer.draw(st.integers(1, 4))
    writer.emit(depth, f"{count} = 0")
    writer.emit(depth, f"while {count} < {limit} and {writer.condition(scope)}:")
    writer.emit(depth + 1, f"{count} += 1")
    _body(writer, scope, depth)
    return None


@statement("peeled")
def summed(writer: Writer, scope: Scope, depth: int) -> None:
    """A name that is a number or None before the first iteration, and an array after it."""
    if depth > 2:
        return scalar(writer, scope, depth)
    name, index, total = writer.name("w"), writer.name("i"), writer.name("t")
    start = writer.pick(["0", "0.0", "None"])
    writer.emit(depth, f"{name} = {start}")
    writer.emit(depth, f"for {index} in range({writer.pick(['n', '3', '1, 4', 'n - 1'])}):")
    inner = scope.inner(in_loop=True, indices=[*scope.indices, index])
    for _ in range(writer.draw(st.integers(0, 2))):
        writer.pick(writer.statements)(writer, inner, depth + 1)
    vector = f"np.sin({writer.vector(inner, 1)})"
    is_first = f"{vector} if {name} is None else "
    first = is_first if start == "None" else ""
    writer.emit(depth + 1, f"{name} = {first}{name} * 0.5 + {vector}")
    if writer.flip():
        leave(writer, inner, depth + 1)
    writer.emit(depth, f"{total} = np.sum({name})" if start != "None" else f"{total} = 0.5")
    if start == "None":
        writer.emit(depth, f"if {name} is not None:")
        writer.emit(depth + 1, f"{total} = np.sum({name} * {writer.pick(scope.arrays)})")
    scope.scalars.append(total)
    return None


@statement("found")
def found_in_a_loop(writer: Writer, scope: Scope, depth: int) -> None:
    """A name that some iterations bind, or none, and that is asked for after the loop."""
    if depth > 2:
        return scalar(writer, scope, depth)
    name, index, result = writer.name("f"), writer.name("i"), writer.name("t")
    writer.emit(depth, f"{name} = None")
    writer.emit(depth, f"for {index} in range({writer.pick(['n', '2', 'n - 3', '1, 4'])}):")
    inner = scope.inner(in_loop=True, indices=[*scope.indices, index])
    for _ in range(writer.draw(st.integers(0, 2))):
        writer.pick(writer.statements)(writer, inner, depth + 1)
    number, vector = writer.scalar(inner, 1), f"np.sin({writer.vector(inner, 1)})"
    made, read = writer.pick(
        [
            (number, name),
            (vector, f"np.sum({name})"),
            (f"({index}, {number})", f"{name}[0] * {name}[1]"),
            (f"({vector}, {number})", f"np.max({name}[0]) * {name}[1]"),
        ]
    )
    deeper = writer.flip()
    if deeper:
        writer.emit(depth + 1, f"if {writer.condition(inner)}:")
    writer.emit(depth + 1 + deeper, f"{name} = {made}")
    if writer.flip():
        writer.emit(depth + 1 + deeper, "break")
    test = writer.pick([f"{name} is not None", f"{name} is not None and n > 1"])
    other = writer.scalar(scope, 0)
    writer.emit(depth, f"{result} = np.tanh({read}) if {test} else {other}")
    scope.scalars.append(result)
    return None


@statement("found")
def effect_in_a_test(writer: Writer, scope: Scope, depth: int) -> None:
    """A `while` whose test binds names, or changes an array."""
    if depth > 2:
        return scalar(writer, scope, depth)
    count, value, bump = writer.name("k"), writer.name("v"), writer.name("bump")
    array = writer.name("z")
    writer.emit(depth, f"{count} = 0")
    test = f"({count} := {count} + 1) < {writer.pick(['3', '4', 'n', '1'])}"
    if writer.flip():
        writer.emit(depth, f"while {test} and ({value} := {writer.scalar(scope, 1)}) < 2:")
        _body(writer, scope, depth, scalars=[value])
        return None
    writer.helpers += [f"def {bump}(z):", "    z[0] += 1", "    return z[0]"]
    writer.emit(depth, f"{array} = np.sin({writer.vector(scope, 1)})")
    limit = writer.pick(["0", "2.5", "n"])
    writer.emit(depth, f"while {bump}({array}) < {limit} and {test}:")
    _body(writer, scope, depth, arrays=[array])
    scope.arrays.append(array)
    return None


@statement("found")
def changed_in_a_loop(writer: Writer, scope: Scope, depth: int) -> None:
    """A loop that may be left at once, with an `else` clause, and a name that its iterations bind
    to what is of another dtype or kind than before it."""
    if depth > 2:
        return scalar(writer, scope, depth)
    name, index, total = writer.name("w"), writer.name("i"), writer.name("t")
    vector = f"np.sin({writer.vector(scope, 1)})"
    kinds = ["None", "1", writer.scalar(scope, 1), "np.arange(1, 4)"]
    kinds += [vector, f"1j * {vector}"]
    writer.emit(depth, f"{name} = {writer.pick(kinds)}")
    writer.emit(depth, f"for {index} in range({writer.pick(['n', '3', '1, 4', 'n - 3'])}):")
    inner = scope.inner(in_loop=True, indices=[*scope.indices, index])
    writer.emit(depth + 1, f"if {writer.condition(inner)}:")
    writer.emit(depth + 2, writer.pick(["break", "continue", f"return {writer.result(inner)}"]))
    writer.emit(depth + 1, f"{name} = {writer.pick(kinds)}")
    if writer.flip():
        leave(writer, inner, depth + 1)
    writer.emit(depth, "else:")
    others = ["pass", f"{name} = {writer.pick(kinds)}", f"return {writer.result(scope)}"]
    writer.emit(depth, f"    {writer.pick(others)}")
    read = f"np.tanh(np.sum(np.abs({name})))"
    writer.emit(depth, f"{total} = 0.5 if {name} is None else {read}")
    scope.scalars.append(total)
    return None


@statement("found")
def matched(writer: Writer, scope: Scope, depth: int) -> None:
    """A `match` on a computed value, whose guards see the names that its patterns bind."""
    if depth > 2:
        return scalar(writer, scope, depth)
    a, b, total = writer.name("a"), writer.name("b"), writer.name("t")
    first, second = writer.scalar(scope, 1), writer.scalar(scope, 0)
    subject, patterns = writer.pick(
        [
            (f"({first}, {second})", [f"({a}, {b})", f"[{a}, *_] as {b}", f"{b} as {a}"]),
            (f"1.0 * ({first})", [a, f"({a})"]),
        ]
    )
    writer.emit(depth, f"{total} = 0.5")
    writer.emit(depth, f"match {subject}:")
    for _ in range(writer.draw(st.integers(1, 3))):
        pattern = writer.pick(patterns)
        number = f"{a}[1]" if pattern == f"{b} as {a}" else a
        guard = writer.pick([f"np.sin({number}) > 0.3", f"{number} < 0", writer.condition(scope)])
        writer.emit(depth + 1, f"case {pattern} if {guard}:")
        writer.emit(depth + 2, f"{total} = np.tanh({number} * {number})")
        if writer.flip():
            writer.block(scope.inner(), depth + 2, 2)
    scope.scalars.append(total)
    return None


def _body(writer: Writer, scope: Scope, depth: int, **bound: list[str]) -> None:
    """The iterations of a loop that binds these names."""
    inner = scope.inner(in_loop=True)
    for kind, names in bound.items():
        getattr(inner, kind).extend(names)
    writer.block(inner, depth + 1, 4)
