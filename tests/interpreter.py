"""A direct interpreter of the IR, for tests of transforms.

`run(function, *args)` gives every operation its plain meaning, one by one, with NumPy. By
default arrays and lists are values, as in the IR: a store copies. With `in_place=True` it
stores into the object itself, as emitted code does after `bufferize`; both must then agree.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError
from gradscribe.ir.core import (
    CALL,
    IF,
    LOOP,
    Block,
    Callee,
    Function,
    LoopShape,
    Method,
    Operand,
    Operation,
    Primitive,
    Value,
    map_operands,
)
from gradscribe.ir.trees import Leaf, Node, Tree, flatten, unflatten
from gradscribe.primitives import control, indexing, lists, nonzero
from gradscribe.primitives.applying import apply, index_of
from gradscribe.primitives.registry import PRIMITIVES


def run(
    function: Function,
    *args: Any,
    in_place: bool = False,
    functions: Mapping[str, Function] | None = None,
    **keywords: Any,
) -> Any:
    """The result of a function for these arguments (keywords: by parameter name).

    functions: those that are called by name; the function itself is always among them.
    """
    known = {function.name: function, **(functions or {})}
    bound = _signature(function).bind(*args, **keywords)
    bound.apply_defaults()
    leaves: list[Any] = []
    for parameter in function.parameters:
        leaves += leaves_of(parameter.tree, bound.arguments[parameter.name])
    results = _Interpreter(known, in_place).function(function, leaves)
    return unflatten(function.result, iter(results))


def _signature(function: Function) -> Signature:
    kinds = {False: Parameter.POSITIONAL_OR_KEYWORD, True: Parameter.KEYWORD_ONLY}
    parameters = [
        Parameter(parameter.name, kinds[parameter.keyword_only], default=parameter.default)
        for parameter in function.parameters
    ]
    return Signature(parameters, __validate_parameters__=False)


def leaves_of(tree: Tree, value: Any) -> list[Any]:
    """The leaves of a value that has the structure of `tree`."""
    if isinstance(tree, Leaf):
        return [value]
    if not isinstance(tree, Node):
        return []
    children = list(_children(tree, value))
    assert len(children) == len(tree.children), f"{value!r} has not the structure {tree!r}"
    pairs = zip(tree.children, children, strict=True)
    return [leaf for subtree, child in pairs for leaf in leaves_of(subtree, child)]


def _children(node: Node, value: Any) -> Iterable[Any]:
    if node.keys is None:
        return iter(value)
    if node.cls is dict:
        return (value[key] for key in node.keys)
    return (getattr(value, key) for key in node.keys)


class _UndefinedValue:
    """What an `undef` operation makes; any use but handing it on fails."""

    def __repr__(self) -> str:
        return "<undefined>"

    def __copy__(self) -> Any:
        raise UnboundLocalError("an undefined value is copied")


UNDEFINED = _UndefinedValue()


class _Attempt:
    """The condition of a `try`, before it is known."""

    def __init__(self, catches: tuple[type[BaseException], ...]) -> None:
        self.catches = catches


class _Interpreter:
    def __init__(self, functions: Mapping[str, Function], in_place: bool) -> None:
        self._functions = functions
        self._in_place = in_place
        self._values: dict[Value, Any] = {}
        self.contexts: list[Any] = []
        self.caught: BaseException | None = None

    def function(self, function: Function, leaves: list[Any]) -> list[Any]:
        return self._block(function.body, leaves)

    def owned(self, x: Any) -> Any:
        """What a store may change: x itself, or a copy of it where arrays are values."""
        return x if self._in_place else _copy(x)

    def _block(self, block: Block, arguments: Iterable[Any] = ()) -> list[Any]:
        self._assign(block.parameters, arguments)
        for operation in block.operations:
            self._assign(operation.results, self._results(operation))
        return self._read(block.yields)

    def _try(self, operation: Operation, attempt: _Attempt) -> list[Any]:
        try:
            results = self._block(operation.regions[0])
            self._values[operation.operands[0]] = True
        except attempt.catches as error:
            self.caught = error
            self._values[operation.operands[0]] = False
            results = self._block(operation.regions[1])
        return results

    def _assign(self, values: tuple[Value, ...], contents: Iterable[Any]) -> None:
        self._values.update(zip(values, contents, strict=True))

    def _read(self, values: Iterable[Value]) -> list[Any]:
        return [self._values[value] for value in values]

    def _results(self, operation: Operation) -> list[Any]:
        operands = self._read(operation.operands)
        if operation.primitive is IF and isinstance(operands[0], _Attempt):
            return self._try(operation, operands[0])
        if operation.primitive is IF:
            return self._block(operation.regions[0 if operands[0] else 1])
        if operation.primitive is LOOP:
            return self._loop(operation, operation.attributes["shape"], operands)
        if operation.primitive is CALL:
            return self._call(operation.attributes["function"], operands)
        arguments = map_operands(
            dict(operation.attributes), lambda operand: operands[operand.index]
        )
        handler = _HANDLERS.get(operation.primitive)
        if handler is not None:
            return [handler(self, arguments, operation)]
        return [call_callee(operation, operands)]

    def _call(self, callee: Any, operands: list[Any]) -> list[Any]:
        function = callee.function if isinstance(callee, Callee) else self._functions[callee]
        pairs = zip(function.parameters, operands, strict=True)
        leaves = [leaf for p, operand in pairs for leaf in leaves_of(p.tree, operand)]
        results = _Interpreter(self._functions, self._in_place).function(function, leaves)
        tree = function.result
        children = tree.children if isinstance(tree, Node) else (tree,)
        made = iter(results)
        return [unflatten(child, made) for child in children]

    def _loop(self, operation: Operation, shape: LoopShape, operands: list[Any]) -> list[Any]:
        body = operation.regions[0]
        carried = operands[shape.iterable_operands :]
        iterations = self._iterations(operation, shape, operands)
        collected: list[list[Any]] = [[] for _ in range(shape.collects)]
        while not shape.condition or self._block(operation.regions[1], carried)[0]:
            items = next(iterations, None)
            if items is None:
                break
            yields = self._block(body, (*items, *carried))
            carried = yields[: shape.carried]
            for record, item in zip(collected, yields[shape.carried + shape.exits :], strict=True):
                record.append(item)
            if shape.exits and not yields[shape.carried]:
                break
        if shape.reversed:
            collected = [record[::-1] for record in collected]
        return [*carried, *collected]

    @staticmethod
    def _iterations(operation: Operation, shape: LoopShape, operands: list[Any]) -> Iterator[Any]:
        """The items of the iterables, iteration by iteration (without iterables, no end of
        iterations)."""
        if not shape.iterables:
            return iter(lambda: (), None)
        iterables = [
            range(*operands[where]) if kind == "range" else operands[where][0]
            for kind, where in zip(shape.iterables, shape.iterable_slices(), strict=True)
        ]
        if shape.reversed:
            lengths = {len(iterable) for iterable in iterables}
            assert len(lengths) == 1, f"reversed loop over iterables of lengths {lengths}"
            return zip(*map(reversed, iterables), strict=True)
        return zip(*iterables, strict=False)


def call_callee(operation: Operation, operands: list[Any]) -> Any:
    """Call an operation's callee (of the compiler's own ones, the primitive's first callee)."""
    return apply(operation, operation.callee or callee_of(operation.primitive), operands)


