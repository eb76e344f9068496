"""Values that differ from path to path, and names without value."""

from __future__ import annotations

import functools
import sys

import numpy as np

import gradscribe as gs
from gradscribe.errors import NoDerivativeError, UnsupportedPathError
from tests.refused import refused

X = np.linspace(0.5, 2.0, 4)
READS = [0]


@refused("the function does not return one type of value: it differs from path to path", X)
def result_of_two_structures(x):
    if x[0] > 1:
        return x[0], x[1]
    return [x[0]]


@refused("`y` is something else on each path", X)
def functions_or_numbers(x):
    if x[0] > 1:
        y = np.sin
    else:
        y = zip(x, x, strict=True)
    return y(x[0])


@refused("the exceptions that this catches are not known", X)
def unknown_exceptions(x):
    try:
        return np.log(x[0])
    except 3:
        return x[0]


@refused("a `finally` that leaves would end an exception here", X)
def left_by_finally(x):
    try:
        if x[0] > 1:
            raise ValueError
        y = x[0]
    finally:
        return x[1]


@refused("what this reads may or may not have been assigned when the exception passed", X)
def read_by_finally(x):
    done = False
    try:
        y = np.linalg.inv(x[0] * np.eye(2))
        done = True
    finally:
        print(done)
    return np.sum(y)


@refused("this changes an array or list when an exception passes that is handled", X)
def changed_by_finally(x):
    y = x * 2
    try:
        try:
            if x[0] > 1:
                raise ValueError
        finally:
            y[0] = 1.0
    except ValueError:
        pass
    return np.sum(y)


@refused("`raise` without an exception stands in no `except` here", X)
def raised_again(x):
    if x[0] > 100:
        raise
    return x[0]


@refused("this exception is not supported", X)
def exception_by_a_function(x):
    if x[0] > 100:
        raise _problem("too large")
    return x[0]


def _problem(text):
    return ValueError(text)


@refused("`value` is read of an exception, which may carry what is differentiated", X)
def attribute_of_an_exception(x):
    try:
        if x[0] > 0:
            raise Stop(x[0])
    except Stop as stop:
        return stop.value
    return x[1]


class Stop(Exception):
    def __init__(self, value):
        self.value = value


@refused("`__cause__` is read of an exception: what it was raised by is not followed", X)
def cause_of_an_exception(x):
    try:
        try:
            raise KeyError("a")
        except KeyError as first:
            raise ValueError("b") from first
    except ValueError as second:
        return x[0] if second.__cause__ is None else x[1]


@refused(
    "`exc_info` is not supported: an exception that is known when the function is compiled is "
    "not raised when it runs",
    X,
)
def exception_that_is_handled(x):
    try:
        raise KeyError
    except KeyError:
        return x[0] if sys.exc_info()[0] is KeyError else x[1]


@refused(
    "the generator `ends_by_an_exception` raises StopIteration, which Python does not hand on", X
)
def generator_that_raises(x):
    return sum(ends_by_an_exception(x[0]))


def ends_by_an_exception(v):
    yield v
    raise StopIteration


@refused("`np.errstate(call=…)` calls a function wherever numbers are computed", X)
def function_called_at_errors(x):
    with np.errstate(all="call", call=print):
        return np.sum(np.log(x - 1.0))


@refused("`y` from outside is stored to under `no_grad`", X)
def stored_under_no_grad(x):
    y = x * 2
    with gs.no_grad():
        y[0] = 1.0
    return np.sum(y)


@refused("an array from outside is stored to under `no_grad`", X)
def item_stored_under_no_grad(x):
    ys = [x * 2, x * 3]
    with gs.no_grad():
        ys[0][0] = 1.0
    return np.sum(ys[0])


@refused("the gradient mode is set for the rest of a loop, branch or function", X)
def sets_a_mode_in_a_branch(x):
    if x[0] > 0:
        gs.set_grad_enabled(False)
    y = x * 2
    gs.set_grad_enabled(True)
    return (x * y).sum()


