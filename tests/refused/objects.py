"""Objects, their attributes and their classes that are refused."""

from __future__ import annotations

import abc
import collections
import copy
import ctypes
import dataclasses
import functools
import operator
import os
import types
import typing
import weakref
from typing import NamedTuple

import numpy as np

from gradscribe.errors import AliasingError, UnsupportedPathError
from tests.refused import refused

X = np.linspace(0.5, 2.0, 4)


class Point:
    def __init__(self, a, b):
        self.a, self.b = a, b

    @property
    def total(self):
        return self.a + self.b


class Slotted:
    __slots__ = ("a",)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float


class Pair(NamedTuple):
    a: float
    b: float


class Empty:
    pass


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self):
        pass


class Shown:
    def __getattribute__(self, name):
        return 1.0


class Base:
    pass


class Derived(Base):
    def area(self, x):
        return super().area(x)


class Fixed:
    def __get__(self, owner, cls):
        return 1.0

    def __delete__(self, owner):
        pass


class WithFixed:
    rate = Fixed()


RATES = types.MappingProxyType({"ab": 2.0})


@refused("a dict is made of the items of a `mappingproxy` here", X)
def dict_of_a_mapping(x):
    rates = {}
    rates.update(RATES)
    return x[0] * rates["ab"]


class Making(type):
    first = property(operator.itemgetter(0))

    def __getitem__(cls, index):
        return operator.itemgetter(index)


class Made(metaclass=Making):
    pass


@refused("`first` is another object at each reading", X)
def made_at_each_reading(x):
    return Made.first(x)


@refused("`Point` has no attribute `c`", X)
def attribute_never_stored(x):
    return Point(x[0], x[1]).c


@refused("the attribute `__dict__` is not supported: it is another name for all attributes", X)
def dict_of_an_object(x):
    point = Point(1.0, 2.0)
    point.__dict__["a"] = x[0]
    return point.a


@refused("`numpy` has no attribute `summ`", X)
def misspelt_function(x):
    return np.summ(x)


@refused("`Point` has no attribute `c`", X)
def deleted_attribute_never_stored(x):
    point = Point(x[0], x[1])
    del point.c
    return point.a


@refused("'Slotted' object has no attribute 'b'", X)
def no_such_slot(x):
    point = Slotted()
    point.b = x[0]
    return point.b


@refused("`super()` has no attribute `area`", X)
def nothing_above(x):
    return Derived().area(x)


@refused("super(type, obj): obj must be an instance or subtype of type", X)
def super_of_a_list(x):
    return super(Point, [1.0, 2.0]).total(x)


@refused("super() argument 1 must be a type, not float", X)
def super_of_no_class(x):
    return super(3.0, x).total(x)


@refused("`super` of a class alone, or of no object of a class, is not supported", X)
def super_of_a_class_alone(x):
    return super(Point).total(x)


@refused("`super()` outside of a method", X)
def super_in_a_function(x):
    return super().total(x)


@refused("`Empty()` takes no arguments", X)
def argument_for_nothing(x):
    return Empty(x[0]).a


@refused("`Shown` has a `__getattribute__` of its own", X)
def own_lookup(x):
    return x[0] * Shown().rate


class Going:
    def __del__(self):
        pass


@refused("`Going` has a `__del__`, which runs when nobody has its object any more", X)
def object_that_does_something_when_it_goes(x):
    Going()
    return x[0]


@refused("a set whose items are known is changed in place", X)
def known_set_with_fewer_items(x):
    def take(some):
        some.pop()

    items = {1, 2}
    take(items)
    return len(items) * x[0]


@refused("`Shape` is abstract", X)
def abstract_object(x):
    return Shape().area() * x[0]


@refused("cannot assign to field `a`: `Frozen` is frozen", X)
def stored_in_a_frozen_object(x):
    point = Frozen(x[0])
    point.a = x[1]
    return point.a


@refused("the attribute `flags` of this value cannot be deleted", X)
def deleted_attribute_of_an_array(x):
    y = x * 2
    del y.flags
    return y[0]


