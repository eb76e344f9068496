"""Compiled code on disk: other processes read it, and where it is wrong, it is not run."""

from __future__ import annotations

import errno
import math
import os
import pathlib
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

from gradscribe.codegen.load import execute
from gradscribe.codegen.loops import cache, cache_files

numba = pytest.importorskip("numba")

from numba.core import event  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
DOUBLE = "def scaled(x):\n    return x * 2.0\n"
OPTIONS = {"error_model": "python", "boundscheck": True}


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """The cache folder, which is not there yet."""
    monkeypatch.setenv(cache_files.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_has_warned", False)
    return tmp_path / "cache"


@pytest.fixture
def warned(recwarn):
    """The warnings of the cache."""
    return lambda: [str(each.message) for each in recwarn if "cache" in str(each.message)]


def made(text=DOUBLE, **bindings):
    """The function of a text, as another process has it."""
    variables = execute(text, "<test>", {**bindings, "__name__": cache.MODULE})
    return cache.compiled(variables["scaled"], text, bindings, OPTIONS)


def compilations(function, *args):
    """What a call returns, and how many functions were compiled for it."""
    with event.install_recorder("numba:compile") as compiled:
        found = function(*args)
    return found, sum(each.is_start for _, each in compiled.buffer)


def entries(folder):
    return sorted(folder.glob("*.kernel"))


# -- between processes -----------------------------------------------------------------------------


def script(tmp_path, body, name="script"):
    """A program with a function `f` to differentiate, and `show` for the derivative natively."""
    program = """
        import math, os, sys
        import numba
        import gradscribe as gs
        from numba.core import event

        def show(function, *args):
            native = gs.grad(function, jit=True)
            with event.install_recorder("numba:compile") as compiled:
                found = native(*args)
            assert native.jit_report == "native", native.jit_report
            print(found, "compiled" if compiled.buffer else "read")
    """
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(program) + textwrap.dedent(body))
    return path


def start(path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    piped = subprocess.PIPE
    command = [sys.executable, "-W", "error", str(path)]
    return subprocess.Popen(command, env=environment, stdout=piped, stderr=piped, text=True)


def output(process):
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, "")
    return out.splitlines()


ROOTS = """
    def f(x, n):
        for _ in range(n):
            x = math.sqrt(x) / n
        return x

    show(f, 4.0, 1)
    try:
        gs.grad(f, jit=True)(-4.0, 1)
    except ValueError as error:
        print(error)
"""


