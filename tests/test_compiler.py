"""From calls to specializations: binding, keys, types, guards, caching, laziness."""

import dataclasses
import functools
from collections import namedtuple

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import compiler, errors
from gradscribe.compiler import keys, signatures, target_of, type_strings
from gradscribe.ir.core import Operand, SliceOf
from gradscribe.ir.printer import print_function


def primal_of(function, *args, **keywords):
    target = target_of(function)
    return target.program.find(target.values(args, keywords))[0]


# -- binding -----------------------------------------------------------------------------------


def test_arguments_bind_as_python_binds_them():
    def f(a, b=2, *rest, c=3, **others): ...

    bind = signatures.Binder(f.__code__).of(f)
    assert bind(1) == (1, 2, 3, (), {})
    assert bind(1, 5, 6, 7, c=8, d=9) == (1, 5, 8, (6, 7), {"d": 9})


def test_positional_only_and_keyword_only_parameters_stay_so():
    def f(a, /, *, b): ...

    bind = signatures.Binder(f.__code__).of(f)
    assert bind(1, b=2) == (1, 2)
    with pytest.raises(TypeError):
        bind(a=1, b=2)
    with pytest.raises(TypeError):
        bind(1, 2)


def test_partials_methods_and_callable_objects_lead_to_their_function():
    class Model:
        def __call__(self, x, y):
            return x * y

        def method(self, x):
            return x

    model = Model()
    assert target_of(functools.partial(model, 2.0)).values((3.0,), {}) == (
        Model.__call__, model, 2.0, 3.0,
    )  # fmt: skip
    assert target_of(model.method).values((1.0,), {}) == (Model.method, model, 1.0)


def test_argnums_count_the_arguments_that_the_caller_sees():
    class Model:
        def loss(self, x, y): ...

    assert target_of(Model().loss).parameter(0) == 1
    assert target_of(Model().loss).parameter(-1) == 2


# -- keys --------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass
class Layer:
    W: object
    name: str = "dense"


SAME = [
    (np.ones(3), np.ones(50)),
    (np.ones((3, 1)), np.ones((2, 1))),
    (1.0, 2.0),
    (1, 2),
    ([1.0], [2.0, 3.0]),
    ([np.ones(3)], [np.ones(5), np.ones(5)]),
    ({"a": 1.0}, {"a": 2.0}),
    (Layer(np.ones(3)), Layer(np.ones(4))),
    (lambda x: x, lambda x: x),
]
DIFFERENT = [
    (np.ones(3), np.ones(1)),
    (np.ones(3), np.ones(0)),
    (np.ones(3), np.ones((3, 3))),
    (np.ones(3), np.ones(3, np.float32)),
    (1.0, np.float64(1.0)),
    (1, 1.0),
    (1, True),
    (True, False),
    (None, False),
    ("relu", "tanh"),
    ([], [1.0]),
    ([1.0, 2.0], [1.0, 2]),
    ([np.ones(3), np.ones(3)], [np.ones(3), np.ones(4)]),
    ((1.0, 2.0), [1.0, 2.0]),
    ((1.0, 2.0), Pair(1.0, 2.0)),
    ({"a": 1.0}, {"b": 1.0}),
    (Layer(np.ones(3)), Layer(np.ones(3), "other")),
    (float, 1.0),
    (np.float64, np.float64(1.0)),
    (np.tanh, np.exp),
]


@pytest.mark.parametrize(("a", "b"), SAME[:-1])
def test_values_of_one_type_share_a_key(a, b):
    assert keys.key_of(a) == keys.key_of(b)


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_values_of_different_types_have_different_keys(a, b):
    assert keys.key_of(a) != keys.key_of(b)


def test_closures_of_one_def_share_a_key_by_the_types_in_their_cells():
    def power(n):
        return lambda x: x**n

    assert keys.key_of(power(2)) == keys.key_of(power(3))
    assert keys.key_of(power(2)) != keys.key_of(power(2.5))


def test_a_closure_that_contains_itself_has_a_key():
    def outer():
        def inner(x):
            return inner(x)

        return inner

    assert keys.key_of(outer()) == keys.key_of(outer())


