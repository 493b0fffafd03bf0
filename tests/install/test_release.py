# SPDX-License-Identifier: Apache-2.0
"""What a release does can be done here: its workflow calls make goals that exist, its notes come from the changelog,
and the page of the package has no link that leads nowhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from polyloom.extras import install_command

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"


def goals(workflow: str) -> list[str]:
    """The goals of each `make` in the steps of a workflow; a word with `=` sets a variable."""
    jobs = cast("dict[str, Any]", yaml.safe_load(workflow)["jobs"])
    runs = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    makes = [found for run in runs for found in re.findall(r'make ((?:[^\s"<>|&;]|"[^"]*"| )+)', run)]
    return [word for make in makes for word in re.sub(r'"[^"]*"', "", make).split() if "=" not in word]


def test_the_workflow_calls_goals_that_exist() -> None:
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = goals(WORKFLOW.read_text(encoding="utf-8"))
    assert {"wheels", "sdist", "try-wheels", "release-notes"} <= set(called)
    assert set(called) <= known


def test_a_goal_that_is_missing_would_be_seen() -> None:
    text = 'jobs: {a: {steps: [{run: make one two X="y z"}, {uses: b}, {run: "make three > notes"}]}}'
    assert goals(text) == ["one", "two", "three"]


def test_every_job_before_publishing_is_waited_for() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    assert set(jobs["publish"]["needs"]) == set(jobs) - {"publish"}
    assert jobs["publish"]["permissions"]["id-token"] == "write"


def notes(changelog: str, tag: str) -> str:
    names: dict[str, Any] = {"__file__": str(ROOT / "packaging" / "notes.py")}
    exec((ROOT / "packaging" / "notes.py").read_text(encoding="utf-8"), names)
    return names["notes"](changelog, tag, "1.2.3")


def test_notes_are_the_section_of_the_version() -> None:
    changelog = "# Changes\n\n## 1.2.3 (a day)\n\n- new\n\n## 1.2.2\n\n- old\n"
    assert notes(changelog, "v1.2.3") == "- new\n"
    with pytest.raises(ValueError, match=r"the tag v1\.2\.4 is not the version 1\.2\.3"):
        notes(changelog, "v1.2.4")
    with pytest.raises(ValueError, match=r"write `## 1\.2\.3` where"):
        notes("## Unreleased\n", "v1.2.3")


def test_links_of_the_package_page_are_absolute() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    hook = settings["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    for rule in hook["substitutions"]:
        page = re.sub(rule["pattern"], rule["replacement"], page)
    links = re.findall(r"\]\(([^)]+)\)", page)
    assert len(links) > 10
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    installed = re.findall(r"pip install [^#`\n]*", page)
    assert {words.strip() for words in installed} == {"pip install polyloom", install_command("c")}
    assert "](https://raw.githubusercontent.com/polyloom/polyloom/main/docs/pictures/" in page
