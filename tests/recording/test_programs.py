"""Whole programs, recorded: values are plain Python's, derivatives those of compiled code."""

import contextlib
import functools
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import gradscribe as gs
from gradscribe.errors import UnsupportedError
from gradscribe.ir.trees import flatten, unflatten
from tests.programs.registry import load, same
from tests.properties.grammar.programs import KINDS, arguments, compiled, programs
from tests.sampling import RUN, examples, one_in

pytestmark = pytest.mark.filterwarnings("ignore")

REFUSED = {
    "layers_with_state_of_the_optimiser": "stores to arrays of objects from outside",
    "path_by_two_curves": "a list that NumPy makes an array of in a class with `__slots__`",
}

POLES = {"energy_with_upper_triangle", "heston_with_full_truncation"}
"""A mask hides a pole, where compiled code gives 0."""

PROGRAMS = [p for p in load().values() if p.name not in POLES]


def seeds_like(value):
    tree, leaves = flatten(value)
    return unflatten(tree, iter([seed_like(leaf) for leaf in leaves]))


def seed_like(leaf):
    if np.asarray(leaf).dtype.kind not in "fc":
        return None
    return np.cos(np.arange(np.size(leaf))).reshape(np.shape(leaf))[()]


def is_number(value):
    return value is not None and not isinstance(value, (str, bool))


@pytest.mark.parametrize("program", one_in(16, PROGRAMS), ids=lambda program: program.name)
def test_programs_of_the_library(program):
    with contextlib.redirect_stdout(io.StringIO()):
        if program.name in REFUSED:
            with pytest.raises(UnsupportedError):
                gs.vjp(program.function, *program.args(), compile=False)
            return
        args = program.args()
        out, pullback = gs.vjp(program.function, *args, compile=False)
        value = program.function(*program.args())
        assert same(out, value), "the value"
        assert same(args, program.example), "the arguments were changed"
        seeds = seeds_like(out)
        expected = gs.vjp(program.function, *program.args())[1](seeds)
    found, wanted = (
        [leaf for leaf in flatten(each)[1] if is_number(leaf)]
        for each in (pullback(seeds), expected)
    )
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("idioms", "scratch", "border")])
def test_generated_programs(kind):
    @seed(RUN.draw if RUN.thin else 0)
    @settings(
        max_examples=examples(60, 4),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(programs(kind), st.integers(0, 1000))
    def run(text, values):
        program, args = functools.partial(compiled, text), arguments(values)  # with its own state
        with np.errstate(all="ignore"):
            expected = program()(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in args])
            try:
                options = {"argnums": (0, 1, 2)}
                value, found = gs.value_and_grad(program(), compile=False, **options)(*args)
                wanted = gs.grad(program(), **options)(*args)
            except UnsupportedError:
                return
        assert same(value, expected)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)

    run()
