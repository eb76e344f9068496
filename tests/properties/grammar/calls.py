"""Helpers, defined before the program or inside it, and their calls."""

from tests.properties.grammar.assignments import scalar
from tests.properties.grammar.writer import Scope, Writer, statement


@statement("calls", weight=2)
def call(writer: Writer, scope: Scope, depth: int) -> None:
    """A helper and a call of it; it may change the arrays that it is given."""
    if scope.depth > 1 or depth > 3:
        return scalar(writer, scope, depth)
    result = writer.pick(["scalar", "pair", "nothing"])
    helper = _helper(writer, scope, depth, result, nested=writer.flip())
    vector = writer.pick([*scope.arrays, f"{writer.pick(scope.matrices)}[{writer.index(scope)}]"])
    arguments = f"{vector}, {writer.pick(scope.arrays)}, {writer.scalar(scope, 1)}"
    target = writer.name("t")
    if result == "nothing":
        writer.emit(depth, f"{helper}({arguments})")
    elif result == "scalar":
        writer.emit(depth, f"{target} = np.tanh({helper}({arguments}))")
        scope.scalars.append(target)
    else:
        made = writer.name("y")
        writer.emit(depth, f"{target}, {made} = {helper}({arguments})")
        writer.emit(depth, f"{target} = np.tanh({target})")
        scope.scalars.append(target)
        scope.arrays.append(made)
    return None


@statement("recursion")
def recursive(writer: Writer, scope: Scope, depth: int) -> None:
    """A helper that calls itself, from a loop or not, and a call of it."""
    if scope.depth > 0 or depth > 2:
        return scalar(writer, scope, depth)
    name, inner = writer.name("rec"), writer.name("t")
    p, q, r, k = (writer.name(letter) for letter in "pqrk")
    own = Scope([r], [p, q], [], depth=scope.depth + 1)
    around, writer.lines = writer.lines, []
    writer.emit(0, f"def {name}({p}, {q}, {r}, {k}, n=2):")
    own.matrices = [f"np.outer({p}, {q})[:4]"]
    writer.emit(1, f"if {k} <= 0:")
    writer.emit(2, f"return {writer.result(own)}")
    indent = 1
    if writer.flip():
        index = writer.name("i")
        writer.emit(1, f"for {index} in range({writer.pick(['2', '1, 3', k])}):")
        own = own.inner(in_loop=True, indices=[index])
        indent = 2
    writer.block(own, indent, 2)
    first = writer.pick([p, f"np.sin({q})"])
    writer.emit(indent, f"{inner} = {name}({first}, {q}, 0.5 * {r}, {k} - 1)")
    own.scalars.append(inner)
    writer.block(own, indent, 2)
    if indent == 2:
        writer.emit(2, f"{r} = {r} + np.sin({writer.scalar(own, 1)})")
    writer.emit(1, f"return np.tanh({r}) + np.sum({p} * {q})")
    writer.helpers += writer.lines
    writer.lines = around
    target = writer.name("t")
    arguments = f"1.0 * {writer.pick(scope.arrays)}, np.cos({writer.pick(scope.arrays)})"
    writer.emit(depth, f"{target} = {name}({arguments}, {writer.scalar(scope, 1)}, 2)")
    scope.scalars.append(target)
    return None


def _helper(writer: Writer, scope: Scope, depth: int, result: str, nested: bool) -> str:
    """Define a helper with this result: here, or before the program."""
    name = writer.name("helper")
    p, q, r, local = (writer.name(letter) for letter in "pqru")
    own = Scope([r], [p, q], list(scope.matrices), result=result, depth=scope.depth + 1)
    header = f"def {name}({p}, {q}, {r}"
    if nested:
        writer.emit(depth, f"{header}):")
        writer.emit(depth + 1, f"{local} = np.sin({writer.pick(scope.scalars)})")
        own.scalars.append(local)
        _body(writer, own, depth)
        return name
    around, writer.lines = writer.lines, []
    own.matrices = [local]
    writer.emit(0, f"{header}, {local}=np.eye(4, 5), n=2):")
    writer.emit(1, f"{local} = 1.0 * {local}")
    _body(writer, own, 0)
    writer.helpers += writer.lines
    writer.lines = around
    return name


def _body(writer: Writer, scope: Scope, depth: int) -> None:
    writer.block(scope, depth + 1, 3)
    writer.emit(depth + 1, f"return {writer.result(scope)}")
