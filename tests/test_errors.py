"""Errors show the place, a caret under the construct, and what to write instead."""

import copy
import json
import pathlib
import pickle
import sys
import traceback

import numpy as np
import pytest

import gradscribe as gs
from gradscribe import errors
from gradscribe.ir.core import Location


def written(tmp_path, text):
    path = tmp_path / "model.py"
    path.write_text(text)
    return str(path)


def test_an_error_shows_file_line_caret_and_advice(tmp_path):
    filename = written(tmp_path, "def f(path):\n    with open(path) as file:\n        pass\n")
    location = Location(filename, 2, 9, 19, "with open(path) as file:")
    error = errors.UnsupportedError("a `with` statement", "read the file before", location)
    assert str(error) == (
        "a `with` statement\n"
        f'  File "{filename}", line 2\n'
        "    with open(path) as file:\n"
        "         ^^^^^^^^^^\n"
        "Instead: read the file before\n"
        "Or run the function as it is: `compile=False`"
    )


AS_IT_IS = "run the function as it is: `compile=False`"
IN_PART = 'compile the rest, and run such calls as they are: `compile="auto"`'
PLACE = Location("f.py", 1, 0, 1, "x")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (errors.UnsupportedError("what", "advice", PLACE), AS_IT_IS),
        (errors.AliasingError("what", "advice", PLACE), AS_IT_IS),
        (errors.SourceNotFoundError("what", "advice"), AS_IT_IS),
        (errors.UnknownTypeError("what", "advice", PLACE), IN_PART),
        (errors.UnsupportedError("what", "advice"), ""),
        (errors.CompiledCodeError("what", "advice", PLACE), ""),
        (errors.NoDerivativeError("what", "advice", PLACE), ""),
        (errors.UnsupportedDtypeError("what", "advice", PLACE), ""),
        (errors.ArgumentError("what", "advice", PLACE), ""),
        (errors.raised_as(errors.UnsupportedError, KeyError)("what", "advice", PLACE), ""),
    ],
)
def test_the_kind_tells_the_way_out(error, told):
    assert str(error).splitlines()[-1] == (f"Or {told}" if told else "Instead: advice")


def test_the_caret_counts_characters_where_the_location_counts_bytes(tmp_path):
    filename = written(tmp_path, "größe = straße + 1\n")
    location = Location(filename, 1, len("größe = ".encode()), len("größe = straße".encode()), "")
    assert errors.excerpt(location)[1:] == ["    größe = straße + 1", "            ^^^^^^"]


def test_a_construct_of_several_lines_is_marked_to_the_end_of_its_first_one(tmp_path):
    filename = written(tmp_path, "    y = call(1,\n             2)\n")
    location = Location(filename, 1, 8, 3, "")
    assert errors.excerpt(location)[1:] == ["    y = call(1,", "        ^^^^^^^"]


def test_without_the_file_the_statement_is_shown():
    location = Location("<string>", 7, 0, 3, "y = f(x)")
    assert errors.excerpt(location) == ['  File "<string>", line 7', "    y = f(x)"]


def test_an_error_without_place_and_advice_is_one_line():
    assert str(errors.ArgumentError("two tangents were given")) == "two tangents were given"


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (errors.UnsupportedError, NotImplementedError),
        (errors.AliasingError, errors.UnsupportedError),
        (errors.UnsupportedDtypeError, TypeError),
        (errors.UnsupportedPathError, TypeError),
        (errors.NoDerivativeError, errors.UnsupportedError),
        (errors.NotSpecializedError, AttributeError),
        (errors.ArgumentError, TypeError),
        (errors.NonScalarError, errors.ArgumentError),
        (errors.CheckError, AssertionError),
    ],
)
def test_every_kind_is_also_the_built_in_error_that_people_would_catch(kind, base):
    assert issubclass(kind, base)
    assert issubclass(kind, errors.GradscribeError)


