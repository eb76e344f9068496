"""What becomes of a program that calls compiled code: right, refused, wrong, or a crash.

In: what makes the program's function anew, as often as it has to run (programs may keep state), and
its arguments. Out: a `Verdict` over four modes: reverse, forward, Tensors, Hessian times vector.
Derivatives are held against finite differences of the plain program, whose arguments count as
results where they are changed in place; compiled values against plain Python's, bit for bit.
"""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import random
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gradscribe as gs
from gradscribe.errors import (
    AliasingError,
    GradscribeError,
    NonScalarError,
    SourceNotFoundError,
    UnsupportedError,
)

REFUSALS = (UnsupportedError, SourceNotFoundError, NonScalarError)
UNKNOWN = object()
KINDS = ("right", "refused", "wrong", "crash")

Function = Callable[..., Any]


class Wrong(Exception):
    """A value or a derivative is not what plain Python, or its differences, say."""


@dataclass(frozen=True)
class Verdict:
    """modes: the kind of each mode; kind: the worst of them; error, detail: what that one says."""

    kind: str
    error: Exception | None
    detail: str
    modes: dict[str, str]


def verdict(make: Callable[[], Function], args: tuple[Any, ...]) -> Verdict:
    """Differentiate a function of numbers and arrays (in any nesting), which returns a number.

    make: gives the function, in the state that it starts from. An exception that plain Python
    raises is raised: nothing can be said of such a program.
    """
    with _quiet():
        try:
            run = PlainRun(make, args)
        except GradscribeError as refusal:  # a primitive that breaks its contract says so at once
            return Verdict(
                "refused", refusal, f"refused: {refusal}", dict.fromkeys(MODES, "refused")
            )
        found = {name: _outcome(check, run) for name, check in MODES.items()}
    worst = max(found, key=lambda mode: KINDS.index(found[mode][0]))
    kind, error = found[worst]
    modes = {mode: kind for mode, (kind, _) in found.items()}
    return Verdict(kind, error, "" if error is None else _told(kind, worst, error), modes)


def function_of(text: str) -> Function:
    """The function `program` that a module with this text defines, with its source findable."""
    filename = f"<program {zlib.crc32(text.encode()):08x}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    function: Function = namespace["program"]
    return function


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield


def _told(kind: str, mode: str, error: Exception) -> str:
    if kind != "crash":
        return f"{kind} in mode {mode}: {error}"
    trace = "".join(traceback.format_exception(error))
    return f"{kind} in mode {mode}: {error!r}\n{trace}"


def _outcome(check: Callable[[PlainRun], None], run: PlainRun) -> tuple[str, Exception | None]:
    np.random.seed(0)
    random.seed(0)
    try:
        check(run)
    except REFUSALS as refusal:
        return "refused", refusal
    except Wrong as difference:
        return "wrong", difference
    except Exception as error:
        return "crash", error
    return "right", None


def is_checked_at_run_time(error: Exception) -> bool:
    """Whether this is a check of the generated code: what compiled code did is not followed."""
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].filename.startswith("<gradscribe")


class PlainRun:
    """The program as Python runs it: its values, and differences of them."""

    def __init__(self, make: Callable[[], Function], args: tuple[Any, ...]) -> None:
        self.args, changed = args, _copied(args)
        _seeded(make(), changed)
        pairs = _arrays(args, changed)
        paths = [path for path, before, after in pairs if not _same(before, after)]
        self.make = (lambda: _with_stores(make(), len(args), paths)) if paths else make
        self.leaves = _leaves(args)
        self.single = any(np.asarray(leaf).dtype == np.float32 for leaf in self.leaves)
        function = self.make()
        self.left, self.values, self.worlds = [], [], []
        for given in (_copied(args), _copied(args)):
            self.values.append(_seeded(function, given))
            self.worlds.append(_world(function))
            self.left.append(_copied(given))  # the next call may change what this one has kept
        rng = np.random.default_rng(7)
        self.directions = [
            [rng.normal(size=np.shape(leaf)) for leaf in self.leaves] for _ in range(2)
        ]

    def at(self, *moves: tuple[float, list[Any]]) -> float:
        """The value where the leaves are moved so far along these directions."""
        moved = [
            np.asarray(leaf + sum(h * d[i] for h, d in moves), np.asarray(leaf).dtype)
            for i, leaf in enumerate(self.leaves)
        ]
        args = _with_leaves(self.args, iter(moved))
        return float(_seeded(self.make(), args))

    def slope(self, direction: list[Any], h: float) -> float:
        return (self.at((h, direction)) - self.at((-h, direction))) / (2 * h)

    def curvature(self, v: list[Any], w: list[Any], h: float) -> float:
        corners = [a * b * self.at((a * h, v), (b * h, w)) for a in (1, -1) for b in (1, -1)]
        return sum(corners) / (4 * h * h)


