"""What Python programs are made of besides arrays: objects with state, iterators, generators,
worklists, exceptions, variables shared by closures, tables by number."""

from collections.abc import Iterable

from tests.properties.grammar.assignments import scalar
from tests.properties.grammar.control import _body
from tests.properties.grammar.writer import Scope, Writer, statement


def _number(writer: Writer, scope: Scope) -> str:
    return f"np.sin({writer.scalar(scope, 1)})"


def _lines(writer: Writer, depth: int, lines: Iterable[str]) -> None:
    for line in lines:
        writer.emit(depth, line)


@statement("idioms")
def worklist(writer: Writer, scope: Scope, depth: int) -> None:
    """A list that grows under its own loop, or a stack."""
    if depth > 2:
        return scalar(writer, scope, depth)
    work, item, total = writer.name("work"), writer.name("e"), writer.name("t")
    limit = writer.pick(["3", "n", "n + 1"])
    writer.emit(depth, f"{total} = 0.0")
    inner = scope.inner(in_loop=True, scalars=[*scope.scalars, item])
    if writer.flip():
        writer.emit(depth, f"{work} = [{_number(writer, scope)}]")
        writer.emit(depth, f"for {item} in {work}:")
        test, more = f"len({work}) < {limit}", f"np.cos({item}) + 0.1 * len({work})"
    else:
        left = writer.name("left")
        writer.emit(depth, f"{work} = [({limit}, {_number(writer, scope)})]")
        writer.emit(depth, f"while {work}:")
        writer.emit(depth + 1, f"{left}, {item} = {work}.pop()")
        test, more = f"{left} > 0", f"({left} - 1, 0.5 * {item})"
    if writer.flip():
        test += f" and {writer.condition(inner)}"
    growth = [f"if {test}:", f"    {work}.append({more})"]
    early = writer.flip()
    if early:
        _lines(writer, depth + 1, growth)
    writer.emit(depth + 1, f"{total} += np.tanh({item})")
    writer.block(inner, depth + 1, 2)
    if not early:
        _lines(writer, depth + 1, growth)
    scope.scalars.append(total)
    return None


@statement("idioms")
def iterator(writer: Writer, scope: Scope, depth: int) -> None:
    """An object of a class with `__next__`, or a generator, that gives numbers."""
    if depth > 2:
        return scalar(writer, scope, depth)
    name, item = writer.name("items"), writer.name("e")
    own = Scope(["u"], ["v"], ["M"], depth=2)
    stop, new = writer.condition(own), _number(writer, own)
    if writer.flip():
        _lines(
            writer,
            depth,
            [
                f"class {name}:",
                "    def __init__(self, u, v, M, k):",
                "        self.u, self.v, self.M, self.k = u, v, M, k",
                "    def __iter__(self):",
                "        return self",
                "    def __next__(self):",
                "        u, v, M = self.u, self.v, self.M",
                f"        if self.k <= 0 or {stop}:",
                "            raise StopIteration",
                "        self.k -= 1",
                f"        self.u = 0.5 * self.u + {new}",
                "        return self.u",
            ],
        )
    else:
        lines = [f"def {name}(u, v, M, k):", "    for i in range(k):", f"        if {stop}:"]
        lines += [writer.pick(["            return", "            continue"])]
        lines += [f"        u = 0.5 * u + {new}", "        yield u"]
        _lines(writer, depth, lines)
    given = f"{writer.pick(scope.scalars)}, {writer.pick(scope.arrays)}"
    call = f"{name}({given}, {writer.pick(scope.matrices)}, {writer.pick(['n', '2'])})"
    writer.emit(depth, f"for {item} in {call}:")
    _body(writer, scope, depth, scalars=[item])
    return None


