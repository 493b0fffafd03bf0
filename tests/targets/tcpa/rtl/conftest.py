# SPDX-License-Identifier: Apache-2.0
"""Simulators of 2x2 elements of `tiny.toml` and of `floats.toml`, kept until something they are made of changes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.build_cache import kept_program

from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.rtl.circuit import Circuit, build_circuit, check_circuit
from polyloom.targets.tcpa.rtl.simulator import TOOL, Simulator, build_simulator
from polyloom.targets.tcpa.rtl.verilog_files import LIBRARY, verilog_files

TINY = Path(__file__).with_name("tiny.toml")
FLOATS = Path(__file__).with_name("floats.toml")
SOURCES = LIBRARY.parent


def tiny_circuit(path: Path = TINY) -> Circuit:
    machine = machine_file.load(str(path))
    check_circuit(machine)
    return build_circuit(machine, 2, 2)


def _parts(circuit: Circuit) -> Iterator[str | bytes]:
    """Whatever decides the simulator of a circuit: the Verilog, the sizes of its ports, what compiles it."""
    for name, text in verilog_files(circuit).items():
        yield from (name, text)
    yield repr((circuit.rows, circuit.columns, len(circuit.machine.units), len(circuit.lanes), circuit.ports))
    for path in sorted((Path(__file__), *SOURCES.glob("*.py"), *SOURCES.glob("*.cpp"), *SOURCES.glob("*.h"))):
        yield path.read_bytes()
    for tool in (TOOL, "g++"):
        yield subprocess.run([tool, "--version"], capture_output=True).stdout


def kept_simulator(path: Path, optimization: int) -> Simulator:
    """The simulator of a machine's circuit, built if there is none yet."""
    circuit = tiny_circuit(path)

    def build(folder: Path) -> Path:
        return build_simulator(circuit, folder, optimization).program

    return Simulator(circuit, kept_program(path.stem, _parts(circuit), build), 0.0)


def _kept_or_skip(path: Path, optimization: int) -> Simulator:
    if shutil.which(TOOL) is None:
        pytest.skip(f"{TOOL} is not installed")
    return kept_simulator(path, optimization)


@pytest.fixture(scope="session")
def simulator() -> Simulator:
    # Optimizing takes longer than all runs that are faster then.
    return _kept_or_skip(TINY, 0)


@pytest.fixture(scope="session")
def float_simulator() -> Simulator:
    return _kept_or_skip(FLOATS, 1)
