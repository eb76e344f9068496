"""What the storages have in common that one branch or loop hands on."""

from __future__ import annotations

from typing import ClassVar


class Family:
    """Storages that one branch merges, or one loop carries: disjoint, unless they share a token.

    of_loop: whether a loop carries them.
    """

    of_loop: ClassVar[bool] = False
