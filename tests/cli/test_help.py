# SPDX-License-Identifier: Apache-2.0
"""`--help` answers at once: it loads neither NumPy nor a compiler, and no target's record."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from polyloom.cli.bench import start
from polyloom.cli.flags import FLAGS
from polyloom.targets import registry
from polyloom.targets.entry import BUILT_IN, entries, loaded

HEAVY = {"islpy", "numpy", "ortools", "polyloom.api", "polyloom.frontend", "polyloom.targets.target"}


def heavy(*commands: list[str]) -> set[str]:
    """Of the modules that answering these commands loads, those that take long."""
    script = (
        "import json, sys\nfrom contextlib import suppress\nfrom polyloom.cli import main\n"
        "for words in json.loads(sys.argv[1]):\n    with suppress(SystemExit): main(words)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(commands)], capture_output=True, text=True, check=True
    )
    return HEAVY & set(json.loads(done.stdout.splitlines()[-1]))


def test_help_loads_nothing_that_takes_long() -> None:
    assert heavy(["--help"], ["--version", "--json"], *([verb, "--help"] for verb in FLAGS)) == set()


def test_a_malformed_command_loads_nothing_either() -> None:
    assert heavy(["run"], ["compile", "x.pla"], ["explore", "x.pla", "--level", "none"], ["show", "--nothing"]) == set()


def test_a_module_that_is_loaded_would_be_seen() -> None:
    assert "numpy" in heavy(["dominators", "--help"])


def test_options_of_entries_are_those_of_records() -> None:
    for name in BUILT_IN:
        assert loaded(str(entries()[name].options)) is registry.get(name).options


def test_a_row_per_command(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(start, "_once", lambda words: asked.append(words) or 0.25)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    found = start.rows(times=2)
    assert found[2] == {"command": "polyloom run --help", "seconds": 0.25}
    assert len(asked) == 3 * len(found)


def test_processes_are_measured() -> None:
    assert start.seconds(("--version",), 1) > 0