@refused("the function leaves the gradient mode changed", X)
def leaves_a_mode(x):
    gs.set_grad_enabled(False)
    return (x * 2).sum()


@refused("a gradient mode must be known when this is compiled", X)
def computed_mode(x):
    with gs.set_grad_enabled(x[0] > 1):
        return np.sum(x * x)


@refused("this value is no context manager", X)
def no_manager(x):
    with x:
        return np.sum(x)


@refused("`Point` has no such positional patterns", X)
def positional_pattern(x):
    match Point(x[0], x[1]):
        case Point(a, b):
            return a * b


class Point:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Counted(Point):
    reads = READS

    @property
    def large(self):
        if self.a < 1.0:
            raise AttributeError("large")
        return self.a

    @property
    def total(self):
        self.reads[0] += 1
        return self.a + self.b


@refused(
    "an object may be asked for its truth twice here, which changes something",
    X,
    kind=UnsupportedPathError,
)
def truth_that_counts(x):
    found = Countable(x[0])
    scale = (found or 2.0) and 3.0
    return x[1] * scale


class Countable:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        READS[0] += 1
        return bool(self.v > 0)


@refused("whether there is a `large` to be matched is known at run time only", X)
def pattern_of_what_may_be_there(x):
    match Counted(x[0], x[1]):
        case Counted(large=a):
            return a
    return x[1]


@refused("to read `total` changes something, in a pattern that is matched on some paths", X)
def pattern_of_a_property_that_counts(x):
    match Counted(x[0], x[1]):
        case Counted(a=1.0, total=t) | Counted(total=t):
            return t
    return x[1]


@refused("the class in this pattern is not known", X)
def pattern_of_a_function(x):
    match x:
        case scaled():
            return x[0]
    return x[1]


def scaled(x):
    return x


@refused("this value pattern is not supported", X)
def pattern_of_an_array(x):
    match x:
        case 1.0:
            return x[0]
    return x[1]


@refused("a `break` or `continue` stands in the `else` of this loop", X)
def while_else(x):
    items = list(x)
    total = 0.0
    for _ in range(2):
        while items.pop() > 1:
            total += 1
        else:
            continue
        total += x[0]
    return total * x[0]


@refused("`y` has no value before the first iteration", X, 3)
def never_bound(x, n):
    while n > 0:
        y = y + x  # noqa: F821
        n = n - 1
    return np.sum(y)


@refused(
    "this expression has no single type: `value of the expression` is something else on each path",
    X,
)
def name_by_a_condition(x):
    return getattr(x, "sum" if x[0] > 1 else "max")()


@refused("this pattern is given another object than a list, tuple or dict of known keys", X)
def pattern_of_computed_keys(x):
    found = {}
    for v in x:
        found[int(v)] = v
    match found:
        case {1: v}:
            return v
    return x[0]


@refused("`d` has other keys on each path", X, {"a": 1.0})
def other_keys(x, d):
    if x[0] > 1:
        d["b"] = x[0]
    return sum(d.values())


@refused("`found` holds items of other types on each path", 2.5, 20)
def appended_on_one_path(x, n):
    found = []
    for k in range(n):
        if k % 2:
            found.append(x * k)
        else:
            found.append(np.array([x, x]))
    return found[0]


@refused(
    "`two_kinds` does not return one type of value: `return value` is something else on each path",
    X,
)
def calls_a_function_of_two_kinds(x):
    return two_kinds(x)(x[0])


def two_kinds(x):
    if x[0] > 1:
        return zip(x, x, strict=True)
    return np.sin


@refused("`f` is set in a loop", X, 3)
def function_set_in_a_loop(x, n):
    f = None
    for v in x[x > 1]:
        f = lambda u: u * v
    return f(x[0]) if f else x[0]