# -- types -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.ones((3, 1, 0)), "float64[:, 1, 0]"),
        (2.0, "float"),
        (np.float32(2), "float32"),
        (3, "int"),
        (True, "True"),
        ([1.0, 2.0], "list[float]"),
        ([np.ones(3)] * 2, "list[float64[:]]"),
        ([(1, np.ones(2))], "list[tuple[int, float64[:]]]"),
        ([1, 2.0], "[int, float]"),
        ((np.ones(3), None), "(float64[:], None)"),
        ({"w": 1.0}, "{w: float}"),
        (Pair(1.0, 2), "Pair(a: float, b: int)"),
        (np.tanh, "tanh"),
    ],
)
def test_argument_types_as_text(value, text):
    typed = signatures.ArgumentTypes().add("x", value, "a[1]")
    assert signatures.type_text(iter(typed.types), typed.tree) == text


@pytest.mark.parametrize(
    "text",
    ["float", "int", "float32", "float64[:, 1]", "list[float64[:]]", "list[tuple[int, float]]"],
)
def test_type_strings_are_read_back(text):
    typed = signatures.ArgumentTypes().add("x", type_strings.example(text), "a[1]")
    assert signatures.type_text(iter(typed.types), typed.tree) == text


@pytest.mark.parametrize("text", ["relu", "mean", "sum[1]", ""])
def test_other_strings_are_no_types(text):
    assert not type_strings.is_type_string(text)


def test_a_bool_alone_is_no_type_to_specialize_for():
    with pytest.raises(errors.ArgumentError, match="pass True or False"):
        type_strings.example("bool")


def test_axes_of_one_are_constants_and_longer_ones_are_symbols_with_a_sample():
    types = signatures.ArgumentTypes()
    types.add("x", np.ones((1, 5)), "a[1]")
    (symbol,) = types.samples
    assert (symbol.name, symbol.minimum, types.samples[symbol]) == ("x:1", 2, 5)
    assert types.sources[symbol.source] == "a[1].shape[1]"


# -- programs ----------------------------------------------------------------------------------


def test_one_lowering_serves_all_lengths():
    def f(x):
        return np.sum(x * x)

    assert primal_of(f, np.ones(3)) is primal_of(f, np.ones(100))
    assert primal_of(f, np.ones(3)) is not primal_of(f, np.ones((3, 3)))


def test_a_broken_guard_makes_another_lowering():
    def f(x, n):
        return np.sum(x[:n] * x[1 : n + 1])

    x = np.arange(6.0)
    inside = primal_of(f, x, 3)
    assert primal_of(f, x, 4) is inside
    beyond = primal_of(f, x, 1)
    gradient = gs.grad(f)
    for n in (1, 3, 5):
        gs.testing.check_grad(lambda x: f(x, n), x)
        expected = gs.grad(lambda x: np.sum(x[:n] * x[1 : n + 1]))(x)
        np.testing.assert_allclose(gradient(x, n), expected)
    assert beyond is not None


def test_a_redefined_helper_makes_another_lowering():
    namespace = {"np": np}
    source = "def helper(x):\n    return x * x\ndef f(x):\n    return helper(x)\n"
    import linecache

    linecache.cache["helpers.py"] = (len(source), None, source.splitlines(True), "helpers.py")
    exec(compile(source, "helpers.py", "exec"), namespace)
    f = namespace["f"]
    before = primal_of(f, 2.0)
    assert primal_of(f, 3.0) is before
    namespace["helper"] = lambda x: x * x * x
    assert primal_of(f, 2.0) is not before
    assert gs.grad(f)(2.0) == 12.0


def test_closures_made_in_a_loop_share_what_was_compiled():
    def scaled(factor):
        return lambda x: factor * x * x

    gradients = [gs.grad(scaled(factor))(3.0) for factor in (1.0, 2.0, 5.0)]
    assert gradients == [6.0, 12.0, 30.0]
    assert primal_of(scaled(1.0), 3.0) is primal_of(scaled(7.0), 3.0)


def apply(f, x):
    return f(x)


class Scale:
    def __init__(self, n):
        self.n = n

    def method(self, x):
        return x * self.n

    def __call__(self, x):
        return x * self.n


def with_cell(n):
    return lambda x: x * n


def with_default(n):
    return lambda x, n=n: x * n


def with_inner(n):
    inner = with_cell(n)
    return lambda x: inner(x)


