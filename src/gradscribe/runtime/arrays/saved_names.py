"""What a node keeps for its backward, under PyTorch's names: the names of `_saved_*`.

`Operation.saved` has a text for each form of the operation. `result` is the output; `sizes` and
`numel` are those of the first operand; `picked` is where along an axis elements were taken,
`sliced` the axis of a slice. `name=k` is operand k (`name=k?` where it is kept only if the other
operand is active), `name:parameter` a static argument (with `*` always as a tuple, with `.` its
only item), `name!n` the number n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

_WHOLE_NAMES = {
    "sizes": "self_sym_sizes",
    "numel": "self_sym_numel",
    "picked": "indices",
    "sliced": "dim",
}


def _named(item: str) -> tuple[str, str]:
    """The name of a saved value, and where it is found."""
    for mark in "=:!":
        name, found, rest = item.partition(mark)
        if found:
            return name, mark + rest
    return _WHOLE_NAMES.get(item, item), item


@cache
def _parsed(text: str) -> Mapping[str, str]:
    return dict(map(_named, text.split()))


def names_at(saved: Sequence[str], node: str) -> Mapping[str, str]:
    """The names of what a node keeps, each with where that is found. node: its name, which has its
    number."""
    number = int(node.rpartition("Backward")[2][:1])
    return _parsed(saved[number]) if number < len(saved) else {}