@refused("a `try` that always raises is not supported", X)
def try_that_always_raises(x):
    try:
        if x[0] > 1:
            raise ValueError
        raise KeyError
    except ValueError:
        return x[0]


@refused("`a` may or may not have been assigned when the exception came", X, 1.0)
def assigned_before_an_exception(x, y):
    try:
        return unsettled(x, y)
    except KeyError:
        return 0.0


def unsettled(x, y):
    a = x[0]
    try:
        a = a * 2
        b = 1 / y
        a = b * 3
        c = 1 / (y - 1)
    except ZeroDivisionError:
        c = a
    return a * c


UNREAD: dict = {}
exec(  # a class without source
    """
class Filling:
    def __init__(self, array):
        array[0] = 1.0
        array[1] = 1.0
""",
    UNREAD,
)
FILLING = functools.partial(UNREAD["Filling"])


@refused(
    "code that cannot be read may have kept `scratch`, and a `try` may have changed that before an "
    "exception came",
    X,
)
def changed_in_an_attempt_and_kept(x):
    scratch = np.zeros(1)
    try:
        FILLING(scratch)
    except IndexError:
        pass
    FILLING(np.zeros(2))
    return x * x


@refused(
    "`Filling`, whose code cannot be read, may store to `work`, which lies with gaps",
    X,
    np.zeros(4)[::2],
)
def stored_to_what_lies_with_gaps(x, work):
    FILLING(work)
    return x * x


@refused("this changes an array or list in a `try` that may be left by an exception", X, 2.0)
def stored_before_an_exception(x, y):
    try:
        return partly_stored(x, y)
    except KeyError:
        return 0.0


def partly_stored(x, y):
    z = x * 1
    try:
        for i in range(3):
            z[i] = 1 / (y - i)
    except ZeroDivisionError:
        pass
    return z.sum()


@refused(
    "`y` does not stay of one kind in the loop: float64 on one path and float64[2] on the other", X
)
def array_of_ever_more_axes(x):
    y = x[0]
    while np.sum(y) < 100:
        y = np.array([y, y])
    return np.sum(y)


@refused("the items of a list or dict become of another kind or number in a loop", X)
def key_added_in_a_loop(x):
    found = {"a": x[0]}
    while found["a"] < 100:
        found["a"] = found["a"] * 2
        found["b"] = x[0]
    return found["a"]


@refused("`y` has no value if the loop makes no iteration", X)
def loop_without_an_iteration(x):
    for k in range(0):
        y = x[k]
    return y * x[0]


@refused("`y` has been deleted", X)
def deleted_name(x):
    y = x * 2
    del y
    return np.sum(y)  # noqa: F821


@refused("`y`, which may have no value, is deleted in a loop", X)
def name_that_some_iterations_delete(x):
    total = 0.0
    for k in range(4):
        if x[k] > 1:
            y = x[k]
        try:
            del y
        except NameError:
            total += x[k]
    return total


@refused("`y` has no value on one path", X)
def iterator_on_one_path(x):
    if x[0] > 1:
        y = map(abs, x)
    return sum(y)


@refused("`y` is float64 on one path and float64[x:0] on the other", X)
def number_or_array(x):
    y = x[0]
    try:
        y = 1.0 / x[0]
    except ZeroDivisionError:
        y = x
    return y


@refused("this is of one kind or of another at run time", X)
def repeated_none_or_number(x):
    y = [None if x[0] > 1 else x[0]] * int(x[3])
    return 1.0 if y[0] is None else y[0]


@refused(
    "a negative number to a power that is no integer is complex, and this was compiled for real "
    "numbers",
    -2.0,
    kind=NoDerivativeError,
)
def complex_power_of_real_numbers(x):
    return abs(x**0.5)


@refused(
    "an integer to a negative power is a float, and this was compiled for integers",
    2.0,
    -1,
    kind=NoDerivativeError,
)
def negative_power_of_an_integer(x, n):
    return x * 2**n
