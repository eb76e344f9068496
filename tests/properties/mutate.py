"""A long hunt: `python -m tests.properties.mutate [count]` checks mutants of the library, and
with `--of operands` programs that bring together operands of any two kinds, with `--of calls`
calls of NumPy's and SciPy's functions with a mistake in them.

Each program (mutations.py, operands.py, calls.py) is right in every mode, or refused, or raises
what plain Python raises. Anything else is a failure: a value or a derivative that is wrong, any
other exception, and more than ten seconds or a gigabyte. What fails is printed with the number
that repeats it: `--only 123`.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import copy
import functools
import io
import multiprocessing
import random
import re
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

import gradscribe as gs
from gradscribe.errors import GradscribeError, InternalError
from gradscribe.ir.trees import flatten
from gradscribe.testing import _difference, _inner, _is_floating, _random_like, _shifted
from tests import collector
from tests.border.verdicts import Wrong
from tests.programs.registry import load, same
from tests.properties import calls, operands
from tests.properties.mutations import Mutant, mutant

BATCH = 50
SECONDS = 10
PLAIN_SECONDS = 0.2  # differences call it 23 times
BYTES = 4 << 30
TENSORS = 4
"""Of so many mutants, one is called with Tensors, too."""

GOOD = ("right", "refused", "raises", "skipped")
BAD = ("wrong", "crash", "slow")


class TooLong(BaseException):
    """More seconds were spent than there are."""


def of_library(number: int) -> Mutant:
    """A mutant of a program of the library."""
    programs = list(load().values())
    rng = np.random.default_rng(number)
    return mutant(programs[rng.integers(len(programs))], rng)


MAKERS = {"library": of_library, "operands": operands.program, "calls": calls.program}


def outcome(number: int, of: str = "library") -> tuple[str, str, Mutant]:
    """What becomes of a mutant: one word of `GOOD` or `BAD` with a class, and details."""
    made = MAKERS[of](number)
    with _quiet():
        try:
            kind, detail = _checked(made, tensors=of == "library" and number % TENSORS == 0)
        except TooLong:
            kind, detail = "slow", traceback.format_exc(limit=-12)
    return kind, detail, made


def _checked(made: Mutant, tensors: bool) -> tuple[str, str]:
    try:
        expected, again = (
            _limited(PLAIN_SECONDS, lambda fill=fill: _filled(made, fill)) for fill in (0, 1)
        )
        if not same(expected, again):
            return "skipped: reads what np.empty leaves", ""
        if " at 0x" in repr(expected):
            return "skipped: tells an address", ""
    except TooLong:
        return "skipped: endless", ""
    except MemoryError:
        return "skipped: memory", ""
    except Exception as raised:
        expected = raised
    checks = [check_modes, check_tensors] if tensors else [check_modes]
    kinds = []
    for check in checks:
        try:
            _limited(SECONDS, lambda check=check: check(made, expected))
            kinds.append("right")
        except Exception as error:
            kind, detail = _judged(error, expected)
            if kind.split(":")[0] in BAD:
                return kind, detail
            kinds.append(kind)
    return kinds[0], ""


def _judged(error: Exception, expected: Any) -> tuple[str, str]:
    if isinstance(error, Wrong):
        return f"wrong: {re.sub(r'[-0-9.e+]+', 'N', str(error))[:60]}", str(error)
    told = "".join(traceback.format_exception(error))
    name = type(error).__name__
    if isinstance(error, GradscribeError) and not isinstance(error, InternalError):
        return f"refused: {name}: {_kind_of(error)}", told
    if isinstance(expected, Exception) and isinstance(error, type(expected)):
        return f"raises: {name}", ""
    if isinstance(error, UnboundLocalError) and isinstance(expected, AttributeError):
        return "raises: UnboundLocalError, of an attribute", ""  # they are variables
    if isinstance(error, ZeroDivisionError) and not _is_finite(expected):
        return "raises: at a pole", ""
    if "Tensor'" in str(error) and isinstance(error, TypeError):
        return "refused: by Tensors", told
    if any(words in str(error) for words in _OF_TENSORS):
        return "refused: by Tensors", told
    if isinstance(expected, UnboundLocalError) and "NoneType" in str(error):
        return "raises: TypeError, of a name without a value", ""
    if isinstance(expected, Exception) and _is_in_words_of_tensors(error):
        return f"raises: {name}, of Tensors", ""
    if str(error).startswith("'Tensor' object has no attribute"):
        return "refused: the user's own function, run with Tensors", told
    if "returned None here, which has no" in str(error):
        return "refused: at run time", told
    if isinstance(expected, Exception) and not isinstance(error, GradscribeError):
        return f"raises: {name} instead of {type(expected).__name__}", told
    said = re.sub(r"\d+", "N", f"{name}: {str(error).splitlines()[0] if str(error) else ''}")[:100]
    return f"crash: {said}", told


_OF_TENSORS = (
    "a Tensor cannot be stored in an array",
    "could not infer output dtype",
    "type Tensor doesn't define",
)
"""What PyTorch refuses, too."""


def _is_finite(value: Any) -> bool:
    return all(np.all(np.isfinite(leaf)) for leaf in flatten(value)[1] if _is_floating(leaf))


def _is_in_words_of_tensors(error: Exception) -> bool:
    """Whether this is what a Tensor raises in the user's own function, which is run as it is."""
    return any(
        frame.f_globals.get("__name__", "").startswith("gradscribe.runtime")
        for frame, _ in traceback.walk_tb(error.__traceback__)
    )