@statement("idioms")
def state(writer: Writer, scope: Scope, depth: int) -> None:
    """An object whose method changes what it holds, called once or in a loop."""
    cls, owner, total = writer.name("State"), writer.name("o"), writer.name("t")
    own = Scope(["u", "self.a"], ["self.v"], ["self.M"], depth=2)
    change = writer.pick(
        [
            f"self.v[{writer.index(own)}] = {_number(writer, own)}",
            f"self.v = np.sin({writer.vector(own, 1)})",
            f"self.a += {_number(writer, own)}",
            f"self.seen.append({_number(writer, own)})",
        ]
    )
    _lines(
        writer,
        depth,
        [
            f"class {cls}:",
            "    def __init__(self, a, v, M):",
            "        self.a, self.v, self.M, self.seen = a, v, M, [a]",
            "    def step(self, u):",
            f"        if {writer.condition(own)}:",
            f"            {change}",
            f"            return {_number(writer, own)}",
            f"        self.a = {_number(writer, own)}",
            "        return self.a * self.seen[-1]",
        ],
    )
    arrays = [writer.pick(scope.arrays), f"{writer.pick(scope.arrays)} * 1.0"]
    first, matrix = _number(writer, scope), writer.pick(scope.matrices)
    writer.emit(depth, f"{owner} = {cls}({first}, {writer.pick(arrays)}, {matrix})")
    if writer.flip() and depth < 3:
        index = writer.name("i")
        writer.emit(depth, f"for {index} in range({writer.pick(['n', '2'])}):")
        inner = scope.inner(in_loop=True, indices=[*scope.indices, index])
        inner.scalars.append(f"{owner}.a")
        writer.block(inner, depth + 1, 2)
        writer.emit(depth + 1, f"{owner}.step({writer.scalar(inner, 1)})")
    writer.emit(depth, f"{total} = {owner}.step({writer.scalar(scope, 1)}) + sum({owner}.seen)")
    scope.scalars += [total, f"{owner}.a"]
    scope.arrays.append(f"{owner}.v")


@statement("idioms")
def shared_variable(writer: Writer, scope: Scope, depth: int) -> None:
    """A variable that a nested function assigns, and both read."""
    if scope.depth or depth > 2:
        return scalar(writer, scope, depth)
    count, bump, total = writer.name("count"), writer.name("bump"), writer.name("t")
    writer.emit(depth, f"{count} = {_number(writer, scope)}")
    inner = scope.inner(scalars=[*scope.scalars, "u", count], depth=2)
    _lines(
        writer,
        depth,
        [
            f"def {bump}(u):",
            f"    nonlocal {count}",
            f"    if {writer.condition(inner)}:",
            f"        {count} = {_number(writer, inner)}",
            f"    return {_number(writer, inner)}",
        ],
    )
    writer.emit(depth, f"{total} = {bump}({writer.scalar(scope, 0)}) + {count}")
    if writer.flip():
        item = writer.name("e")
        writer.emit(depth, f"for {item} in {writer.pick(scope.arrays)}:")
        writer.emit(depth + 1, f"{total} += {bump}({item}) * {count}")
    scope.scalars += [total]
    return None


@statement("idioms")
def attempt(writer: Writer, scope: Scope, depth: int) -> None:
    """Statements that may be left by an exception, and what is done then."""
    if depth > 2:
        return scalar(writer, scope, depth)
    writer.emit(depth, "try:")
    tried = scope.inner(in_loop=False)
    writer.block(tried, depth + 1, 2)
    writer.emit(depth + 1, f"if {writer.condition(tried)}:")
    writer.emit(depth + 2, "raise ValueError")
    writer.block(tried, depth + 1, 2)
    writer.emit(depth, f"except {writer.pick(['ValueError', '(ValueError, KeyError)'])}:")
    writer.block(scope.inner(in_loop=False), depth + 1, 2)
    if writer.flip():
        writer.emit(depth, writer.pick(["else:", "finally:"]))
        writer.block(scope.inner(in_loop=False), depth + 1, 1)
    return None


