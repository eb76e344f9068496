"""Functions, generators and iterators of the program that are given to compiled code.

The statements of "callbacks" compute with memory that no active value enters, those of "kept
callbacks" let compiled code keep a function that is called later; those of "active callbacks" give
it active values, too.
"""

from tests.properties.grammar.border import FACTORS, constant, read_constant
from tests.properties.grammar.writer import Scope, Writer, statement

BODIES = [
    "0.5 * {v} + {k}",
    "{v} * {d}[{i}]",
    "math.cos({v}) + {d}[{i}] * {k}",
    "{v} if {v} > {k} else {k}",
]
"""What a function of a number v computes; k is a number, d a vector, i an index."""

ITEMS = [
    "0.5 * v for v in {c}",
    "v * {d}[{i}] for v in {c}",
    "v * w for v, w in zip({c}, {d})",
    "{k} * v for v in {c} if v > 0.1",
    "{d}[j] * v for j, v in enumerate({c})",
    "map(lambda v: v * {k}, {c})",
    "filter(lambda v: v > {k}, {c})",
    "iter({c})",
    "range(n)",
]
"""What gives numbers."""


def _body(writer: Writer, scope: Scope, v: str, k: str, d: str) -> str:
    return writer.pick(BODIES).format(v=v, k=k, d=d, i=writer.index(scope))


def _number(writer: Writer, scope: Scope, depth: int) -> str:
    """A number that is known, that is a constant's element, or that changes in a loop."""
    form = writer.pick(["literal", "name", "index"])
    if form == "index" and scope.indices:
        return f"0.1 * {writer.pick(scope.indices)}"
    if form == "literal":
        return str(writer.pick(FACTORS))
    name = writer.name("k")
    writer.emit(depth, f"{name} = {writer.pick(FACTORS)}")
    return name


@statement("callbacks", weight=2)
def applied(writer: Writer, scope: Scope, depth: int) -> None:
    """A lambda, given at once or by a name."""
    c, d = constant(writer, scope, depth), constant(writer, scope, depth)
    k = _number(writer, scope, depth)
    function = f"lambda v: {_body(writer, scope, 'v', k, d)}"
    if writer.flip():
        name = writer.name("f")
        writer.emit(depth, f"{name} = {function}")
        function = name
    call = writer.pick(["native.apply({f}, {c})", "plain.apply(CALLBACK({f}), {c}, 5)"])
    writer.emit(depth, call.format(f=function, c=c))
    read_constant(writer, scope, depth, writer.pick([c, d]))


@statement("callbacks")
def storing(writer: Writer, scope: Scope, depth: int) -> None:
    """A function that stores in what it captures."""
    name, c, d = writer.name("f"), constant(writer, scope, depth), constant(writer, scope, depth)
    k = _number(writer, scope, depth)
    default = f", w={k}" if writer.flip() else ""
    writer.emit(depth, f"def {name}(v{default}):")
    writer.emit(depth + 1, f"{d}[{writer.index(scope)}] = np.sin(v)")
    writer.emit(depth + 1, f"return {_body(writer, scope, 'v', 'w' if default else k, d)}")
    calls = ["native.apply({f}, {c})", "native.call({f}, 0.4)", "native.call({f}, {c}[1])"]
    writer.emit(depth, writer.pick(calls).format(f=name, c=c))
    read_constant(writer, scope, depth, writer.pick([c, d]))


@statement("callbacks")
def summed(writer: Writer, scope: Scope, depth: int) -> None:
    """A generator or an iterator that compiled code runs."""
    c, d = constant(writer, scope, depth), constant(writer, scope, depth)
    k, name, target = _number(writer, scope, depth), writer.name("q"), writer.name("t")
    items = writer.pick(ITEMS).format(c=c, d=d, k=k, i=writer.index(scope))
    writer.emit(depth, f"{name} = float(native.sum_of({items}))")
    writer.emit(depth, f"{target} = np.tanh({name} * ({writer.scalar(scope, 1)}))")
    scope.scalars.append(target)


@statement("callbacks")
def counting(writer: Writer, scope: Scope, depth: int) -> None:
    """A function that assigns a variable of the one around it; that one cannot be a generator's."""
    name, k, c = writer.name("f"), writer.name("m"), constant(writer, scope, depth)
    helper, target = writer.name("g"), writer.name("t")
    writer.emit(depth, f"def {helper}(c):")
    writer.emit(depth + 1, f"{k} = {writer.pick(['0.5', '1.0'])}")
    writer.emit(depth + 1, f"def {name}(v):")
    writer.emit(depth + 2, f"nonlocal {k}")
    writer.emit(depth + 2, f"{k} = 0.5 * {k} + v")
    writer.emit(depth + 2, f"return {k}")
    writer.emit(depth + 1, f"native.apply({name}, c)")
    writer.emit(depth + 1, f"return {k}")
    writer.emit(depth, f"{target} = np.tanh({helper}({c}) * ({writer.scalar(scope, 1)}))")
    scope.scalars.append(target)
    read_constant(writer, scope, depth, c)


@statement("kept callbacks")
def kept(writer: Writer, scope: Scope, depth: int) -> None:
    """A function that is called after a variable that it captures was bound anew."""
    c, d = constant(writer, scope, depth), constant(writer, scope, depth)
    name, k = writer.name("h"), writer.name("k")
    writer.emit(depth, f"{k} = {writer.pick(FACTORS)}")
    writer.emit(depth, f"{name} = CALLBACK(lambda v: {_body(writer, scope, 'v', k, d)})")
    if writer.flip():
        writer.emit(depth, f"{k} = {writer.pick(FACTORS)}")
    writer.emit(depth, f"plain.apply({name}, {c}, 5)")
    read_constant(writer, scope, depth, c)


@statement("active callbacks")
def active_number(writer: Writer, scope: Scope, depth: int) -> None:
    """A function that captures an active number."""
    c, d = constant(writer, scope, depth), constant(writer, scope, depth)
    k = writer.scalar(scope, 0)
    writer.emit(depth, f"native.apply(lambda v: {_body(writer, scope, 'v', k, d)}, {c})")
    if writer.flip():
        read_constant(writer, scope, depth, c)


@statement("active callbacks")
def active_store(writer: Writer, scope: Scope, depth: int) -> None:
    """A function that stores in an active vector, or an active number in a constant."""
    name, c, k = writer.name("f"), constant(writer, scope, depth), writer.scalar(scope, 1)
    target = writer.pick([c, writer.pick(scope.arrays)])
    writer.emit(depth, f"def {name}(v):")
    writer.emit(depth + 1, f"{target}[{writer.index(scope)}] = np.sin({writer.pick(['v', k])})")
    writer.emit(depth + 1, "return 0.5 * v")
    writer.emit(depth, f"native.call({name}, {writer.pick(['0.4', k])})")
    if writer.flip():
        read_constant(writer, scope, depth, c)


@statement("active callbacks")
def active_items(writer: Writer, scope: Scope, depth: int) -> None:
    """A generator over an active vector."""
    c, d = writer.pick(scope.arrays), writer.pick(scope.arrays)
    name = writer.name("q")
    items = writer.pick(ITEMS[:8]).format(c=c, d=d, k="0.5", i=writer.index(scope))
    writer.emit(depth, f"{name} = np.tanh(float(native.sum_of({items})))")
    if writer.flip():
        scope.scalars.append(name)
