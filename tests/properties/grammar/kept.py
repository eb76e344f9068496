"""Lists and dicts that compiled code keeps, which lie in each other, and of which names are one or
another: what is changed by one name, or by the keeper, is read by all."""

from tests.properties.grammar.writer import Scope, Writer, statement

MADE = {
    "list": ("[0.5, 0.25]", "[0.75, 0.9]", "0"),
    "dict": ('{"a": 0.5, "b": 0.3}', '{"a": 0.75, "b": 0.9}', '"a"'),
}
OUTER = ["[{l}, {m}]", '{{"u": {l}, "v": {m}}}', "({l}, {m})"]
INNER = ["{o}[0]", '{o}["u"]', "{o}[1]"]


@statement("kept references", weight=3)
def kept_references(writer: Writer, scope: Scope, depth: int) -> None:
    l, m, o, k, keeper, total = (writer.name(n) for n in ("l", "m", "o", "k", "k", "t"))
    first, second, key = MADE[writer.pick(list(MADE))]
    writer.emit(depth, f"{l}, {m} = {first}, {second}")
    which = writer.pick([0, 1, 2])
    writer.emit(depth, f"{o} = {OUTER[which].format(l=l, m=m)}")
    inner = INNER[which].format(o=o)
    merged = [f"{k} = {l} if {writer.condition(scope)} else {m}", f"{k} = {l}", f"{k} = {inner}"]
    writer.emit(depth, writer.pick(merged))
    kept = writer.pick([l, m, o, k])
    writer.emit(depth, f"{keeper} = native.Keeper({kept})")
    stores = [f"{name}[{key}] = 0.{writer.pick([3, 6, 8])}" for name in (l, m, k, inner)]
    if kept != o:
        stores += [f"{keeper}.put({key}, {writer.pick([0.35, 0.65])})"] * 2
    elif which != 2:
        stores += [f"{inner} = {writer.pick([l, m, first])}"] * 2
    if writer.flip():
        stores += [f"{keeper}.keep({writer.pick([l, m, k])})"]
    for _ in range(writer.pick([1, 2, 3, 4])):
        writer.emit(depth, writer.pick(stores))
    reads = [f"{name}[{key}]" for name in (l, m, k, inner)]
    if kept != o:
        reads[0] = f"float({keeper}.get({key}))"
    read = " + ".join(f"{n + 1}.0 * {text}" for n, text in enumerate(reads))
    writer.emit(depth, f"{total} = np.tanh(({read}) * ({writer.scalar(scope, 1)}))")
    scope.scalars.append(total)