def test_every_kind_is_on_the_page_of_errors_with_its_bases():
    page = (pathlib.Path(__file__).parent.parent / "docs" / "errors.md").read_text()
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, Exception)]
    for kind in kinds:
        bases = [base.__name__ for base in kind.__bases__ if base is not errors.GradscribeError]
        also = ", ".join(f"`{base}`" for base in bases)
        if kind is not errors.GradscribeError:
            assert f"| `{kind.__name__}` | {also}{' ' * bool(also)}| " in page


def test_errors_survive_pickling():
    error = errors.UnsupportedError("what", "advice", Location("f.py", 1, 0, 1, "x"))
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert str(again) == str(error) and again.args == error.args


@pytest.mark.skipif(sys.version_info < (3, 11), reason="it has no notes")
def test_errors_take_notes():
    error = errors.UnsupportedError("what")
    error.add_note("a note")
    assert traceback.format_exception(error)[-1] == "a note\n"


def test_a_refusal_is_also_what_python_raises():
    kind = errors.raised_as(errors.UnsupportedError, KeyError)
    assert kind is errors.raised_as(errors.UnsupportedError, KeyError)
    assert issubclass(kind, errors.UnsupportedError) and issubclass(kind, KeyError)
    error = kind("what", "advice", Location("f.py", 1, 0, 1, "x"))
    assert str(error) == str(errors.NoDerivativeError(*error.args))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error)


@pytest.mark.parametrize(
    ("raised", "caught"),
    [
        (np.exceptions.AxisError, (ValueError, IndexError)),
        (np.linalg.LinAlgError, (ValueError,)),
        (UnicodeDecodeError, (UnicodeDecodeError,)),
        (AttributeError, (AttributeError,)),
        (OSError, (OSError,)),
        (RuntimeError, (RuntimeError,)),
    ],
)
def test_of_other_classes_it_is_what_they_are_among_the_built_in_ones(raised, caught):
    kind = errors.raised_as(errors.UnsupportedError, raised)
    error = kind("what")
    assert all(isinstance(error, cls) for cls in caught)
    assert str(error) == "what"


MISTAKES = [
    (lambda x: x @ np.ones(4), ValueError),
    (lambda x: x + np.ones(4), ValueError),
    (lambda x: np.sum(x, axis=3), np.exceptions.AxisError.__bases__),
    (lambda x: x.nosuch, AttributeError),
    (lambda x: np.nosuch(x), AttributeError),
    (lambda x: [x].nosuch(), AttributeError),
    (lambda x: nosuch, NameError),  # noqa: F821
    (lambda x: {"a": x}["b"], KeyError),
    (lambda x: (x, x)[2], IndexError),
    (lambda x: x[0, 0], IndexError),
    (lambda x: x["a"], IndexError),
    (lambda x: x[0](), TypeError),
    (lambda x: x[0][0], (TypeError, IndexError)),
    (lambda x: len(x[0]), TypeError),
    (lambda x: sum(x[0]), TypeError),
    (lambda x: [x] - [x], TypeError),
    (lambda x: np.sum(x, nosuch=1), TypeError),
    (lambda x: (lambda a, b: a)(x), TypeError),
    (lambda x: np.linalg.inv(x), np.linalg.LinAlgError.__bases__),
    (lambda x: np.concatenate([x, np.ones((2, 2))]), ValueError),
    (lambda x: int("one") * x, ValueError),
]


@pytest.mark.parametrize(("program", "python"), MISTAKES)
def test_refusals_are_caught_as_programs_catch_what_python_raises(program, python):
    with pytest.raises(python):
        program(np.ones(3))
    with pytest.raises(python) as caught:
        gs.vjp(program, np.ones(3))
    assert isinstance(caught.value, errors.UnsupportedError)


