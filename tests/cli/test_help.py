# SPDX-License-Identifier: Apache-2.0
"""`--help` answers at once: it loads neither NumPy nor a compiler, and no target's record."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from polyloom.cli import main
from polyloom.cli.bench import start
from polyloom.cli.flags import FLAGS
from polyloom.targets import registry
from polyloom.targets.entry import BUILT_IN, entries, load_named
from polyloom.targets.options import verb_options

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
        assert load_named(str(entries()[name].options)) is registry.find_target(name).options


def test_a_row_per_command(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(start, "_child_seconds", lambda words: asked.append(words) or 0.25)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    found = list(start.rows(times=2))
    assert found[2] == {"command": "polyloom run --help", "seconds": 0.25}
    assert len(asked) == 3 * len(found)


def test_processes_are_measured() -> None:
    assert start.seconds(("--version",), 1) > 0


def shown(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit):
        main(list(words))
    return capsys.readouterr().out


def groups(text: str) -> dict[str, set[str]]:
    """The flags below each title of a help text."""
    parts = re.split(r"^(\S[^\n]*):$", text, flags=re.MULTILINE)[1:]
    return {title: set(re.findall(r"^  (?:-\w, )?(-[-\w]+)", body, re.MULTILINE)) for title, body in batched(parts)}


def batched(parts: list[str]) -> zip[tuple[str, str]]:
    return zip(parts[::2], parts[1::2], strict=True)


@pytest.mark.parametrize("on", BUILT_IN)
def test_help_shows_the_options_of_the_target_by_what_they_are_for(on: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = groups(shown("run", "--help", "--on", f"{on}:x", capsys=capsys))
    assert {"--in", "--seed", "--fill"} == found["inputs"]
    assert {"--out", "--trace", "--report"} == found["results"]
    assert {"--help", "--json", "--quiet", "--color"} == found["general"]
    known = verb_options(load_named(str(entries()[on].options)), "run").values()
    compiling = {option.flag for option in known if "compile" in option.verbs}
    assert found[f"compilation ({on})"] == compiling
    assert found[f"run ({on})"] == {option.flag for option in known} - compiling
    assert not [title for title in found if title.endswith(")") and f"({on})" not in title]


def test_without_a_target_help_shows_the_default_and_names_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown("run", "--help", capsys=capsys) == shown("run", "--help", "--on=tcpa:4x4", capsys=capsys)
    text = " ".join(shown("run", "--help", capsys=capsys).split())
    assert "other targets have options of their own: polyloom run --help --on riscv|belt|tensix|minion" in text


def test_verbs_that_find_the_target_in_a_file_show_all(capsys: pytest.CaptureFixture[str]) -> None:
    found = groups(shown("simulate", "--help", capsys=capsys))
    assert "--array" in found["simulate (tcpa)"] and "--entry" in found["simulate (minion)"]
    found = groups(shown("compare", "--help", "--on", "belt,tensix:wormhole", capsys=capsys))
    assert "--dest" in found["compilation (tensix)"] and "--solver" in found["compilation (belt)"]
    assert not [title for title in found if "minion" in title]


@pytest.mark.parametrize("verb", ["run", "simulate", "compile", "explore", "sweep"])
def test_every_option_is_in_a_group(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = groups(shown(verb, "--help", capsys=capsys))
    assert "options" not in found
    assert shown(verb, "--help", capsys=capsys).startswith(f"usage: polyloom {verb} ")


def test_a_hidden_option_is_still_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "x.pla", "--solver", "torus"]) == 2
    assert "the target tcpa has no option --solver" in capsys.readouterr().err
