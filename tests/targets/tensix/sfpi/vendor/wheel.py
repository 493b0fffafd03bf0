# SPDX-License-Identifier: Apache-2.0
"""The vendor's wheel of kernels (ttnn 0.81.1, Apache-2.0), downloaded and unpacked once; nothing of it is in this
repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final
from zipfile import ZipFile

VERSION: Final = "0.81.1"
_TAGS: Final = ("--python-version", "312", "--platform", "manylinux_2_34_x86_64")
_METAL: Final = "ttnn/tt_metal"
_TABLE: Final = f"{_METAL}/tt-llk/tests/python_tests/helpers/sfpu_accuracy_budget.yaml"
_SOURCES: Final = f"{_METAL}/tt-llk/tests/sources"
"""Test sources of low-level kernels."""
_API: Final = f"{_METAL}/hw/ckernels/wormhole_b0/metal/llk_api"
_LLK: Final = f"{_METAL}/tt-llk/tt_llk_wormhole_b0/common/inc"
FOLDERS: Final = {
    "metal": f"{_API}/llk_sfpu",
    "metal-exp": f"{_API}/experimental/llk_sfpu",
    "llk": f"{_LLK}/sfpu",
    "llk-exp": f"{_LLK}/sfpu/experimental",
}
"""Where the headers of a group of kernels are."""
_INCLUDED: Final = (*FOLDERS.values(), _API, _LLK, f"{_METAL}/tt-llk/common")


def unpacked(folder: Path) -> Path:
    """The headers of the wheel, and the test sources of its low-level kernels, in `folder`."""
    if not (folder / _SOURCES).is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        words = ("download", "--no-deps", "--only-binary=:all:", *_TAGS, "--dest", str(folder), f"ttnn=={VERSION}")
        subprocess.run((sys.executable, "-m", "pip", *words), check=True)
        with ZipFile(next(folder.glob("ttnn-*.whl"))) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.endswith(".h") or _SOURCES in name])
    return folder


def measurements(folder: Path) -> str:
    """The vendor's table of units in the last place, as measured on a Wormhole."""
    with ZipFile(next(folder.glob("ttnn-*.whl"))) as wheel:
        return wheel.read(_TABLE).decode("utf-8")


def header(folder: Path, group: str, name: str) -> Path:
    return folder / FOLDERS[group] / f"ckernel_sfpu_{name}.h"


def includes(folder: Path) -> tuple[str, ...]:
    """The folders that the kernels' own companions are in."""
    return tuple(str(folder / path) for path in _INCLUDED)
