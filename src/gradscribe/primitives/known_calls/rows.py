"""What a row of the tables says."""

from __future__ import annotations

from typing import NamedTuple

from gradscribe.primitives.contract_kinds import Contract


class Row(NamedTuple):
    """Functions of a module, or methods of a class (`module:Class`; no names: all that the class
    defines), and the contract of their calls. unless: a call that is given one of these keywords
    may do anything, as it calls a function."""

    place: str
    contract: Contract
    names: str = ""
    unless: str = ""
