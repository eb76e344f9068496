"""The text form of the IR, for people and for tests.

    function loss(%w: float64[n], %xs: float64[m, n])
      %0: float = constant(value=0.0)
      %s_2: float64 = loop
        for %x: float64[n] in array %xs
        carry %s: float64 = %0
        do
          %1: float64 = dot(%w, %x)
          %s_1: float64 = add(%s, %1)
          yield %s_1
      return %s_2

Operands stand where the call has them, other arguments as `name=value`. Where the user's
callee is not NumPy's or an operator, it is named too: `tanh<math.tanh>(%x)`. Values, and
symbols in lengths, of one name are numbered apart, so equal names mean equal things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradscribe.ir.affine import Symbol
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Function,
    Method,
    Operand,
    Operation,
    Primitive,
    SliceOf,
    Value,
)
from gradscribe.ir.flow import Loop
from gradscribe.ir.probing import probe
from gradscribe.ir.trees import Leaf, Tree, bracketed, tree_text
from gradscribe.ir.types import Type, map_lengths

_INDENT = "  "


def print_function(function: Function) -> str:
    """The text of a function, one operation a line, regions indented."""
    return "\n".join(_Printer().function(function))


class _Printer:
    def __init__(self) -> None:
        self._values = _Names("")
        self._symbols = _Names("length")

    def function(self, function: Function) -> Iterator[str]:
        parameters = ", ".join(
            self._parameter(parameter.name, parameter.tree, parameter.leaves)
            for parameter in function.parameters
        )
        yield f"function {function.name}({parameters})"
        yield from self._indented(self._operations(function.body))
        result = tree_text(function.result, map(self._use, function.body.yields))
        yield f"{_INDENT}return {result}"

    def _parameter(self, name: str, tree: Tree, leaves: tuple[Value, ...]) -> str:
        text = tree_text(tree, map(self._define, leaves))
        plain = isinstance(tree, Leaf) and leaves[0].name == name
        return text if plain else f"{name}={text}"

    def _block(self, block: Block) -> Iterator[str]:
        yield from self._operations(block)
        yield from self._yield("yield", block.yields)

    def _operations(self, block: Block) -> Iterator[str]:
        for operation in block.operations:
            yield from _REGION_PRINTERS.get(operation.primitive, _Printer._plain)(self, operation)

    def _yield(self, word: str, values: tuple[Value, ...]) -> Iterator[str]:
        if values:
            yield f"{word} {self._uses(values)}"

    def _plain(self, operation: Operation) -> Iterator[str]:
        arguments = self._arguments(operation.attributes, operation.operands)
        name = operation.primitive.name + _callee_text(operation.callee)
        yield f"{self._results(operation)}{name}({arguments})"

    def _call(self, operation: Operation) -> Iterator[str]:
        callee = operation.attributes["function"]
        name = getattr(callee, "name", callee)
        yield f"{self._results(operation)}call {name}({self._uses(operation.operands)})"

    def _if(self, operation: Operation) -> Iterator[str]:
        then, otherwise = operation.regions
        inner = [*self._indented(self._block(then))]
        other = [*self._indented(self._block(otherwise))]
        yield f"{self._results(operation)}if {self._use(operation.operands[0])}"
        yield from inner
        if other:
            yield "else"
            yield from other

    def _loop(self, operation: Operation) -> Iterator[str]:
        loop = Loop(operation)
        inside = [*self._loop_head(loop)]
        if loop.condition:
            inside += self._loop_condition(loop.condition)
        inside += ["do", *self._indented(self._loop_body(loop))]
        yield f"{self._results(operation)}loop{' reversed' if loop.shape.reversed else ''}"
        yield from self._indented(inside)

    def _loop_head(self, loop: Loop) -> Iterator[str]:
        for kind, operands, item in loop.iterated:
            iterable = self._uses(operands)
            text = f"range({iterable})" if kind == "range" else f"{kind} {iterable}"
            yield f"for {self._define(item)} in {text}"
        for parameter, value in zip(loop.parameters, loop.initial, strict=True):
            yield f"carry {self._define(parameter)} = {self._use(value)}"

    def _loop_condition(self, region: Block) -> Iterator[str]:
        yield f"while ({', '.join(map(self._define, region.parameters))})"
        yield from self._indented(self._block(region))

    def _loop_body(self, loop: Loop) -> Iterator[str]:
        yield from self._operations(loop.body)
        yield from self._yield("yield", loop.following)
        yield from self._yield("again", loop.exits)
        yield from self._yield("collect", loop.elements)

    def _results(self, operation: Operation) -> str:
        if not operation.results:
            return ""
        return ", ".join(map(self._define, operation.results)) + " = "

    def _define(self, value: Value) -> str:
        return f"%{self._values.of(value, value.name)}: {self._type(value.type)!r}"

    def _use(self, value: Value) -> str:
        return f"%{self._values.of(value, value.name)}"

    def _uses(self, values: tuple[Value, ...]) -> str:
        return ", ".join(map(self._use, values))

    def _type(self, type_: Type) -> Type:
        return map_lengths(type_, lambda length: length.rename(self._symbol))

    def _symbol(self, symbol: Symbol) -> str:
        return self._symbols.of(symbol, symbol.name)

    def _arguments(self, attributes: Mapping[str, Any], operands: tuple[Value, ...]) -> str:
        return ", ".join(
            self._static(value, operands)
            if isinstance(value, Operand)
            else f"{name}={self._static(value, operands)}"
            for name, value in attributes.items()
        )

    def _static(self, value: Any, operands: tuple[Value, ...]) -> str:
        """An attribute tree, with operands by name, and slices and paths in a short form."""
        if isinstance(value, Operand):
            return self._use(operands[value.index])
        if isinstance(value, SliceOf):
            parts = [value.start, value.stop] + [value.step] * (value.step is not None)
            return ":".join("" if p is None else self._static(p, operands) for p in parts)
        if isinstance(value, tuple) and value and isinstance(value[0], Primitive):
            return f"{value[0].name}({self._arguments(value[1], operands)})"
        if type(value) in (tuple, list):
            return bracketed(type(value), [self._static(item, operands) for item in value])
        if isinstance(value, dict):
            items = (f"{key!r}: {self._static(item, operands)}" for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, Type):
            return repr(self._type(value))
        return "..." if value is Ellipsis else _name_of(value) or repr(value)

    @staticmethod
    def _indented(lines: Iterator[str] | list[str]) -> Iterator[str]:
        return (_INDENT + line for line in lines)


_REGION_PRINTERS: dict[Primitive, Callable[[_Printer, Operation], Iterator[str]]] = {
    IF: _Printer._if,
    LOOP: _Printer._loop,
    CALL: _Printer._call,
}


class _Names:
    """Distinct names for objects, in the order in which they are first met."""

    def __init__(self, default: str) -> None:
        self._default = default
        self._given: dict[Any, str] = {}
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def of(self, item: Any, name: str) -> str:
        if item not in self._given:
            self._given[item] = self._unused(name or self._default)
        return self._given[item]

    def _unused(self, name: str) -> str:
        candidate = name
        while not candidate or candidate in self._used:
            number = self._next.get(name, 1 if name else 0)
            self._next[name] = number + 1
            candidate = f"{name}_{number}" if name else str(number)
        self._used.add(candidate)
        return candidate


def _callee_text(callee: Any) -> str:
    """The user's callee in angle brackets, unless it is NumPy's, an operator or none."""
    if isinstance(callee, Method):
        return f"<.{callee.name}>"
    name = _name_of(callee)
    return f"<{name}>" if name and not name.startswith(("numpy.", "_operator.")) else ""


def _name_of(function: Any) -> str:
    """The name of a function or class with its module (without `builtins`), or ""."""
    name = probe(function, "__qualname__", probe(function, "__name__", ""))
    if not name or not callable(function):
        return ""
    module = probe(function, "__module__") or "numpy"
    return name if module == "builtins" else f"{module}.{name}"
