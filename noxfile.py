"""The test suite on every CPython that we support: `nox`, or `nox -s tests-3.13 -- -k loops`."""

import nox

nox.options.reuse_existing_virtualenvs = True

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Install the package with what its tests need, and run them."""
    session.install(".[test,viz]")
    session.run("pytest", "-n", "auto", "--dist", "worksteal", *session.posargs)
