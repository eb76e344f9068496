"""Affine lengths, and what follows from the program, from the call, and from neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradscribe.ir.affine import Affine, Source, Symbol
from gradscribe.ir.formulas import Formula, is_nonnegative
from gradscribe.ir.lengths import Facts, Guard


def symbols(*names, minimum=0):
    return [Symbol(name, minimum) for name in names]


def call(**lengths):
    """Symbols for argument lengths, with the facts of a call where they are so long."""
    found = {name: Symbol(name) for name in lengths}
    facts = Facts({found[name]: value for name, value in lengths.items()})
    return facts, *map(Affine.of, found.values())


class TestAffine:
    n, m = symbols("n", "m")

    @pytest.mark.parametrize(
        ("expression", "text"),
        [
            (Affine.of(n), "n"),
            (Affine.of(n) - 2, "n - 2"),
            (-Affine.of(n) + 2, "-n + 2"),
            (Affine.of(n) * 3 - m, "3*n - m"),
            (Affine.of(m) * -2 - n, "-n - 2*m"),
            (Affine.of(0), "0"),
            (Affine.of(-4), "-4"),
            (Affine.of(n) - n, "0"),
        ],
    )
    def test_text(self, expression, text):
        assert repr(expression) == text

    def test_equal_expressions_are_equal_however_made(self):
        a, b = Affine.of(self.n), Affine.of(self.m)
        assert a + b - 1 == b + (a - 1)
        assert hash(a + b) == hash(b + a)
        assert (a + b) - b == a
        assert a * 2 == a + a
        assert a * 0 == Affine.of(0)

    def test_symbols_of_one_name_are_different(self):
        assert Affine.of(Symbol("n")) != Affine.of(Symbol("n"))

    @pytest.mark.parametrize(
        ("expression", "minimum"),
        [
            (Affine.of(7), 7),
            (Affine.of(Symbol("n", 2)) * 3 - 1, 5),
            (Affine.of(Symbol("n", 2)) * -1, None),
            (Affine.of(Symbol("i", None)) + 1, None),
        ],
    )
    def test_minimum(self, expression, minimum):
        assert expression.minimum == minimum

    def test_substitution(self):
        n, m = Affine.of(self.n), Affine.of(self.m)
        assert (n * 2 + m).substitute({self.n: m - 1}) == m * 3 - 2

    @given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=4))
    def test_arithmetic_is_that_of_the_values(self, steps):
        values = {self.n: 5, self.m: 7}
        expression, expected = Affine.of(0), 0
        for factor, constant in steps:
            expression = expression * factor + self.n - Affine.of(self.m) * constant + constant
            expected = expected * factor + 5 - 7 * constant + constant
        assert expression.constant + sum(values[s] * c for s, c in expression.terms) == expected


class TestEqual:
    def test_what_the_program_says(self):
        n, m = map(Affine.of, symbols("n", "m"))
        facts = Facts()
        assert facts.equal(n + m, m + n) is True
        assert facts.equal(n, n + 1) is False
        assert facts.equal(n + 1, Affine.of(0)) is False
        assert facts.equal(n, m) is None
        assert facts.guards == []

    def test_what_the_call_says_becomes_a_guard(self):
        facts, n, m = call(n=4, m=4)
        assert facts.equal(n, m) is True
        (guard,) = facts.guards
        assert guard.relation == "=="
        (a, _), (b, _) = (n - m).terms
        assert guard.holds({a: 3, b: 3}) and not guard.holds({a: 3, b: 4})

    def test_inequality_is_guarded_too(self):
        facts, n, m = call(n=4, m=5)
        assert facts.equal(n, m) is False
        assert [g.relation for g in facts.guards] == ["!="]

    def test_one_question_gives_one_guard(self):
        facts, n, m = call(n=4, m=5)
        for _ in range(3):
            facts.equal(n, m)
        assert len(facts.guards) == 1

    def test_an_equality_has_consequences(self):
        facts, n, m = call(n=4, m=4)
        facts.equal(n, m)
        assert facts.equal(n + 1, m) is False
        assert facts.equal(m * 2, n + m) is True
        assert len(facts.guards) == 1

    def test_equalities_chain(self):
        a, b, c = map(Affine.of, symbols("a", "b", "c"))
        facts = Facts()
        facts.assume_equal(a, b + 1)
        facts.assume_equal(b, c)
        assert facts.equal(a, c + 1) is True
        assert facts.normalize(c) == facts.normalize(b)

    def test_arguments_stay_in_the_terms_of_arguments(self):
        facts, n = call(n=4)
        half = Affine.of(Symbol("half"))
        facts.assume_equal(n, half * 2)
        assert facts.equal(n, Affine.of(4)) is True, "still known from the call"

    def test_arguments_of_type_strings_stay_too(self):
        n = Affine.of(Symbol("n", source=Source(0, 0)))
        local = Affine.of(Symbol("local"))
        facts = Facts()
        facts.assume_equal(n, local + 1)
        assert facts.normalize(local) == n - 1
        assert facts.normalize(n) == n

    def test_what_nobody_can_solve_is_not_assumed(self):
        a, b = map(Affine.of, symbols("a", "b"))
        facts = Facts()
        facts.assume_equal(a * 2, b * 3)
        assert facts.equal(a * 2, b * 3) is None


class TestAtLeast:
    def test_what_the_program_says(self):
        n = Affine.of(Symbol("n", 2))
        facts = Facts()
        assert facts.at_least(n, 2) is True
        assert facts.at_least(n, 3) is None
        assert facts.at_least(-n, -1) is False
        assert facts.at_least(Affine.of(3), 4) is False

    @pytest.mark.parametrize(("value", "answer"), [(5, True), (3, False)])
    def test_what_the_call_says_becomes_a_guard(self, value, answer):
        facts, n = call(n=value)
        assert facts.at_least(n, 4) is answer
        (guard,) = facts.guards
        ((symbol, _),) = n.terms
        assert [guard.holds({symbol: k}) for k in (3, 4)] == [not answer, answer]


@pytest.mark.parametrize(
    ("relation", "holds"),
    [("==", [False, True, False]), ("!=", [True, False, True]), (">=", [False, True, True])],
)
def test_guards(relation, holds):
    n = Symbol("n")
    guard = Guard(Affine.of(n) - 3, relation)
    assert [guard.holds({n: value}) for value in (2, 3, 4)] == holds


def test_a_fork_learns_for_itself():
    facts, n, m = call(n=4, m=4)
    k = Affine.of(Symbol("k"))
    facts.assume_equal(k, n)
    fork = facts.fork()
    assert fork.equal(k, n) is True
    assert fork.equal(n, m) is True
    assert facts.guards == []
    assert Facts.equal(facts, k, n) is True


class TestBroadcast:
    one = Affine.of(1)
    n, m = (Affine.of(Symbol(name, 2)) for name in "nm")
    any_n, any_m = (Affine.of(Symbol(name)) for name in "nm")

    def test_ones_give_way_and_ranks_are_filled(self):
        n, m, one = self.n, self.m, self.one
        facts = Facts()
        assert facts.broadcast([(n, one), (m,)]) == (n, m)
        assert facts.broadcast([(), (n,)]) == (n,)
        assert facts.broadcast([(n,), ()]) == (n,)
        assert facts.broadcast([(one,), (n,), (one, one)]) == (one, n)
        assert facts.broadcast([(), ()]) == facts.broadcast([]) == ()

    def test_long_axes_must_be_equal(self):
        facts = Facts()
        (length,) = facts.broadcast([(self.n,), (self.m,)])
        assert facts.equal(self.n, self.m) is True
        assert length == facts.normalize(self.n)

    def test_long_axes_that_differ_in_the_call_do_not_broadcast(self):
        n, m = Symbol("n", 2), Symbol("m", 2)
        facts = Facts({n: 4, m: 5})
        with pytest.raises(ValueError, match="axes of 4 and 5 do not broadcast"):
            facts.broadcast([(Affine.of(n),), (Affine.of(m),)])

    def test_a_long_axis_wins_over_one_of_unknown_class(self):
        facts = Facts()
        assert facts.broadcast([(self.any_n,), (self.m,)]) == (self.m,)
        assert facts.broadcast([(self.m,), (self.any_n,)]) == (self.m,)

    def test_two_axes_of_unknown_class_make_an_unknown_one(self):
        facts = Facts()
        (length,) = facts.broadcast([(self.any_n,), (self.any_m,)])
        assert length not in (self.any_n, self.any_m)
        assert facts.broadcast([(self.any_n,), (self.any_m,)]) == (length,), "each time"

    def test_the_call_tells(self):
        facts, n, m = call(n=4, m=4)
        assert facts.broadcast([(n,), (m,)]) == (facts.normalize(n),)
        facts, n, m = call(n=1, m=4)
        assert facts.broadcast([(n,), (m,)]) == (m,)
        assert [g.relation for g in facts.guards] == ["!=", "=="]


class TestSliceLength:
    n = Affine.of(Symbol("n", 2))

    @pytest.mark.parametrize(
        ("start", "stop", "expected"),
        [
            (None, None, n),
            (1, None, n - 1),
            (None, -1, n - 1),
            (1, -1, n - 2),
            (0, 2, Affine.of(2)),
            (-2, None, Affine.of(2)),
            (2, None, n - 2),
        ],
    )
    def test_slices_that_stay_in_range(self, start, stop, expected):
        start, stop = (None if part is None else Affine.of(part) for part in (start, stop))
        assert Facts().slice_length(self.n, start, stop) == expected

    def test_a_slice_that_may_reach_over_the_end_has_a_length_of_its_own(self):
        facts = Facts()
        three, stop = Affine.of(3), Affine.of(5)
        length = facts.slice_length(self.n, three, stop)
        assert facts.equal(length, Affine.of(2)) is None
        assert facts.slice_length(self.n, three, stop) == length
        assert facts.slice_length(self.n, three, three) != length

    def test_the_call_tells_that_it_does_not(self):
        facts, n = call(n=10)
        assert facts.slice_length(n, Affine.of(3), Affine.of(5)) == Affine.of(2)
        ((symbol, _),) = n.terms
        assert all(g.holds({symbol: 5}) for g in facts.guards)
        assert not all(g.holds({symbol: 4}) for g in facts.guards)

    def test_an_index_that_may_be_negative_is_unknown(self):
        facts = Facts()
        i = Affine.of(Symbol("i", minimum=None))
        length = facts.slice_length(self.n, i, i + 1)
        assert facts.equal(length, Affine.of(1)) is None

    def test_a_reversed_axis_is_as_long(self):
        assert Facts().slice_length(self.n, None, None, -1) == self.n

    def test_steps_of_unknown_axes(self):
        facts = Facts()
        every_other = facts.slice_length(self.n, None, None, 2)
        assert every_other == facts.slice_length(self.n, None, None, 2)
        assert every_other != facts.slice_length(self.n, None, None, 3)
        assert every_other != self.n

    bounds = st.none() | st.integers(-8, 8)

    @given(st.integers(0, 6), bounds, bounds, st.sampled_from([-3, -2, -1, 1, 2, 3]))
    def test_known_slices_are_pythons(self, length, start, stop, step):
        parts = [None if part is None else Affine.of(part) for part in (start, stop)]
        found = Facts().slice_length(Affine.of(length), *parts, step)
        assert found.known == len(range(length)[start:stop:step])

    @given(st.integers(0, 6), bounds, bounds, st.sampled_from([-1, 1, 2]))
    def test_what_is_said_under_guards_is_true_in_the_call(self, length, start, stop, step):
        facts, n = call(n=length)
        parts = [None if part is None else Affine.of(part) for part in (start, stop)]
        found = facts.slice_length(n, *parts, step)
        ((symbol, _),) = n.terms
        if all(s is symbol for s, _ in found.terms):
            value = found.constant + sum(length * c for _, c in found.terms)
            assert value == len(range(length)[start:stop:step])
        assert all(guard.holds({symbol: length}) for guard in facts.guards)


def test_a_search_among_many_maxima_ends_soon():
    n, *others = symbols("n", *"abcdefgh")
    maxima = [
        Symbol("longer", formula=Formula("max", (Affine.of(n), Affine.of(other))))
        for other in others
    ]
    total = Affine(tuple((symbol, 1) for symbol in maxima), -100)
    asked = []
    assert not is_nonnegative(total, lambda symbol: (), lambda rest: asked.append(rest))
    assert len(asked) < 200


def test_what_a_path_enforces_on_arguments_ends_with_it_and_what_a_guard_ensures_does_not():
    facts, rows, columns, steps, times = call(rows=5, columns=3, steps=2, times=2)
    with facts.scope():
        facts.assume_equal(rows, columns)
        assert facts.equal(rows, columns)
        assert facts.equal(steps, times)
    assert facts.equal(rows, columns) is False
    assert facts.normalize(steps) == facts.normalize(times)
    assert [guard.relation for guard in facts.guards] == ["==", "!="]


@pytest.mark.parametrize("first", [0, 1])
def test_products_that_are_equal_on_one_path_are_not_so_on_others(first):
    facts, *factors = call(n=3, m=3)
    length = Affine.of(Symbol("length"))
    product = facts.multiplied(factors[first], length)
    with facts.scope():
        facts.assume_equal(*factors)
        assert facts.multiplied(factors[1 - first], length) == product
    assert facts.guards == []
    assert facts.multiplied(factors[1 - first], length) == product
    assert [guard.relation for guard in facts.guards] == ["=="]  # as in this call
