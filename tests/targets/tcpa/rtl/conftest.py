# SPDX-License-Identifier: Apache-2.0
"""Simulators of 2x2 elements of `tiny.toml` and of `floats.toml`, built once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from polyloom import temporary
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.rtl.circuit import Circuit, build_circuit, check_circuit
from polyloom.targets.tcpa.rtl.simulator import TOOL, Simulator, build_simulator

TINY = Path(__file__).with_name("tiny.toml")
FLOATS = Path(__file__).with_name("floats.toml")


def tiny_circuit(path: Path = TINY) -> Circuit:
    machine = machine_file.load(str(path))
    check_circuit(machine)
    return build_circuit(machine, 2, 2)


def _build(path: Path) -> Iterator[Simulator]:
    if shutil.which(TOOL) is None:
        pytest.skip(f"{TOOL} is not installed")
    with temporary.temporary_folder() as folder:
        yield build_simulator(tiny_circuit(path), folder)


@pytest.fixture(scope="session")
def simulator() -> Iterator[Simulator]:
    yield from _build(TINY)


@pytest.fixture(scope="session")
def float_simulator() -> Iterator[Simulator]:
    yield from _build(FLOATS)
