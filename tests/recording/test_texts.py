"""Texts of what is differentiated, in recorded runs: no number is read of them."""

from __future__ import annotations

import argparse
import configparser
import csv
import datetime
import decimal
import io
import json
import locale
import sqlite3
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import gradscribe as gs
from gradscribe.errors import NoDerivativeError
from tests.recording.test_following import without_source

X = np.array([0.3, 0.7, 1.1])


def test_numbers_are_not_read_from_texts_of_what_is_differentiated():
    def by_float(x):
        return float(f"{x[0]:.3f}") * x[1]

    def by_eval(x):
        return eval(repr(float(x[0]))) * x[1]

    def by_complex(x):
        return complex(str(x[0])).real * x[1]

    def by_integer(x):
        return int(f"{1000 * x[0]:.0f}") * x[1]

    def by_decimal(x):
        return float(decimal.Decimal(str(x[0]))) * x[1]

    def by_array(x):
        return np.array([str(x[0])], dtype=float)[0] * x[1]

    def by_conversion(x):
        return np.array([str(x[0])]).astype(float)[0] * x[1]

    def by_store(x):
        y = np.zeros(1)
        y[0] = str(x[0])
        return y[0] * x[1]

    class Told:
        def __init__(self, number):
            self.number = number

        @property
        def read(self):
            return float(str(self.number))

    def by_property(x):
        return Told(x[0]).read * x[1]

    class Length(float):
        pass

    def by_subclass(x):
        return Length(str(x[0])) * x[1]

    def by_new(x):
        return float.__new__(float, str(x[0])) * x[1]

    by_source = without_source("def f(x):\n    return float(str(x[0])) * x[1]")
    for function in (
        *(by_float, by_eval, by_complex, by_integer, by_decimal),
        *(by_array, by_conversion, by_store, by_property, by_source, by_subclass, by_new),
    ):
        with pytest.raises(NoDerivativeError, match="a number is read from a text"):
            gs.grad(function, compile=False)(X)


def test_texts_are_made_where_nothing_is_read(capsys):
    f = without_source("def f(x):\n    print(x[0])\n    return x[0] * x[1]")
    assert gs.grad(f, compile=False)(X).tolist() == [0.7, 0.3, 0.0]
    assert capsys.readouterr().out == "0.3\n"


def _of_arguments(text):
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float)
    return parser.parse_args(["--rate", text]).rate


def _of_configuration(text):
    parser = configparser.ConfigParser()
    parser.read_string(f"[run]\nrate = {text}")
    return parser.getfloat("run", "rate")


def _of_file(text):
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write(text)
        file.flush()
        return float(Path(file.name).read_text())


def _of_matrix_market(text):
    header = "%%MatrixMarket matrix array real general\n1 1\n"
    return pytest.importorskip("scipy.io").mmread(io.StringIO(f"{header}{text}\n"))[0, 0]


def _rows_of_database(text):
    rows = sqlite3.connect(":memory:").execute("select cast(? as real)", (text,))
    return next(iter(rows))[0]


def _stored(text):
    y = np.zeros(1)
    y[0:1] = np.array([text])
    return y[0]


def _copied(text):
    y = np.zeros(1)
    np.copyto(y, np.array([text], object), casting="unsafe")
    return y[0]


READERS = [
    _of_arguments,
    _of_configuration,
    _of_file,
    _of_matrix_market,
    _rows_of_database,
    _stored,
    _copied,
    lambda text: locale.atof(text),
    lambda text: json.loads(f"[{text}]")[0],
    lambda text: next(csv.reader([text], quoting=csv.QUOTE_NONNUMERIC))[0],
    lambda text: [row[0] for row in csv.reader([text], quoting=csv.QUOTE_NONNUMERIC)][0],
    lambda text: sqlite3.connect(":memory:").execute(f"select {text}").fetchone()[0],
    lambda text: np.fromiter([text], float)[0],
    lambda text: np.full(1, text, dtype=float)[0],
    lambda text: np.array([text], object).astype(float)[0],
    lambda text: np.array([text.encode()], "S32").astype(float)[0],
    lambda text: datetime.datetime.fromtimestamp(float(text)).timestamp(),
    lambda text: float.fromhex(float(text).hex()),
    lambda text: pytest.importorskip("pandas").to_numeric([text])[0],
    lambda text: pytest.importorskip("pandas").Series([text]).astype(float)[0],
    lambda text: pytest.importorskip("pandas").read_csv(io.StringIO(f"a\n{text}"))["a"][0],
    lambda text: pytest.importorskip("pandas").Timedelta(f"{text}s").total_seconds(),
]


@pytest.mark.parametrize("read", READERS)
def test_code_that_is_not_followed_reads_no_numbers_from_texts(read):
    def function(x):
        return read(f"{x[0]:.17g}") * x[1]

    with pytest.raises(NoDerivativeError, match="a number is read from a text"):
        gs.grad(function, compile=False)(X)


@pytest.mark.parametrize(
    "make", [lambda y: np.char.mod("%.17g", y), lambda y: np.strings.mod("%.17g", y)]
)
def test_texts_that_numpy_makes_are_texts(make):
    refusals = "a number is read from a text|out of the record"  # the second by older NumPy
    with pytest.raises(NoDerivativeError, match=refusals):
        gs.grad(lambda x: float(make(x)[0]) * x[1], compile=False)(X)


CONFIG = {"rate": 0.5, "n1": 3.0}
GENERATOR = np.random.default_rng(0)


def _of_table(x):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a1": [1.0, 2.0, 3.0]}, index=["r1", "r2", "r3"])
    means = table.groupby(["u1", "u1", "v2"])["a1"].mean()
    return (
        table["a1"].iloc[1] * table.loc["r1", "a1"]
        + np.sum(x * table["a1"].to_numpy())
        + means.sum()
    )


@pytest.mark.parametrize(
    "constant",
    [
        _of_table,
        lambda x: CONFIG["n1"] * CONFIG.get("rate"),
        lambda x: GENERATOR.normal(0.0, 1.0, 3)[0],
        lambda x: time.perf_counter(),
        lambda x: np.quantile(np.arange(5.0), 0.3, method="linear"),
        lambda x: np.einsum("i,i->", x, np.arange(3.0)),
        lambda x: pytest.importorskip("scipy.signal").butter(2, 0.3, btype="low")[0][0],
        lambda x: pytest.importorskip("scipy.stats").norm(0, 1).pdf(0.3),
        lambda x: pytest.importorskip("scipy.optimize").brentq(lambda t: t * t - 2, 0, 3),
        lambda x: np.load(_saved(np.arange(3.0)))[1] if x[0] < 0 else 1.0,
    ],
)
def test_numbers_of_other_code_are_given_where_a_text_was_made(constant):
    def function(x):
        print(f"{x[0]:.3f}", file=io.StringIO())
        return constant(x) + np.sum(x * x)

    assert np.all(np.isfinite(gs.grad(function, compile=False)(X)))


def _saved(array):
    file = io.BytesIO()
    np.save(file, array)
    file.seek(0)
    return file