@refused("the attribute `shape` of this value cannot be stored", X)
def stored_shape(x):
    y = x * 2
    y.shape = (2, 2)
    return y[0, 0]


@refused("the descriptor `rate` has no `__set__`", X)
def stored_through_a_descriptor(x):
    owner = WithFixed()
    owner.rate = x[0]
    return x[0]


@refused("the property `total` has no setter", X)
def stored_property(x):
    point = Point(x[0], x[1])
    point.total = x[0]
    return point.a


@refused("the method `__reduce__` of this object is not supported", X)
def method_of_object(x):
    return x[0] * len(Point(1.0, 2.0).__reduce__())


@refused(
    "whether the attribute `a` was stored is not known when this is compiled",
    X,
    kind=UnsupportedPathError,
)
def stored_in_some_iterations_of_a_loop(x):
    point = Defaulted()
    for v in x:
        if v > 1:
            point.a = v
    return point.a * x[0]


class Defaulted:
    a = 1.0


@refused("`replace` of something that is no dataclass", X)
def replaced_in_a_plain_object(x):
    return dataclasses.replace(Point(x[0], x[1]), a=x[2]).a


@refused("`Pair` has no such field", X)
def replaced_field_that_is_not_there(x):
    return Pair(x[0], x[1])._replace(c=x[2]).a


@refused("a copy of this object is not supported", X)
def copied_class(x):
    return np.sum(copy.copy(v * 2 for v in x))


@refused("the attributes of this value cannot be stored", X)
def set_attribute_of_a_number(x):
    object.__setattr__(x, "rate", 1.0)
    return x[0]


@refused("objects of different kinds are sorted", X)
def sorted_objects(x):
    found = sorted([Weighted(x[0]), Weighted("a")])
    return found[0].weight


@functools.total_ordering
class Weighted:
    def __init__(self, weight):
        self.weight = weight

    def __lt__(self, other):
        return True


@refused("`Frozen` cannot be made like this: missing a required argument: 'a'", X)
def dataclass_without_its_field(x):
    return Frozen().a


@refused("a class holds a list that its objects share", X)
def class_with_a_list(x):
    class Log:
        items = []  # noqa: RUF012

    Log.items.append(x[0])
    return Log.items[0]


@refused("what a class holds is not known when it is compiled", X)
def class_with_an_array(x):
    class Scaled:
        rate = x[0]

    return Scaled.rate


@refused("this class cannot be made: float expected at most 1 argument, got 3", X)
def class_of_a_number(x):
    class Odd(1.0):
        pass

    return x[0]


@refused("this statement in the body of a class is not supported", X)
def class_with_a_loop(x):
    class Odd:
        for k in range(3):
            pass

    return x[0] * Odd.k


@refused("this decorator in a class that a function defines is not supported", X)
def class_with_a_decorated_method(x):
    class Scaled:
        @shown
        def area(self):
            return 2.0

    return x[0] * Scaled().area()


def shown(function):
    return function


@refused("what `namedtuple` is given is not known here", X)
def computed_namedtuple(x):
    Row = collections.namedtuple("Row", x)
    return Row(1, 2)


@refused("`Local`, a class that the function defines, is returned, or stored outside", X)
def local_class(x):
    class Local:
        def area(self):
            return x[0]

    return np.sum(x), Local


CLASSES = []


@refused("`Local`, a class that the function defines, is given away", X)
def kept_local_class(x):
    class Local:
        def area(self):
            return x[0]

    CLASSES.append(Local)
    return np.sum(x)


@refused("an object of `Local`, a class that the function defines, is returned", X)
def local_object(x):
    class Local:
        def __init__(self, a):
            self.a = a

    return Local(x[0])


@refused("a `deque` cannot be returned", X)
def returned_deque(x):
    return collections.deque([x[0], x[1]])


@refused("a `dict_items` cannot be returned", X)
def returned_view(x):
    return {"first": x[0], "second": x[1]}.items()


@refused("a `flatiter` cannot be returned", X)
def returned_flat_iterator(x):
    return x.flat


@refused("a dict whose keys are computed cannot be returned", X)
def returned_dict(x):
    found = {}
    for v in x:
        found[int(v)] = v
    return found


