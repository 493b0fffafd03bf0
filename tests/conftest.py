# SPDX-License-Identifier: Apache-2.0
"""What all tests share: golden texts with one update flag, hypothesis profiles, and skips that continuous integration
refuses.

`golden(name, text)` compares with `golden/NAME.txt` beside the test file; `pytest --update-golden` writes the files
instead. Profiles: `ci` (the default) is derandomized, of few examples and without deadlines, `long` draws many fresh
examples (`make test-long`).
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings
from tests.forked import Forks, loaded_process

Golden = Callable[[str, str], None]
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

_ANY_PACE = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(
    "ci",
    max_examples=50,
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=_ANY_PACE,
)
settings.register_profile("long", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=_ANY_PACE)
settings.load_profile("ci")
# A background job of a shell ignores it, and so would whatever it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["POLYLOOM_VERIFY_EACH"] = "1"  # the verifier runs between all passes, in the processes that tests start, too
# Who keeps Python from writing compiled modules would wait for them in each of a thousand processes: a second of CPU.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(__file__).parents[1] / "build" / "pycache"))


# Compilers make many objects that live: a collection per 700 of them is a sixth of the tests' CPU time.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish() -> None:
    """What was imported and collected is not looked at again."""
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden texts instead of comparing with them"
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _refuse_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _refuse_skip((yield))


def _refuse_skip(report: Report) -> Report:
    """In continuous integration a skipped test is a failed one: a missing tool must not hide a missing check."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, which continuous integration forbids: {report.longrepr}"
    return report


@pytest.fixture
def roughly_scheduled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modulo schedules on the array that are improved with a thirtieth of the usual effort: for tests of what programs
    compute. The initiation interval is as small as ever; half of the time of such a test went into lifetimes.
    """
    from polyloom.modulo.guards import solve

    monkeypatch.setattr(solve, "IMPROVEMENT_LIMIT", 0.01)


@pytest.fixture(scope="module")
def shared_trees() -> Generator[None]:
    """Each C file that a module of tests reads is parsed once, for tests of the functions of one file."""
    from polyloom.frontend.c.clang import cached_trees

    with cached_trees():
        yield


@pytest.fixture(scope="session")
def forks() -> Generator[Forks]:
    """A process that has loaded every target, for commands in processes of their own (`forked`)."""
    with loaded_process() as process:
        yield process


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden(name, text)`: the text must equal `golden/NAME.txt` beside the test file, up to one final newline."""
    update = bool(request.config.getoption("--update-golden"))
    folder = request.path.parent / "golden"

    def check(name: str, text: str) -> None:
        path = folder / f"{name}.txt"
        if update:
            _write(path, text)
            return
        assert path.exists(), f"{path} is missing: run `pytest --update-golden` and read what it wrote"
        assert text.rstrip("\n") == path.read_text(encoding="utf-8").rstrip("\n")

    return check


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
