# SPDX-License-Identifier: Apache-2.0
"""The site, built once for all tests, and the browser of the tests of pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.report.conftest import chrome

__all__ = ["chrome"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site; a warning of Sphinx is an error, as in `make docs`."""
    made = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q", "-b", "html", "docs", str(made)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made