@pytest.mark.parametrize(
    "make",
    [
        with_cell,
        with_default,
        with_inner,
        Scale,
        lambda n: Scale(n).method,
        lambda n: gs.differentiable(with_cell(n)),
    ],
)
def test_functions_and_objects_as_arguments_are_those_of_the_call(make):
    assert [gs.grad(apply, 1)(make(n), 3.0) for n in (2.0, 5.0, 7.0)] == [2.0, 5.0, 7.0]


def test_functions_in_containers_are_those_of_the_call():
    def first(fs, x):
        return fs[0](x)

    assert [gs.grad(first, 1)([with_cell(n)], 3.0) for n in (2.0, 5.0)] == [2.0, 5.0]


def test_closures_as_arguments_share_what_was_compiled():
    assert primal_of(apply, with_cell(2.0), 3.0) is primal_of(apply, with_cell(5.0), 3.0)


@pytest.mark.parametrize(
    ("values", "gradients"),
    [((True, False, True), (1.0, 2.0, 1.0)), (("a", "b", "a"), (1.0, 2.0, 1.0))],
)
def test_static_attributes_are_checked_at_each_call(values, gradients):
    def f(model, x):
        return x if model.n in (True, "a") else 2 * x

    assert tuple(gs.grad(f, 1)(Scale(n), 3.0) for n in values) == gradients


def test_captured_globals_are_read_at_each_call():
    global SCALE
    SCALE = 2.0
    gradient = gs.grad(lambda x: SCALE * x)
    assert gradient(1.0) == 2.0
    SCALE = 5.0
    assert gradient(1.0) == 5.0
    SCALE = np.array([1.0, 2.0])
    with pytest.raises(errors.NonScalarError):
        gradient(1.0)


def test_attributes_are_read_at_each_call():
    class Model:
        def __init__(self):
            self.W = np.eye(2)

        def loss(self, x):
            return np.sum(self.W @ x)

    model = Model()
    gradient = gs.grad(model.loss)
    np.testing.assert_array_equal(gradient(np.ones(2)), [1.0, 1.0])
    model.W = 3 * np.eye(2)
    np.testing.assert_array_equal(gradient(np.ones(2)), [3.0, 3.0])


def test_specializing_from_type_strings_assumes_nothing_of_lengths():
    def f(x, y):
        return np.sum(x * y)

    special = gs.differentiable(f).specialize("float64[:]", "float64[:]")
    x, y = np.arange(3.0), np.arange(3.0) + 1
    np.testing.assert_array_equal(special.gradient(x, y)[0], y)
    assert special.signature == "f(x: float64[:], y: float64[:])"


# -- laziness ----------------------------------------------------------------------------------


def test_nothing_is_emitted_before_it_is_needed(monkeypatch):
    from gradscribe import codegen

    emitted = []
    emit = codegen.emit
    monkeypatch.setattr(codegen, "emit", lambda f, *rest: emitted.append(f.name) or emit(f, *rest))

    def f(x):
        return np.sum(x * x)

    special = gs.differentiable(f).specialize(np.ones(3))
    assert emitted == []
    special.gradient(np.ones(3))
    assert emitted == ["f_gradient"]


# -- specializations -----------------------------------------------------------------------------


def square_sum(x):
    return np.sum(x * x)


def test_a_specialization_refuses_arguments_of_other_types():
    special = gs.differentiable(square_sum).specialize(np.ones(3))
    with pytest.raises(errors.ArgumentError, match="another specialization"):
        special.gradient(np.ones((3, 3)))


def test_the_adjoint_may_be_called_any_number_of_times():
    special = gs.differentiable(square_sum).specialize(np.ones(3))
    out, record = special.forward(np.arange(3.0))
    assert out == 5.0
    for seed in (1.0, 2.0, 1.0):
        np.testing.assert_array_equal(
            special.adjoint(record, seed), seed * np.array([0.0, 2.0, 4.0])
        )


def test_the_tangent_takes_arguments_then_tangents():
    special = gs.differentiable(square_sum).specialize(np.ones(3))
    assert special.tangent(np.arange(3.0), np.array([0.0, 1.0, 1.0])) == (5.0, 6.0)


