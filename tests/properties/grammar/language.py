"""Python's own ways: value semantics of booleans, closures, tuples, integers, recursion."""

from tests.properties.grammar.assignments import scalar
from tests.properties.grammar.writer import Scope, Writer, statement


def _bind(writer: Writer, scope: Scope, depth: int, text: str) -> None:
    name = writer.name("t")
    writer.emit(depth, f"{name} = np.tanh({text})")
    scope.scalars.append(name)


@statement("language")
def boolean_value(writer: Writer, scope: Scope, depth: int) -> None:
    """`and` and `or` give one of their operands."""
    first, second, third = (writer.scalar(scope, 0) for _ in range(3))
    forms = [
        f"({first}) and ({second})",
        f"({first}) or ({second})",
        f"(bool(({first}) > 0.2) and ({second})) or ({third})",
        f"1.5 * (0.3 < ({first}) < ({second}))",
        f"({first}) * (({second}) > ({third}))",
        f"0.5 + (not ({first}) > 0)",
    ]
    _bind(writer, scope, depth, writer.pick(forms))


@statement("language")
def kept_condition(writer: Writer, scope: Scope, depth: int) -> None:
    """A condition with a name, which is asked for twice."""
    flag, name = writer.name("flag"), writer.name("t")
    writer.emit(depth, f"{flag} = {writer.condition(scope)}")
    writer.emit(depth, f"if {flag}:")
    writer.emit(depth + 1, f"{name} = np.sin({writer.scalar(scope, 1)})")
    writer.emit(depth, f"if not {flag}:")
    writer.emit(depth + 1, f"{name} = {writer.pick(['0', '1.5', writer.pick(scope.scalars)])}")
    scope.scalars.append(name)


@statement("language")
def closure(writer: Writer, scope: Scope, depth: int) -> None:
    """A lambda that sees what its variable holds when it is called."""
    function, name = writer.name("f"), writer.pick(scope.scalars)
    writer.emit(depth, f"{function} = lambda u, w=0.5 * {name}: np.sin(u * {name}) + w")
    if writer.flip():
        writer.emit(depth, f"{name} = np.cos({name})")
    _bind(writer, scope, depth, f"{function}({writer.scalar(scope, 0)})")


@statement("language")
def pair(writer: Writer, scope: Scope, depth: int) -> None:
    name, first, second = writer.name("pair"), writer.name("t"), writer.name("y")
    number = f"np.sin({writer.scalar(scope, 1)})"
    writer.emit(depth, f"{name} = ({number}, np.cos({writer.vector(scope, 1)}))")
    if writer.flip() and depth < 4:
        writer.emit(depth, f"if {writer.condition(scope)}:")
        writer.emit(depth + 1, f"{name} = (0.5 * {name}[0], {writer.pick(scope.arrays)} * 1.0)")
    writer.emit(depth, f"{first}, {second} = {name}")
    scope.scalars.append(first)
    scope.arrays.append(second)


@statement("language")
def integers(writer: Writer, scope: Scope, depth: int) -> None:
    """Integer arithmetic that stays a valid index."""
    name = writer.name("m")
    source = writer.pick(["n", *scope.indices])
    forms = [f"{source} // 2", f"({source} + 5) % 4", f"max({source} - 2, 0)", f"-({source} % 2)"]
    forms += [f"min({source}, 2) & 3", f"abs({source} - 1) % 4", f"divmod({source} + 7, 3)[1]"]
    writer.emit(depth, f"{name} = {writer.pick(forms)}")
    scope.indices.append(name)


@statement("language")
def running(writer: Writer, scope: Scope, depth: int) -> None:
    """A loop that carries an integer first, or nothing, and numbers afterwards."""
    if depth > 2:
        return scalar(writer, scope, depth)
    total, item = writer.name("t"), writer.name("e")
    start = writer.pick(["0", "1", "None", f"{writer.pick(scope.arrays)}[0]"])
    writer.emit(depth, f"{total} = {start}")
    writer.emit(depth, f"for {item} in {writer.pick(scope.arrays)}:")
    update = f"np.sin({total} + {item})"
    if start == "None":
        update = f"{item} if {total} is None else {update}"
    elif writer.flip():
        writer.emit(depth + 1, f"if {item} > {writer.scalar(scope, 0)}:")
        depth, update = depth + 1, f"{total} * 0.5 + {item}"
        writer.emit(depth + 1, f"{total} = {update}")
        scope.scalars.append(total)
        return None
    writer.emit(depth + 1, f"{total} = {update}")
    scope.scalars.append(total)
    return None


@statement("language")
def recursion(writer: Writer, scope: Scope, depth: int) -> None:
    if scope.depth or depth > 2:
        return scalar(writer, scope, depth)
    name, around = writer.name("again"), writer.lines
    inner = Scope(["u"], ["v"], ["M"], depth=2)
    writer.lines = []
    writer.emit(0, f"def {name}(u, v, M, level, n=2):")
    writer.emit(1, f"if level == 0 or {writer.condition(inner)}:")
    writer.emit(2, f"return np.tanh({writer.scalar(inner, 1)})")
    change = writer.pick(["v * 0.5", "np.sin(v)", "v"])
    writer.emit(1, f"below = {name}(0.5 * u, {change}, M, level - 1)")
    writer.emit(1, f"return np.sin(below + {writer.scalar(inner, 1)})")
    writer.helpers += writer.lines
    writer.lines = around
    arguments = f"{writer.pick(scope.scalars)}, {writer.pick(scope.arrays)}"
    _bind(writer, scope, depth, f"{name}({arguments}, {writer.pick(scope.matrices)}, n)")
    return None
