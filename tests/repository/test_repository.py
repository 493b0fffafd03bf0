# SPDX-License-Identifier: Apache-2.0
"""Rules for every file of the repository: licence headers, no paths or hosts of one workplace, links that lead
somewhere."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {".py", ".pyi", ".c", ".h", ".cpp", ".hpp", ".toml"}
BUILD_FILES = {"Makefile", "CMakeLists.txt", ".ci/run"}
HEADER = "SPDX-License-Identifier: Apache-2.0"
# Absolute paths below the usual roots of somebody's machine, and hosts of package indexes.
FORBIDDEN = re.compile(
    r"(?<![\w.~-])/(?:home|root|tmp|work|mnt|srv|opt|Users)/\w|\b(?:files\.)?python" + r"hosted\.org|\bpypi" + r"\.org"
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)[^)]*\)")


@cache
def files() -> tuple[str, ...]:
    """The files that git tracks or would track; every file outside ignored folders where this is no clone."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
        listed = [
            str(p)
            for p in found
            if not any(part == "build" or (part.startswith((".", "__pycache__")) and part != ".ci") for part in p.parts)
        ]
    return tuple(sorted(name for name in listed if name and (ROOT / name).is_file()))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def lacks_header(content: str) -> bool:
    return bool(content) and HEADER not in "".join(content.splitlines(keepends=True)[:3])


def test_sources_carry_the_licence() -> None:
    sources = [name for name in files() if Path(name).suffix in SOURCES or name in BUILD_FILES]
    assert len(sources) > 20
    assert [name for name in sources if lacks_header(text(name))] == []


def long_lines(content: str) -> list[int]:
    return [number for number, line in enumerate(content.splitlines(), 1) if len(line) > 120]


def test_native_lines_are_short() -> None:
    """Lines of Python are ruff's affair."""
    native = [name for name in files() if name.startswith("native/")]
    assert len(native) > 50
    assert [f"{name}:{n}" for name in native for n in long_lines(text(name))] == []
    assert long_lines(f"a\n{'b' * 121}\n{'c' * 120}\n") == [2]


def test_no_path_or_host_of_one_workplace() -> None:
    found = [f"{name}: {match[0]}" for name in files() for match in FORBIDDEN.finditer(text(name))]
    assert found == []


def test_links_lead_somewhere() -> None:
    pages = [name for name in files() if name.endswith(".md")]
    broken = [
        f"{name}: {link}"
        for name in pages
        for link in LINK.findall(text(name))
        if not ((ROOT / name).parent / link).exists()
    ]
    assert broken == []


@pytest.mark.parametrize("bad", ["see /ho" + "me/x/y", "'/wo" + "rk/main'", "pypi" + ".org"])
def test_the_rule_finds_what_it_forbids(bad: str) -> None:
    assert FORBIDDEN.search(bad)
    assert not FORBIDDEN.search("src/work/x, ~/tmp/y, /usr/bin/env")
    assert lacks_header("import os\n")
