# SPDX-License-Identifier: Apache-2.0
"""What the compiler writes has no hazards, and each of its waits and cache operations is there for a reason: without
it, one is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.minion.hazards.compiled import WAIT, guards, outcome, without

from polyloom.cli import main
from polyloom.cli.examples import folder

PROGRAMS = {
    "matmul.pla": ("N=20 M=20 K=40", 2),
    "kernels/jacobi2d.py": ("TSTEPS=2 N=20", 2),
    "kernels/covariance.py": ("M=20 N=20", 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_guard_is_needed(name: str, tmp_path: Path) -> None:
    values, minions = PROGRAMS[name]
    path = tmp_path / "k.elf"
    words = ["compile", str(folder() / name), *values.split(), "--on", f"minion:{minions}", "-o", str(path)]
    assert main(words) == 0
    data = path.read_bytes()
    whole = outcome(data, minions)
    assert (whole.stop, [*whole.findings]) == ("passed", [])
    places = [*guards(data)]
    assert any(csr == WAIT for _, csr in places)
    silent = [hex(at) for at, _ in places if not outcome(without(data, at), minions).findings]
    assert silent == []
