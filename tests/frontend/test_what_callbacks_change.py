"""Python code that compiled code calls changes the state outside, or reads what is stored there."""

from __future__ import annotations

import csv
import ctypes
import functools
import io
import sys
from typing import ClassVar

import numpy as np
import pytest
import scipy.integrate

import gradscribe as gs
from gradscribe.errors import GradscribeError

X = np.array([0.7, 1.3])
HERE = sys.modules[__name__]
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)

RATE = 0.0
TABLE = {"rate": 0.0}
ITEMS = [0.0]
OTHER = {"items": ITEMS}
WEIGHTS = np.zeros(2)


class Shared:
    items: ClassVar = [0.0]
    weights: ClassVar = np.zeros(2)


class Model:
    def __init__(self):
        self.start()

    def start(self):
        self.rate, self.items, self.table = 0.0, [0.0], {"rate": 0.0}
        self.weights = np.zeros(2)

    def reads(self, t):
        return t * self.rate

    def reads_an_item(self, t):
        return t * self.items[0]

    def reads_a_table(self, t):
        return t * self.table["rate"]

    def reads_a_weight(self, t):
        return t * self.weights[0]

    def counts(self, t):
        self.rate += 1.0
        return t

    def counts_by_name(self, t):
        setattr(self, "rate", self.rate + 1.0)
        return t

    def counts_in_its_dict(self, t):
        self.__dict__["rate"] += 1.0
        return t

    def counts_in_a_list(self, t):
        self.items[0] += 1.0
        return t

    def counts_in_an_array(self, t):
        self.weights[0] += 1.0
        return t

    __call__ = counts


MODEL = Model()


def sets_globals(t):
    globals()["RATE"] = 3.0
    return t


def sets_its_module(t):
    HERE.RATE = 3.0
    return t


def sets_by_name(t):
    setattr(HERE, "RATE", 3.0)
    return t


def updates(t):
    TABLE.update(rate=3.0)
    return t


def runs_a_text(t):
    exec("RATE = 3.0", globals())
    return t


def adds_to_a_class(t):
    Shared.items.append(1.0)
    return t


def reads_a_variable(t):
    return t * RATE


def reads_a_table(t):
    return t * TABLE["rate"]


def reads_an_item(t):
    return t * ITEMS[0]


def reads_another_name(t):
    return t * OTHER["items"][0]


def reads_an_array(t):
    return t * WEIGHTS[0]


def reads_a_class(t):
    return t * (Shared.items[0] + Shared.weights[0])


def reads_by_name(t):
    return t * getattr(MODEL, "rate")


def reads_vars(t):
    return t * vars(MODEL)["rate"]


def integral(function):
    return float(scipy.integrate.quad(function, 0, 1)[0])


BY_C = {
    one.__name__: CALLBACK(one)
    for one in (
        *(sets_globals, sets_by_name, adds_to_a_class, MODEL.reads, MODEL.reads_a_weight),
        *(MODEL.counts, MODEL.counts_by_name, reads_by_name, reads_vars, reads_another_name),
        *(reads_a_class, reads_a_variable, reads_an_array),
    )
}
COUNTED_BY_C = CALLBACK(MODEL)
COUNTED_OF_A_PARTIAL = CALLBACK(functools.partial(Model.counts, MODEL))
COUNTED_BY_UFUNC = np.frompyfunc(MODEL.counts, 1, 1)


def the_module(x):
    return RATE * np.sum(x)


def the_table(x):
    return TABLE["rate"] * np.sum(x)


def the_model(x):
    return (MODEL.rate + MODEL.items[0] + MODEL.weights[0]) * np.sum(x)


def the_class(x):
    return len(Shared.items) * np.sum(x)


def read_after(run, function, read):
    def program(x):
        run(function)
        return read(x)

    return program


def by_c(function):
    function(1.0)


def by_both(function):
    scipy.integrate.quad(function, 0, 1)


