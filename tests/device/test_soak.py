# SPDX-License-Identifier: Apache-2.0
"""Very many instantiations on this host: buffers are of the size that the query asks for, and nothing around them
changes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.device.cases import MATMUL, Case, examples, kernels
from tests.device.devices import LIBRARY

SOURCE = Path(__file__).with_name("soak.c")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler `cc`")


@pytest.fixture(scope="module")
def soak(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("soak") / "soak"
    sources = map(str, (SOURCE, *sorted(LIBRARY.glob("*.c"))))
    subprocess.run(
        ["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{LIBRARY}", *sources, "-o", str(made)], check=True
    )
    return made


def cases() -> list[Case]:
    """Small programs; the values are upper limits, zeros included."""
    files = {
        case.file: case.values
        for case in (*examples(["bits", "fir", "matvec"], "wide", ((1, 1),)), *kernels(["trisolv"], ((1, 1),)))
    }
    return [
        *(Case("", file, (12,) * len(values), (4, 4)) for file, values in files.items()),
        Case("", MATMUL, (7, 7, 5), (3, 3)),
    ]


def repeat(program: Path, *arguments: int) -> subprocess.CompletedProcess[bytes]:
    given = b"".join(case.message() for case in cases())
    return subprocess.run([str(program), *map(str, arguments)], input=given, capture_output=True)


def stays_in_its_buffers(program: Path, runs: int) -> None:
    done = repeat(program, runs)
    assert done.returncode == 0, done.stderr.decode()
    made, refused, _ = map(int, done.stdout.split())
    assert made + refused == runs
    assert made > runs // 2


def test_two_thousand_instantiations_stay_in_their_buffers(soak: Path) -> None:
    stays_in_its_buffers(soak, 2000)


def test_a_changed_guard_is_noticed(soak: Path) -> None:
    done = repeat(soak, 200, 100)
    assert (done.returncode, b"scratch was left" in done.stderr) == (1, True)


@pytest.mark.long
def test_a_million_instantiations_stay_in_their_buffers(soak: Path) -> None:
    stays_in_its_buffers(soak, 1_000_000)
