"""What raises for certain, on one of the paths through a `try`."""

from __future__ import annotations

from gradscribe.errors import UnsupportedError
from gradscribe.frontend.kinds import number_classes
from gradscribe.frontend.state.frame import RAISED
from gradscribe.frontend.state.interruptions import AlwaysRaisesError
from gradscribe.frontend.state.lowering import Lowering
from gradscribe.frontend.values.values import Static
from gradscribe.primitives.control import RAISE


def raise_known(lowering: Lowering, error: AlwaysRaisesError) -> None:
    """What raises for certain, in one of the paths through a `try`: raise it there, at run time.
    On the path that is always taken, it is known what handles it."""
    if (
        not lowering.exceptions.attempts
        or lowering.builder.depth <= lowering.exceptions.attempts[-1][0]
    ):
        raise error
    refuse_unknown(lowering, error)
    exception = error.value.value if isinstance(error.value, Static) else error.value
    lowering.emit(RAISE, {"exception": exception, "cause": None})
    lowering.frame.names[RAISED] = Static(True)


def refuse_unknown(lowering: Lowering, error: AlwaysRaisesError) -> None:
    """Refuse to go on where an exception is handled that Python raises for the class of a value, if
    numbers of the program may be of several: their type is the widest of them."""
    by_class = issubclass(error.cls, (TypeError, AttributeError, ValueError))
    if by_class and not error.by_program and number_classes.any_several(lowering):
        raise UnsupportedError(
            f"whether this raises {error.cls.__name__} depends on the class of a number, which is "
            "not the same on every path",
            "make numbers of one class on every path, as by `float(…)`",
            error.location,
        )