CHANGED = {
    "globals": read_after(integral, sets_globals, the_module),
    "module": read_after(integral, sets_its_module, the_module),
    "by_name": read_after(integral, sets_by_name, the_module),
    "update": read_after(integral, updates, the_table),
    "text": read_after(integral, runs_a_text, the_module),
    "method": read_after(integral, MODEL.counts, the_model),
    "method_by_name": read_after(integral, MODEL.counts_by_name, the_model),
    "dict_of_object": read_after(integral, MODEL.counts_in_its_dict, the_model),
    "list_of_object": read_after(integral, MODEL.counts_in_a_list, the_model),
    "array_of_object": read_after(integral, MODEL.counts_in_an_array, the_model),
    "partial": read_after(integral, functools.partial(Model.counts, MODEL), the_model),
    "object": read_after(integral, MODEL, the_model),
    "globals_by_c": read_after(by_c, BY_C["sets_globals"], the_module),
    "by_name_by_c": read_after(by_c, BY_C["sets_by_name"], the_module),
    "class_by_c": read_after(by_c, BY_C["adds_to_a_class"], the_class),
    "class_by_both": read_after(by_both, BY_C["adds_to_a_class"], the_class),
    "method_by_c": read_after(by_c, BY_C["counts"], the_model),
    "method_by_both": read_after(by_both, BY_C["counts"], the_model),
    "method_by_name_by_c": read_after(by_c, BY_C["counts_by_name"], the_model),
    "object_by_c": read_after(by_c, COUNTED_BY_C, the_model),
    "partial_by_c": read_after(by_c, COUNTED_OF_A_PARTIAL, the_model),
    "ufunc": read_after(by_c, COUNTED_BY_UFUNC, the_model),
}


def stores_a_variable(x):
    global RATE
    RATE = x[1]


def stores_in_a_table(x):
    TABLE["rate"] = x[1]


def stores_an_item(x):
    ITEMS[0] = x[1]


def stores_in_an_array(x):
    WEIGHTS[0] = x[1]


def stores_in_a_list_of_a_class(x):
    Shared.items[0] = x[1]


def stores_in_an_array_of_a_class(x):
    Shared.weights[0] = x[1]


def stores_an_attribute(x):
    MODEL.rate = x[1]


def stores_in_a_list_of_an_object(x):
    MODEL.items[0] = x[1]


def stores_in_a_table_of_an_object(x):
    MODEL.table["rate"] = x[1]


def stores_in_an_array_of_an_object(x):
    MODEL.weights[0] = x[1]


def called_after(store, function, run=integral):
    def program(x):
        store(x)
        return float(run(function)) * x[0]

    return program


def value_by_c(function):
    return function(1.0)


STORED = {
    "variable": called_after(stores_a_variable, reads_a_variable),
    "table": called_after(stores_in_a_table, reads_a_table),
    "item": called_after(stores_an_item, reads_an_item),
    "another_name": called_after(stores_an_item, reads_another_name),
    "array": called_after(stores_in_an_array, reads_an_array),
    "list_of_class": called_after(stores_in_a_list_of_a_class, reads_a_class),
    "array_of_class": called_after(stores_in_an_array_of_a_class, reads_a_class),
    "attribute": called_after(stores_an_attribute, MODEL.reads),
    "attribute_by_name": called_after(stores_an_attribute, reads_by_name),
    "attribute_in_vars": called_after(stores_an_attribute, reads_vars),
    "list_of_object": called_after(stores_in_a_list_of_an_object, MODEL.reads_an_item),
    "table_of_object": called_after(stores_in_a_table_of_an_object, MODEL.reads_a_table),
    "array_of_object": called_after(stores_in_an_array_of_an_object, MODEL.reads_a_weight),
    "variable_by_c": called_after(stores_a_variable, BY_C["reads_a_variable"], value_by_c),
    "another_name_by_c": called_after(stores_an_item, BY_C["reads_another_name"], value_by_c),
    "array_by_c": called_after(stores_in_an_array, BY_C["reads_an_array"], value_by_c),
    "class_by_c": called_after(stores_in_a_list_of_a_class, BY_C["reads_a_class"], value_by_c),
    "attribute_by_c": called_after(stores_an_attribute, BY_C["reads"], value_by_c),
    "attribute_by_name_by_c": called_after(stores_an_attribute, BY_C["reads_by_name"], value_by_c),
    "attribute_in_vars_by_c": called_after(stores_an_attribute, BY_C["reads_vars"], value_by_c),
}