@refused(
    "whether these objects are one is not known when the function is compiled",
    X,
    kind=AliasingError,
)
def identity_of_objects(x):
    if x[0] > 0:
        first = second = Point(x[0], x[1])
    else:
        first, second = Point(x[0], x[1]), Point(x[1], x[2])
    return x[0] if first is second else x[1]


@refused("a method of a class that the function defines reads `rate` of it in a recursion", X, 3)
def class_in_a_recursion(x, n):
    rate = x[0]

    class Node:
        def value(self):
            return rate

    return total_of(Node(), n)


def total_of(node, n):
    return node.value() if n == 0 else total_of(node, n - 1) * 2.0


@refused("a set of the running program is given an object", X)
def object_in_a_set_of_numbers(x):
    seen = set()
    if x[0] > 1:
        seen = {1}
    seen.add(Tally())
    return x[0] * len(seen)


class Tally:
    count = 0.0


class Deciding(type):
    """Classes whose instances are what they say."""

    def __instancecheck__(cls, instance):
        return True


class Anything(metaclass=Deciding):
    pass


@refused("`Anything` decides itself what its instances are", X)
def instance_of_a_class_that_decides(x):
    return np.sum(x) if isinstance(x, Anything) else x[0]


@refused(
    "whether this raises TypeError depends on the class of a number, which is not the same on "
    "every path",
    X,
)
def caught_for_the_class_of_a_number(x):
    steps = 2 if x[0] > 0 else 0.5
    try:
        return sum(i * v for i, v in enumerate(x, steps))
    except TypeError:
        return x[1]


_OF_SEVERAL_DTYPES = (
    "the dtype of what may be integers or floats, or real or complex numbers, is not known when "
    "the function is compiled"
)


@refused(_OF_SEVERAL_DTYPES, X)
def dtype_of_numbers_of_two_classes(x):
    a = np.array([max(0, x[0]), 1])
    return np.sum(x.astype(a.dtype))


@refused(_OF_SEVERAL_DTYPES, X)
def kind_of_eigenvalues(x):
    values = np.linalg.eigvals(np.outer(x, x))
    return x[0] if np.iscomplexobj(2 * values) else x[1]


@refused(_OF_SEVERAL_DTYPES, X)
def kind_of_coefficients(x):
    return x[0] if np.poly([x[0] + 1j, x[0] - 1j]).dtype.kind == "c" else x[1]


@refused("the class of a number that may be `float64` or `int` here", X)
def class_of_one_number_or_another(x):
    r = x[0] if x[0] > 1 else 1
    return x[1] * 2 if type(r) is int else r * 3


@refused("the class of a number that may be `float64` or `int` here", X)
def first_of_several_classes(x):
    return np.sum(np.vectorize(lambda a: a if a < 1 else 1)(x))


@refused("whether this holds an object twice, which is copied once, is not known", X)
def copied_with_one_of_two(x):
    y = 2 * x
    other = y if x[0] > 0 else 3 * x
    first, second = copy.deepcopy([y, other])
    first[0] = 5.0
    return np.sum(first * second)


@refused("`copy.deepcopy` with a `memo` is not supported", X)
def deep_copy_with_a_memo(x):
    return copy.deepcopy(x, {})[0]


def count_of(*values):
    return len(values)


@refused(
    "on too many paths something is bound to values of different kinds, or to one array or another",
    X,
)
def ten_values_of_two_kinds(x):
    a, b, c = (1.0 if x[0] > 0 else None), (1.0 if x[1] > 0 else None), (1.0 if x[2] > 0 else None)
    d, e, f = (1.0 if x[0] > 1 else None), (1.0 if x[1] > 1 else None), (1.0 if x[2] > 1 else None)
    g, h, i = (1.0 if x[0] > 2 else None), (1.0 if x[1] > 2 else None), (1.0 if x[2] > 2 else None)
    return x[0] * count_of(a, b, c, d, e, f, g, h, i, 1.0 if x[3] > 0 else None)


class Vector:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.a, self.b)[i]

    def __rmul__(self, other):
        return other * self.a


