# SPDX-License-Identifier: Apache-2.0
"""What an emulator of others is given: one file with the inputs in it, masks of minions, the entry."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.targets.minion.host.programs import CODE, Elf, Load

from polyloom.cli import main
from polyloom.cli.bench.minion import emulator_row
from polyloom.diagnostics import PolyloomError
from polyloom.riscv.image import elf_image
from polyloom.targets.minion.machine import load as machine
from polyloom.targets.minion.place import parse_place
from polyloom.targets.minion.run import peer
from polyloom.targets.minion.words.isa import ISA
from polyloom.targets.minion.words.program import Program, load
from polyloom.targets.target import Loaded

DATA = CODE + 0x1000
FREE = 0x80_0100_0000


@pytest.fixture
def program() -> Program:
    file = Elf([Load(CODE), Load(DATA, b"ab", 6, 64)]).data
    return load([Loaded("k.elf", file, None)], (), None, machine("et-soc-1"))


def script(folder: Path, body: str) -> str:
    path = folder / "emulator"
    path.write_text(f"#!/bin/sh\n{body}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_inputs_are_in_the_file(program: Program) -> None:
    """They replace data, also zeros behind them, and stand alone elsewhere."""
    image = elf_image(peer.merge_inputs(program, [(DATA + 4, b"xy"), (FREE, b"far"), (FREE + 64, b"")]), ISA)
    found = {s.address: s.data for s in image.segments}
    assert found == {CODE: Load(CODE).data, DATA: b"ab\0\0xy", FREE: b"far"}
    assert image.entry == CODE


def test_what_the_emulator_is_told(program: Program, tmp_path: Path) -> None:
    path = script(tmp_path, f'echo "$@" > {tmp_path}/told; for last; do :; done; test -s "$last"\n')
    found = peer.compare(path, program, [], parse_place("64"), 0.5)
    told = (tmp_path / "told").read_text(encoding="utf-8").split()
    assert told[:7] == ["-sp_dis", "-reset_pc", "0x8000001000", "-minions", "0xffffffff", "-shires", "0x3"]
    assert told[-2] == "-elf_load"
    assert found.seconds > 0 and found.ratio == pytest.approx(found.seconds / 0.5)


def test_a_row_of_bench(tmp_path: Path) -> None:
    """The compiled product is what the emulator gets, its operands included."""
    path = script(tmp_path, f'for last; do :; done; cp "$last" {tmp_path}/got.elf\n')
    row = emulator_row(path, 16, 1)
    assert isinstance(row["model"], float) and row["unit"] == "times our seconds"
    image = elf_image((tmp_path / "got.elf").read_bytes(), ISA)
    assert sum(any(s.data) and not s.is_code for s in image.segments) == 2


def test_a_table_without_a_peer_refuses_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "sizes", "--peer", "/bin/true"]) == 2
    assert "the table sizes is compared with no emulator" in capsys.readouterr().err
    assert main(["bench", "minion", "--peer", "nowhere"]) == 1
    assert "PL1313" in capsys.readouterr().err


def test_minions_of_one_shire() -> None:
    assert peer.arguments("k.elf", CODE, parse_place("5"))[3:7] == ["-minions", "0x1f", "-shires", "0x1"]


def test_an_emulator_that_fails(program: Program, tmp_path: Path) -> None:
    path = script(tmp_path, "echo one; echo two; echo three; echo no such thing; exit 3\n")
    with pytest.raises(PolyloomError) as caught:
        peer.compare(path, program, [], parse_place(""), 1)
    first = caught.value.diagnostics[0]
    assert (first.code, first.message) == ("PL1313", "the emulator ended with 3")
    assert first.notes == ("two", "three", "no such thing")
