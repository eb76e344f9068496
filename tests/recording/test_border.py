"""Programs that call compiled code, recorded: right, or refused."""

import functools
import types

import pytest

import gradscribe as gs
from tests.border import verdicts
from tests.border.programs import ROWS, programs
from tests.sampling import one_in

TABLES = sorted(path.stem for path in ROWS.glob("*.txt"))
OTHERWISE = {
    "scipy: brentq and fsolve": "raises what SciPy makes of a refusal",
    "called_back: a root that depends on an active number": "raises what SciPy makes of it",
    "called_back: a root that depends on an active number, as it comes": "the same",
}


class Recorded(types.ModuleType):
    """gradscribe, whose transforms run functions as they are."""

    def __getattr__(self, name):
        found = getattr(gs, name)
        is_transform = name in ("grad", "value_and_grad", "jvp", "vjp", "hvp")
        return functools.partial(found, compile=False) if is_transform else found


@pytest.mark.parametrize("row", one_in(24, programs(*TABLES)), ids=str)
def test_programs_at_the_border_are_right_or_refused(row, monkeypatch):
    if str(row) in OTHERWISE:
        pytest.skip(OTHERWISE[str(row)])
    monkeypatch.setattr(verdicts, "gs", Recorded("gradscribe"))
    monkeypatch.delitem(verdicts.MODES, "Tensors")
    found = row.verdict()
    assert found.kind in ("right", "refused"), found.detail
