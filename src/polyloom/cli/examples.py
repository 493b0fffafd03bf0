# SPDX-License-Identifier: Apache-2.0
"""Where the example programs are: inside an installed package, or beside `src` in a checkout."""

from __future__ import annotations

from pathlib import Path

import polyloom
from polyloom.diagnostics import input_error
from polyloom.extras import AGAIN

_PACKAGE = Path(polyloom.__file__).parent


def folder() -> Path:
    """The folder of the shipped `.pla` files; PL0814 if the installation lacks it."""
    for place in (_PACKAGE / "examples", _PACKAGE.parents[1] / "examples"):
        if (place / "matmul.pla").is_file():
            return place
    raise input_error(
        "PL0814",
        "the example programs are not installed",
        help=AGAIN,
    )


def path(kernel: str) -> str:
    return str(folder() / f"{kernel}.pla")
