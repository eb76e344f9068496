"""The tangent of the adjoint of every operation, against differences of the adjoint."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradscribe.frontend.inlined_rules import inline
from gradscribe.ir.builder import Builder
from gradscribe.ir.core import Block, Function, Parameter
from gradscribe.ir.lengths import Facts
from gradscribe.ir.trees import LEAF, flatten
from gradscribe.ir.verifier import verify
from gradscribe.transforms import adjoint, tangent
from tests.interpreter import run
from tests.primitives import second_order
from tests.primitives.cases import ALL
from tests.primitives.harness import Case, Lengths, by_rule, is_operand, naming
from tests.primitives.test_forms import FORMS
from tests.sampling import one_in

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", one_in(32, [t for t in FORMS if "apply_along" not in t]))
def test_second_derivatives_of_forms(text: str) -> None:
    second_order.check(text)


def one_of_each_kind(cases: list[Case]) -> list[Case]:
    """Of each primitive, the calls that differ in more than shapes of one rank."""
    chosen: dict[Any, Case] = {}
    for case in cases:
        ranks = tuple(np.ndim(x) for x in case.operands)
        if case.operands and np.asarray(case()).dtype == np.float64:
            statics = str({k: v for k, v in case.arguments.items() if not is_operand(v)})
            chosen.setdefault((case.primitive, ranks, statics), case)
    return list(chosen.values())


def primal(case: Case) -> tuple[Function, list[Any]]:
    """The function of one operation, and its arguments."""
    lengths = Lengths()
    inputs = [x for x in flatten(case.arguments)[1] if isinstance(x, (np.ndarray, np.generic))]
    types = [lengths(x) for x in inputs]
    builder = Builder(Facts(lengths.samples))
    values = [builder.named(t, f"x{i}") for i, t in enumerate(types)]
    rest = iter(values)

    def replaced(item: Any) -> Any:
        if isinstance(item, (tuple, list)):
            return type(item)(map(replaced, item))
        return next(rest) if isinstance(item, (np.ndarray, np.generic)) else item

    arguments = {name: replaced(item) for name, item in case.arguments.items()}
    out = builder.call(case.primitive, arguments, callee=case.ir_callee, name="out")
    parameters = tuple(Parameter(v.name, LEAF, (v,)) for v in values)
    body = Block(tuple(values), tuple(builder.operations), (out,))
    return Function("f", parameters, body, LEAF, builder.facts), inputs


def arrays(results: Any) -> list[np.ndarray]:
    return [np.asarray(leaf, float) for leaf in flatten(results)[1] if leaf is not None]


KINDS = by_rule(one_in(6, one_of_each_kind(ALL)))


@pytest.mark.parametrize("name", KINDS)
def test_tangent_of_adjoint(name: str) -> None:
    for case in KINDS[name]:
        with naming(case):
            check_tangent_of_adjoint(case)


def check_tangent_of_adjoint(case: Case) -> None:
    function, inputs = primal(case)
    active = tuple(i for i, x in enumerate(inputs) if is_operand(x))
    gradient = adjoint.differentiate(function, active, inline).function
    verify(gradient)
    second = tangent.differentiate(gradient, (*active, len(inputs)), inline)
    verify(second)

    rng = np.random.default_rng(3)
    arguments = [*inputs, rng.normal(size=np.shape(case()))[()]]
    moving = [*active, len(inputs)]
    along = [np.asarray(rng.normal(size=np.shape(arguments[i])))[()] for i in moving]

    def moved(by: float) -> list[np.ndarray]:
        shifted = list(arguments)
        for i, direction in zip(moving, along, strict=True):
            kind = np.asarray if isinstance(arguments[i], np.ndarray) else np.float64
            shifted[i] = kind(arguments[i] + by * direction)
        return arrays(run(gradient, *shifted))

    _, tangents = run(second, *arguments, *along)
    for ahead, behind, got in zip(moved(1e-6), moved(-1e-6), arrays(tangents), strict=True):
        np.testing.assert_allclose(got, (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-6)
