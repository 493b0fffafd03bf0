# SPDX-License-Identifier: Apache-2.0
"""One browser for all tests of pages, and pages that several of them look at."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from tests.report.browser import Browser, browser, chromium

import polyloom as pl

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Generator[Browser]:
    """Skipped where there is none; continuous integration installs it."""
    if chromium() is None:
        pytest.skip("no `chromium`")
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="session")
def gemm() -> pl.Result:
    compiled = pl.compile(ROOT / "examples" / "kernels" / "gemm.py", on="tcpa:4x4")
    return compiled.instantiate(NI=20, NJ=25, NK=30).run(trace=True)


@pytest.fixture(scope="session")
def gemm_page(gemm: pl.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "gemm.html"
    path.write_text(gemm.page(), encoding="utf-8")
    return path
