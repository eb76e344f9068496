"""The methods and attributes of `RecordedArray` and `RecordedNumber`, attached from tables.

Methods are NumPy's functions, operators Python's. What would take a value out of the record is
refused as long as a derivative goes through it, and gives the plain value afterwards.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradscribe.errors import UnsupportedError, raised_as
from gradscribe.frontend.prelude import array_changes
from gradscribe.recording import (
    custom_functions,
    exits,
    lacking,
    operations,
    operators,
    prelude,
    protocol,
    spellings,
    stores,
)
from gradscribe.recording.arrays import RecordedArray, RecordedNumber, is_active, shown
from gradscribe.recording.flags import Flags, set_writeable
from gradscribe.recording.flat import Flat
from gradscribe.recording.layouts import in_order, lies_in
from gradscribe.recording.levels import plain, refused
from gradscribe.recording.operations import run
from gradscribe.recording.operators import BOTH

# fmt: off
_SAME = (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "conj",
    "conjugate", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "prod",
    "ravel", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take",
    "trace", "var",
)
# fmt: on

FUNCTIONS: dict[str, Any] = {name: getattr(np, name) for name in _SAME}
"""Methods that are functions of NumPy with the same parameters."""

CHANGES: dict[str, Callable[..., None]] = array_changes.METHODS
"""Methods that change an array."""

Recorded = Any
"""A `RecordedArray` or `RecordedNumber`, whose methods are attached here."""

Array = Any
"""A `RecordedArray`."""


# -- what numbers and arrays can be made of ----------------------------------------------------


def _truth(self: Recorded) -> bool:
    return bool(plain(self._present()))


def _item(self: Recorded, *place: Any) -> Any:
    present = plain(self._present())
    if place or np.size(present) != 1:
        present.item(*place)  # raises for what is no place
        index = place[0] if len(place) == 1 else place
        return (self[index] if isinstance(index, tuple) else self.flat[index]).item()
    array = run(np.reshape, (self, ())) if type(self) is RecordedArray else self
    return run(prelude.item, (array,)) if is_active(array) else present.item()


def _tolist(self: Recorded) -> Any:
    if not self.ndim:
        return self.item()
    return [item.tolist() for item in self] if self.ndim > 1 else [i.item() for i in self]


def _iterate(self: Array) -> Iterator[Any]:
    if not self.ndim:
        raise TypeError("iteration over a 0-d array")
    return (self[i] for i in range(len(self)))


def _reshape(self: Recorded, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
    given = _integers(shape)
    made = run(np.reshape, (self, given), {} if order == "C" else {"order": order})
    if copy is False and made._memory is not self._memory:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return made.copy(order) if copy else made


def _transpose(self: Recorded, *axes: Any) -> Any:
    if not axes or (len(axes) == 1 and axes[0] is None):
        return run(np.transpose, (self,))
    plain(self._present()).transpose(*axes)  # raises what NumPy raises of it
    given = _integers(axes)
    return run(np.transpose, (self, given if isinstance(given, (tuple, list)) else (given,)))


def _integers(given: tuple[Any, ...]) -> Any:
    """The integers that a method is given, one by one or as one sequence of them."""
    if len(given) != 1:
        return given
    is_other = isinstance(given[0], (np.ndarray, range)) and np.ndim(given[0])
    return tuple(map(operator.index, given[0])) if is_other else given[0]


def _astype(
    self: Recorded,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
) -> Any:
    array, wanted = plain(self._present()), np.dtype(dtype)
    # raises what NumPy raises of it
    np.empty(0, array.dtype).astype(dtype, order, casting, subok, copy)
    orders = "CF" if order in ("A", "a") else [order]
    if not copy and array.dtype == wanted and any(lies_in(each, array) for each in orders):
        return self
    if is_active(self) and wanted.kind not in "biufc":
        if wanted.kind != "O":
            raise exits.taken_out(f"`x.astype({wanted.str!r})`")
        return exits.objects(self)
    if wanted.kind not in "fc" or not is_active(self):
        return shown(array.astype(wanted, order))
    made = run(prelude.converted, (self, wanted.type if wanted.isnative else wanted))
    return shown(in_order(made._present(), order, array))


def _copy(self: Recorded, order: Any = "C") -> Any:
    np.empty(0).copy(order)  # raises what NumPy raises of it
    if type(self) is not RecordedArray:
        return self
    made = run(np.copy, (self,))
    return shown(in_order(made._present(), order, plain(self._present())))


def _function(function: Any) -> Any:
    def method(self: Recorded, *args: Any, **kwargs: Any) -> Any:
        return protocol.storing(function, (self, *args), kwargs)

    return method


def _clip(self: Recorded, min: Any = None, max: Any = None, *out: Any, **more: Any) -> Any:
    """`x.clip(0.0)`: the function wants both bounds."""
    return protocol.storing(np.clip, (self, min, max, *out), more)


def _set_shape(self: Array, shape: Any) -> None:
    made = _reshape(self, *(shape if isinstance(shape, tuple) else (shape,)))
    if made._memory is not self._memory:
        raise AttributeError("Incompatible shape for in-place modification.")
    self._base = made._base
    self._steps, self._value, self._version = made._steps, made._value, made._version


def _set_part(name: str) -> Any:
    def set_part(self: Array, value: Any) -> None:
        other = self.imag if name == "real" else self.real
        if not np.iscomplexobj(plain(self._present())):
            if name == "imag":
                raise TypeError("array does not have imaginary part to set")
            stores.fill(self, value)
        elif name == "real":
            stores.fill(self, value + 1j * other)
        else:
            stores.fill(self, other + 1j * np.asarray(value, like=self))

    return set_part


def _attribute(name: str) -> property:
    def store(self: Any, value: Any) -> None:
        what = f"the attribute `{name}` of this value cannot be stored"
        kind = raised_as(UnsupportedError, AttributeError)
        raise refused(kind(what, "keep what changes in an object of your own, or return it"))

    return property(lambda self: getattr(plain(self._present()), name), store)


def _set_flags(self: Array, write: Any = None, align: Any = None, uic: Any = None) -> None:
    if write is not None:
        set_writeable(self, write)


def _view(self: Array, *args: Any, **kwargs: Any) -> Any:
    own = (np.ndarray, plain(self._present()).dtype)
    if all(kind in own for kind in (*args, *kwargs.values())):
        return self[...]
    if is_active(self):
        raise exits.taken_out("`x.view(dtype)`")
    return self._shared().view(*args, **kwargs)


def _view_of_number(self: RecordedNumber, *kinds: Any, **named: Any) -> Any:
    number = plain(self._present())
    if all(kind == number.dtype for kind in (*kinds, *named.values())):
        return self
    if is_active(self):
        raise exits.taken_out("`x.view(dtype)`")
    return number.view(*kinds, **named)


def _other_attribute(self: Recorded, name: str) -> Any:
    """An attribute that stands in no table: it gives memory, or what is in it, to code that does
    not record; or there is none, as in Python."""
    if name in _SLOTS:  # of an object that is being made
        raise AttributeError(name)
    found = getattr(plain(self._present()), name)
    if is_active(self):
        error = exits.taken_out(f"`{name}`", kind=exits.NO_ATTRIBUTE)
        is_asked = not name.startswith("__") or exits.is_asked_for(name)
        raise refused(error) if is_asked else error
    if type(self) is not RecordedArray:
        return found
    if not name.startswith("__"):
        self._memory.check_overlap()  # code that is given an address asks for no flag
    return getattr(self._shared(), name)


def _resize(self: Array, *shape: Any, refcheck: Any = True) -> None:
    method = _other_attribute(self, "resize")
    if refcheck:
        raise refused(
            UnsupportedError(
                "`x.resize(…)` asks whether anything else refers to an array, as what records does",
                "give it `refcheck=False`, or use `np.resize`",
            )
        )
    method(*shape, refcheck=False)


_SLOTS = frozenset({*RecordedArray.__slots__, *RecordedNumber.__slots__})


def _item_of_number(self: RecordedNumber, index: Any) -> Any:
    """`x.sum()[()]`: a number of NumPy is an array without axes."""
    if isinstance(self, np.generic):
        return operations.getitem(run(np.reshape, (self, ())), index)
    raise TypeError(f"'{type(plain(self._present())).__name__}' object is not subscriptable")


def _compress(self: Recorded, condition: Any, axis: Any = None, out: Any = None) -> Any:
    found = run(np.compress, (condition, self), {} if axis is None else {"axis": axis})
    return found if out is None else protocol.into(found, (out,))


def _flatten(self: Recorded, order: Any = "C") -> Any:
    return run(np.copy, (run(np.ravel, (self,), {} if order == "C" else {"order": order}),))


def _wrapped(self: Recorded, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """What functions written for arrays of any class make of their result."""
    return array[()] if return_scalar and not array.ndim else array


def _change(name: str, function: Any) -> Any:
    method = getattr(np.ndarray, name)

    def changed(self: Array, *args: Any, **kwargs: Any) -> None:
        protocol.changing(method, (self, *args), kwargs, lambda: function(self, *args, **kwargs))

    return changed


def _conjugate(self: Array) -> Any:
    """`x.conj()`, which is `x` itself where that is real."""
    return run(np.conj, (self,)) if np.iscomplexobj(plain(self._present())) else self


def _real(self: Array) -> Any:
    """`x.real`, which is `x` itself where that is real."""
    return run(np.real, (self,)) if np.iscomplexobj(plain(self._present())) else self


def _length(self: Array) -> int:
    if not self.ndim:
        raise TypeError("len() of unsized object")
    return int(self.shape[0])


def _contains(self: Array, item: Any) -> bool:
    return operations.uncovered(item) in plain(self._present())


def _rounded(self: Recorded, digits: Any = None) -> Any:
    return round(plain(self._present()), *(() if digits is None else (digits,)))


ARRAY_AND_NUMBER: dict[str, Any] = {
    **{name: _function(function) for name, function in FUNCTIONS.items()},
    "T": property(lambda self: run(np.transpose, (self,))),
    "real": property(_real),
    "imag": property(lambda self: run(np.imag, (self,))),
    "__array_function__": protocol.array_function,
    "__array_priority__": 1000.0,
    "__array_ufunc__": protocol.array_ufunc,
    "__array_wrap__": _wrapped,
    "__gradscribe_apply__": staticmethod(custom_functions.apply),
    "__bool__": _truth,
    "__int__": lambda self: int(plain(self._present())),
    "__float__": exits.to_number(float, "float(x)"),
    "__complex__": exits.to_number(complex, "complex(x)"),
    "__format__": lambda self, spec: format(exits.told(self), spec),
    "__reduce__": exits.reduce,
    "__reduce_ex__": exits.reduce,
    "__repr__": lambda self: repr(exits.told(self)),
    "__str__": lambda self: str(exits.told(self)),
    "astype": _astype,
    "clip": _clip,
    "compress": _compress,
    "copy": _copy,
    "flatten": _flatten,
    "item": _item,
    "reshape": _reshape,
    "tolist": _tolist,
    "transpose": _transpose,
    **{name: _attribute(name) for name in ("dtype", "itemsize", "nbytes", "ndim", "shape", "size")},
    "device": _attribute("device"),
    "strides": _attribute("strides"),
    "__array_namespace__": lambda self, api_version=None: np,
    "__getattr__": _other_attribute,
}


def _base(self: RecordedArray) -> RecordedArray | None:
    if self._memory.is_view:
        raise refused(
            UnsupportedError(
                "the base of an argument that is a view: the function has a copy of it",
                "ask for it outside, and pass what depends on it",
            )
        )
    return self._base


OF_ARRAYS: dict[str, Any] = {
    **{name: _change(name, function) for name, function in CHANGES.items()},
    "__array__": exits.array_protocol,
    "__contains__": _contains,
    "__copy__": lambda self: _copy(self, "K"),
    "__deepcopy__": lambda self, memo: _copy(self, "K"),
    "__getitem__": operations.getitem,
    "__hash__": None,
    "__iter__": _iterate,
    "__len__": _length,
    "__setitem__": stores.setitem,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "base": property(_base),
    "flags": property(Flags),
    "flat": property(Flat, lambda self, value: Flat(self).__setitem__(slice(None), value)),
    "imag": property(ARRAY_AND_NUMBER["imag"].fget, _set_part("imag")),
    "mT": property(lambda self: run(np.matrix_transpose, (self,))),
    "real": property(ARRAY_AND_NUMBER["real"].fget, _set_part("real")),
    "resize": _resize,
    "setflags": _set_flags,
    "shape": property(ARRAY_AND_NUMBER["shape"].fget, _set_shape),
    "view": _view,
}
OF_NUMBERS: dict[str, Any] = {
    "__getattribute__": lacking.attribute,
    "__array__": exits.array_of_number,
    "__copy__": lambda self: self,
    "__deepcopy__": lambda self, memo: self,
    "__getitem__": _item_of_number,
    "__iter__": None,  # it has items by an index that is no place
    "base": None,
    "view": _view_of_number,
    "__floor__": lambda self: int(np.floor(plain(self._present()))),
    "__ceil__": lambda self: int(np.ceil(plain(self._present()))),
    "__trunc__": lambda self: int(plain(self._present())),
    "__round__": _rounded,
    "__hash__": exits.hashed,
    "is_integer": lambda self: plain(self._present()).is_integer(),
}


def attach() -> None:
    """Give the classes their methods and attributes."""
    operators.attach()
    for table, classes in (
        (ARRAY_AND_NUMBER, BOTH),
        (OF_ARRAYS, (RecordedArray,)),
        (OF_NUMBERS, (RecordedNumber,)),
    ):
        for cls in classes:
            for name, value in table.items():
                setattr(cls, name, spellings.guarded(name, value))
