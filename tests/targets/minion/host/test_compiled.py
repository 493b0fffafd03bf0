# SPDX-License-Identifier: Apache-2.0
"""`simulate --on minion:N` of what `compile` wrote: arrays by name, with their own shapes and places."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.minion.host.conftest import Call

from polyloom.cli.examples import folder

WRONG = {
    "minions": "c.elf --in A=a.npy --in B=b.npy --on minion:4",
    "unknown-input": "c.elf --in A=a.npy --in D=b.npy --on minion:2",
    "missing-input": "c.elf --in A=a.npy --on minion:2",
    "shape": "c.elf --in A=b.npy --in B=b.npy --on minion:2",
    "type": "c.elf --in A=i.npy --in B=b.npy --on minion:2",
    "unknown-output": "c.elf --in A=a.npy --in B=b.npy --out D=d.npy --on minion:2",
    "output-typed": "c.elf --in A=a.npy --in B=b.npy --out C=d.npy:17x9:f32 --on minion:2",
}


@pytest.fixture(autouse=True)
def compiled(call: Call, scratch: Path) -> None:
    shutil.copy(folder() / "matmul.pla", scratch)
    status, out, err = call("compile", "matmul.pla", "N=17", "M=9", "K=20", "--on", "minion:2", "-o", "c.elf")
    assert status == 0, out + err
    draw = np.random.default_rng(3)
    for name, shape, dtype in (("a", (17, 20), np.float32), ("b", (20, 9), np.float32), ("i", (17, 20), np.int32)):
        np.save(f"{name}.npy", draw.integers(-9, 9, shape).astype(dtype))


@pytest.mark.parametrize("on", [("--on", "minion:2"), ()])
def test_arrays_by_name(call: Call, on: tuple[str, ...]) -> None:
    """With `--on` and without, which the note makes unnecessary."""
    status, out, err = call(
        "simulate", "c.elf", "--in", "A=a.npy", "--in", "B=b.npy", "--out", "C=c.npy", *on, "--json"
    )
    assert (status, err) == (0, ""), out
    assert np.array_equal(np.load("c.npy"), np.load("a.npy") @ np.load("b.npy"))
    data = json.loads(out)
    assert (data["minions"], data["hazards"]) == (2, [])


@pytest.mark.parametrize("name", WRONG)
def test_message(name: str, call: Call, golden: Golden, scratch: Path) -> None:
    before = sorted(os.listdir(scratch))
    status, out, err = call("simulate", *WRONG[name].split())
    assert status == 1 and sorted(os.listdir(scratch)) == before
    golden(f"compiled-{name}", out + err)
