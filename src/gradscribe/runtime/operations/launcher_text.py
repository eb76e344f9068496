"""The code of launchers (see `launching.py`): a text for each form of call."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """How a public function is called.

    operands: the names of the operands, in the order of the function, and what each must be: a
        "Tensor"; a "number" or a Tensor; an "index", which is a Tensor of integers that the node
        keeps a copy of.
    parameters: the text of the parameters. usual: the code that gives the names their values, or
        leaves. static: the names of the static arguments.
    call: the text of the arguments, to call the general way with.
    is_view: whether the result is a view of the first operand. computes_nothing: whether there can
        be no floating-point errors.
    """

    operands: tuple[tuple[str, str], ...]
    parameters: str = "*args, **options"
    usual: str = ""
    static: tuple[str, ...] = ()
    call: str = "*args, **options"
    is_view: bool = False
    computes_nothing: bool = False


UNARY = Form(
    (("a", "Tensor"),),
    usual="""\
if options or len(args) != 1:
    break
(a,) = args
""",
)
BINARY = Form(
    (("a", "Tensor"), ("b", "number")),
    usual="""\
if options or len(args) != 2:
    break
a, b = args
""",
)
OPERATOR = Form((("a", "Tensor"), ("b", "number")), parameters="a, b", call="a, b")
REFLECTED = Form((("a", "number"), ("b", "Tensor")), parameters="b, a", call="b, a")
REDUCTION = Form(
    (("a", "Tensor"),),
    usual="""\
if not 0 < len(args) < 4:
    break
a, dim, keepdim = *args, *(None, False)[len(args) - 1 :]
if options:
    given = options.keys()
    if not given <= AXES or (len(args) > 1 and (len(args) > 2 or "dim" in given)):
        break
    dim, keepdim = options.get("dim", dim), options.get("keepdim", keepdim)
if dim.__class__ is not int and dim is not None or keepdim.__class__ is not bool:
    break
""",
    static=("dim", "keepdim"),
)
ALONG = Form(
    (("a", "Tensor"),),
    usual="""\
if len(args) == 1 and options.keys() == AXIS:
    (a,), dim = args, options["dim"]
elif len(args) == 2 and not options:
    a, dim = args
else:
    break
if dim.__class__ is not int:
    break
""",
    static=("dim",),
)
INDEXED = Form(
    (("a", "Tensor"), ("b", "index")), parameters="a, b", call="a, b", computes_nothing=True
)
TAKEN = Form(
    (("a", "Tensor"),),
    parameters="a, index",
    usual="""\
place = index
if index.__class__ is not int:
    place = None if index.__class__ is Tensor else interned(index)
    if place is None:
        break
""",
    static=("place",),
    call="a, index",
    is_view=True,
    computes_nothing=True,
)

_TENSOR = """\
view = {name}._view_of
if view is not None and (
    view.version != {name}._counter[0]
    or ({name}._needs_grad is not True and view.base_requires_grad)
):
    break
x{i} = {name}.array
kind{i} = {name}._kind
if kind{i} is None:
    kind{i} = kind_of({name})
needs{i} = {name}._needs_grad
counter{i} = {name}._counter
version{i} = counter{i}[0]
"""

_OPERANDS = {
    "Tensor": """\
if {name}.__class__ is not Tensor:
    break
{tensor}
""",
    "number": """\
if {name}.__class__ is Tensor:
    {tensor}
elif {name}.__class__ is float or {name}.__class__ is int:
    x{i} = {name}
    kind{i} = {name}.__class__
    needs{i} = None
    counter{i} = None
    version{i} = 0
else:
    break
""",
    "index": """\
if {name}.__class__ is not Tensor:
    break
x{i} = {name}.array
if x{i}.dtype.kind != "i" or not x{i}.ndim:
    break
kind{i} = {name}._kind or kind_of({name})
needs{i} = None
x{i} = x{i}.copy()
counter{i} = None
version{i} = 0
""",
}

_EDGE = """\
if way.active{i}:
    maker = {name}._node
    edge{i} = edge_of({name}) if maker is None else (maker, {name}._index)
