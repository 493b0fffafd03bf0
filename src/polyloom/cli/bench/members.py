# SPDX-License-Identifier: Apache-2.0
"""Every kernel of `bench polybench`, at its bounds, on members that one could build, beside `wide`.

`cycles` are all, with transfers between steps; `to wide` is their ratio. A kernel that does not fit a member as one
nest runs in `blocks`, which are chosen; `short of` is why, or why it does not run at all. Of the last rows, `cycles`
are how many kernels run, `to wide` is the geometric mean of their ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final

from polyloom import api
from polyloom.cli.bench.polybench import REASSOCIATED, REGION, SIZES, path
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options, Source

Row = dict[str, object]
MEMBERS: Final = ("mid", "mid16")
PEER: Final = "wide"


def rows(only: Sequence[str] = ()) -> Iterator[Row]:
    """One row per kernel (or per kernel that is named) and member, then one per member."""
    ratios: dict[str, list[float]] = {member: [] for member in MEMBERS}
    for kernel in only or SIZES:
        source = api.load_source(path(kernel), Options(reassociate=kernel in REASSOCIATED))
        peer = _run(source, kernel, PEER).cycles
        for member in MEMBERS:
            run = _run(source, kernel, member)
            ratio = run.cycles / peer if run.cycles and peer else None
            ratios[member] += [] if ratio is None else [ratio]
            yield _row(kernel, member, peer, run, ratio)
    for member, found in ratios.items():
        mean = exp(sum(map(log, found)) / len(found)) if found else None
        yield _row("all", member, None, _Run(len(found)), mean)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run, the blocks that were chosen for it, and what the member is short of."""

    cycles: int | None
    verdict: str | None = None
    blocks: str | None = None
    short: str | None = None


def _row(kernel: str, member: str, peer: int | None, run: _Run, ratio: float | None) -> Row:
    return {
        "kernel": kernel,
        "member": member,
        PEER: peer,
        "cycles": run.cycles,
        "to wide": None if ratio is None else round(ratio, 2),
        "verdict": run.verdict,
        "blocks": run.blocks,
        "short of": run.short,
    }


def _run(source: Source, kernel: str, member: str) -> _Run:
    try:
        result = api.compile(source, on=f"tcpa:{member}").instantiate(SIZES[kernel], pes=REGION).run()
    except PolyloomError as error:
        return _Run(None, short=f"{error.code}: {error.diagnostics[0].message}")
    chosen = next((w for w in result.warnings if w.code == "PL0825"), None)
    if chosen is None:
        return _Run(result.cycles, result.verdict)
    # The help begins with the option.
    return _Run(result.cycles, result.verdict, (chosen.help or "").split()[2], chosen.message.partition(": ")[2])
