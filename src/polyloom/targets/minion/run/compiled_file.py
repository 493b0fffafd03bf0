# SPDX-License-Identifier: Apache-2.0
"""Operations of the target's record on a compiled file; each function is called after `owns`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

from polyloom.ir.signature import Signature
from polyloom.riscv.image import MAGIC
from polyloom.targets.minion.run import execute as running
from polyloom.targets.minion.words import note
from polyloom.targets.target import Execution, Job, Json, Kind

KIND: Final = Kind(".elf", "loops for minions")


def owns(data: bytes) -> bool:
    """Whether this is an executable of loops."""
    return data.startswith(MAGIC) and note.decode(data) is not None


def signature(data: bytes) -> Signature:
    return _note(data).signature


def run(data: bytes, job: Job) -> Execution:
    """Run of a compiled program. Errors: PL1310, and exit 70 for what a compiled program must not do."""
    return running.run(data, _note(data), job)


def compile_facts(data: bytes) -> Mapping[str, Json]:
    """Keys of `compile --json` (docs/cli.md)."""
    found = _note(data)
    return {"minions": found.minions, **found.facts, "elf_bytes": len(data)}


def summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """Summary rows that a reader wants first."""
    share = data.get("utilization")
    phases = set(cast(Sequence[str], data.get("phases") or ("product",)))
    # The peak of a program is that of the unit that does most of its multiply-adds.
    unit = "tensor units'" if phases & {"product", "convolution", "matrix-vector"} else "vectors'"
    busy = f", {share:.1%} of the {unit} peak" if isinstance(share, float) else ""
    used = data.get("minions_used", data["minions"])
    rows = [("minions", f"{data['minions']}" if used == data["minions"] else f"{data['minions']}, {used} take part")]
    rows += [("in order", str(why)) for why in cast(Sequence[str], data.get("serial") or ())]
    rows += [("not on tensor units", str(why)) for why in cast(Sequence[str], data.get("off_tensor") or ())]
    return [*rows, ("cycles", f"{data['cycles']}{busy}")] if data["cycles"] is not None else rows


def _note(data: bytes) -> note.Note:
    found = note.decode(data)
    assert found is not None, "`owns` was asked"
    return found
