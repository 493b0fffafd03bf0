# SPDX-License-Identifier: Apache-2.0
"""Executables whose note is not what we write: they are refused or run, without a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.targets.tensix.sfpi.run.test_listing import REASONS, part, words

from polyloom.cli.entry import main
from polyloom.riscv import symbols
from polyloom.targets.tensix.source.executable import build_executable
from polyloom.targets.tensix.source.note import decode, encode

NAME = "a kernel whose name leaves room"
FILE = build_executable(NAME, part(words(), REASONS), None, "wormhole", 16, "face")


def changed(**fields: Any) -> bytes:
    """The file with other fields in its note, of the same length."""
    text = symbols.read_note(FILE)
    assert text is not None
    made = {**json.loads(text), "kernel": "f", **fields}
    new = json.dumps(made, sort_keys=True, separators=(",", ":")).encode()
    assert len(new) <= len(text), "the note would not fit"
    return FILE.replace(text, new.ljust(len(text)))


def test_a_note_comes_back() -> None:
    note = decode(FILE)
    assert note is not None
    assert note.kernel == NAME and note.facts["words"] == 8 and len(note.lines.addresses) > 8
    assert encode(note) == symbols.read_note(FILE)


BROKEN: list[dict[str, Any]] = [
    {"version": 1},
    {"target": "riscv"},
    {"member": "grayskull"},
    {"dest": 8},
    {"per": "row"},
    {"data": {}},
    {"data": {"calls": 1 << 40, "setup.0": 0, "setup.1": 0}},
    {"data": {"calls": -4, "setup.0": 0, "setup.1": 0}},
    {"arguments": {"n": 0x170000}},
    {"arguments": {"n": "x"}},
    {"lines": [[1, 2]]},
    {"texts": {"k": 1}},
    {"facts": []},
]


@pytest.mark.parametrize("fields", BROKEN, ids=lambda fields: str(fields)[:40])
def test_a_broken_note_is_none(
    fields: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = changed(**fields)
    assert decode(data) is None
    Path("k.elf").write_bytes(data)
    for words_ in (["show", "k.elf"], ["verify", "k.elf"], ["simulate", "k.elf", "n=1"]):
        assert main(words_) in (0, 1, 2)
    assert "internal error" not in capsys.readouterr().err


def test_data_elsewhere_are_only_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Arguments that overwrite the program end in a fault, or in nothing."""
    monkeypatch.chdir(tmp_path)
    Path("k.elf").write_bytes(changed(arguments={"n": 0xA000}))
    assert main(["simulate", "k.elf", "n=0"]) in (0, 1)
    assert "internal error" not in capsys.readouterr().err