@refused(
    "NumPy does not ask the `__rmul__` of `Vector` here: it takes the object for an array, or "
    "combines it with each element",
    X,
)
def number_times_a_sequence(x):
    return x[0] * Vector(x[1], x[2])


class Twice(list):
    def __iter__(self):
        return iter([*super().__iter__(), 1.0])


class Defaults(dict):
    def get(self, key, default=1.0):
        return super().get(key, default)


class Swapped(NamedTuple):
    a: float
    b: float

    def __iter__(self):
        return iter([self.b, self.a])


TWICE = Twice([1.0, 2.0])
DEFAULTS = Defaults(a=1.0)


@refused("`TWICE` is a Twice, which has a `__iter__` of its own", X)
def sum_of_a_list_with_an_iterator_of_its_own(x):
    return sum(TWICE) * x[0]


@refused("`options` is a Defaults, which has a `get` of its own", X, DEFAULTS)
def dict_with_a_method_of_its_own(x, options):
    return options.get("b") * x[0]


@refused("`Swapped` is a namedtuple with a `__iter__` of its own", X)
def namedtuple_with_an_iterator_of_its_own(x):
    a, b = Swapped(x[0], x[1])
    return a - b


class Config(dict):
    """Its items are attributes, too."""

    def __getattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        return self[name]


CONFIG_MAY_HAVE_IT = "`rate` may be an attribute of a class derived from dict"


@refused(CONFIG_MAY_HAVE_IT, X, Config(rate=2.0))
def attribute_of_a_derived_dict(x, config):
    return x.sum() * config.rate


@refused(CONFIG_MAY_HAVE_IT, X, Config(rate=2.0))
def attribute_of_a_derived_dict_or_another_value(x, config):
    return x.sum() * getattr(config, "rate", 1.0)


@refused(CONFIG_MAY_HAVE_IT, X, Config(rate=2.0))
def whether_a_derived_dict_has_an_attribute(x, config):
    return x.sum() * (2.0 if hasattr(config, "rate") else 1.0)


@refused("`insert` of a deque made in the function is not supported", X)
def insertion_into_a_deque(x):
    items = collections.deque(x)
    items.insert(0, x[1])
    return items[0]


class Unit(float):
    factor = 5.0


UNIT = Unit(2.0)


@refused("`UNIT` is a Unit, of a class derived from float", X)
def attribute_of_a_class_derived_from_a_number(x):
    return x[0] * getattr(UNIT, "factor", 1.0)


@refused("`unit` is a Unit, of a class derived from float", X, UNIT)
def argument_of_a_class_derived_from_a_number(x, unit):
    return x[0] * getattr(unit, "factor", 1.0)


class Proxy:
    def __init__(self, value):
        self.value = value

    @property
    def __class__(self):
        return float


@refused("`Proxy` has a `__class__` of its own", X)
def whether_a_proxy_is_a_number(x):
    proxy = Proxy(x[0])
    return proxy.value if isinstance(proxy, float) else x[1]


@refused("`Proxy` has a `__class__` of its own", X)
def class_that_a_proxy_says(x):
    proxy = Proxy(x[0])
    return proxy.value if proxy.__class__ is float else x[1]


class Row(list):
    pass


class Twin(tuple):
    pass


ROW, TWIN = Row([1.0, 2.0]), Twin((1.0, 2.0))
ROW.scale = TWIN.scale = 2.0


@refused("`scale` may be an attribute of a class derived from list", X, ROW)
def attribute_of_a_derived_list_of_numbers(x, row):
    return x.sum() * getattr(row, "scale", 1.0)


@refused("`scale` may be an attribute of a class derived from list", X, [ROW])
def whether_a_derived_list_in_a_list_has_an_attribute(x, rows):
    return x.sum() * (2.0 if hasattr(rows[0], "scale") else 1.0)


@refused("`scale` may be an attribute of a class derived from tuple", X, TWIN)
def attribute_of_a_derived_tuple(x, twin):
    return x.sum() * getattr(twin, "scale", 1.0)


def doubled(v):
    return 2.0 * v


PROXY = weakref.proxy(doubled)


