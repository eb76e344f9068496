"""What a specialization takes for granted of the objects outside the function."""

from __future__ import annotations

import sys
import types
from typing import Any
from weakref import WeakSet

from gradscribe.frontend.interface import Dependency, DependencyKind, Path
from gradscribe.frontend.lowering import Lowering
from gradscribe.frontend.values import ObjectRef

HOLDERS = (type, types.ModuleType, types.FunctionType)
"""Static objects of these classes have attributes that may change."""

_LIBRARIES = frozenset({"numpy", "scipy", "cupy", "gradscribe"})

LOCAL_CLASSES: WeakSet[type] = WeakSet()
"""Classes that compiled functions define, and that nobody else has."""


def is_library(owner: Any) -> bool:
    """Whether a module, class or function is part of Python, of an installed numerical library or
    of the function that is compiled: its attributes do not change."""
    if isinstance(owner, type) and owner in LOCAL_CLASSES:
        return all(map(is_library, owner.__mro__[1:]))
    name = owner.__name__ if isinstance(owner, types.ModuleType) else owner.__module__
    top = (name or "").partition(".")[0]
    return top in _LIBRARIES or (top in sys.stdlib_module_names and top != "__main__")


def depend(lowering: Lowering, path: Path, value: Any, kind: DependencyKind = "identity") -> None:
    """Note that the path must lead to this value (of this class, …) in each call."""
    names = value if kind in ("present", "absent", "without") else None
    lowering.outside.dependencies[path.place, kind, names] = Dependency(path, value, kind)


def identities(lowering: Lowering) -> None:
    """Make it a condition of each call that objects of which it matters are, or are not, one."""
    for target in lowering.outside.compared:
        first, *others = lowering.outside.met[target].values()
        pairs: list[tuple[DependencyKind, ObjectRef]] = [("same", other) for other in others]
        for number, places in lowering.outside.met.items():
            other = next(iter(places.values()))
            if number != target and type(other.target) is type(first.target):
                pairs.append(("other", other))
        for kind, other in pairs:
            key = (kind, first.path.place, other.path.place)
            lowering.outside.dependencies[key] = Dependency(other.path, first.path, kind)
