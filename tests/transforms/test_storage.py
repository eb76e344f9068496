"""What the adjoint needs of the primal is recomputed, undone or recorded, and nothing more."""

from __future__ import annotations

import numpy as np
import pytest

from gradscribe.frontend.inlined_rules import inline
from gradscribe.ir.printer import print_function
from gradscribe.ir.trees import count_leaves
from gradscribe.transforms.adjoint import differentiate
from gradscribe.transforms.passes.simplify import simplify
from tests.interpreter import run
from tests.transforms.adjoint_harness import (
    active_leaves,
    check_gradient,
    collected,
    loops,
    lowered,
    names,
    split,
)

RNG = np.random.default_rng(2)
VECTOR = RNG.normal(size=6)
MATRIX = RNG.normal(size=(5, 5))
POSITIVE = MATRIX @ MATRIX.T + 6 * np.eye(5)


def record_of(forward):
    """The types of what a forward function records."""
    tree = forward.result.children[1]
    return [repr(value.type) for value in forward.body.yields[-count_leaves(tree) :]]


# -- straight stores ---------------------------------------------------------------------------


def test_a_store_takes_the_cotangent_out():
    def f(x, s):
        x[1] = s * x[0]
        x[2:4] = x[1]
        x[0] *= x[2]
        return np.sum(x * x)

    check_gradient(f, VECTOR, 0.7, argnums=(0, 1))


def test_stores_through_views_and_aliases():
    def f(A):
        row = A[1]
        other = A
        row[2] = other[0, 0] * 2
        other.T[0, 1] = row[2] * row[3]
        return np.sum(A * A) * row[0]

    check_gradient(f, MATRIX)


def test_an_old_version_that_is_read_later():
    def f(x):
        old = x.copy()
        x[0] = x[1] * x[2]
        t = x[0]
        x[0] = t * t
        return np.sum(x * old) * t

    check_gradient(f, VECTOR)


def test_the_whole_array_is_overwritten():
    def f(x, y):
        y[...] = x * x
        y += np.sin(y)
        y[:] = y * x
        return np.sum(y * y)

    check_gradient(f, VECTOR, VECTOR + 1, argnums=(0, 1))


def test_elements_that_swap():
    def f(x):
        for i in range(5):
            x[i], x[i + 1] = x[i + 1] * x[i], x[i]
        return np.sum(x * x)

    check_gradient(f, VECTOR)


# -- loops -----------------------------------------------------------------------------------------


def seidel(A, steps):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    return np.sum(A)


def test_linear_stencils_record_nothing():
    forward, _, _ = check_gradient(seidel, MATRIX, 3)
    assert collected(forward) == 0
    assert record_of(forward) == ["float64[A:0, A:1]", "int(steps)"]


def test_of_a_linear_stencil_the_primal_is_not_run_for_the_gradient():
    _, _, gradient = check_gradient(seidel, MATRIX, 3)
    assert [loop.attributes["shape"].reversed for loop in loops(gradient)] == [True] * 3


def cholesky_logdet(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])
    logdet = 0.0
    for i in range(n):
        logdet += 2 * np.log(A[i, i])
    return logdet


def test_cholesky_records_only_overwritten_elements():
    forward, _, _ = check_gradient(cholesky_logdet, POSITIVE)
    types = {value.type for loop in loops(forward) for value in loop.results}
    records = [repr(type_) for type_ in types if repr(type_).startswith("collected")]
    assert sorted(records) == ["collected[collected[float64]]", "collected[float64]"]


def test_arrays_that_are_swapped_each_iteration():
    def f(u, n):
        un = u.copy()
        for _ in range(n):
            un[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2])
            u, un = un, u
        return np.sum(u * u) + un[2]

    check_gradient(f, VECTOR, 4)


def test_a_copy_of_the_old_state_each_iteration():
    def f(u, n):
        for _ in range(n):
            un = u.copy()
            u[1:-1] = un[1:-1] - 0.1 * un[1:-1] * (un[1:-1] - un[:-2])
            u[0] = u[1] * 0.5
        return np.sum(u * u)

    forward, _, _ = check_gradient(f, VECTOR, 4)
    records = {repr(value.type) for loop in loops(forward) for value in loop.results}
    assert "collected[float64[4]]" not in records


def test_stores_in_branches():
    def f(x, s):
        for i in range(1, 6):
            if x[i] > s:
                x[i] = x[i] * x[i - 1]
            else:
                t = x[i - 1] * 0.5
                x[i - 1] = t * x[i]
                x[i] -= t
        return np.sum(x * x)

    check_gradient(f, VECTOR, 0.1, argnums=(0, 1))


@pytest.mark.parametrize("limit", [0.5, 2.0, 100.0])
def test_stores_in_a_loop_that_is_left(limit):
    def f(x, limit):
        total = 0.0
        for i in range(1, 6):
            x[i] = x[i] * x[i - 1] + x[i]
            total += x[i] ** 2
            if total > limit:
                break
            x[0] *= x[i]
        return np.sum(x * x) * total

    check_gradient(f, VECTOR, limit)


