"""Calls of compiled code (`tests.border.compiled_code`).

The statements of "scratch" give it memory that no active value enters, which is read afterwards as
constants: there is nothing to refuse. Those of "kept scratch" let it keep such memory and write to
it later. Those of "border" give it active data, too.
"""

from tests.properties.grammar.writer import Scope, Writer, statement

IMPORTS = """import math
import numpy as np
from tests.border.compiled_code import CALLBACK, native, plain
"""

FACTORS = ["0.5", "-0.75", "0.9", "1.25"]
FILLS = [
    "np.cos(np.arange(5.0) + {k})",
    "np.full(5, 0.{k})",
    "np.array([0.3, -0.{k}, 0.1, 0.8, 1.0])",
]
EFFECTS = [
    "native.scale({c}, {f})",
    "native.scale({c}[1:4], {f})",
    "native.scale({c}.reshape(1, 5), {f})",
    "native.scaled({c}, {f})",
    "native.scale_into({d}, {c}, {f})",
    "native.scale_into(0.5 * {d}, out={c}[:], factor={f})",
    "native.accumulate({d}, {c}, 0.25)",
    "native.axpy({d}, {c}, a=0.25, overwrite_y=1)",
    "native.axpy({d}, {c})",
    "native.scale_base({c}[1:3], {f})",
    "native.apply(math.cos, {c})",
    "native.apply(lambda v: 0.5 * v, {c})",
    "native.call(native.scale, {c}, {f})",
    "native.scale_items([{c}, {d}], {f})",
    "native.scale_items(({c},), {f})",
    'native.scale_items({{"a": {c}, "b": {d}}}, {f})',
    "native.total({c})",
    "native.sum_of({c})",
    "native.same({c})",
    "plain.scale({c}, 5, {f})",
    "plain.scale_into({d}, {c}, 5, {f})",
    "plain.accumulate({d}, {c}, 5)",
    "plain.apply(CALLBACK(math.cos), {c}, 5)",
    "plain.total({c}, 5)",
]
"""What is called for what it does to the vector c, of length 5; d is one, too."""

NUMBERS = [
    "native.total({c})",
    "native.sum_of({c})",
    "native.sum_of(0.5 * v for v in {c})",
    "native.call(np.sum, {c})",
    "native.Keeper({c}).total()",
    "plain.total({c}, 5)",
    "plain.twice({c}[1])",
]
VECTORS = [
    "native.doubled({c})",
    "native.same({c})",
    "native.scaled({c}, {f})",
    "native.axpy({d}, {c})",
    "native.axpy({d}, {c}, a=0.5, overwrite_y=1)",
    "native.call(np.sin, {c})",
    "np.asarray(native.view({c}))",
    "np.frombuffer(native.view({c}))",
    "native.Keeper({c}).array()",
]


# -- memory that no active value enters ----------------------------------------------------------


def constant(writer: Writer, scope: Scope, depth: int) -> str:
    """A vector of constants, made here if need be."""
    if not scope.constants or writer.pick([0, 0, 0, 1]):
        name, fill = writer.name("c"), writer.pick(FILLS)
        writer.emit(depth, f"{name} = {fill.format(k=writer.pick([1, 2, 3]))}")
        scope.constants.append(name)
        return name
    return str(writer.pick(scope.constants))


def _filled(writer: Writer, text: str, c: str, d: str) -> str:
    return text.format(c=c, d=d, f=writer.pick(FACTORS))


def read_constant(writer: Writer, scope: Scope, depth: int, c: str) -> None:
    """An active value in which the constants are factors."""
    form = writer.pick(["vector", "sum", "item", "store"])
    if form == "vector":
        name = writer.name("y")
        writer.emit(depth, f"{name} = np.tanh({c} * ({writer.vector(scope, 1)}))")
        scope.arrays.append(name)
    elif form == "store":
        writer.emit(depth, f"{writer.pick(scope.arrays)}[:] *= np.cos({c})")
    else:
        name, value = writer.name("t"), f"{c}[{writer.index(scope)}] * ({writer.scalar(scope, 1)})"
        if form == "sum":
            value = f"np.sum({c} * ({writer.vector(scope, 1)}))"
        writer.emit(depth, f"{name} = np.tanh({value})")
        scope.scalars.append(name)


