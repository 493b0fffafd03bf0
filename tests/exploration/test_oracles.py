# SPDX-License-Identifier: Apache-2.0
"""What is asked once: the source for the same inputs, the arithmetic of a machine for itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polyloom as pl
from polyloom import api
from polyloom.cli.examples import folder
from polyloom.exploration.work import Task, Unit, Work

TASK = Task(0, "0", "verify", (("N", "4"), ("pes", "1x1")))


def test_every_machine_is_judged_by_its_own_arithmetic() -> None:
    """Two targets call an oracle alike."""
    kernel = folder() / "kernels" / "matvec.py"
    sweep = pl.explore(kernel, "tensix,minion:1,tcpa", sweep={"N,M": [16]}, objective="cycles", level="verify")
    assert [row.verified for row in sweep] == [True] * 3


def unit(name: str, text: str, at: Path) -> Unit:
    source = at / f"{name}.pla"
    source.write_text(f"parameter N >= 1\ninput a[N]: i32\noutput b[N]: i32\nfor 0 <= i < N do b[i] = {text}\n")
    made = api.compile(source, "tcpa:unit")
    assert made.subject is not None
    return Unit(name, "tcpa:unit", None, made.subject, made.target.options(), 0, made.data)


def test_a_worker_may_have_several_sources(tmp_path: Path) -> None:
    """As those of a cluster have, one after another: their inputs are the same, and what they make of them is not."""
    work = Work(tmp_path)
    rows = list[Any]()
    for name, text in (("a", "a[i] + 1"), ("b", "a[i] + 2")):
        work.open_unit("0", unit(name, text, tmp_path))
        rows.append(json.loads(str(work.perform(TASK))))
    assert [row.get("verified") for row in rows] == [True, True], rows
    assert work.memory.asked == 2
    work.open_unit("0", unit("b", "a[i] + 2", tmp_path))
    work.perform(TASK)
    assert work.memory.asked == 2
