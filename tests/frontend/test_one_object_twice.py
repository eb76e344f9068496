"""What is one object at two places stays one, in copies too, or is refused; and a list is empty
while it is sorted, as in Python."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import AliasingError
from tests.frontend.oracles import check

ROW, NUMBERS = np.ones(3), [1.0, 2.0]
IN_A_DICT = {"row": ROW, "rows": [ROW]}
IN_A_LIST = [NUMBERS, NUMBERS]
APART = {"row": np.ones(3), "rows": [np.ones(3)]}


def of_a_dict(x, held=IN_A_DICT):
    copied = copy.deepcopy(held)
    copied["row"][0] = x
    return copied["rows"][0][0] * x


def of_a_list(x):
    copied = copy.deepcopy(IN_A_LIST)
    copied[0][0] = x
    return copied[1][0] * x


def of_two(x):
    copied = copy.deepcopy(APART)
    copied["row"][0] = x
    return copied["rows"][0][0] * copied["row"][0] * x


def gradient_of_tensor(function):
    x = gs.tensor(2.0, requires_grad=True)
    gs.differentiable(function)(x).backward()
    return x.grad.item()


TRANSFORMS = {
    "reverse": lambda f: gs.grad(f)(2.0),
    "forward": lambda f: gs.jvp(f, (2.0,), (1.0,))[1],
    "of a lambda": lambda f: gs.jvp(lambda x: f(x), (2.0,), (1.0,))[1],
    "tensors": gradient_of_tensor,
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("function", [of_a_dict, of_a_list])
def test_copies_of_what_is_held_twice_are_refused(function, transform):
    with pytest.raises(AliasingError, match="holds an array or list twice"):
        transform(function)


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_copies_of_others_are_made(transform):
    assert transform(of_two) == 4.0


def sorted_by_what_it_looks_at(x):
    items, seen = [3.0, 1.0, 2.0], []

    def key(item):
        seen.append(len(items))
        return item

    items.sort(key=key)
    return x * (1 + sum(seen)) + items[0] * x


def sorted_numbers(x):
    items = [x[0], x[1] * 2, x[2]]
    items.sort(key=lambda item: item + len(items))
    return items[0] * 3 + items[1]


def test_a_list_is_empty_while_it_is_sorted():
    check(sorted_by_what_it_looks_at, 2.0)
    check(sorted_numbers, np.array([3.0, 1.0, 2.5]))


def test_a_list_must_not_be_changed_while_it_is_sorted():
    def program(x):
        items = [3.0, 1.0]
        items.sort(key=lambda item: items.append(item) or item)
        return items[0] * x

    for run in (program, gs.grad(program)):
        with pytest.raises((ValueError, gs.errors.UnsupportedError), match="modified during sort"):
            run(2.0)