@statement("scratch", weight=4)
def scratch(writer: Writer, scope: Scope, depth: int) -> None:
    """Compiled code changes constants, which are read before or after it."""
    c, d = constant(writer, scope, depth), constant(writer, scope, depth)
    if writer.flip():
        read_constant(writer, scope, depth, c)
    writer.emit(depth, _filled(writer, writer.pick(EFFECTS), c, d))
    if writer.flip():
        read_constant(writer, scope, depth, writer.pick([c, d]))


@statement("scratch")
def scratch_seen_through_a_view(writer: Writer, scope: Scope, depth: int) -> None:
    c, d = constant(writer, scope, depth), constant(writer, scope, depth)
    view = writer.name("v")
    writer.emit(depth, f"{view} = {c}[1:4]")
    writer.emit(depth, _filled(writer, writer.pick(EFFECTS), writer.pick([c, d]), c))
    total = writer.name("t")
    writer.emit(depth, f"{total} = np.tanh(np.sum({view} * {writer.pick(scope.arrays)}[1:4]))")
    scope.scalars.append(total)


@statement("kept scratch", weight=2)
def scratch_that_is_kept(writer: Writer, scope: Scope, depth: int) -> None:
    """An object keeps constants; it writes to them at once, or in a later statement."""
    c = constant(writer, scope, depth)
    if not scope.keepers or writer.flip():
        name = writer.name("k")
        writer.emit(depth, f"{name} = native.Keeper({c})")
        scope.keepers.append(name)
        return read_constant(writer, scope, depth, c)
    keeper = writer.pick(scope.keepers)
    if writer.flip():
        writer.emit(depth, f"{keeper}.keep({c})")
    writer.emit(depth, f"{c}[{writer.index(scope)}] = 0.25")
    writer.emit(depth, f"{keeper}.scale({writer.pick(FACTORS)})")
    return read_constant(writer, scope, depth, c)


@statement("kept scratch")
def scratch_that_is_remembered(writer: Writer, scope: Scope, depth: int) -> None:
    c = constant(writer, scope, depth)
    writer.emit(depth, f"plain.remember({c}, 5)")
    read_constant(writer, scope, depth, c)
    writer.emit(depth, f"plain.scale_remembered({writer.pick(FACTORS)})")
    read_constant(writer, scope, depth, c)


@statement("kept scratch")
def container_that_is_kept(writer: Writer, scope: Scope, depth: int) -> None:
    """An object keeps a list or dict, which both change; what is read depends on all of it."""
    held, keeper, target = writer.name("l"), writer.name("k"), writer.name("t")
    made, key = writer.pick([("[0.5, 0.25]", "1"), ('{"a": 0.5}', '"a"')])
    writer.emit(depth, f"{held} = {made}")
    writer.emit(depth, f"{keeper} = native.Keeper({held})")
    stores = [f"{held}[{key}] = 0.75", f"{keeper}.put({key}, {writer.pick(FACTORS)})"]
    for _ in range(writer.pick([1, 2, 3])):
        writer.emit(depth, writer.pick(stores))
    read = writer.pick([f"{held}[{key}]", f"float({keeper}.get({key}))"])
    writer.emit(depth, f"{target} = np.tanh({read} * ({writer.scalar(scope, 1)}))")
    scope.scalars.append(target)


@statement("scratch")
def numbers_of_scratch(writer: Writer, scope: Scope, depth: int) -> None:
    """A number that compiled code makes of constants is a factor."""
    c, name, target = constant(writer, scope, depth), writer.name("q"), writer.name("t")
    value = writer.pick(NUMBERS).format(c=c)
    writer.emit(depth, f"{name} = float({value})")
    writer.emit(depth, f"{target} = np.tanh({name} * ({writer.scalar(scope, 1)}))")
    scope.scalars.append(target)


