"""Files in the user's cache folder, which processes share: whole, or not there.

What comes in is the content of an entry under a name, a hash of all that it was made from. An entry
is written once, beside its place, and renamed into it. It starts with the SHA-256 of its name and
content: whatever else is found there (a part of an entry, another one, anything) is not taken for
it. What is read is code to be run: folder and file must belong to the user, and nobody else may
write to them. Beyond a limit, the entries go that were not read for longest.

All of this is asked of the file system each time: nothing is remembered that a fork, another
process, or the user, could make untrue.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time

VARIABLE = "GRADSCRIBE_CACHE_DIR"
"""The environment variable that names the folder."""

LIMIT = 256 << 20
"""How many bytes the entries may have, together."""

_ENTRY, _UNFINISHED = ".kernel", ".unfinished"
_ABANDONED = 3600.0
"""The age, in seconds, from which on nobody writes to an unfinished entry any more."""
_DIGEST = hashlib.sha256().digest_size


class DamagedError(Exception):
    """An entry that is not as it was written."""


def folder() -> str:
    """The folder of the entries, which may not be there yet."""
    path = os.environ.get(VARIABLE) or os.path.join(_user_caches(), "gradscribe")
    if not os.path.isabs(path):
        raise OSError(f"the folder has no absolute path: {path!r}")
    return path


def _user_caches() -> str:
    """Where the platform has the caches of users' programs."""
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    return chosen if os.path.isabs(chosen) else os.path.expanduser("~/.cache")


def read(name: str) -> bytes | None:
    """The content of an entry; None where there is none.

    Raises `OSError` where it cannot, or must not, be read, and `DamagedError` where it is not what
    was written.
    """
    source = folder()
    path = os.path.join(source, name + _ENTRY)
    try:
        _require_own(os.stat(source), source)
        with open(path, "rb") as file:
            _require_own(os.fstat(file.fileno()), path)
            found = file.read()
    except FileNotFoundError:
        return None
    content = found[_DIGEST:]
    if found[:_DIGEST] != _digest(name, content):
        raise DamagedError(f"{path!r} is damaged")
    with contextlib.suppress(OSError):
        os.utime(path)  # as the order in which entries go
    return content


def write(name: str, content: bytes) -> None:
    """Put an entry in its place; raises `OSError` where that cannot be."""
    into = folder()
    os.makedirs(into, mode=0o700, exist_ok=True)
    _require_own(os.stat(into), into)
    handle, unfinished = tempfile.mkstemp(_UNFINISHED, name, into)
    try:
        with open(handle, "wb") as file:
            file.write(_digest(name, content) + content)
        os.replace(unfinished, os.path.join(into, name + _ENTRY))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise
    _limit(into)


def _digest(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()


def _require_own(status: os.stat_result, path: str) -> None:
    if not hasattr(os, "geteuid"):
        return  # where the system itself has a user's caches to themselves
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise PermissionError(f"{path!r} is another user's, or others can write to it")


def _limit(path: str) -> None:
    """Remove what is beyond the limit; other processes may do the same at this time."""
    entries, now = [], time.time()
    with os.scandir(path) as files:
        for file in files:
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if file.name.endswith(_ENTRY):
                    entries.append((status.st_mtime, status.st_size, file.path))
                elif file.name.endswith(_UNFINISHED) and now - status.st_mtime > _ABANDONED:
                    os.unlink(file.path)
    excess = sum(size for _, size, _ in entries) - LIMIT
    for _, size, entry in sorted(entries):
        if excess <= 0:
            return
        with contextlib.suppress(OSError):
            os.unlink(entry)
        excess -= size