@pytest.mark.parametrize(("program", "python"), MISTAKES)
def test_refusals_of_tensors_are_caught_alike(program, python):
    with pytest.raises(python) as caught:
        gs.differentiable(program)(gs.ones(3, requires_grad=True))
    assert isinstance(caught.value, errors.UnsupportedError)


def message_of(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_an_array_of_objects_is_refused_at_the_parameter():
    def total(x):
        return np.sum(x)

    text = message_of(
        errors.UnsupportedDtypeError, lambda: gs.grad(total)(np.array([1, "a"], dtype=object))
    )
    lines = text.splitlines()
    assert lines[0] == "`x` has dtype object, which is not a numeric one"
    assert lines[2:] == [
        "    def total(x):",
        "              ^",
        "Instead: convert it first, for example with `.astype(float)`",
    ]


def test_a_function_without_source_is_refused():
    text = message_of(errors.SourceNotFoundError, lambda: gs.grad(list.append))
    assert text == (
        "`append` is no Python function, so there is no source to differentiate\n"
        "Instead: wrap it in one, for example `lambda x: append(x)`\n"
        "Or run the function as it is: `compile=False`"
    )


def test_a_wrong_number_of_arguments_is_told_in_python_s_words():
    def f(x, y):
        return x * y

    text = message_of(errors.ArgumentError, lambda: gs.grad(f)(1.0))
    assert "f() missing 1 required positional argument: 'y'" in text
    assert "    def f(x, y):" in text
    assert text.endswith("Instead: its parameters are (x, y)")


def test_an_argnum_out_of_range_says_what_there_is():
    def f(x, y):
        return x * y

    text = message_of(errors.ArgumentError, lambda: gs.grad(f, argnums=2)(1.0, 2.0))
    assert text == ("argnums says 2, but `f` has 2 arguments\nInstead: count from 0 to 1")


def test_an_integer_has_no_gradient():
    def square(n):
        return n * n

    text = message_of(errors.ArgumentError, lambda: gs.grad(square)(3))
    assert text.splitlines()[0] == (
        "argument `n` of `square` has nothing to differentiate: it is of type int"
    )


def test_a_result_that_is_no_number_has_no_gradient():
    def double(x):
        return x * 2

    text = message_of(errors.NonScalarError, lambda: gs.grad(double)(np.ones(3)))
    what, _, *source, advice = text.splitlines()
    assert what == "the gradient of `double` needs one real number as its result, not float64[:]"
    assert source == ["    def double(x):", "        ^^^^^^"]
    assert advice == "Instead: sum the result (`np.sum`), or use `gs.vjp` or `gs.jacobian`"


def test_sources_are_not_there_before_a_specialization():
    @gs.differentiable
    def f(x):
        return x * x

    text = message_of(errors.NotSpecializedError, lambda: f.gradient_source)
    assert text == (
        "`f` is not specialized yet: generated code is for given types\n"
        'Instead: call `f.specialize(…)` with arguments or types such as "float64[:]" first'
    )


def test_a_store_into_memory_that_two_arguments_share_is_refused_at_the_call():
    def f(a, b):
        a[0] = 1.0
        return np.sum(a * b)

    x = np.arange(4.0)
    gs.grad(f)(x[1:], x[1:].copy())
    text = message_of(errors.AliasingError, lambda: gs.grad(f)(x[1:], x[:-1]))
    what, _, *source, advice = text.splitlines()
    assert what == "`a` is stored to, and shares memory with `b`"
    assert source == ["    def f(a, b):", "        ^"]
    assert advice == "Instead: pass a copy of one of them"


def test_a_subclass_of_ndarray_is_refused():
    text = message_of(
        errors.UnsupportedError, lambda: gs.grad(lambda m: np.sum(m * m))(np.matrix([[1.0, 2.0]]))
    )
    what, _, *source, advice, _ = text.splitlines()
    assert what == "`m` is a matrix, whose operators need not mean what NumPy's do"
    assert source[1].strip() == "^"
    assert advice == "Instead: pass a plain array: `np.asarray(m)`"


@pytest.mark.parametrize("primals", [np.ones(3), 1.0])
def test_primals_that_are_no_tuple(primals):
    text = message_of(errors.ArgumentError, lambda: gs.jvp(np.sum, primals, primals))
    assert text.splitlines() == [
        f"the primals are a tuple, and not a {type(primals).__name__}",
        "Instead: pass a tuple with one value for each argument, as in `(x,)`",
    ]


def test_a_division_by_zero_raises_when_it_runs_and_not_before():
    gradient = gs.grad(lambda x: x / 0 if x > 3 else x * x)
    assert gradient(2.0) == 4.0
    with pytest.raises(ZeroDivisionError):
        gradient(5.0)
    with np.errstate(divide="ignore"):
        assert gs.grad(lambda x: np.sum(x / 0))(np.ones(2)).tolist() == [np.inf, np.inf]


def always(x):
    raise KeyError("mine")


class Holder:
    @property
    def broken(self):
        raise AttributeError("inner")


HOLDER = Holder()


@pytest.mark.parametrize(
    ("program", "python"),
    [
        (lambda x: always(x) * x[0], KeyError),
        (lambda x: HOLDER.broken * x[0], AttributeError),
        (lambda x: [1, 2].index(5) * x[0], ValueError),
        (lambda x: sum(a * b for a, b in zip(x, x[:2], strict=True)), ValueError),
        (lambda x: sum(a * b for a, b in zip([x[0]], [1.0, 2.0], strict=True)), ValueError),
        (lambda x: np.sum(np.sin(x, x, x, x)), TypeError),
        (lambda x: np.sum(np.zeros(3, dtype="foo") * x), TypeError),
        (lambda x: {(1, (x, 2)): x}, TypeError),
        (lambda x: {x: 1}, TypeError),
        (lambda x: range(x[0]), TypeError),
        (lambda x: x[0].nosuch, AttributeError),
        (lambda x: setattr(x, "nosuch", 1), AttributeError),
        (lambda x: isinstance(x, 3), TypeError),
        (lambda x: getattr(x, 3), TypeError),
        (lambda x: [1, 2][::0], ValueError),
        (lambda x: [1].append(1, 2), TypeError),
        (lambda x: [1].remove(2), ValueError),
        (lambda x: np.linalg.norm(x, "foo"), ValueError),
        (lambda x: all(x > 0, 1) * x[0], TypeError),
        (lambda x: copy.copy(), TypeError),
        (lambda x: x.transpose(1, 0), ValueError),
        (lambda x: x[[0], [1]], IndexError),
        (lambda x: np.array_split(x, 0)[0], ValueError),
        (lambda x: np.rollaxis(x, 4), ValueError),
        (lambda x: np.meshgrid(x, indexing="zz")[0], ValueError),
        (lambda x: np.select([x > 0], [x, x]), ValueError),
        (lambda x: np.random.normal(0, -1) * x[0], ValueError),
    ],
)
def test_what_python_raises_is_caught_in_gradients_too(program, python):
    with pytest.raises(python):
        program(np.ones(3))
    with pytest.raises(python) as caught:
        gs.vjp(program, np.ones(3))
    assert not isinstance(caught.value, errors.InternalError)


def test_a_call_that_always_raises_ends_its_statement_and_no_other_path():
    def f(x, n):
        y = x * 2 if n > 0 else always(x)
        return y.sum() if n > 1 else always(y) * 3

    assert gs.grad(f)(np.ones(2), 2).tolist() == [2, 2]
    for n in (0, 1):
        with pytest.raises(KeyError, match="mine"):
            gs.grad(f)(np.ones(2), n)

    def caught(x):
        try:
            return always(x) * x[0]
        except KeyError:
            return x[0] * 5

    assert gs.grad(caught)(np.ones(2)).tolist() == [5, 0]


def test_items_of_the_same_number_are_zipped_strictly():
    def f(x, n):
        rows = [x * k for k in range(n)]
        return sum(np.sum(row) * v for row, v in zip(rows, x, strict=True))

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(gs.grad(f)(x, 3), [8, 14, 20])
    with pytest.raises(ValueError, match=r"zip\(\) argument 2 is shorter or longer"):
        gs.grad(f)(x, 4)


def test_a_function_of_another_package_is_refused_where_the_user_calls_it(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "other_package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "def outer(x):\n    return inner(x)\n\ndef inner(x):\n    return x * hash(x)\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    import other_package

    def f(x):
        return other_package.outer(x)

    text = message_of(errors.UnsupportedError, lambda: gs.grad(f)(2.0))
    what, place, *source, advice, _ = text.splitlines()
    assert what.startswith("`outer` of other_package cannot be compiled: `hash` is not supported")
    assert __file__ in place
    assert source == ["    return other_package.outer(x)", "           ^^^^^^^^^^^^^^^^^^^^^^"]
    assert advice.endswith("or make a primitive of it, with a derivative")


def test_what_has_no_derivative_is_shown_where_the_user_calls_the_library():
    ndimage = pytest.importorskip("scipy.ndimage")

    def blurred(x):
        return np.sum(ndimage.gaussian_filter(x, 1.0))

    for compile in (True, False):
        with pytest.raises(errors.NoDerivativeError) as caught:
            gs.grad(blurred, compile=compile)(np.ones(3))
        shown = traceback.extract_tb(caught.value.__traceback__)
        assert not any("site-packages" in entry.filename for entry in shown)
        if compile:
            _, line, carets = errors.excerpt(caught.value.location)
            place = slice(carets.index("^"), carets.index("^") + carets.count("^"))
            assert line[place] == "ndimage.gaussian_filter(x, 1.0)"
        else:
            assert shown[-1].line == "return np.sum(ndimage.gaussian_filter(x, 1.0))"


def test_advice_names_the_functions_of_this_package():
    x = gs.tensor([1.0], requires_grad=True)
    y = x * 1
    z = y * y
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"with gs.autograd.set_detect_anomaly\(True\)"):
        z.backward()


def test_a_solver_that_is_given_a_function_is_named_where_its_result_is_differentiated():
    optimize = pytest.importorskip("scipy.optimize")

    def root(x):
        return optimize.brentq(lambda t: t**2 - x[0], 0, 10)

    text = message_of(errors.NoDerivativeError, lambda: gs.grad(root)(np.ones(2)))
    what, _, *source, advice = text.splitlines()
    assert what == "no derivative is known of `brentq` with respect to its arguments"
    assert source[0] == "    return optimize.brentq(lambda t: t**2 - x[0], 0, 10)"
    assert advice.endswith("with a rule: `gs.primitive`")


def test_a_result_of_unknown_type_has_no_gradient():
    def parsed(x):
        return json.loads("1.0")

    text = message_of(errors.NonScalarError, lambda: gs.grad(parsed)(np.ones(2)))
    assert text.splitlines()[0] == (
        "the gradient of `parsed` needs one real number as its result, not a value of unknown type"
    )


@pytest.mark.parametrize("compile", [True, "auto", False])
def test_a_forgotten_return_is_told(compile):
    def forgetful(x):
        np.sum(x)

    with pytest.raises(errors.NonScalarError) as caught:
        gs.grad(forgetful, compile=compile)(np.ones(2))
    assert caught.value.what == "`forgetful` returns nothing, and so has no gradient"


def test_a_forgotten_return_of_a_helper_is_told():
    def helper(x):
        x * 2

    def program(x):
        return helper(x) + x

    text = message_of(errors.UnsupportedError, lambda: gs.grad(program)(1.0))
    assert text.splitlines()[0] == "`+` is not supported on None and float"
    assert "is a `return` missing?" in text
