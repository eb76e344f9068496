"""Functions of the standard library, most of which change what they are given, written in Python:
they are compiled as the user's own functions are.
"""

from __future__ import annotations

import bisect
import cmath
import heapq
import math
import operator
from typing import Any

# -- builtins ------------------------------------------------------------------------------------


def printed(
    items: Any, sep: Any = None, end: Any = None, file: Any = None, flush: Any = False
) -> None:
    """`print` to a file that is an object."""
    for position, item in enumerate(items):
        if position:
            file.write(" " if sep is None else sep)
        file.write(str(item))
    file.write("\n" if end is None else end)
    if flush:
        file.flush()


# -- heapq ---------------------------------------------------------------------------------------


def heappush(heap: list[Any], item: Any) -> None:
    _refuse_no_list(heap)
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap: list[Any]) -> Any:
    _refuse_no_list(heap)
    last = heap.pop()
    if not heap:
        return last
    top = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return top


def heapreplace(heap: list[Any], item: Any) -> Any:
    _refuse_no_list(heap)
    top = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return top


def heappushpop(heap: list[Any], item: Any) -> Any:
    _refuse_no_list(heap)
    if heap and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(heap: list[Any]) -> None:
    _refuse_no_list(heap)
    for position in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, position)


def nsmallest(n: int, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key)[: max(n, 0)]


def nlargest(n: int, items: Any, key: Any = None) -> Any:
    return sorted(items, key=key, reverse=True)[: max(n, 0)]


def _refuse_no_list(heap: Any) -> None:
    if not isinstance(heap, list):
        raise TypeError(f"heap argument must be a list, not {type(heap).__name__}")


def _rise(heap: list[Any], start: int, position: int) -> None:
    """Move an item up to where it belongs, not above `start`."""
    item = heap[position]
    while position > start:
        parent = (position - 1) // 2
        if not item < heap[parent]:
            break
        heap[position] = heap[parent]
        position = parent
    heap[position] = item


def _sink(heap: list[Any], start: int) -> None:
    """Move an item down along the smaller ones to the end, then up to where it belongs: so CPython
    does, which tells equal items apart."""
    item, position = heap[start], start
    child = 2 * position + 1
    while child < len(heap):
        if child + 1 < len(heap) and not heap[child] < heap[child + 1]:
            child += 1
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    _rise(heap, start, position)


# -- bisect --------------------------------------------------------------------------------------


def insort_left(
    a: list[Any], x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None
) -> None:
    keys = a if key is None else [key(item) for item in a]
    a.insert(bisect.bisect_left(keys, x if key is None else key(x), lo, hi), x)


def insort_right(
    a: list[Any], x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None
) -> None:
    wanted = x if key is None else key(x)
    a.insert(
        bisect.bisect_right(a if key is None else [key(item) for item in a], wanted, lo, hi), x
    )


# -- operator ------------------------------------------------------------------------------------


def setitem(a: Any, b: Any, c: Any) -> None:
    a[b] = c


def delitem(a: Any, b: Any) -> None:
    del a[b]


def iadd(a: Any, b: Any) -> Any:
    a += b
    return a


def isub(a: Any, b: Any) -> Any:
    a -= b
    return a


def imul(a: Any, b: Any) -> Any:
    a *= b
    return a


def itruediv(a: Any, b: Any) -> Any:
    a /= b
    return a


def ifloordiv(a: Any, b: Any) -> Any:
    a //= b
    return a


def imod(a: Any, b: Any) -> Any:
    a %= b
    return a


def ipow(a: Any, b: Any) -> Any:
    a **= b
    return a


def imatmul(a: Any, b: Any) -> Any:
    a @= b
    return a


def iand(a: Any, b: Any) -> Any:
    a &= b
    return a


def ior(a: Any, b: Any) -> Any:
    a |= b
    return a


def ixor(a: Any, b: Any) -> Any:
    a ^= b
    return a


def ilshift(a: Any, b: Any) -> Any:
    a <<= b
    return a


def irshift(a: Any, b: Any) -> Any:
    a >>= b
    return a


def iconcat(a: Any, b: Any) -> Any:
    a += b
    return a


# -- cmath ---------------------------------------------------------------------------------------


def phase(z: Any) -> Any:
    if isinstance(z, str):  # which `complex` takes
        raise TypeError("must be real number, not str")
    number = complex(z)
    return math.atan2(number.imag, number.real)


def polar(z: Any) -> Any:
    angle = phase(z)
    return abs(complex(z)), angle


FUNCTIONS: dict[Any, Any] = {
    heapq.heappush: heappush,
    heapq.heappop: heappop,
    heapq.heapreplace: heapreplace,
    heapq.heappushpop: heappushpop,
    heapq.heapify: heapify,
    heapq.nsmallest: nsmallest,
    heapq.nlargest: nlargest,
    bisect.insort: insort_right,
    bisect.insort_left: insort_left,
    operator.setitem: setitem,
    operator.delitem: delitem,
    operator.iadd: iadd,
    operator.isub: isub,
    operator.imul: imul,
    operator.itruediv: itruediv,
    operator.ifloordiv: ifloordiv,
    operator.imod: imod,
    operator.ipow: ipow,
    operator.imatmul: imatmul,
    operator.iand: iand,
    operator.ior: ior,
    operator.ixor: ixor,
    operator.ilshift: ilshift,
    operator.irshift: irshift,
    operator.iconcat: iconcat,
    cmath.phase: phase,
    cmath.polar: polar,
}
"""What stands for these functions."""