def callee_of(primitive: Primitive) -> Any:
    """The first function that was registered for a primitive."""
    for callee, registered in PRIMITIVES.items():
        if registered is primitive:
            return callee
    raise NotImplementedError(f"{primitive} has no callee")


Arguments = dict[str, Any]


def _undef(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    return UNDEFINED


def _getitem(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    return arguments["x"][index_of(arguments["index"])]


def _store(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result, view, index = _target(interpreter, arguments)
    view[index] = arguments["value"]
    return result


def _accumulate(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result, view, index = _target(interpreter, arguments)
    np.add.at(view, index, arguments["value"])
    return result


def _target(interpreter: _Interpreter, arguments: Arguments) -> tuple[Any, Any, Any]:
    """The array to be returned, a view of it, and the index where the path ends."""
    result = interpreter.owned(arguments["x"])
    view, path = result, arguments["path"]
    index: Any = Ellipsis
    if path and path[-1][0] in indexing.READS:
        *path, (_, last) = path
        index = index_of(last["index"])
    for primitive, step in path:
        view = follow(view, primitive, step)
        assert np.shares_memory(view, result) or not view.size, f"{primitive} made no view"
    return result, view, index


def follow(x: Any, primitive: Primitive, arguments: Arguments) -> Any:
    """One step of a path: the view of x that a primitive takes."""
    if primitive is indexing.GETITEM:
        return x[index_of(arguments["index"])]
    assert primitive.signature is not None
    first = next(iter(primitive.signature.parameters))
    step = Operation(primitive, (), (), {first: Operand(0), **arguments})
    return call_callee(step, [x])


def _append(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result = interpreter.owned(arguments["x"])
    result.append(arguments["value"])
    return result


def _pop(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result = interpreter.owned(arguments["x"])
    result.pop()
    return result


def _set(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result = interpreter.owned(arguments["x"])
    result[arguments["index"]] = arguments["value"]
    return result


def _section(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    (index,) = index_of((arguments["index"],))
    return arguments["x"][index]


def _set_section(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result = interpreter.owned(arguments["x"])
    (index,) = index_of((arguments["index"],))
    assert len(result[index]) == len(arguments["value"])
    result[index] = arguments["value"]
    return result


def _insert(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result = interpreter.owned(arguments["x"])
    result.insert(arguments["index"], arguments["value"])
    return result


def _delete(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    result = interpreter.owned(arguments["x"])
    del result[arguments["index"]]
    return result


def _effect(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    args, keywords = arguments["args"], arguments["keywords"]
    if isinstance(operation.callee, Method):
        return getattr(args[0], operation.callee.name)(*args[1:], **keywords)
    return operation.callee(*index_of(args), **keywords)


def _raise(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    if arguments["cause"] is not None:
        raise arguments["exception"] from arguments["cause"]
    raise arguments["exception"]


def _assert(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    if not arguments["condition"]:
        message = arguments["message"]
        raise AssertionError(*([] if message is None else [message]))


def _check(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    if not arguments["condition"]:
        raise UnsupportedError(arguments["what"], arguments["advice"])


def _enter(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    if operation.callee in (control.attempted, control.finally_done):
        interpreter.contexts.append(contextlib.nullcontext())
        return None
    if operation.callee is None:
        manager = arguments["args"][0]
    else:
        manager = _effect(interpreter, arguments, operation)
    interpreter.contexts.append(manager)
    return manager.__enter__()


def _exit(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    interpreter.contexts.pop().__exit__(None, None, None)


def _format(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    return "".join(map(_format_part, arguments["parts"]))


def _format_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    value, conversion, specification = part
    if isinstance(conversion, int):
        conversion = chr(conversion) if conversion >= 0 else None
    if conversion:
        value = {"r": repr, "s": str, "a": ascii}[conversion](value)
    return format(value, specification or "")


def zeros_like(x: Any) -> Any:
    """Zeros of the structure of x; scalars have their own dtype's zero."""
    if isinstance(x, np.ndarray):
        return np.zeros_like(x)
    tree, leaves = flatten(x)
    if isinstance(tree, Leaf):
        return type(x)(0)
    return unflatten(tree, map(zeros_like, leaves))


def add_items(x: Any, y: Any) -> Any:
    """The sum of two values of one structure, leaf by leaf."""
    tree, leaves = flatten(x)
    sums = (a + b for a, b in zip(leaves, flatten(y)[1], strict=True))
    return unflatten(tree, iter(list(sums)))


def _copy(x: Any) -> Any:
    return x.copy(order="K") if isinstance(x, np.ndarray) else copy.copy(x)


def _push(interpreter: _Interpreter, arguments: Arguments, operation: Operation) -> Any:
    arguments["stack"].append(arguments["value"])


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """A handler that needs the arguments alone."""
    return lambda interpreter, arguments, operation: function(**arguments)


_HANDLERS: dict[Primitive, Callable[[_Interpreter, Arguments, Operation], Any]] = {
    indexing.GETITEM: _getitem,
    indexing.GATHER: _getitem,
    indexing.STORE: _store,
    indexing.ACCUMULATE: _accumulate,
    indexing.LENGTH: _plain(lambda x, axis: x.shape[axis]),
    nonzero.NONZERO: lambda interpreter, arguments, operation: operation.callee(arguments["x"]),
    control.CONSTANT: _plain(lambda value: value),
    control.UNDEF: _undef,
    control.TUPLE: _plain(lambda items: tuple(items)),
    control.ITEM: _plain(lambda x, position: x[position]),
    control.LIST: _plain(lambda items, item: list(items)),
    control.APPEND: _append,
    control.POP: _pop,
    control.GET: _plain(lambda x, index: x[index]),
    control.SET: _set,
    lists.REPEAT: _plain(lambda x, n: x * n),
    lists.JOIN: _plain(lambda x, y: x + y),
    lists.SECTION: _section,
    lists.SET_SECTION: _set_section,
    lists.INSERT: _insert,
    lists.DELETE: _delete,
    control.LEN: _plain(lambda x: len(x)),
    control.COPY: _plain(_copy),
    control.ZEROS_LIKE: _plain(zeros_like),
    control.ADD_ITEMS: _plain(add_items),
    control.EFFECT: _effect,
    control.RUN: _effect,
    control.ENTER: _enter,
    control.EXIT: _exit,
    control.ATTEMPT: _plain(_Attempt),
    control.CAUGHT: lambda interpreter, arguments, operation: interpreter.caught,
    control.RAISE: _raise,
    control.ASSERT: _assert,
    control.CHECK: _check,
    control.FORMAT: _format,
    control.STACK: _plain(lambda item: []),
    control.PUSH: _push,
    control.STACK_POP: _plain(lambda stack: stack.pop()),
}