def _kind_of(refusal: GradscribeError) -> str:
    return re.sub(r"`[^`]*`|\d+", "…", str(refusal).splitlines()[0])[:90]


def check_modes(made: Mutant, expected: Any) -> None:
    """Forward and reverse mode: their values, each other, and differences."""
    rng = np.random.default_rng(0)
    args, pullback = copy.deepcopy(made.args), None
    out, pullback = _seeded(lambda: gs.vjp(made.function, *args))
    _check_value(out, expected)
    if not same(args, made.args):
        raise Wrong(f"vjp changed the caller's arguments to {args!r}")
    direction = [_random_like(arg, rng) for arg in args]
    cotangent = _random_like(out, rng)
    gradients = pullback(cotangent)
    out, tangent = _seeded(lambda: gs.jvp(made.function, copy.deepcopy(made.args), direction))
    _check_value(out, expected)
    backward = sum(map(_inner, direction, gradients))
    forward = _inner(cotangent, tangent)
    _check_derivative(made, backward, forward, direction, cotangent)


def check_tensors(made: Mutant, expected: Any) -> None:
    """A call with Tensors for its floating arrays: the value, and the gradients of its sum. Left
    out is what Tensors have in another meaning, and what is no array for a caller's Tensors."""
    leaves: list[Any] = []
    dtypes = {np.asarray(x).dtype.name for x in flatten(made.args)[1] if _is_floating(x)}
    if dtypes - {"float64"}:  # Tensors promote by rules of their own
        return
    if expected is None or re.search(r"\.(var|std|size|max|min|T|tolist|item)\b", made.text):
        return
    if re.search(r"\bnp\.ndarray\b|\btype\(", made.text):  # Tensors may take another path
        return

    def tensor(value: Any) -> Any:
        if type(value) is np.ndarray and value.dtype == np.float64:
            leaves.append(gs.tensor(value.copy(), requires_grad=True))
            return leaves[-1] * 1.0
        if type(value) in (list, tuple):
            return type(value)(tensor(item) for item in value)
        return copy.deepcopy(value)

    args = tuple(tensor(arg) for arg in made.args)
    if not leaves:
        return
    out = _seeded(lambda: gs.differentiable(made.function)(*args))
    if isinstance(expected, Exception):
        raise Wrong(f"Tensors give {out!r}, where plain Python raises {expected!r}")
    if not isinstance(out, gs.Tensor) or not isinstance(expected, float | np.ndarray):
        return
    if out.detach().numpy().tobytes() != np.asarray(expected).tobytes():
        raise Wrong(f"with Tensors, the value is {out!r}, by plain Python {expected!r}")
    if not out.requires_grad or out.dtype != gs.float64:
        return
    out.sum().backward()
    given, pullback = _seeded(lambda: gs.vjp(made.function, *copy.deepcopy(made.args)))
    found = flatten(pullback(np.ones_like(given)))[1]
    by_array = [g for g in found if isinstance(g, np.ndarray)]
    by_tensor = [np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in leaves]
    if len(by_array) == len(by_tensor):
        for a, b in zip(by_array, by_tensor, strict=True):
            if not np.allclose(a, b, rtol=1e-9, atol=1e-9, equal_nan=True):
                raise Wrong(f"with Tensors, a gradient is {b!r}, else {a!r}")


def _check_value(found: Any, expected: Any) -> None:
    if isinstance(expected, Exception):
        raise Wrong(f"a value where plain Python raises {expected!r}: {found!r}")
    if not same(found, expected) and not _is_rounded(found, expected):
        raise Wrong(f"the value is {found!r}, by plain Python {expected!r}")


def _is_rounded(a: Any, b: Any) -> bool:
    """Arrays in other layouts are summed in another order."""
    (tree, xs), (other, ys) = flatten(a), flatten(b)
    if tree != other or [type(x) for x in xs] != [type(y) for y in ys]:
        return False
    return all(
        np.shape(x) == np.shape(y)
        and np.asarray(x).dtype.kind in "fc"
        and np.allclose(x, y, rtol=1e-13, atol=1e-13, equal_nan=True)
        for x, y in zip(xs, ys, strict=True)
    )


