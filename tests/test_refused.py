"""Every text with which something is refused is provoked by a program of `tests.refused`."""

from __future__ import annotations

import copy
import sys
import warnings
from contextvars import copy_context

import numpy as np
import pytest

from gradscribe import errors
from tests.refusals import PAGE, PARTS, Refusal, closest, page, refusals
from tests.refused import Program, programs
from tests.sampling import one_in

PROGRAMS = programs()
ENDLESS = {
    "all_permutations",
    "endless_recursion",
    "list_that_grows_for_ever",
    "list_without_end",
}
CALLED = [p for p in PROGRAMS if p.placed and p.function.__name__ not in ENDLESS]

# fmt: off
UNTOLD = {
    "asks_for_a_dynamic_attribute", "at_of_a_list", "attribute_by_a_computed_name",
    "checkpoints_in_contexts", "computed_namedtuple", "copied_class",
    "deleted_attribute_of_an_array", "deleted_element", "diag_by_another_name", "drawn_in_vain",
    "functions_or_numbers", "integer_and_array_as_index", "iterator_on_one_path",
    "method_of_an_unknown_object", "method_of_tensors", "never_bound", "operation_that_fails",
    "pattern_of_a_function", "pattern_of_an_array", "split_along_two_axes",
    "super_of_a_class_alone", "try_that_always_raises", "two_lists_of_a_vector",
    "type_of_a_list_of_arrays", "unpacked_count", "unpacked_items",
}
# fmt: on
"""Programs that raise in Python by values that are known when they run, or after what is refused;
or that are written for Tensors, and called with arrays there."""


@pytest.mark.parametrize("program", one_in(2, PROGRAMS), ids=lambda program: program.name)
def test_the_program_is_refused_by_its_text(program: Program) -> None:
    with pytest.raises(errors.GradscribeError) as caught:
        program.run()
    error = caught.value
    assert error.what == program.text
    assert public_kind(error) is program.kind
    written = closest(error.what)
    assert written, "the page of all refusals has no such text"
    assert any(refusal.fits_advice(error.advice) for refusal in written), error.advice
    if program.placed:
        assert error.location is not None
        assert error.location.filename == sys.modules[program.function.__module__].__file__


def public_kind(error: errors.GradscribeError) -> type:
    """The nearest class of the error that users know."""
    return next(kind for kind in type(error).__mro__ if vars(errors).get(kind.__name__) is kind)


@pytest.mark.parametrize("program", CALLED, ids=lambda program: program.name)
def test_the_refusal_is_caught_as_what_python_raises(program: Program) -> None:
    with pytest.raises(errors.GradscribeError) as caught:
        program.run()
    refusal = caught.value
    python = raised(program)
    if python is None:
        assert not is_joined(refusal)
    elif program.function.__name__ not in UNTOLD:
        assert isinstance(refusal, built_in(python))


def is_joined(error: errors.GradscribeError) -> bool:
    """Whether an error is of one of Python's classes, too, that its kind is not of."""
    cls = type(error)
    return cls.__module__ == errors.__name__ and vars(errors)[cls.__name__] is not cls


def built_in(error: Exception) -> type:
    return next(cls for cls in type(error).__mro__ if cls.__module__ == "builtins")


def raised(program: Program) -> Exception | None:
    """What plain Python raises for the program."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copy_context().run(program.function, *copy.deepcopy(program.args))
    except Exception as error:
        return error
    return None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="it has no `except*`, which is refused")
@pytest.mark.parametrize("part", PARTS)
def test_every_text_is_provoked_by_a_program(part: str) -> None:
    provoked = {refusal for program in PROGRAMS for refusal in closest(program.text)}
    missing = [refusal for refusal in refusals(part) if refusal not in provoked]
    assert not missing, "no program of `tests.refused` provokes:\n" + listed(missing)


def listed(missing: list[Refusal]) -> str:
    return "\n".join(f"  {refusal.file}: {refusal.what}" for refusal in missing)


@pytest.mark.parametrize("part", PARTS)
def test_no_advice_drops_a_term_of_a_derivative(part: str) -> None:
    advised = [r for r in refusals(part) if any("stop_gradient" in text for text in r.advices)]
    assert not advised, listed(advised)


def test_the_page_of_all_refusals_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.refusals`"