@statement("scratch")
def scratch_stored_to(writer: Writer, scope: Scope, depth: int) -> None:
    c, d = constant(writer, scope, depth), constant(writer, scope, depth)
    forms = [
        f"{c}[{writer.index(scope)}] = 0.5",
        f"{c}[1:] += 0.5 * {d}[:-1]",
        f"{c} *= np.cos({d})",
        f"{c}[:] = {d}",
        f"{c} = np.sin({d})",
    ]
    writer.emit(depth, writer.pick(forms))


# -- active data ---------------------------------------------------------------------------------


def _active(writer: Writer, scope: Scope, depth: int) -> str:
    """An active vector: one that is used elsewhere, a row, or a copy that nobody else reads."""
    form = writer.pick(["name", "name", "row", "copy"])
    if form == "row":
        return f"{writer.pick(scope.matrices)}[{writer.index(scope)}]"
    if form == "copy":
        name = writer.name("w")
        writer.emit(depth, f"{name} = np.cos({writer.vector(scope, 1)})")
        return name
    return str(writer.pick(scope.arrays))


@statement("border", weight=3)
def effect(writer: Writer, scope: Scope, depth: int) -> None:
    """Compiled code is called for what it does: active to active, or to constants, or the like."""
    names = [_active(writer, scope, depth), _active(writer, scope, depth)]
    if writer.flip():
        names[writer.pick([0, 1])] = constant(writer, scope, depth)
    writer.emit(depth, _filled(writer, writer.pick(EFFECTS), *names))
    if writer.flip():
        read_constant(writer, scope, depth, writer.pick(names))


@statement("border")
def number(writer: Writer, scope: Scope, depth: int) -> None:
    name, c = writer.name("q"), _active(writer, scope, depth)
    writer.emit(depth, f"{name} = np.tanh({writer.pick(NUMBERS).format(c=c)})")
    if writer.flip():
        scope.scalars.append(name)


@statement("border")
def vector(writer: Writer, scope: Scope, depth: int) -> None:
    name, c, d = writer.name("z"), _active(writer, scope, depth), _active(writer, scope, depth)
    writer.emit(depth, f"{name} = {_filled(writer, writer.pick(VECTORS), c, d)}")
    if writer.flip():
        writer.emit(depth, f"{name}[{writer.index(scope)}] = 0.5")
    if writer.flip():
        scope.arrays.append(name)


@statement("border")
def kept(writer: Writer, scope: Scope, depth: int) -> None:
    """An active vector is kept, used, and changed by its keeper."""
    c, name = _active(writer, scope, depth), writer.name("k")
    writer.emit(depth, f"{name} = native.Keeper()")
    writer.emit(depth, f"{name}.keep({c})")
    read_constant(writer, scope, depth, c)
    if writer.flip():
        writer.emit(depth, f"{name}.scale({writer.pick(FACTORS)})")


@statement("border")
def accumulated(writer: Writer, scope: Scope, depth: int) -> None:
    name, target = writer.name("k"), writer.name("t")
    c = writer.pick([_active, constant])(writer, scope, depth)
    writer.emit(depth, f"{name} = native.Accumulator(5)")
    writer.emit(depth, f"{name}.add({c})")
    writer.emit(depth, f"{target} = np.tanh({name}.total())")
    if writer.flip():
        scope.scalars.append(target)


@statement("border")
def called_back(writer: Writer, scope: Scope, depth: int) -> None:
    """A function of the program, given to compiled code, writes to what it has captured."""
    name, c = writer.name("f"), _active(writer, scope, depth)
    writer.emit(depth, f"def {name}(v):")
    writer.emit(depth + 1, f"{c}[0] = np.sin(v)")
    writer.emit(depth + 1, "return 0.5 * v")
    writer.emit(depth, f"native.call({name}, {writer.scalar(scope, 0)})")
