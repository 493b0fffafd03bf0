# SPDX-License-Identifier: Apache-2.0
"""Options of RISC-V: the level of clang's optimization from which SSA form of C is made, and how long a run may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.targets.options import integer, option

LIMIT: Final = 10**9
"""As many instructions a run may execute, some seconds of work, unless more are asked for."""


def _level(text: str) -> int:
    if text not in ("0", "1", "2"):
        message = f"--ssa is '{text}', which is no level"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help="write --ssa 0, --ssa 1 or --ssa 2"))
    return int(text)


def _limit(text: str) -> int:
    if (found := integer(text, "--max-instructions")) < 1:
        message, help = "--max-instructions is less than 1", "give a positive integer"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))
    return found


@dataclass(frozen=True, slots=True)
class Options:
    """`ssa` is 0, 1 or 2."""

    ssa: int = option(
        "a C function in SSA form, from clang's code at -O0, -O1 or -O2 (2)",
        "run",
        "compile",
        default=2,
        metavar="{0,1,2}",
        read=_level,
    )
    max_instructions: int = option(
        f"give up after so many ({LIMIT})", "run", "simulate", default=LIMIT, metavar="N", read=_limit
    )
    include: tuple[str, ...] = option(
        "a folder whose files `.include` may read; may be repeated",
        "asm",
        default=(),
        metavar="DIR",
        repeatable=True,
        read=tuple,
    )
