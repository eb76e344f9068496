"""The entries of the table of contracts, and what each is called with.

In: the table; `entries.txt`, which holds the arguments of those that `samples.ARGUMENTS` do not fit
(`module.name` or `module:Class.name`, then text that is evaluated here, anew for each call; of
methods the object comes first). Out: entries, and the calls of them. What is not run stands in
`NOT_RUN`, with the reason.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
import importlib
import io
import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradscribe.primitives.known_calls import FUNCTIONS, METHODS
from tests.border import samples
from tests.border.samples import ARGUMENTS, LAYOUTS, Done, done

NOT_RUN = {
    "builtins.input": "waits for a line",
    "scipy.special.ellip_normal": "raises within a callback, which only warns",
    "tqdm.notebook.tqdm_notebook": "asks for ipywidgets",
    "io:BufferedReader.truncate": "raises, as what is only read",
    "io:FileIO.truncate": "raises for the null device",
    "_io:_IOBase.fileno": "raises; the classes of files have their own",
    "_io:_BufferedIOBase.detach": "raises; the classes of files have their own",
    "_io:_TextIOBase.detach": "raises; the classes of files have their own",
} | {
    f"tqdm.notebook:tqdm_notebook.{name}": "asks for ipywidgets"
    for name in ("clear", "close", "display", "reset", "update")
}
"""What cannot be run here, and why."""


NOT_EMPTY = frozenset({"scipy.optimize.nnls"})
"""What writes past the end of arrays without items, and is not given any."""

NEW = frozenset({"copy.replace", "math.cbrt", "math.exp2", "math.fma", "math.sumprod"})
"""What older versions of Python have not."""


_ARRAYS = {
    "A": samples.MATRIX,
    "K": samples.NUMBERS,
    "R": samples.RISING,
    "V": samples.VECTOR,
    "SIGNAL": samples.SIGNAL,
    "TAPS": samples.TAPS,
}
V, K = samples.VECTOR, samples.NUMBERS


class Entry(NamedTuple):
    """A function of a module, or a method of a class (`module:Class`), that stands in the table."""

    place: str
    name: str

    def __str__(self) -> str:
        return f"{self.place}.{self.name}"


def functions() -> list[Entry]:
    return [Entry(row.place, name) for row in FUNCTIONS for name in row.names.split()]


def methods() -> list[Entry]:
    """Those that the classes define in this version."""
    found = []
    for row in METHODS:
        cls = _found(row.place)
        names = row.names.split() or [name for name in vars(cls) if not name.startswith("_")]
        names += [] if row.names else sorted(_OPERATORS & vars(cls).keys())
        found += [
            Entry(row.place, name)
            for name in names
            if name in vars(cls) and callable(getattr(cls, name, None))
        ]
    return found


_OPERATORS = frozenset(
    f"__{name}__"
    for name in """
    abs add and bool bytes ceil complex contains copy deepcopy delitem divmod enter exit float floor
    floordiv fspath getitem iadd imul index int invert ior iter len lshift mod mul neg next or pos
    pow radd rand rdivmod reversed rfloordiv rlshift rmod rmul ror round rpow rrshift rshift rsub
    rtruediv rxor setitem sub truediv trunc xor
    """.split()
)


def is_inherited(name: str) -> bool:
    """Whether the class of this method has it from another class in this version of Python."""
    place, _, own = name.rpartition(".")
    return ":" in place and own not in vars(_found(place))


def is_missing(entry: Entry) -> bool:
    return ":" not in entry.place and getattr(_found(entry.place), entry.name, None) is None


def calls(entry: Entry, most: int, **keywords: Any) -> Iterator[tuple[Any, Done]]:
    """The calls of an entry that work, each in all layouts, with the function that was called."""
    found = 0
    for make in _arguments(entry):
        for number, layout in enumerate(_layouts(entry)):
            callee, arguments = make()
            call = done(callee, arguments, layout, keywords)
            if call is not None:
                yield callee, call
            elif not number:
                break
        else:
            found += 1
        if found == most:
            return


def _layouts(entry: Entry) -> list[str]:
    return [n for n in LAYOUTS if n != "empty" or str(entry) not in NOT_EMPTY]


def _arguments(entry: Entry) -> Iterator[Callable[[], tuple[Any, tuple[Any, ...]]]]:
    """What makes a function, and arguments for a call of it."""
    is_method = ":" in entry.place
    if str(entry) in GIVEN or not is_sampled(entry):
        for text in GIVEN.get(str(entry), [""]):
            yield functools.partial(_given, entry, text)
        return
    sampled = GENTLE if entry.place == "scipy.special" else ARGUMENTS
    for arguments in sampled:
        if is_method:
            yield lambda a=arguments: (_method(OBJECTS[entry.place], entry.name), a)
        else:
            yield lambda a=arguments: (getattr(_found(entry.place), entry.name), a)


def _given(entry: Entry, text: str) -> tuple[Any, tuple[Any, ...]]:
    arguments, keywords = eval(f"_taken({text})", {}, _Names(globals()))
    if ":" in entry.place:
        owner, *arguments = arguments
    else:
        owner = _found(entry.place)
    callee = getattr(owner, entry.name)
    return (functools.partial(callee, **keywords) if keywords else callee), tuple(arguments)


class _Names(dict[str, Any]):
    """The names that texts use: of arrays, of this module, and of all modules."""

    def __missing__(self, name: str) -> Any:
        if name in _ARRAYS:
            return _ARRAYS[name]
        if hasattr(builtins, name):
            raise KeyError(name)
        return importlib.import_module(name)


def _taken(*arguments: Any, **keywords: Any) -> tuple[Any, dict[str, Any]]:
    return arguments, keywords


def _method(text: str, name: str) -> Any:
    return getattr(eval(text, {}, _Names(globals())), name)


def _found(place: str) -> Any:
    module, _, cls = place.partition(":")
    found = importlib.import_module(module)
    return getattr(found, cls) if cls else found


def is_sampled(entry: Entry) -> bool:
    """Whether an entry may be called with whatever it takes; others are called with nothing, if
    nothing is given."""
    if ":" in entry.place:
        return entry.place in OBJECTS
    return entry.place.partition(".")[0] in _SAMPLED


_SAMPLED = frozenset(
    """
    numpy scipy math cmath builtins operator itertools statistics zlib base64 binascii copy pickle
    hashlib random collections colorsys bisect json
    """.split()
)
"""Of these modules all functions may be called with whatever they take."""

OBJECTS = {
    "builtins:str": "'a b'",
    "builtins:bytes": "b'a b'",
    "builtins:int": "3",
    "builtins:float": "1.5",
    "builtins:complex": "1.5j",
    "builtins:bool": "True",
    "builtins:tuple": "(V, R)",
    "builtins:frozenset": "frozenset((1, 2))",
    "builtins:range": "range(3)",
    "builtins:slice": "slice(1, 3)",
    "builtins:list": "[V, R]",
    "builtins:dict": "{3: V}",
    "builtins:set": "{1, 2}",
    "collections:deque": "collections.deque([V, R], 5)",
    "builtins:BaseException": "ValueError(V)",
    "re:Pattern": "re.compile('a')",
    "re:Match": "re.match('(a)', 'ab')",
    "datetime:date": "datetime.date(2020, 1, 2)",
    "datetime:datetime": "datetime.datetime(2020, 1, 2)",
    "datetime:time": "datetime.time(1, 2)",
    "datetime:timedelta": "datetime.timedelta(1)",
    "datetime:timezone": "datetime.timezone.utc",
    "decimal:Decimal": "decimal.Decimal(3)",
    "fractions:Fraction": "fractions.Fraction(1, 2)",
    "enum:Enum": "Color.RED",
    "enum:IntEnum": "Number.ONE",
    "enum:Flag": "Flags.A",
    "numpy:generic": "np.float64(3.0)",
    "numpy:dtype": "np.dtype('f8')",
    "numpy:finfo": "np.finfo(float)",
    "numpy:iinfo": "np.iinfo(int)",
    **{
        f"numpy:{kind}": f"np.{kind}(1)"
        for kind in """
        bool float16 float32 float64 longdouble complex64 complex128 clongdouble int8 int16 int32
        int64 uint8 uint16 uint32 uint64 longlong ulonglong
        """.split()
    },
    "numpy:integer": "np.int64(3)",
    "numpy:floating": "np.float64(3)",
    "numpy:complexfloating": "np.complex128(3)",
    "pathlib:PurePath": "pathlib.PurePath('a.b')",
    "struct:Struct": "struct.Struct('d')",
    "numpy.random:Generator": "np.random.default_rng(1)",
    "numpy.random:RandomState": "np.random.RandomState(1)",
    "random:Random": "random.Random(1)",
    "_random:Random": "random.Random(1)",
    "io:StringIO": "io.StringIO('a')",
    "io:BytesIO": "io.BytesIO(b'a')",
    "io:TextIOWrapper": "io.TextIOWrapper(io.BytesIO(b'a'))",
    "io:BufferedReader": "io.BufferedReader(io.BytesIO(b'a'))",
    "io:BufferedWriter": "io.BufferedWriter(io.BytesIO())",
    "io:BufferedRandom": "io.BufferedRandom(io.BytesIO(b'a'))",
    "io:FileIO": "open(os.devnull, 'rb+', buffering=0)",
    "_io:_IOBase": "io.BytesIO(b'a')",
    "_io:_RawIOBase": "open(os.devnull, 'rb+', buffering=0)",
    "_io:_BufferedIOBase": "io.BytesIO(b'a')",
    "_io:_TextIOBase": "io.StringIO('a')",
    "_hashlib:HASH": "hashlib.sha256()",
    "_thread:LockType": "threading.Lock()",
    "_thread:RLock": "threading.RLock()",
}
"""An object of each class whose methods may be called with whatever they take."""

GENTLE: tuple[tuple[Any, ...], ...] = (
    *((V,) * count for count in range(1, 8)),
    *((2, V), (2, 2, V), (1, 2, V), (1, 2, 0.5, V), (K % 3, V), (K % 3, V, V), (K % 3, K % 3, V)),
    *((K % 3, K % 3, V, V), (K % 3,), (3,), (3, 2), (2, 3, 0.5), (5, 0.5), (1, 2, 0.5, 0.3)),
    *((1, 2, 0.5, 0.3, 0.7), (K % 3, K % 3, K % 3, V), (2, 0.5), (3, 0.5, 0.7), (2.5, 2)),
    *((8, 2.0, 3, 1, 0.5, 1, 1), (0, 0, 0.5, 0.2, 0.3, 1), (8, 2, 0.1, 1, 2, 3), (8, 2, 1, 2, 3)),
)
"""Arguments of SciPy's special functions, which loop for long on some others."""


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


LOGGER = logging.getLogger("gradscribe.tests")
LOGGER.propagate = False
LOGGER.addHandler(logging.StreamHandler(io.StringIO()))

Color = enum.Enum("Color", "RED")
Number = enum.IntEnum("Number", "ONE")
Flags = enum.Flag("Flags", "A B")


def held(lock: Any) -> Any:
    lock.acquire()
    return lock


def entered(manager: Any) -> Any:
    manager.__enter__()
    return manager


def new_path() -> str:
    """Where there is nothing yet."""
    return os.path.join(tempfile.mkdtemp(), "new")


def new_file() -> str:
    path = new_path()
    Path(path).touch()
    return path


def saved(write: Callable[[str], Any]) -> str:
    path = new_path()
    write(path)
    return path


def _read() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines():
        name, _, text = line.partition("  ")
        found.setdefault(name, []).append(text)
    return found


GIVEN = _read()
"""The arguments of entries, as text."""

_BUFFER = io.BytesIO()
np.save(_BUFFER, samples.MATRIX)
SAVED = _BUFFER.getvalue()