"""

_OWN = """\
result.array = out if out.__class__ is ndarray else asarray(out)
result._counter = counter = [0]
result._view_of = None
"""

_VIEW = """\
result.array = out
result._counter = counter = counter0
result._view_of = view_by(a, way.step)
"""

_LAUNCHER = """\
def make(general, row, ways, silently):
    def launch({parameters}):
        way = UNFIT
        while not MODES:
            {usual}
            {reads}
            key = {key}
            way = ways.get(key){similar}
            if way is None or way is UNFIT:
                break
            kernel, held = way.kernel, way.held
            try:
                if held is None:
                    (out,), record = {run}{leaves}{constants})
                else:
                    out = {run}{leaves})
            except Exception:
                way = UNFIT
                break
            result = new(Tensor)
            {wrapping}
            kind = way.kind
            if kind is None:
                kind = way.kind = kind_of(result)
            result._kind = kind
            result._index = 0
            result._grad = result._leaf = None
            if kernel is None:
                result._node = None
                result._needs_grad = False
                return result
            {edges}
            node = new(way.node_class)
            node.next_edges = {next_edges}
            node.kernel = kernel
            if held is ALL:
                record = {all}
            elif held is FIRST:
                record = x0
            elif held is SECOND:
                record = {second}
            elif held is RESULT:
                record = out
            elif held is not None:
                record = ()
            node.record = record
            node.leaves = {kept}
            if way.spares_all:
                node.counters = way.nones
                node.expected = way.zeros
            else:
                node.counters = {counters},
                node.expected = {versions},
            if way.keeps_result:
                node.counters += counter,
                node.expected += 0,
            node.shapes = kind.types
            node.sequence_nr = next_sequence()
            node.own_hooks = None
            result._node = node
            result._needs_grad = True
            return result
        try:
            result = general({call})
        except Exception as error:
            shorten(error)
            raise
        if way is None:
            learn(ways, key, row, ({operands},), ({static}), result)
        return result
    return launch
"""
"""`launch` leaves its loop, which is none, where a call must go the general way."""


def _filled(template: str, **parts: str) -> str:
    """A text with parts, which may have several lines, in their places."""
    lines = []
    for line in template.splitlines():
        indentation = line[: len(line) - len(line.lstrip())]
        lines += textwrap.indent(line.strip().format(**parts), indentation).splitlines()
    return "\n".join(lines) + "\n"


def text_of(form: Form) -> str:
    """The code that makes launchers of a form."""
    reads, edges = "", ""
    for i, (name, kind) in enumerate(form.operands):
        place = {"i": str(i), "name": name}
        reads += _filled(_OPERANDS[kind], tensor=_filled(_TENSOR, **place), **place)
        edges += _filled(_EDGE, **place)
    if form.is_view:
        reads += "if not x0.flags.writeable:\n    break\n"

    def each(text: str) -> str:
        return ", ".join(text.format(i=i) for i in range(len(form.operands)))

    static = "".join(f"{name}, " for name in form.static)
    of_two = "(edge0, edge1) if way.both else (edge0,) if way.active0 else (edge1,)"
    return _filled(
        _LAUNCHER,
        parameters=form.parameters,
        usual=form.usual,
        reads=reads,
        key=f"{each('kind{i}, needs{i}')}, {static}grad_enabled()",
        leaves=each("x{i}"),
        constants=", *way.constants" if form.is_view else "",
        all=each("x{i}") + ", " + ("*way.constants" if form.is_view else ""),
        second="x1" if len(form.operands) == 2 else "way.constants[0]" if form.is_view else "None",
        run="way.run(" if form.computes_nothing else "silently(way.run, ",
        wrapping=_VIEW if form.is_view else _OWN,
        edges=edges,
        next_edges="(edge0,)" if len(form.operands) == 1 else of_two,
        similar="" if form.computes_nothing else " or similar(ways, key)",
        kept="kind0.stand_in, *way.constants"
        if form.is_view
        else "record if held is ALL and not (way.spares0 or way.spares1) else ("
        + each("kind{i}.stand_in if way.spares{i} else x{i}")
        + ",)",
        counters=each("counter{i}"),
        versions=each("version{i}"),
        call=form.call,
        operands=", ".join(name for name, _ in form.operands),
        static=static,
    )
