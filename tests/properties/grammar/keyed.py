"""Dicts whose keys are computed, and lists of keys: filled, asked, changed, run over."""

from __future__ import annotations

from tests.properties.grammar.assignments import scalar
from tests.properties.grammar.writer import Scope, Writer, statement

NUMBERS = ("{i} % 3", "{i} // 2", "-{i}", "n - {i}", "({i} % 2 == 0)")
PAIRS = ("({i} % 2, {i} % 3)", "({i}, 0)")
LATER = {NUMBERS: ("1", "0", "n % 2"), PAIRS: ("(1, 0)", "(0, n % 2)")}
"""Keys, and those that are used after the loop: of one dict they are of one kind."""

STORES = (
    ("{t}[{k}] = {v}",),
    ("{t}[{k}] = {t}.get({k}, 0.5) * {v}",),
    ("if {k} in {t}:", "    {t}[{k}] = {t}[{k}] * 0.5 + {v}", "else:", "    {t}[{k}] = {v}"),
    ("if {k} not in {t}:", "    {t}[{k}] = {v}", "{t}[{k}] += 0.1 * {v}"),
    ("{t}.setdefault({k}, {v})",),
    ("try:", "    {t}[{k}] += {v}", "except KeyError:", "    {t}[{k}] = {v}"),
    ("{t}.update({{{k}: {v}}})",),
)

CHANGES = (
    ("for k in {t}:", "    {t}[k] = {t}[k] * {v}"),
    ("for k, e in {t}.items():", "    {t}[k] = e + {v}"),
    ("for k in list({t}):", "    if {t}[k] > {v}:", "        del {t}[k]"),
    ("{t}[{k}] = 0.5 * {t}.get({k}, {v})",),
    (
        "for k in {t}:",
        "    for j in {t}:",
        "        if j != k:",
        "            {t}[k] += 0.1 * {t}[j]",
    ),
    ("{o} = copy.copy({t})", "for k in {o}:", "    {o}[k] = {v}", "{s} += sum({o}.values())"),
    ("{o} = dict({t})", "{o}.clear()", "{s} += 0.1 * len({o})"),
    ("{s} += {t}.pop({k}, {v})",),
    ("if {t}:", "    {s} += {t}.popitem()[1]"),
    ("{t} = {{k: e * {v} for k, e in {t}.items()}}",),
)

READS = (
    ("for k in {t}:", "    {s} = 0.7 * {s} + {t}[k]"),
    ("for k in reversed({t}):", "    {s} = 0.7 * {s} + {t}[k]"),
    ("for m, k in enumerate({t}):", "    {s} += {t}[k] * (m + 1)"),
    ("for k, e in {t}.items():", "    {s} = 0.7 * {s} + np.cos(e)"),
    ("for e in {t}.values():", "    {s} = 0.7 * {s} + e"),
    ("{s} += sum({t}[k] for k in sorted({t}))",),
    ("{s} += {t}.get({k}, {v})",),
    ("if {k} in {t} and {t}[{k}] > {v}:", "    {s} += {t}[{k}]"),
    ("{s} += max({t}.values(), default={v})",),
    (
        "for k in {t}:",
        "    if k in {t} and {t}[k] > {v}:",
        "        {s} += {t}[k]",
        "        break",
    ),
)

LISTED = (
    ("if {k} not in {t}:", "    {t}.append({k})", "    {o}.append({v})"),
    (
        "if {k} in {t}:",
        "    {o}[{t}.index({k})] += {v}",
        "else:",
        "    {t}.append({k})",
        "    {o}.append({v})",
    ),
    ("{t}.append({k})", "{o}.append({v})"),
)


def _lines(writer: Writer, depth: int, lines: tuple[str, ...], **names: str) -> None:
    for line in lines:
        writer.emit(depth, line.format(**names))


@statement("keyed", weight=2)
def table(writer: Writer, scope: Scope, depth: int) -> None:
    """A dict with computed keys."""
    if depth > 2:
        return scalar(writer, scope, depth)
    index = writer.name("i")
    names = {"t": writer.name("table"), "o": writer.name("other"), "s": writer.name("u")}
    inner = scope.inner(indices=[*scope.indices, index], in_loop=False)
    keys = writer.pick(list(LATER))

    def values(where: Scope) -> dict[str, str]:
        key = writer.pick(list(keys if where is inner else LATER[keys]))
        return {**names, "k": key.format(i=index), "v": f"np.sin({writer.scalar(where, 1)})"}

    writer.emit(depth, f"{names['t']} = {{}}")
    writer.emit(depth, f"{names['s']} = 0.0")
    writer.emit(depth, f"for {index} in range({writer.pick(['n', '3', 'n + 1'])}):")
    if writer.flip():
        writer.emit(depth + 1, f"if {writer.condition(inner)}:")
        writer.emit(depth + 2, "continue")
    _lines(writer, depth + 1, writer.pick(list(STORES)), **values(inner))
    if writer.flip():
        _lines(writer, depth + 1, writer.pick([*READS, *CHANGES]), **values(inner))
    for _ in range(writer.pick([0, 1, 1, 2])):
        _lines(writer, depth, writer.pick(list(CHANGES)), **values(scope))
    for _ in range(writer.pick([1, 1, 2])):
        _lines(writer, depth, writer.pick(list(READS)), **values(scope))
    scope.scalars.append(names["s"])
    return None


@statement("keyed")
def list_of_keys(writer: Writer, scope: Scope, depth: int) -> None:
    """A list of keys beside one of numbers."""
    if depth > 2:
        return scalar(writer, scope, depth)
    index, total = writer.name("i"), writer.name("u")
    names = {"t": writer.name("keys"), "o": writer.name("held"), "s": total}
    inner = scope.inner(indices=[*scope.indices, index], in_loop=False)
    key = writer.pick([*NUMBERS, *PAIRS]).format(i=index)
    writer.emit(depth, f"{names['t']}, {names['o']}, {total} = [], [], 0.0")
    writer.emit(depth, f"for {index} in range({writer.pick(['n', '3', 'n + 1'])}):")
    value = f"np.sin({writer.scalar(inner, 1)})"
    _lines(writer, depth + 1, writer.pick(list(LISTED)), **names, k=key, v=value)
    writer.emit(depth, f"for k in {names['t']}:")
    read = writer.pick(["{o}[{t}.index(k)]", "{o}[-1] * {t}.index(k)", "{t}.count(k) * {o}[0]"])
    writer.emit(depth + 1, f"{total} = 0.7 * {total} + {read.format(**names)}")
    scope.scalars.append(total)
    return None
