"""Short ways to write IR by hand, for tests.

ir = Hand()
x = ir.parameter("x", vector(ir.length("n")))
f = ir.function("f", ir.op(np.tanh, x, name="h"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import gradscribe.primitives  # noqa: F401  (fills the table)
from gradscribe.ir.affine import Affine, Symbol
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function, LoopShape, Parameter, Primitive, SliceOf, Value
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, Node, Tree
from gradscribe.ir.types import Array, Type
from gradscribe.primitives.control import CONSTANT
from gradscribe.primitives.indexing import GETITEM
from gradscribe.primitives.registry import PRIMITIVES


def vector(length: int | Affine, dtype: str = "float64") -> Array:
    return Array(dtype, (Affine.of(length),))


def at(*index: Any) -> tuple[Any, ...]:
    """A path of one index."""
    return ((GETITEM, {"index": index}),)


class Hand:
    """A builder with the parameters of one function."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.builder = Builder(facts or Facts())
        self.parameters: list[Parameter] = []

    def length(self, name: str, minimum: int = 2) -> Affine:
        return Affine.of(Symbol(name, minimum))

    def parameter(self, name: str, type_: Type) -> Value:
        value = self.builder.named(type_, name)
        self.parameters.append(Parameter(name, LEAF, (value,)))
        return value

    def structured(self, name: str, tree: Tree, types: Iterable[Type]) -> tuple[Value, ...]:
        leaves = tuple(self.builder.named(type_) for type_ in types)
        self.parameters.append(Parameter(name, tree, leaves))
        return leaves

    def op(self, callee: Any, *arguments: Any, name: str = "", **keywords: Any) -> Value:
        """A call of a known function (np.tanh, operator.add) or of a primitive."""
        primitive = callee if isinstance(callee, Primitive) else PRIMITIVES[callee]
        assert primitive.signature is not None
        bound = primitive.signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        called = None if isinstance(callee, Primitive) else callee
        return self.builder.call(primitive, bound.arguments, name=name, callee=called)

    def constant(self, value: Any, name: str = "") -> Value:
        return self.op(CONSTANT, value, name=name)

    def item(self, x: Value, *index: Value | SliceOf | None, name: str = "") -> Value:
        return self.op(GETITEM, x, index, name=name)

    def block(
        self,
        body: Callable[..., Sequence[Value] | Value],
        parameters: Sequence[tuple[str, Type]] = (),
    ) -> Block:
        """The block that `body` makes, called with a value for each parameter."""
        values = [self.builder.named(type_, name) for name, type_ in parameters]
        with self.builder.block() as operations:
            yields = body(*values)
        yields = (yields,) if isinstance(yields, Value) else tuple(yields)
        return Block(tuple(values), tuple(operations), yields)

    def branch(
        self, condition: Value, then: Any, otherwise: Any, results: Sequence[tuple[str, Type]]
    ) -> list[Value]:
        values = [self.builder.named(type_, name) for name, type_ in results]
        self.builder.emit_if(condition, self.block(then), self.block(otherwise), values)
        return values

    def loop(
        self,
        shape: LoopShape,
        operands: Sequence[Value],
        parameters: Sequence[tuple[str, Type]],
        body: Any,
        results: Sequence[tuple[str, Type]],
        condition: Any = None,
    ) -> list[Value]:
        regions = [self.block(body, parameters)]
        if condition is not None:
            regions.append(self.block(condition, parameters[len(shape.iterables) :]))
        values = [self.builder.named(type_, name) for name, type_ in results]
        self.builder.emit_loop(shape, operands, regions, values)
        return values

    def function(self, name: str, *results: Value, tree: Tree | None = None) -> Function:
        leaves = tuple(leaf for parameter in self.parameters for leaf in parameter.leaves)
        body = Block(leaves, tuple(self.builder.operations), results)
        return Function(
            name, tuple(self.parameters), body, tree or _tuple_of(results), self.builder.facts
        )


def _tuple_of(results: tuple[Value, ...]) -> Tree:
    return LEAF if len(results) == 1 else Node(tuple, (LEAF,) * len(results))