def start():
    global RATE
    RATE, TABLE["rate"], ITEMS[0] = 0.0, 0.0, 0.0
    WEIGHTS[:] = Shared.weights[:] = 0.0
    Shared.items[:] = [0.0]
    MODEL.start()


def of_tensors(function):
    x = gs.tensor(X, requires_grad=True)
    value = gs.differentiable(function)(x)
    value.backward()
    return value.item(), x.grad.numpy()


def of_a_pullback(function):
    value, pullback = gs.vjp(function, X)
    return value, pullback(1.0)[0]


WAYS = {
    "value_and_grad": lambda f: gs.value_and_grad(f)(X),
    "auto": lambda f: gs.value_and_grad(f, compile="auto")(X),
    "vjp": of_a_pullback,
    "tensors": of_tensors,
}


def differences(function):
    found = []
    for direction in np.eye(X.size) * 1e-6:
        start()
        above = function(X + direction)
        start()
        found.append((above - function(X - direction)) / 2e-6)
    return found


def is_right_or_refused(function, way):
    start()
    value, expected = function(X), differences(function)
    start()
    try:
        found, gradient = WAYS[way](function)
    except GradscribeError:
        return
    assert abs(found - value) < 1e-8
    np.testing.assert_allclose(gradient, expected, atol=1e-5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CHANGED)
def test_what_a_callback_changes_is_read_or_refused(name, way):
    is_right_or_refused(CHANGED[name], way)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", STORED)
def test_what_is_stored_before_a_callback_reads_it_is_seen_or_refused(name, way):
    is_right_or_refused(STORED[name], way)


class Written:
    """Is told what is written, and counts that."""

    def __init__(self):
        self.count, self.weights = 0, np.ones(2)

    def write(self, text):
        self.count += len(text)

    def __getitem__(self, key):
        self.count += 1
        self.weights[0] += 1.0
        return "q"


class Device(io.RawIOBase):
    def __init__(self):
        self.count = 0

    def writable(self):
        return True

    def write(self, data):
        self.count += len(data)
        return len(data)


def _of_a_writer():
    written = Written()

    def function(x):
        csv.writer(written).writerow([1, "a"])
        return x[0] * written.count

    return function


def _of_a_buffer():
    device = Device()
    buffered = io.BufferedWriter(device)

    def function(x):
        buffered.write(b"abc")
        buffered.flush()
        return x[0] * device.count

    return function


def _of_a_text():
    written = Written()

    def function(x):
        before = np.sum(written.weights * x)
        text = "{a}".format_map(written)
        return before + len(text) * np.sum(written.weights * x)

    return function


@pytest.mark.parametrize("options", [{}, {"compile": "auto"}, {"compile": False}], ids=str)
@pytest.mark.parametrize("make", [_of_a_writer, _of_a_buffer, _of_a_text])
def test_what_methods_change_that_code_in_c_calls(make, options):
    value, function = make()(X), make()
    if not options:
        with pytest.raises(GradscribeError, match="is both read and changed"):
            gs.grad(function)(X)
        return
    assert gs.value_and_grad(function, **options)(X)[0] == value


def test_callbacks_that_touch_nothing_of_the_program_compile():
    def counting(x):
        MODEL.rate = x[1]
        return np.sum(x) * integral(reads_an_item)

    start()
    ITEMS[0] = 2.0
    assert gs.value_and_grad(counting)(X)[0] == pytest.approx(np.sum(X))
    assert MODEL.rate == X[1]
