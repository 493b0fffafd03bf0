# SPDX-License-Identifier: Apache-2.0
"""Every kernel of `bench polybench`, at its bounds, on members that one could build, beside `wide`.

`cycles` are all, with transfers between steps; `to wide` is their ratio. A kernel that does not fit a member as one
nest runs in `blocks`, which are chosen; `short of` is why, or why it does not run at all. Of the last rows, `cycles`
are how many kernels run, `to wide` is the geometric mean of their ratios.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, log
from typing import Final

from polyloom import api
from polyloom.cli.bench.polybench import REASSOCIATED, REGION, SIZES, path
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.frontend.source import Options, Source

Row = dict[str, object]
MEMBERS: Final = ("mid", "mid16")
PEER: Final = "wide"


def rows(only: Sequence[str] = ()) -> Iterator[Row]:
    """One row per kernel (or per kernel that is named) and member, then one per member."""
    ratios: dict[str, list[float]] = {member: [] for member in MEMBERS}
    for kernel in only or SIZES:
        source = api.load_source(path(kernel), Options(reassociate=kernel in REASSOCIATED))
        peer = _run(source, kernel, PEER)["cycles"]
        for member in MEMBERS:
            row = _run(source, kernel, member)
            if isinstance(row["cycles"], int) and isinstance(peer, int):
                ratios[member].append(row["cycles"] / peer)
                row["to wide"] = round(ratios[member][-1], 2)
            yield {"kernel": kernel, "member": member, PEER: peer, **row}
    for member, found in ratios.items():
        mean = round(exp(sum(map(log, found)) / len(found)), 3) if found else None
        yield {"kernel": "all", "member": member, "cycles": len(found), "to wide": mean}


def _run(source: Source, kernel: str, member: str) -> Row:
    """Cycles, the verdict, blocks and what the member is short of."""
    try:
        result = api.compile(source, on=f"tcpa:{member}").instantiate(SIZES[kernel], pes=REGION).run()
    except PolyloomError as error:
        return {"cycles": None, "to wide": None, "short of": _reason(error.diagnostics[0])}
    chosen = [w for w in result.warnings if w.code == "PL0825"]
    # The beginning of the help is the option.
    blocks = [(w.help or "").split()[2] for w in chosen]
    short = [w.message.partition(": ")[2] for w in chosen]
    told: Row = {"verdict": result.verdict, "blocks": "".join(blocks), "short of": "".join(short)}
    return {"cycles": result.cycles, "to wide": None, **told}


def _reason(found: Diagnostic) -> str:
    return f"{found.code}: {found.message}"
