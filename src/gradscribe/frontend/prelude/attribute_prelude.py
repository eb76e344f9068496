"""Attributes that code of the user's finds, or raises an AttributeError for (see `prelude`)."""

from __future__ import annotations

from typing import Any


def is_there(owner: Any, name: str) -> bool:
    """`hasattr(owner, name)`."""
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    return True


def attribute_or(owner: Any, name: str, default: Any) -> Any:
    """`getattr(owner, name, default)`."""
    try:
        return getattr(owner, name)
    except AttributeError:
        return default


def attribute_or_asked(owner: Any, name: str) -> Any:
    """`owner.name`, of a class with a `__getattr__`."""
    try:
        return attribute_itself(owner, name)
    except AttributeError:
        return type(owner).__getattr__(owner, name)


def attribute_itself(owner: Any, name: str) -> Any:
    """`owner.name`, for which no `__getattr__` is asked. (A handler lowers this.)"""
    return object.__getattribute__(owner, name)


def whether_and_attribute(owner: Any, name: str) -> Any:
    """Whether `owner.name` is there, and what it is."""
    try:
        return True, getattr(owner, name)
    except AttributeError:
        return False, None


def imported(module: Any, name: str, message: str) -> Any:
    """`from module import name`; message: of what is raised where it has none."""
    try:
        return getattr(module, name)
    except AttributeError:
        raise ImportError(message) from None
