# SPDX-License-Identifier: Apache-2.0
"""The command line, called in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyloom.cli import main

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Exit status, standard output and standard error of `polyloom WORDS`."""

    def run(*words: str) -> tuple[int, str, str]:
        status = main(list(words))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run