def test_a_gradient_of_a_result_with_structure_takes_a_cotangent_of_that_structure():
    def f(x):
        return {"twice": 2 * x, "square": x * x}

    special = gs.differentiable(f).specialize(np.ones(2))
    with pytest.raises(errors.ArgumentError, match="needs a cotangent"):
        special.gradient(np.ones(2))
    d_out = {"twice": np.ones(2), "square": np.array([1.0, 0.0])}
    np.testing.assert_array_equal(special.gradient(np.ones(2), d_out=d_out), [4.0, 2.0])


def test_captured_values_may_be_given_by_keyword():
    weights = np.array([1.0, 2.0])
    special = gs.differentiable(lambda x: np.sum(weights * x)).specialize(np.ones(2))
    np.testing.assert_array_equal(special.gradient(np.ones(2)), [1.0, 2.0])
    other = special.gradient(np.ones(2), weights=np.array([5.0, 6.0]))
    np.testing.assert_array_equal(other, [5.0, 6.0])


def test_a_notebook_shows_the_source_in_colours():
    special = gs.differentiable(square_sum).specialize(np.ones(3))
    html = special._repr_html_()
    assert html.startswith("<pre")
    assert '<span style="color: #7a3e9d">def</span> square_sum_gradient(x' in html


# -- eager operations ----------------------------------------------------------------------------


def test_an_eager_call_is_compiled_from_its_own_source():
    found = compiler.derivatives(np.sum, (Operand(0),), {"axis": 0}, [np.ones((2, 3))], (0,))
    (out,), record = found.forward(np.ones((4, 3)))
    np.testing.assert_array_equal(out, [4.0, 4.0, 4.0])
    (gradient,) = found.adjoint(record, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(gradient, np.broadcast_to([1.0, 2.0, 3.0], (4, 3)))
    assert (found.active, found.outputs) == ((0,), (0,))


def test_eager_calls_share_what_was_compiled_between_shapes():
    first = compiler.derivatives(np.exp, (Operand(0),), {}, [np.ones(3)], (0,))
    assert compiler.derivatives(np.exp, (Operand(0),), {}, [np.ones(9)], (0,)) is first


def test_an_eager_index_has_its_integers_as_operands():
    import operator

    index = (Operand(1), SliceOf(None, Operand(2), None))
    x = np.arange(12.0).reshape(3, 4)
    found = compiler.derivatives(operator.getitem, (Operand(0), index), {}, [x, 1, 2], (0,))
    (out,), record = found.forward(x, 2, 3)
    assert np.shares_memory(out, x)
    np.testing.assert_array_equal(out, x[2, :3])
    (gradient,) = found.adjoint(record, np.ones(3))
    expected = np.zeros_like(x)
    expected[2, :3] = 1
    np.testing.assert_array_equal(gradient, expected)


def test_what_the_record_refers_to_is_known():
    product = compiler.derivatives(
        np.multiply, (Operand(0), Operand(1)), {}, [np.ones(3)] * 2, (0,)
    )
    assert product.record_inputs == (1,)
    exponential = compiler.derivatives(np.exp, (Operand(0),), {}, [np.ones(3)], (0,))
    assert (exponential.record_inputs, exponential.record_outputs) == ((), (0,))


@pytest.mark.parametrize(
    ("callee", "linear"), [(np.negative, True), (np.exp, False), (np.sum, True), (np.tanh, False)]
)
def test_linear_operations_are_known(callee, linear):
    found = compiler.derivatives(callee, (Operand(0),), {}, [np.ones(3)], (0,))
    assert found.linear is linear


def test_orders_are_tangents_of_the_gradient():
    """F_1 = (d f'(x), f(x)); F_2 along (u, v) = (d f''(x) u + v f'(x), f'(x) u)."""
    cube = compiler.derivatives(np.power, (Operand(0), Operand(1)), {}, [2.0, 3], (0,))
    assert cube.order(1)(2.0, 3, 1.0) == (12.0, 8.0)
    assert cube.order(2)(2.0, 3, 1.0, 1.0, 0.0) == (12.0, 12.0)
    assert cube.order(3)(2.0, 3, 1.0, 1.0, 0.0, 1.0, 0.0) == (6.0, 12.0)


def test_the_ir_of_a_call_is_printable():
    text = print_function(primal_of(square_sum, np.ones(3)).function)
    assert text.startswith("function square_sum(%x: float64[x:0])")