@refused("`PROXY` is a weak proxy, whose class is not the one that it tells", X)
def calls_a_weak_proxy(x):
    return np.sum(PROXY(1.0) * x)


class Linked:
    def __init__(self, v):
        self.v = v
        self.first = self


@refused("an object, list or dict that contains itself is returned, or stored outside", X)
def returned_object_that_contains_itself(x):
    return Linked(np.sum(x))


STATUS = os.stat(os.curdir)


@refused("the attribute `st_mtime`, which is no item of a `stat_result`", X)
def attribute_that_is_no_item(x):
    return np.sum(x) * STATUS.st_mtime


REGISTRY: list[str] = []


class Registers:
    def __init_subclass__(cls):
        REGISTRY.append(cls.__name__)


@refused(
    "making this class runs `__init_subclass__`, which reads or changes what is outside of it", X
)
def class_that_is_registered(x):
    class Part(Registers):
        weight = 2.0

    return np.sum(x) * Part.weight


@dataclasses.dataclass
class WithMore:
    k: float = 1.0

    def __post_init__(self):
        self.square = self.k**2


@refused("`square` is no field of `WithMore`: of an argument, its fields are known", WithMore(2.0))
def attribute_that_is_no_field(p):
    return p.square * p.k


@typing.runtime_checkable
class Steered(typing.Protocol):
    angle: float


class Ship:
    angle = 1.0


SHIP = Ship()


@refused(
    "whether an object has what a protocol asks for is known at run time only",
    np.ones(2),
)
def asked_of_a_protocol(x):
    return np.sum(x) if isinstance(SHIP, Steered) else x[0]


class Lengthened(dict):
    def __missing__(self, key):
        return len(key)


LENGTHENED = Lengthened(a=1.0)


@refused("`LENGTHENED` is a Lengthened, which has a `__missing__` of its own", np.ones(2))
def item_that_a_class_makes(x):
    return np.sum(x) * LENGTHENED["absent"]


class Hashed:
    def __hash__(self):
        DRAWN.append(1.0)
        return 1

    def __eq__(self, other):
        return True


HASHED, ONES, DRAWN = Hashed(), frozenset([1]), []


@refused("the `__hash__` of `Hashed`, which may change something, runs for a key", X)
def key_whose_hash_changes_something(x):
    return np.sum(x) if HASHED in ONES else x[0]


class Field(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint8), ("scale", ctypes.c_double)]


FIELD = Field(1, 2.0)
FIELDS = (Field * 2)()


@refused("`count`, which is kept in C, is read after it was stored to: C may have converted it", X)
def field_that_was_stored(x):
    FIELD.count = 300
    return np.sum(x) * FIELD.count


class Either(ctypes.Union):
    _fields_ = [("count", ctypes.c_uint8), ("scale", ctypes.c_double)]


EITHER = Either(1)


@refused("fields of a Either are read, and its memory is stored to under another name", X)
def field_with_another_name(x):
    EITHER.count = 3
    return np.sum(x) * EITHER.scale


@refused("what is found outside is another object at each reading", X)
def object_that_is_made_at_each_reading(x):
    return np.sum(x) * (FIELDS[0] is FIELDS[0])


COUNTS = collections.Counter("abb")


@refused("`__add__` of a `Counter` from outside is not supported", X)
def added_counters(x):
    return np.sum(x) * len(COUNTS + COUNTS)


@refused("an exception of a class that a function defines has methods, which Python calls", X)
def exception_with_methods(x):
    class TooLarge(Exception):
        def __init__(self, size):
            self.size = size

    try:
        if x[0] > 0:
            raise TooLarge(3)
    except TooLarge:
        pass
    return np.sum(x)


class Compared:
    def __init__(self, key, seen):
        self.key, self.seen = key, seen

    def __lt__(self, other):
        self.seen.append(other.key)
        return self.key < other.key


@refused("these objects are sorted by a comparison that changes something, or has effects", X)
def order_that_counts_comparisons(x):
    seen = []
    items = sorted([Compared(3, seen), Compared(1, seen), Compared(2, seen)])
    return np.sum(x) * items[0].key * len(seen)