def test_a_second_process_reads_what_the_first_has_compiled(tmp_path, folder):
    path = script(tmp_path, ROOTS)
    assert output(start(path)) == ["0.25 compiled", "math domain error"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert output(start(path)) == ["0.25 read", "math domain error"]


def test_processes_that_compile_at_once_do_not_meet(tmp_path):
    path = script(tmp_path, ROOTS)
    for process in [start(path) for _ in range(2)]:
        assert output(process)[0].startswith("0.25 ")
    assert output(start(path))[0] == "0.25 read"


def test_functions_of_one_name_are_told_apart(tmp_path):
    """Each is the first that its process compiles."""
    square = script(tmp_path, "def f(x): return x * x\nshow(f, 3.0)\n", "square")
    cube = script(tmp_path, "def f(x): return x * x * x\nshow(f, 3.0)\n", "cube")
    assert (output(start(square)), output(start(cube))) == (["6.0 compiled"], ["27.0 compiled"])
    both = tmp_path / "both.py"
    both.write_text("import square, cube")
    assert output(start(both)) == ["6.0 read", "27.0 read"]


def test_a_fork_shares_the_folder(tmp_path):
    body = """
        def f(x): return x * x
        def g(x): return x * x * x

        show(f, 3.0)
        sys.stdout.flush()
        child = os.fork()
        if not child:
            show(f, 3.0)
            show(g, 3.0)
            sys.stdout.flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        show(g, 3.0)
    """
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork")
    path = script(tmp_path, body)
    assert output(start(path)) == ["6.0 compiled", "6.0 read", "27.0 compiled", "27.0 read"]


def test_a_process_that_dies_while_it_writes_leaves_no_entry(tmp_path, folder):
    dying = "os.replace = lambda *paths: os._exit(9)\n"
    process = start(script(tmp_path, dying + textwrap.dedent(ROOTS)))
    process.communicate(timeout=120)
    assert process.returncode == 9
    assert (len(list(folder.iterdir())), entries(folder)) == (1, [])


# -- what is wrong with it -------------------------------------------------------------------------

DAMAGES = {
    "cut off": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "garbage": lambda content: b"garbage" * 100,
    "one bit": lambda content: content[:5000] + bytes([content[5000] ^ 1]) + content[5001:],
    "zeros at the end": lambda content: content[:-512] + bytes(512),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_compiled_again_and_replaced(damage, folder, warned):
    made()(1.5)
    (entry,) = entries(folder)
    entry.write_bytes(DAMAGES[damage](entry.read_bytes()))
    assert compilations(made(), 1.5) == (3.0, 1)
    (warning,) = warned()
    assert warning.startswith("the cache of native code is ignored:") and "damaged" in warning
    assert compilations(made(), 1.5) == (3.0, 0)


@pytest.mark.parametrize("content", [b"no pickle", b"\x80\x04N.", b"\x80\x04]."])
def test_an_entry_that_is_whole_but_of_another_kind_is_replaced(content, folder, warned):
    made()(1.5)
    (entry,) = entries(folder)
    cache_files.write(entry.stem, content)
    assert compilations(made(), 1.5) == (3.0, 1)
    assert len(warned()) == 1
    assert compilations(made(), 1.5) == (3.0, 0)


def test_an_entry_in_the_place_of_another_is_not_taken_for_it(folder, warned):
    made()(1.5)
    (double,) = entries(folder)
    made(DOUBLE.replace("2", "3"))(1.5)
    (triple,) = set(entries(folder)) - {double}
    triple.write_bytes(double.read_bytes())
    assert made(DOUBLE.replace("2", "3"))(1.5) == 4.5
    assert len(warned()) == 1


def test_code_for_other_types_is_not_run(folder, monkeypatch, warned):
    made()(1.5)
    monkeypatch.setattr(cache._Cache, "_name", lambda *args: entries(folder)[0].stem)
    assert made()(2) == 4.0
    assert len(warned()) == 1


def test_what_this_process_does_not_define_is_compiled_again(monkeypatch, warned):
    monkeypatch.setattr(cache, "_symbols", lambda module: ["is_not_there"])
    made()(1.5)
    assert compilations(made(), 1.5) == (3.0, 1)
    assert len(warned()) == 1


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_can_write_to_is_not_used(mode, folder, warned):
    made()(1.5)
    folder.chmod(mode)
    assert compilations(made(), 1.5) == (3.0, 1)
    (warning,) = warned()
    assert "others can write to it" in warning and str(folder) in warning


def test_a_folder_of_another_user_is_not_used(monkeypatch, warned):
    made()(1.5)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert compilations(made(), 1.5) == (3.0, 1)
    assert len(warned()) == 1


def test_an_entry_that_others_can_write_to_is_not_used(folder, warned):
    made()(1.5)
    entries(folder)[0].chmod(0o666)
    assert compilations(made(), 1.5) == (3.0, 1)
    assert len(warned()) == 1


def test_without_a_place_to_write_to_functions_are_compiled_with_one_warning(folder, warned):
    folder.write_text("a file in the way")
    assert compilations(made(), 1.5) == (3.0, 1)
    assert compilations(made(), 1.5) == (3.0, 1)
    (warning,) = warned()
    assert str(folder) in warning and cache_files.VARIABLE in warning


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_full_or_read_only_folder_is_left_as_it_was(code, folder, monkeypatch, warned):
    made()(1.5)
    before = list(folder.iterdir())

    def fails(*paths):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", fails)
    monkeypatch.setattr(os, "utime", fails)
    assert compilations(made(), 1.5) == (3.0, 0)
    assert made()(2) == 4
    assert made()(True) == 2
    (warning,) = warned()
    assert os.strerror(code) in warning
    assert list(folder.iterdir()) == before


def test_warnings_that_are_errors_come_once(folder):
    folder.write_text("a file in the way")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="the cache of native code is ignored"):
            made()(1.5)
        assert made()(1.5) == 3.0


# -- how much of it --------------------------------------------------------------------------------


def aged(entry, seconds):
    os.utime(entry, (entry.stat().st_mtime - seconds,) * 2)


def test_beyond_the_limit_what_was_not_read_for_longest_goes(folder, monkeypatch):
    for number in range(4):
        cache_files.write(f"entry{number}", bytes(1000))
        aged(folder / f"entry{number}.kernel", 100 - number)
    cache_files.read("entry0")
    monkeypatch.setattr(cache_files, "LIMIT", 3500)
    cache_files.write("entry4", bytes(1000))
    assert [entry.stem for entry in entries(folder)] == ["entry0", "entry3", "entry4"]


def test_only_entries_and_what_was_abandoned_are_removed(folder, monkeypatch):
    cache_files.write("entry", bytes(1000))
    for name in ("notes.txt", "new.unfinished", "old.unfinished"):
        (folder / name).write_bytes(bytes(1000))
        aged(folder / name, 5000 if name != "new.unfinished" else 5)
    monkeypatch.setattr(cache_files, "LIMIT", 1)
    cache_files.write("other", bytes(1000))
    assert {each.name for each in folder.iterdir()} == {"notes.txt", "new.unfinished"}


def test_what_another_process_has_removed_is_no_error(folder, monkeypatch):
    monkeypatch.setattr(cache_files, "LIMIT", 1)

    def gone(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "unlink", gone)
    cache_files.write("entry", bytes(1000))
    assert cache_files.read("entry") == bytes(1000)


# -- which code it is ------------------------------------------------------------------------------


ADDS = "def scaled(x):\n    return x + c\n"
ARRAY = np.arange(3.0)
CONSTANTS = [0.0, -0.0, 0, False, 1j, np.float64(0), np.int64(0), (0.0, 1), (0.0, 1.0)]
CONSTANTS += [ARRAY, ARRAY + 1, ARRAY.astype(int), np.asfortranarray(np.ones((2, 2)))]


def test_what_a_text_names_is_part_of_its_identity():
    identities = {cache._identity(ADDS, {"c": constant}, OPTIONS) for constant in CONSTANTS}
    assert len(identities) == len(CONSTANTS)
    assert None not in identities


def test_texts_options_and_settings_are_part_of_the_identity(monkeypatch):
    found = {cache._identity(DOUBLE, {}, OPTIONS), cache._identity(DOUBLE + "\n", {}, OPTIONS)}
    found.add(cache._identity(DOUBLE, {}, {**OPTIONS, "fastmath": True}))
    monkeypatch.setattr(numba.config, "OPT", 1)
    found.add(cache._identity(DOUBLE, {}, OPTIONS))
    cache._versions.cache_clear()
    monkeypatch.setattr(cache, "__version__", "another")
    found.add(cache._identity(DOUBLE, {}, OPTIONS))
    cache._versions.cache_clear()
    assert len(found) == 5


def test_arrays_are_constants_of_their_contents(folder):
    assert list(made(ADDS, c=ARRAY)(1.0)) == [1, 2, 3]
    assert list(made(ADDS, c=ARRAY + 1)(1.0)) == [2, 3, 4]
    assert compilations(made(ADDS, c=ARRAY.copy()), 1.0)[1] == 0
    assert len(entries(folder)) == 2


@numba.njit
def half(x):
    return x / 2


@pytest.mark.parametrize("named", [half, os, math.sin, ARRAY.astype(object), [1.0], object()])
def test_a_function_that_names_anything_else_is_not_kept(named, folder):
    assert made(c=named)(1.5) == 3.0
    assert not folder.exists()


def test_each_type_has_an_entry(folder):
    function = made()
    assert (function(1.5), function(2), function(ARRAY).tolist()) == (3.0, 4.0, [0.0, 2.0, 4.0])
    assert len(entries(folder)) == 3
    assert compilations(made(), ARRAY)[1] == 0


# -- where it is -----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there are other conventions")
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"GRADSCRIBE_CACHE_DIR": "/own", "XDG_CACHE_HOME": "/xdg"}, "/own"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/gradscribe"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.cache/gradscribe"),
        ({"GRADSCRIBE_CACHE_DIR": "", "HOME": "/home/me"}, "/home/me/.cache/gradscribe"),
    ],
)
def test_the_folder_is_where_the_environment_says(variables, expected, monkeypatch):
    for name in ("GRADSCRIBE_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_files.folder() == expected


def test_a_relative_folder_is_none(monkeypatch):
    monkeypatch.setenv(cache_files.VARIABLE, "relative")
    with pytest.raises(OSError, match="no absolute path: 'relative'"):
        cache_files.folder()