def test_a_work_array_made_in_each_iteration():
    def f(x):
        total = 0.0
        for i in range(4):
            work = np.zeros(3)
            work[0] = x[i] * x[i + 1]
            work[1] = np.sin(work[0]) * x[0]
            work[2] = work[1] * work[0]
            total += np.sum(work * work)
        return total

    check_gradient(f, VECTOR)


def test_a_helper_array_filled_and_read():
    def f(x, n):
        c = np.zeros(7)
        c[0] = 1.0
        for i in range(n):
            c[i + 1] = c[i] * x[i] + np.sin(c[i])
        return c[n] * c[1]

    check_gradient(f, VECTOR, 5)


def test_an_inner_loop_that_stores_what_the_outer_reads():
    def f(A):
        total = 1.0
        for i in range(3):
            for j in range(4):
                A[i, j] = np.sin(A[i, j] * A[i, j + 1]) * total
            row = A[i]
            total = total + np.sum(row * row)
        return total * np.sum(A)

    check_gradient(f, MATRIX)


# -- the record ----------------------------------------------------------------------------------


def test_a_carried_value_needed_before_and_after_is_recorded_once():
    def f(W, h, n):
        for _ in range(n):
            h = np.tanh(W @ h)
        return np.sum(h * h)

    forward, _, _ = check_gradient(f, MATRIX, VECTOR[:5].copy(), 4, argnums=(0, 1))
    assert collected(forward) == 1


def test_the_condition_of_a_branch_is_recorded_not_what_it_reads():
    def f(x):
        if x > 0:
            result = x
        else:
            result = -x
        return result

    forward, _, _ = check_gradient(f, 1.5)
    assert record_of(forward) == ["bool"]


def test_lengths_are_recomputed_from_what_is_recorded():
    def f(x):
        n = x.shape[0]
        return np.sum(x * x) / n

    forward, _, _ = check_gradient(f, VECTOR)
    assert [value.name for value in forward.body.yields] == ["", "x"]


def test_a_shape_alone_records_no_array():
    def f(x):
        y = np.sin(x * 2)
        return np.sum(x) + np.sum(y[1:] * 3)

    forward, _, _ = check_gradient(f, VECTOR)
    assert "y" not in [value.name for value in forward.body.yields]


def test_iterations_are_counted_only_where_no_record_tells_their_number():
    def linear(x, limit):
        while x < limit:
            x = x * 2
        return x

    def quadratic(x, limit):
        i = 0
        while x[i] < limit:
            i += 1
            x[i] = x[i - 1] * x[i]
        return x[i]

    forward, _, _ = check_gradient(linear, 0.3, 5.0)
    assert record_of(forward) == ["int(iterations)"]
    forward, _, _ = check_gradient(quadratic, VECTOR**2 + 1.5, 5.0)
    assert not any("iterations" in type_ for type_ in record_of(forward))


def test_a_length_is_asked_of_what_is_recorded_anyway():
    def f(A, x):
        return np.mean(np.sum(np.log(A) * x, axis=1))

    forward, _, _ = check_gradient(f, POSITIVE**2, VECTOR[:5].copy())
    assert record_of(forward) == ["float64[A:0, A:1]", "float64[x:0]"]


def test_the_cotangent_of_a_copy_is_added_to_that_of_the_original():
    def f(u):
        for _ in range(3):
            old = u.copy()
            u[1:] = old[1:] * old[:-1]
        return np.sum(u)

    _, _, gradient = check_gradient(f, VECTOR)
    assert "zeros_like" not in list(names(gradient))


def test_an_element_that_is_updated_is_stored_once_in_the_adjoint():
    def f(A, n):
        for i in range(n):
            A[i, i] = A[i, i] / 3 + A[0, 1]
        return np.sum(A)

    _, adjoint, _ = check_gradient(f, POSITIVE, 4)
    assert [n for n in names(adjoint) if n in ("store", "accumulate")] == ["store", "accumulate"]


def test_the_adjoint_can_run_again():
    primal = simplify(lowered(cholesky_logdet, POSITIVE))
    joined = differentiate(primal, active_leaves(primal, (0,)), inline)
    forward, adjoint, _ = split(joined)
    _, record = run(forward, POSITIVE.copy())
    first = run(adjoint, record, 1.0)
    np.testing.assert_array_equal(first, run(adjoint, record, 1.0))


def test_the_adjoint_of_abs_reads_like_the_one_by_hand():
    def f(x):
        if x > 0:
            result = x
        else:
            result = -x
        return result

    _, adjoint, _ = check_gradient(f, 1.5)
    assert print_function(adjoint).splitlines() == [
        "function f_adjoint(record=%0: bool, %d_result: float)",
        "  %d_x_1: float = if %0",
        "    yield %d_result",
        "  else",
        "    %d_x: float = negative(%d_result)",
        "    yield %d_x",
        "  return %d_x_1",
    ]