@statement("idioms")
def table_by_number(writer: Writer, scope: Scope, depth: int) -> None:
    """A dict with numbers as keys, filled in a loop."""
    if depth > 2:
        return scalar(writer, scope, depth)
    table, index, total = writer.name("table"), writer.name("i"), writer.name("t")
    key = writer.pick([f"{index} % 2", index, f"{index} // 2"])
    inner = scope.inner(indices=[*scope.indices, index])
    writer.emit(depth, f"{table} = {{}}")
    writer.emit(depth, f"for {index} in range({writer.pick(['n', '3', 'n + 1'])}):")
    if writer.flip():
        writer.emit(depth + 1, f"if {writer.condition(inner)}:")
        writer.emit(depth + 2, "continue")
    value = _number(writer, inner)
    forms = [
        f"{table}[{key}] = {table}.get({key}, 0.5) * {value}",
        f"{table}[{key}] = {value}",
        f"{table}.setdefault({key}, []).append({value})",
    ]
    form = writer.pick(forms)
    writer.emit(depth + 1, form)
    writer.emit(depth, f"{total} = 0.1 * len({table})")
    writer.emit(depth, f"for k, e in {table}.items():")
    held = "sum(e)" if "setdefault" in form else "e"
    writer.emit(depth + 1, f"{total} += np.cos({held}) * (k + 1)")
    scope.scalars.append(total)
    return None


@statement("idioms")
def spliced(writer: Writer, scope: Scope, depth: int) -> None:
    """A list whose items are taken out and put in anywhere, in a loop."""
    if depth > 2:
        return scalar(writer, scope, depth)
    name, index, total = writer.name("L"), writer.name("i"), writer.name("t")
    count = writer.pick(["n", "2", "n + 2"])
    inner = scope if count == "n + 2" else scope.inner(indices=[*scope.indices, index])
    start = writer.pick(["[s, 0.5]", f"[e for e in {writer.pick(scope.arrays)} if e > -0.5]"])
    writer.emit(depth, f"{name} = {start}")
    writer.emit(depth, f"for {index} in range({count}):")
    number = _number(writer, inner)
    forms = [
        f"{name} = {name}[:{index}] + [{number}] + {name}[{index}:]",
        f"{name}[{index}:{index} + 1] = [{number}, {number}]",
        f"{name}.insert({index}, {number})",
        f"del {name}[{index}:-1]",
        f"{name}[-2:] = [e * e for e in {name}[:2]]",
        f"{name} = [{number}, *{name}[1:]]",
        f"{name} = {name}[::-1]",
        f"{name}[0:0] = [{number}]",
    ]
    for _ in range(2):
        condition = f"if {writer.condition(inner)}: " if writer.flip() else ""
        writer.emit(depth + 1, condition + writer.pick(forms))
    writer.emit(depth, f"{total} = sum(np.sin(e) * (k + 1) for k, e in enumerate({name}))")
    scope.scalars.append(total)
    return None


@statement("idioms")
def ordered(writer: Writer, scope: Scope, depth: int) -> None:
    """A list of numbers or pairs: ordered, turned round, taken apart."""
    name, first, rest = writer.name("L"), writer.name("t"), writer.name("t")
    numbers = [_number(writer, scope) for _ in range(3)]
    writer.emit(depth, f"{name} = [{', '.join(numbers)}]")
    _lines(
        writer,
        depth,
        [
            writer.pick(
                [
                    f"{name}[0], {name}[2] = {name}[2], {name}[0]",
                    f"{name}.insert(1, {_number(writer, scope)})",
                    f"{name} += [{name}.pop(0)]",
                    f"del {name}[1]",
                    f"{name}.sort()",
                    f"{name} = sorted({name}, key=lambda e: -e * e)",
                    f"{name} = [e for _, e in sorted(zip({name}, reversed({name})))]",
                    f"{name}[1:] = [e * e for e in {name}[:-1]]",
                    f"{name}.reverse()",
                ]
            ),
            f"{first}, *{rest} = {name}",
            f"{rest} = sum(e * (k + 1) for k, e in enumerate({rest})) + max({name}, key=abs)",
        ],
    )
    scope.scalars += [first, rest]
