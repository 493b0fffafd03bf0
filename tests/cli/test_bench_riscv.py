# SPDX-License-Identifier: Apache-2.0
"""The loops of `polyloom bench riscv`: peers run what we run; who is not installed is left out.

Speeds are measured, not tested.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest

from polyloom.cli.bench import harts
from polyloom.riscv import names
from polyloom.riscv.image import elf
from polyloom.riscv.model import Machine

ISA = {name: names.parse(name) for name in harts.ISAS}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that a test can wait for, but that would overflow the stack if steps called each other without jumping."""
    monkeypatch.setattr(harts, "ROUNDS", 1)
    monkeypatch.setattr(harts, "LOOPS", {name: replace(loop, times=300_000) for name, loop in harts.LOOPS.items()})


@pytest.mark.parametrize("isa", harts.ISAS)
@pytest.mark.parametrize("name", harts.LOOPS)
def test_a_loop_ends_after_its_instructions(name: str, isa: str) -> None:
    done = Machine(elf(harts.program(name, ISA[isa]), ISA[isa])).run()
    assert done.exit_code == 0
    assert done.instructions > 3 * 300_000


@pytest.mark.skipif(which("qemu-riscv64") is None, reason="qemu-user is not installed: nobody else runs the loops")
@pytest.mark.parametrize("isa", harts.ISAS)
@pytest.mark.parametrize("name", ["", *harts.LOOPS])
def test_the_peer_runs_the_same_file(name: str, isa: str, tmp_path: Path) -> None:
    file = tmp_path / "loop.elf"
    file.write_bytes(harts.program(name, ISA[isa]))
    file.chmod(0o755)
    subprocess.run([f"qemu-riscv{ISA[isa].xlen}", str(file)], check=True)


def test_the_row_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harts, "LOOPS", {"integers": harts.LOOPS["integers"]})
    rows = harts.rows()
    assert [(row["what"], row["isa"]) for row in rows] == [("loop of integers", isa) for isa in harts.ISAS]
    assert all(isinstance(row["polyloom"], int) and row["polyloom"] > 0 for row in rows)


def test_who_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        """As where it is not installed."""

    monkeypatch.setattr(harts, "LOOPS", {"integers": harts.LOOPS["integers"]})
    monkeypatch.setattr(harts, "which", nothing)
    monkeypatch.setattr(harts, "find_spec", nothing)
    assert all(row["QEMU"] is row["to QEMU"] is row["host"] is None for row in harts.rows())