def _seeded(function: Function, args: tuple[Any, ...]) -> Any:
    """Plain Python's result, with the global random states as each run finds them."""
    np.random.seed(0)
    random.seed(0)
    return function(*args)


def check_reverse(run: PlainRun) -> None:
    given = _copied(run.args)
    active = tuple(i for i, arg in enumerate(given) if _leaves(arg))
    function = run.make()
    value, found = _seeded(gs.value_and_grad(function, argnums=active), given)
    _check_value(value, run.values[0])
    _check_world(function, run.worlds[0])
    _check_gradients(run, _leaves_of(found, [given[i] for i in active]))
    for path, before, after in _arrays(run.args, given):
        if not _same(before, after):
            raise Wrong(f"gs.value_and_grad changed its caller's array {path}")


def check_forward(run: PlainRun) -> None:
    direction = run.directions[0]
    tangents = _tangents(run.args, direction)
    function = run.make()
    value, tangent = gs.jvp(function, _copied(run.args), tangents)
    _check_value(value, run.values[0])
    _check_world(function, run.worlds[0])
    _check_slope(run, float(0.0 if tangent is None else tangent), direction)


def check_tensors(run: PlainRun) -> None:
    try:
        _check_calls(run, (float, np.ndarray))
    except AliasingError:  # a number that is changed in place is one as long as it is no Tensor
        _check_calls(run, (np.ndarray,))


def _check_calls(run: PlainRun, classes: tuple[type, ...]) -> None:
    """The second call finds the state that the first one has left."""
    function = gs.differentiable(run.make())
    gradients, _ = [_with_tensors(run, function, classes, call) for call in range(2)]
    _check_gradients(run, gradients)


def _with_tensors(
    run: PlainRun, function: Function, classes: tuple[type, ...], call: int
) -> list[Any]:
    """The gradients of a call with Tensors, of which value and stores are checked."""
    leaves = [
        gs.tensor(np.copy(leaf), requires_grad=True) if isinstance(leaf, classes) else leaf
        for leaf in run.leaves
    ]
    given = [leaf * 1.0 for leaf in leaves]
    args = _with_leaves(run.args, iter(given))
    value = _seeded(function, args)
    _check_value(_plain(value), run.values[call])
    _check_world(getattr(function, "__wrapped__", function), run.worlds[call])
    for path, found, left in _arrays(args, run.left[call]):
        if not _same(_plain(found), left):
            raise Wrong(f"{path} is left as {found}, by plain Python as {left}")
    if isinstance(value, gs.Tensor) and value.requires_grad:
        value.backward(retain_graph=True)  # the state may keep the graph
    return [_gradient_of(leaf) for leaf in leaves]


def _gradient_of(leaf: Any) -> Any:
    """Of a number that was given as it is: nothing that could be checked."""
    if not isinstance(leaf, gs.Tensor):
        return UNKNOWN
    return np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy().copy()


def _plain(value: Any) -> Any:
    return value.detach().numpy() if isinstance(value, gs.Tensor) else value


def check_hessian(run: PlainRun) -> None:
    if run.single:  # no second differences of float32
        return
    v, w = run.directions
    product = gs.hvp(run.make(), _copied(run.args), _tangents(run.args, v))
    rows = zip(_leaves_of(product, run.args), w, strict=True)
    found = sum(float(np.sum(row * d)) for row, d in rows if row is not None)
    steps = [run.curvature(v, w, h) for h in (1e-4, 1e-5, 1e-3)]
    if not any(_close(found, step, 1e-4) for step in steps):
        raise Wrong(f"⟨w, H v⟩ is {found:.8g}, by differences {steps[0]:.8g}")


MODES = {
    "reverse": check_reverse,
    "forward": check_forward,
    "Tensors": check_tensors,
    "Hessian": check_hessian,
}


def _world(function: Function) -> str:
    """What a program keeps in its module (its `world`): values, and which object is which."""
    world = function.__globals__.get("world")
    seen: dict[int, int] = {}

    def told(value: Any) -> str:
        value = _plain(value)
        if isinstance(value, float | np.floating | int | bool | str | None):
            return repr(value.item() if isinstance(value, np.generic) else value)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return repr(value.item())
        if id(value) in seen:
            return f"#{seen[id(value)]}"
        seen[id(value)] = len(seen)
        if isinstance(value, np.ndarray):
            return f"{seen[id(value)]}:{value.tolist()}"
        if isinstance(value, dict):
            parts = [f"{key!r}: {told(item)}" for key, item in value.items()]
        elif isinstance(value, list | tuple):
            parts = list(map(told, value))
        elif isinstance(value, set):
            parts = sorted(map(repr, value))
        else:
            parts = [f"{name}={told(item)}" for name, item in sorted(vars(value).items())]
        return f"{seen[id(value)]}:{type(value).__name__}({', '.join(parts)})"

    return "" if world is None else told(world())


