# SPDX-License-Identifier: Apache-2.0
"""A scratch folder with one file of every kind, and the command line called in this process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.targets.tcpa.files import paper

from polyloom.cli import main
from polyloom.cli.examples import folder
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run import program
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.limits import extract_limits

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: examples, the paper's configuration of bits, inputs right and wrong, damaged files."""
    for path in folder().glob("*.pla"):
        shutil.copy(path, tmp_path)
    machine = machine_file.load("paper")
    symbolic = replace(
        paper.SYMBOLIC, machine="paper", machine_hash=machine_file.fingerprint(machine), limits=extract_limits(machine)
    )
    concrete = program.instantiate(symbolic_file.encode(symbolic), {"N": 16}, (1, 3), None)
    (tmp_path / "bits.plsc").write_bytes(symbolic_file.encode(symbolic))
    (tmp_path / "other.plsc").write_bytes(symbolic_file.encode(replace(symbolic, machine_hash=1)))
    (tmp_path / "mine.plcc").write_bytes(concrete_file.encode(replace(concrete_file.decode(concrete), machine="mine")))
    (tmp_path / "bits.plcc").write_bytes(concrete)
    (tmp_path / "short.plcc").write_bytes(concrete[:-8])
    (tmp_path / "altered.plcc").write_bytes(concrete[:100] + bytes([concrete[100] ^ 1]) + concrete[101:])
    (tmp_path / "newer.plcc").write_bytes(concrete[:4] + (99).to_bytes(4, "little") + concrete[8:])
    (tmp_path / "empty.plcc").touch()
    (tmp_path / "text.plcc").write_text("not a configuration\n")
    np.save(tmp_path / "in.npy", np.int32(12345))
    np.save(tmp_path / "long.npy", np.zeros(3, np.int32))
    np.save(tmp_path / "float.npy", np.float32(1))
    (tmp_path / "words.npy").write_text("no array\n")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(scratch: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """`call("run", "bits.pla", ...)`: exit code, stdout, stderr."""
    del scratch

    def run(*words: str) -> tuple[int, str, str]:
        status = main(words)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run
