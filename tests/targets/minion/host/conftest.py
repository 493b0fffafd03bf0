# SPDX-License-Identifier: Apache-2.0
"""The command line, called in this process, in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polyloom.cli import main

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(scratch: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """Exit status, standard output and standard error of `polyloom WORDS`."""
    del scratch

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run
