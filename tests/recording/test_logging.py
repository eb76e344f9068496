"""What handlers and filters of the user's get of what is logged in a recorded run: its values."""

import io
import logging

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import NoDerivativeError

X = np.array([1.0, 2.0])


class Keeping(logging.Handler):
    """It keeps something of each record."""

    def __init__(self, of):
        super().__init__()
        self.of = of
        self.last = 0.0

    def emit(self, record):
        self.last = self.of(record)


def keeping(of):
    handler = Keeping(of)
    logger = logging.Logger("keeping")
    logger.addHandler(handler)
    return logger, handler


KEPT = {
    "an argument": (lambda r: r.args[0], lambda log, x: log.warning("%f", np.sum(x**2))),
    "of an array": (lambda r: r.args[0].sum(), lambda log, x: log.warning("%s", x**2)),
    "in a list": (lambda r: r.args[0][1], lambda log, x: log.warning("%s", [1.0, x @ x])),
    "by name": (lambda r: r.args["a"], lambda log, x: log.warning("%(a)s", {"a": x @ x})),
    "the message": (lambda r: r.msg, lambda log, x: log.warning(x @ x)),
    "more": (lambda r: r.norm, lambda log, x: log.warning("norm", extra={"norm": x @ x})),
    "through an adapter": (
        lambda r: r.args[0],
        lambda log, x: logging.LoggerAdapter(log, {"step": 1}).warning("%.3f", x @ x),
    ),
}


@pytest.mark.parametrize("of, log", KEPT.values(), ids=KEPT)
def test_what_a_handler_keeps_has_its_derivative(of, log):
    logger, handler = keeping(of)

    def function(x):
        log(logger, x)
        return handler.last * x[0]

    for _ in range(2):
        handler.last = 0.0
        value, gradient = gs.value_and_grad(function, compile=False)(X)
        assert value == 5.0
        np.testing.assert_allclose(gradient, [7.0, 4.0])
        assert float(handler.last) == 5.0
    out, tangent = gs.jvp(function, (X,), (np.array([1.0, -1.0]),), compile=False)
    np.testing.assert_allclose((out, tangent), (5.0, 3.0))


def test_a_filter_gets_values_too():
    kept = []
    logger = logging.Logger("filtered")
    logger.addHandler(logging.NullHandler())
    logger.addFilter(lambda record: kept.append(record.args[0]) or True)

    def function(x):
        logger.warning("%f", x @ x)
        return kept.pop() * x[0]

    np.testing.assert_allclose(gs.grad(function, compile=False)(X), [7.0, 4.0])


@pytest.mark.parametrize(
    "of", [lambda r: float(r.args[0]), lambda r: float(r.getMessage().split()[-1])]
)
def test_numbers_that_a_handler_takes_out_are_refused(of):
    logger, handler = keeping(of)

    def function(x):
        logger.warning("loss %f", x @ x)
        return handler.last * x[0]

    with pytest.raises(NoDerivativeError):
        gs.grad(function, compile=False)(X)


class Lines(logging.StreamHandler):
    """It shows what it is given, as any other."""

    def format(self, record):
        return f"> {super().format(record)}"


@pytest.mark.parametrize("kind", [Lines, logging.StreamHandler])
def test_handlers_that_show_are_innocent(kind):
    text = io.StringIO()
    logger = logging.Logger("showing")
    logger.addHandler(kind(text))

    def function(x):
        y = x * 2.0
        logger.warning("%.3f of %s and %d, %r", x @ y, y, x[0], float(x[1]))
        return x @ y

    np.testing.assert_allclose(gs.grad(function, compile=False)(X), 4 * X)
    assert text.getvalue().removeprefix("> ") == "10.000 of [2. 4.] and 1, 2.0\n"


def test_what_pytest_captures_is_innocent(caplog):
    logger = logging.getLogger("captured")

    def function(x):
        logger.warning("loss %.2f", x @ x)
        return x @ x

    np.testing.assert_allclose(gs.grad(function, compile=False)(X), 2 * X)
    assert caplog.messages == ["loss 5.00"]


def test_what_a_handler_stores_is_seen():
    class Halving(logging.Handler):
        def emit(self, record):
            record.args[0][0] /= 2

    logger = logging.Logger("halving")
    logger.addHandler(Halving())

    def function(x):
        y, w = x * 2.0, np.ones(2)
        logger.warning("%s", y)
        logger.warning("%s", w)
        return np.sum(y * w * x)

    np.testing.assert_allclose(gs.grad(function, compile=False)(X), [2 * 0.5, 4 * 2.0])