def _check_derivative(
    made: Mutant, backward: float, forward: float, direction: list[Any], cotangent: Any
) -> None:
    """Both modes agree; and where the function is smooth, with differences of it."""
    if "0" * 15 in made.text or "e+300" in made.text:  # no difference is left of such numbers
        return
    leaves = [np.asarray(x) for x in flatten([made.args, cotangent])[1] if _is_floating(x)]
    if any(x.dtype.char in "efF" for x in leaves) or not np.isfinite([backward, forward]).all():
        return
    try:
        values = [_inner(cotangent, _at(made, direction, h)) for h in (-1e-6, 0.0, 1e-6)]
        if not max(values) - min(values) <= 1e-3 * (1 + max(map(abs, values))):
            return  # it jumps
        slopes = [
            _inner(cotangent, _seeded(lambda at=at, h=h: _slope(made, direction, at * h, h)))
            for h in (1e-5, 1e-6, 1e-4)
            for at in (0, -2, 2)
        ]
    except (Exception, TooLong):
        return  # it raises nearby, or does not end
    spread = max(slopes) - min(slopes)  # large at corners, at jumps, and where it is all rounding
    if not np.isfinite(spread) or spread > 1e-2 * (1 + max(map(abs, slopes))):
        return
    if abs(backward - forward) > 1e-7 * (1 + abs(forward) + abs(backward)):
        raise Wrong(f"reverse mode gives {backward!r}, forward mode {forward!r}")
    away = min(abs(forward - slope) for slope in slopes)
    size = max((float(np.max(np.abs(x), initial=0.0)) for x in leaves), default=0.0)
    rounding = 1e-11 * size / 1e-4  # of numbers that are that large
    if away > 1e-4 * (1 + abs(forward) + max(map(abs, slopes))) + 2 * spread + rounding:
        near = _inner(cotangent, _seeded(lambda: _slope(made, direction, 0, 1e-8)))
        if abs(forward - near) > 1e-3 * (1 + abs(forward)):  # else it jumps between the steps
            raise Wrong(f"both modes give {forward!r}, differences {slopes!r}")


def _at(made: Mutant, direction: list[Any], step: float) -> Any:
    shifted = (_shifted(a, d, step) for a, d in zip(made.args, direction, strict=True))
    return _seeded(lambda: made.function(*shifted))


def _slope(made: Mutant, direction: list[Any], at: float, step: float) -> Any:
    """The central difference at a point that is so far away in this direction."""

    def moved(*args: Any) -> Any:
        shifted = (_shifted(a, d, at) for a, d in zip(args, direction, strict=True))
        return made.function(*shifted)

    return _difference(moved, made.args, direction, step)


def _filled(made: Mutant, fill: int) -> Any:
    """What plain Python gives where `np.empty` gives an array of this number."""

    def filled(real: Any) -> Any:
        def empty(*args: Any, **kwargs: Any) -> Any:
            array = real(*args, **kwargs)
            array[...] = fill
            return array

        return empty

    with (
        mock.patch.object(np, "empty", filled(np.empty)),
        mock.patch.object(np, "empty_like", filled(np.empty_like)),
    ):
        return _seeded(lambda: made.function(*copy.deepcopy(made.args)))


def _seeded(run: Callable[[], Any]) -> Any:
    np.random.seed(0)
    random.seed(0)
    return run()


def _limited(seconds: float, run: Callable[[], Any]) -> Any:
    """The result of a run that takes so many seconds of this process at most."""

    def stop(*args: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return run()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gs.errors.show_internal_frames(True)  # they tell whose error it is
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
        gs.errors.show_internal_frames(False)


# -- the command -----------------------------------------------------------------------------


def batch(numbers: list[int], of: str) -> list[tuple[int, str, str]]:
    """Of each number, its outcome and a report of what failed."""
    results = []
    for number in numbers:
        kind, detail, made = outcome(number, of)
        report = ""
        if kind.split(":")[0] in BAD:
            report = f"=== {number}: {made.name}, {made.change}\n{made.text}\n{kind}\n{detail}"
        results.append((number, kind, report))
    return results


def _start() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    collector.rest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mutants", type=int, nargs="?", default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--only", type=int, action="append", help="check these, and print them")
    parser.add_argument("--of", choices=MAKERS, default="library")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    if options.only:
        for number in options.only:
            kind, detail, made = outcome(number, options.of)
            print(f"=== {number}: {made.name}, {made.change}\n{made.text}\n{kind}\n{detail}")
        return 0
    kinds: collections.Counter[str] = collections.Counter()
    last = options.first + options.mutants
    batches = [[*range(n, min(n + BATCH, last))] for n in range(options.first, last, BATCH)]
    with multiprocessing.Pool(options.processes, _start, maxtasksperchild=20) as pool:
        for done, results in enumerate(
            pool.imap(functools.partial(batch, of=options.of), batches), 1
        ):
            for _, kind, report in results:
                kinds[kind] += 1
                if report:
                    print(report, flush=True)
            bad = sum(kinds[kind] for kind in kinds if kind.split(":")[0] in BAD)
            print(f"--- {done * BATCH} mutants, {bad} failures", file=sys.stderr, flush=True)
    for kind, count in kinds.most_common():
        print(f"{count:8,d} {kind}")
    for word in (*GOOD, *BAD):
        count = sum(kinds[kind] for kind in kinds if kind.split(":")[0] == word)
        print(f"{count:8,d} {word} in all")
    return 1 if any(kind.split(":")[0] in BAD for kind in kinds) else 0


if __name__ == "__main__":
    sys.exit(main())