def _check_world(function: Function, expected: str) -> None:
    found = _world(function)
    if found != expected:
        raise Wrong(f"the module is left as {found}, by plain Python as {expected}")


def _check_value(found: Any, expected: Any) -> None:
    if not _same(found, expected):
        raise Wrong(f"the value is {found!r}, by plain Python {expected!r}")


def _check_gradients(run: PlainRun, found: list[Any]) -> None:
    for i, (leaf, gradient) in enumerate(zip(run.leaves, found, strict=True)):
        if gradient is UNKNOWN:
            continue
        gradient = np.zeros(np.shape(leaf)) if gradient is None else np.asarray(gradient)
        for place in np.ndindex(np.shape(leaf)):
            unit = [np.zeros(np.shape(other)) for other in run.leaves]
            unit[i][place] = 1.0
            where = f" (leaf {i}, place {place})"
            _check_slope(run, float(gradient[place]), unit, where)


def _check_slope(run: PlainRun, found: float, direction: list[Any], where: str = "") -> None:
    sizes, precision = ((1e-2, 1e-1), 2e-2) if run.single else ((1e-5, 1e-6, 1e-4), 1e-5)
    steps = []
    for h in sizes:  # a kink may lie within one step
        steps.append(run.slope(direction, h))
        if _close(found, steps[-1], precision):
            return
    raise Wrong(f"the derivative is {found:.8g}, by differences {steps[0]:.8g}{where}")


def _close(a: float, b: float, precision: float) -> bool:
    return abs(a - b) <= precision * max(1.0, abs(a), abs(b)) or (a != a and b != b)


def _same(a: Any, b: Any) -> bool:
    return np.asarray(a).tobytes() == np.asarray(b).tobytes()


# -- nested arguments ------------------------------------------------------------------------


def _is_leaf(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _leaves(value: Any) -> list[Any]:
    """The floating numbers and arrays in a nested value."""
    if _is_leaf(value):
        return [value]
    return [leaf for child in _children(value) for leaf in _leaves(child)]


def _leaves_of(found: Any, like: Any) -> list[Any]:
    """What stands in a nested result where the arguments have their leaves."""
    if _is_leaf(like):
        return [found]
    if isinstance(like, dict):
        return [leaf for key in like for leaf in _leaves_of(found[key], like[key])]
    children = _children(like)
    return [x for i, child in enumerate(children) for x in _leaves_of(found[i], child)]


def _with_leaves(value: Any, leaves: Iterator[Any]) -> Any:
    """The nested value with other leaves, in a structure of its own."""
    if _is_leaf(value):
        leaf = next(leaves)
        return float(leaf) if isinstance(value, float) and isinstance(leaf, np.ndarray) else leaf
    if isinstance(value, dict):
        return {key: _with_leaves(child, leaves) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_with_leaves(child, leaves) for child in value])
    return copy.deepcopy(value)


def _copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    copied: tuple[Any, ...] = _with_leaves(args, iter([np.copy(leaf) for leaf in _leaves(args)]))
    return copied


def _tangents(args: tuple[Any, ...], direction: list[Any]) -> Any:
    leaves = iter([np.asarray(d, np.asarray(x).dtype) for d, x in zip(direction, _leaves(args))])
    return _without_others(_with_leaves(args, leaves))


def _without_others(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(arg if _leaves(arg) else None for arg in args)


def _arrays(a: Any, b: Any, path: str = "a") -> Iterator[tuple[str, Any, Any]]:
    """The arrays in two values that are nested alike, with the expressions that read them."""
    if isinstance(a, np.ndarray | gs.Tensor) and np.ndim(b) > 0:
        yield path, a, b
    elif isinstance(a, dict):
        for key in a:
            yield from _arrays(a[key], b[key], f"{path}[{key!r}]")
    elif isinstance(a, list | tuple):
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            yield from _arrays(x, y, f"{path}[{i}]")


def _with_stores(function: Function, count: int, paths: list[str]) -> Function:
    """The function whose result contains what is left in its arguments, too."""
    names = ", ".join(f"a{i}" for i in range(count))
    left = [f"np.sum(np.sin({path.replace('a[', 'a', 1).replace(']', '', 1)}))" for path in paths]
    total = function_of(
        f"def program({names}):\n"
        f"    out = function({names})\n"
        f"    return {' + '.join(['out', *left])}\n"
    )
    total.__globals__.update(np=np, function=function)
    return total
