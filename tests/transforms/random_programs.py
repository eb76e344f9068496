"""Random IR programs over arrays, lists and records, for tests of transforms.

`random_function(random)` makes a verified function in value semantics: stores and accumulates
through views, lists that grow and shrink, branches, loops with several carried values (often
permuted), records that are collected and consumed again, early exits, tuples. Every choice is
taken from the given `random.Random`, so hypothesis can shrink what fails.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from gradscribe.ir.affine import Affine
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import (
    Block,
    Function,
    Location,
    LoopShape,
    Parameter,
    Primitive,
    SliceOf,
    Value,
)
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, Node
from gradscribe.ir.types import Array, Collected, Scalar, Sequence, Tuple, Type
from gradscribe.primitives import comparisons, elementwise  # noqa: F401  (fill the table)
from gradscribe.primitives.control import (
    APPEND,
    CONSTANT,
    COPY,
    GET,
    ITEM,
    LEN,
    LIST,
    POP,
    SET,
    TUPLE,
    UNDEF,
    ZEROS_LIKE,
)
from gradscribe.primitives.indexing import ACCUMULATE, GETITEM, STORE
from gradscribe.primitives.registry import PRIMITIVES

N = 4
VECTOR = Array("float64", (Affine.of(N),))
MATRIX = Array("float64", (Affine.of(N), Affine.of(N)))
LIST_OF_VECTORS = Sequence(VECTOR)
PAIR = Tuple((VECTOR, VECTOR))

BROADCAST_TO = Primitive("broadcast_to", lambda facts, callee, x, shape: VECTOR, view=True)
TRANSPOSE = Primitive("transpose", lambda facts, callee, x: x, view=True)


@dataclass
class Scope:
    """The values that the next operation may use, by kind, and how deep it stands."""

    values: list[Value]
    depth: int = 0
    guarded: list[tuple[Value, Value]] = field(default_factory=list)
    lists_of_three: set[Value] = field(default_factory=set)

    def of(self, type_: Type) -> list[Value]:
        return [value for value in self.values if _like(value.type, type_)]

    def inner(self) -> Scope:
        values, guarded = list(self.values), list(self.guarded)
        return Scope(values, self.depth + 1, guarded, self.lists_of_three)


def _like(a: Type, b: Type) -> bool:
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return a.dtype == b.dtype
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        return True
    return a == b


def random_function(random: Random, statements: int = 12) -> Function:
    """A function of two vectors, a matrix and a list of three vectors."""
    return _Generator(random).function(statements)


def random_arguments(seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)

    def array(*shape: int) -> np.ndarray:
        return rng.integers(-3, 4, size=shape).astype(float)

    return [array(N), array(N), array(N, N), [array(N) for _ in range(3)]]


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.builder = Builder(Facts())
        self.budget = 60
        self.short: set[Value] = set()  # lists that no loop has grown

    def function(self, statements: int) -> Function:
        builder = self.builder
        types = {"a": VECTOR, "b": VECTOR, "M": MATRIX, "xs": LIST_OF_VECTORS}
        parameters = [builder.named(type_, name) for name, type_ in types.items()]
        self.parameters = parameters
        self.short.add(parameters[-1])
        scope = Scope(list(parameters), lists_of_three={parameters[-1]})
        self.statements(scope, statements)
        found = [v for v in scope.values if not isinstance(v.type, Collected)]
        recent = found[-self.random.randint(2, len(found)) :]
        result = tuple(self.random.choice(recent) for _ in range(self.random.randint(1, 5)))
        return Function(
            "f",
            tuple(Parameter(value.name, LEAF, (value,)) for value in parameters),
            Block(tuple(parameters), tuple(builder.operations), result),
            Node(tuple, (LEAF,) * len(result)),
            builder.facts,
        )

    def statements(self, scope: Scope, count: int) -> None:
        for _ in range(self.random.randint(1, count)):
            self.budget -= 1
            if self.budget < 0:
                return
            role = self.random.choice(["primal", "adjoint"])
            self.builder.location = Location("f.py", 1, 0, 1, "", role)
            simple = [
                self.arithmetic,
                self.arithmetic,
                self.view,
                self.view,
                self.store,
                self.store,
                self.store,
                self.scalar,
                self.new,
                self.list_statement,
                self.tuple_statement,
            ]
            nested = [self.branch, self.loop, self.loop, self.defined_on_one_path]
            nested = nested if scope.depth < 3 else []
            if nested and scope.guarded:
                nested += [self.guarded_loop] * 3
            if nested and any(isinstance(value.type, Collected) for value in scope.values):
                nested += [self.consume] * 5
            self.random.choice(simple + nested)(scope)

    # one statement each

    def arithmetic(self, scope: Scope) -> None:
        type_ = self.random.choice([VECTOR, MATRIX])
        x, y = (self.any(scope, type_) for _ in range(2))
        callee = self.random.choice([operator.add, operator.sub, operator.mul])
        name = self.random.choice(["", "", x.name, "t"])
        self.add(scope, PRIMITIVES[callee], {"x": x, "y": y}, name=name, callee=callee)

    def new(self, scope: Scope) -> None:
        x = self.any(scope, self.random.choice([VECTOR, MATRIX, LIST_OF_VECTORS]))
        primitive = self.random.choice([COPY, ZEROS_LIKE])
        if primitive is ZEROS_LIKE and isinstance(x.type, Sequence):
            primitive = COPY
        result = self.add(scope, primitive, {"x": x}, name="z")
        if x in scope.lists_of_three:
            scope.lists_of_three.add(result)

    def scalar(self, scope: Scope) -> None:
        x = self.any(scope, VECTOR)
        self.add(scope, GETITEM, {"x": x, "index": (self.random.randrange(N),)}, name="s")

    def view(self, scope: Scope) -> None:
        kind = self.random.choice(["row", "column", "whole", "transpose", "broadcast", "masked"])
        if kind == "row":
            row = self.random.randrange(N)
            self.add(scope, GETITEM, {"x": self.any(scope, MATRIX), "index": (row,)}, name="v")
        elif kind == "column":
            index = (SliceOf(), self.random.randrange(N))
            self.add(scope, GETITEM, {"x": self.any(scope, MATRIX), "index": index}, name="v")
        elif kind == "whole":
            step = self.random.choice([None, -1])
            x = self.any(scope, self.random.choice([VECTOR, MATRIX]))
            self.add(scope, GETITEM, {"x": x, "index": (SliceOf(None, None, step),)}, name="v")
        elif kind == "transpose":
            x = self.any(scope, MATRIX)
            self.add(scope, TRANSPOSE, {"x": x}, name="t", callee=np.transpose)
        elif kind == "broadcast":
            x = self.any(scope, VECTOR)
            self.add(scope, BROADCAST_TO, {"x": x, "shape": (N,)}, callee=np.broadcast_to)
        else:
            half = self.builder.call(
                GETITEM, {"x": self.any(scope, VECTOR), "index": (SliceOf(0, 2),)}, name="half"
            )
            whole = self.any(scope, VECTOR)
            path = ((GETITEM, {"index": (SliceOf(2, 4),)}),)
            self.add(scope, STORE, {"x": whole, "value": half, "path": path}, name="w")

    def store(self, scope: Scope) -> None:
        primitive = self.random.choice([STORE, ACCUMULATE])
        if self.random.random() < 0.4:
            x = self.any(scope, MATRIX)
            paths = [
                (((GETITEM, {"index": (self.random.randrange(N),)}),), VECTOR),
                (((GETITEM, {"index": (SliceOf(), self.random.randrange(N))}),), VECTOR),
                ((), MATRIX),
                (
                    (
                        (GETITEM, {"index": (SliceOf(None, None, -1),)}),
                        (GETITEM, {"index": (self.random.randrange(N), Ellipsis)}),
                    ),
                    VECTOR,
                ),
            ]
        else:
            x = self.any(scope, VECTOR)
            paths = [
                (((GETITEM, {"index": (self.random.randrange(N),)}),), None),
                (((GETITEM, {"index": (SliceOf(None, None, -1),)}),), VECTOR),
                (((GETITEM, {"index": (SliceOf(1, 3),)}),), None),
                ((), VECTOR),
            ]
        path, type_ = self.random.choice(paths)
        value = self.number(scope) if type_ is None else self.any(scope, type_)
        name = self.random.choice([x.name, x.name, ""])
        result = self.add(scope, primitive, {"x": x, "value": value, "path": path}, name=name)
        if self.random.random() < 0.6 and x in scope.values:
            scope.values.remove(x)  # as a program would: the old value has no name any more
        assert result.type == x.type

    def list_statement(self, scope: Scope) -> None:
        xs = self.any(scope, LIST_OF_VECTORS)
        kind = self.random.choice(["list", "append", "append", "set", "pop", "get", "get", "len"])
        if xs not in scope.lists_of_three and kind in ("set", "pop", "get"):
            kind = "append"
        if kind == "list":
            items = tuple(self.any(scope, VECTOR) for _ in range(3))
            xs = self.add(scope, LIST, {"items": items, "item": VECTOR}, name="l")
            scope.lists_of_three.add(xs)
        elif kind == "append":
            long = xs in scope.lists_of_three
            arguments = {"x": xs, "value": self.any(scope, VECTOR)}
            xs = self.add(scope, APPEND, arguments, name="l")
            scope.lists_of_three |= {xs} if long else set()
        elif kind == "set":
            index = self.random.choice([0, 1, -1])
            arguments = {"x": xs, "index": index, "value": self.any(scope, VECTOR)}
            scope.lists_of_three.add(self.add(scope, SET, arguments, name="l"))
        elif kind == "pop":
            self.add(scope, POP, {"x": xs}, name="l")
        elif kind == "get":
            self.add(scope, GET, {"x": xs, "index": self.random.choice([0, 1, -1])}, name="g")
        else:
            self.add(scope, LEN, {"x": xs})

    def tuple_statement(self, scope: Scope) -> None:
        pairs = scope.of(PAIR)
        if pairs and self.random.random() < 0.6:
            arguments = {"x": self.random.choice(pairs), "position": self.random.randrange(2)}
            self.add(scope, ITEM, arguments, name="i")
        else:
            items = (self.any(scope, VECTOR), self.any(scope, VECTOR))
            self.add(scope, TUPLE, {"items": items}, name="p")

    def branch(self, scope: Scope) -> None:
        condition = self.condition(scope)
        types = self.types(self.random.randint(1, 3))
        regions = []
        for _ in range(2):
            inner = scope.inner()
            with self.builder.block() as operations:
                self.statements(inner, 4)
                yields = tuple(self.any(inner, type_) for type_ in types)
            regions.append(Block((), tuple(operations), yields))
        results = [self.builder.named(type_, "r") for type_ in types]
        self.builder.emit_if(condition, regions[0], regions[1], results)
        scope.values += results

    def defined_on_one_path(self, scope: Scope) -> None:
        """A name that is bound if a condition holds, and read only if it holds."""
        condition = self.condition(scope)
        inner = scope.inner()
        with self.builder.block() as operations:
            self.statements(inner, 3)
            given = self.any(inner, VECTOR)
        with self.builder.block() as nothing:
            undefined = self.builder.call(UNDEF, {"type": VECTOR})
        result = self.builder.named(VECTOR, "m")
        then, otherwise = (
            Block((), tuple(operations), (given,)),
            Block((), tuple(nothing), (undefined,)),
        )
        self.builder.emit_if(condition, then, otherwise, [result])
        scope.guarded.append((condition, result))

    def guarded_loop(self, scope: Scope) -> None:
        """A loop that carries such a name, and a value in which it may be read."""
        builder = self.builder
        condition, maybe = self.random.choice(scope.guarded)
        operands = [self.constant(n) for n in (0, self.random.randint(0, 2), 1)]
        item = builder.named(Scalar("int64"), "i")
        carried, total = builder.named(VECTOR, "m"), builder.named(VECTOR, "total")
        inner = scope.inner()
        inner.values += [item, total]
        with builder.block() as operations:
            self.statements(inner, 2)
            within = inner.inner()
            within.values.append(carried)
            with builder.block() as then:
                own = Scope([carried])
                self.store(own)
                within.values += own.values[-1:]
                self.statements(within, 3)
                yields = (self.any(within, VECTOR), self.any(within, VECTOR))
            results = [builder.named(VECTOR, "m"), builder.named(VECTOR, "total")]
            otherwise = Block((), (), (carried, self.any(inner, VECTOR)))
            builder.emit_if(condition, Block((), tuple(then), yields), otherwise, results)
        after = [builder.named(VECTOR, "m"), builder.named(VECTOR, "total")]
        body = Block((item, carried, total), tuple(operations), tuple(results))
        shape = LoopShape(("range",), 2)
        builder.emit_loop(shape, [*operands, maybe, self.any(scope, VECTOR)], [body], after)
        scope.guarded.append((condition, after[0]))
        scope.values.append(after[1])

    def loop(self, scope: Scope) -> None:
        """A loop over one or two iterables, or a `while`, with carried values and records."""
        builder, random = self.builder, self.random
        kind = random.choice(["range", "range", "array", "sequence", "while"])
        operands: list[Value] = []
        items: list[Value] = []
        if kind in ("range", "while"):
            operands += [self.constant(n) for n in (0, random.randint(0, 3), 1)]
            items.append(builder.named(operands[0].type, "i"))
            items[0] = builder.named(Scalar("int64"), "i")
        elif kind == "array":
            operands.append(self.any(scope, MATRIX))
            items.append(builder.named(VECTOR, "row"))
        else:
            short = [xs for xs in scope.of(LIST_OF_VECTORS) if xs in self.short]
            operands.append(random.choice(short or [self.parameters[-1]]))
            items.append(builder.named(VECTOR, "item"))
        types = self.types(random.randint(0, 3))
        collected = [random.choice([VECTOR, MATRIX, PAIR]) for _ in range(random.randint(0, 2))]
        inits = [self.any(scope, type_) for type_ in types]
        carried = [builder.named(v.type, v.name) for v in inits]
        exits = random.random() < 0.2
        inner = scope.inner()
        inner.values += items + carried
        with builder.block() as operations:
            self.statements(inner, 5)
            pool = Scope(inner.values[-8:] + carried, inner.depth)
            yields = [self.any(pool if random.random() < 0.7 else inner, t) for t in types]
            if exits:
                weak = [v for v in inner.values if isinstance(v.type, Scalar) and v.type.weak]
                yields.append(self.condition(Scope(weak)))
            yields += [self.any(pool, type_) for type_ in collected]
        regions = [Block((*items, *carried), tuple(operations), tuple(yields))]
        if kind == "while":
            tested = [builder.named(v.type, v.name) for v in inits]
            with builder.block() as operations:
                condition = self.condition(Scope([*scope.values, *tested], 3))
            regions.append(Block(tuple(tested), tuple(operations), (condition,)))
        shape = LoopShape(
            ("range" if kind == "while" else kind,),
            len(types),
            collects=len(collected),
            exits=exits,
            condition=kind == "while",
            reversed=kind != "while" and not exits and random.random() < 0.3,
        )
        results = [builder.named(type_, "r") for type_ in types]
        records = [builder.named(Collected(type_), "steps") for type_ in collected]
        builder.emit_loop(shape, [*operands, *inits], regions, [*results, *records])
        scope.values += results + records

    def consume(self, scope: Scope) -> None:
        """The mirror of a loop: consumes a record, backwards."""
        records = [value for value in scope.values if isinstance(value.type, Collected)]
        record = self.random.choice(records)
        item = self.builder.named(record.type.item, "item")
        inits = [self.any(scope, VECTOR)]
        carried = [self.builder.named(VECTOR, "c")]
        inner = scope.inner()
        inner.depth += 1
        inner.values += [item, *carried]
        with self.builder.block() as operations:
            read = self.vector_of(inner, item)
            self.statements(inner, 4)
            total = self.any(Scope([*inner.values[-3:], *carried]), VECTOR)
            arguments = {"x": total, "y": read}
            add = PRIMITIVES[operator.add]
            yields = (self.add(inner, add, arguments, name="c", callee=operator.add),)
        results = [self.builder.named(VECTOR, "r")]
        shape = LoopShape(("collected",), 1, reversed=True)
        body = Block((item, *carried), tuple(operations), yields)
        self.builder.emit_loop(shape, [record, *inits], [body], results)
        scope.values += results

    # pieces

    def vector_of(self, scope: Scope, item: Value) -> Value:
        """A vector that depends on an item of a record (now, or where it is read again)."""
        if isinstance(item.type, Tuple):
            arguments = {"x": item, "position": self.random.randrange(2)}
            return self.add(scope, ITEM, arguments, name="h")
        if item.type == MATRIX:
            return self.add(scope, GETITEM, {"x": item, "index": (SliceOf(), 1)}, name="h")
        return item

    def types(self, count: int) -> list[Type]:
        choices = [VECTOR, VECTOR, VECTOR, MATRIX, LIST_OF_VECTORS, PAIR]
        return [self.random.choice(choices) for _ in range(count)]

    def any(self, scope: Scope, type_: Type) -> Value:
        """A value of this type from the scope, recent ones more often; made where none is."""
        found = scope.of(type_)
        if not found:
            return self.made(scope, type_)
        if self.random.random() < 0.5:
            found = found[-2:]
        return self.random.choice(found)

    def made(self, scope: Scope, type_: Type) -> Value:
        if type_ == PAIR:
            items = (self.any(scope, VECTOR), self.any(scope, VECTOR))
            return self.add(scope, TUPLE, {"items": items})
        if isinstance(type_, Sequence):
            return self.add(scope, LIST, {"items": (), "item": VECTOR})
        return self.parameters[0 if type_ == VECTOR else 2]

    def condition(self, scope: Scope) -> Value:
        x, y = (self.number(scope) for _ in range(2))
        return self.builder.call(
            PRIMITIVES[operator.lt], {"x": x, "y": y}, callee=operator.lt, name="c"
        )

    def number(self, scope: Scope) -> Value:
        found = [v for v in scope.values if isinstance(v.type, Scalar) and v.type.dtype != "bool"]
        if found and self.random.random() < 0.7:
            return self.random.choice(found[-3:])
        return self.constant(float(self.random.randint(-2, 2)))

    def constant(self, value: float) -> Value:
        return self.builder.call(CONSTANT, {"value": value})

    def add(self, scope: Scope, primitive: Primitive, arguments: Any, **keywords: Any) -> Value:
        result = self.builder.call(primitive, arguments, **keywords)
        scope.values.append(result)
        if primitive is LIST or (primitive in (SET, COPY) and arguments["x"] in self.short):
            self.short.add(result)
        return result
