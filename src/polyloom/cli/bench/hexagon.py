# SPDX-License-Identifier: Apache-2.0
"""Loops on `belt:hex4`, a member with Hexagon's slots, beside the packets that clang emits for Hexagon in the same run.

`rows` are those of our loop: bundles per iteration; `packets` those of the emitted kernel. `code` counts bundles of the
whole function, `emitted` its packets: prologue, kernel, epilogue and what is around them. The figures of LLVM 19 are
those that it printed for the same loops (docs/targets/belt.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from polyloom import api
from polyloom.cli.bench import hexagon_code, loops
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options

Row = dict[str, object]
ON: Final = "belt:hex4"
KERNELS: Final = {
    "dot": 1,
    "dot_float": 1,
    "clipped_sum": 1,
    "saxpy": 2,
    "iir": 2,
    "complex_product": 4,
    "fir4": 4,
    "fir8": 6,
}
"""By name: the packets that LLVM 19 emits."""


_COLUMNS: Final = ("loop", "rows", "packets", "to clang", "LLVM 19", "code", "emitted", "compiler")


def rows() -> Iterator[Row]:
    known = {loop.name: loop for loop in loops.loops()}
    yield from (_row(known[name], published) for name, published in KERNELS.items())
    refused = _refused_row()
    yield {column: refused.get(column) for column in _COLUMNS}


def compiled_facts(loop: loops.Loop, on: str, **own: Any) -> dict[str, Any]:
    """The keys of `compile --json`, of a loop that is always pipelined unless `own` says otherwise."""
    given: dict[str, Any] = {"spl": "always", **own}
    made: Any = api.compile(loop.path, on, options=Options(function=loop.name), **given)
    return {**made.target.made(made.data)}


def _row(loop: loops.Loop, published: int) -> Row:
    ours = compiled_facts(loop, ON)
    theirs = hexagon_code.emitted_code(loops.file(loop.family))[loop.name]
    packets = theirs.kernels[-1]
    return {
        "loop": loop.name,
        "rows": ours["initiation_interval"],
        "packets": packets,
        "to clang": round(ours["initiation_interval"] / packets, 2),
        "LLVM 19": published,
        "code": ours["bundles"],
        "emitted": theirs.packets,
        "compiler": hexagon_code.version(),
    }


def _refused_row() -> Row:
    """The loops of all families that each side leaves as they are."""
    left = sum(not _has_kernel(loop) for loop in loops.loops())
    theirs = sum(len(hexagon_code.refused_lines(loops.file(family))) for family in loops.FAMILIES)
    return {"loop": "not pipelined, of 60", "rows": left, "packets": theirs, "compiler": hexagon_code.version()}


def _has_kernel(loop: loops.Loop) -> bool:
    try:
        return any(found["pipelined"] for found in compiled_facts(loop, ON)["loops"])
    # What cannot be compiled is not pipelined, as for the peer.
    except PolyloomError:
        return False
