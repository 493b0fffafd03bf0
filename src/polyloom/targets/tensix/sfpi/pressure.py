# SPDX-License-Identifier: Apache-2.0
"""The message of a kernel that has no room for its values: where most are live, which, and what helps."""

from __future__ import annotations

from polyloom.diagnostics import INFEASIBLE, Diagnostic, PolyloomError
from polyloom.targets.tensix.sfpi.code import FIRST_VARIABLE, Code, Op
from polyloom.targets.tensix.sfpi.interference import backwards, live_out, members


def out_of_registers(code: Code) -> PolyloomError:
    best: tuple[int, Op | None, int] = (0, None, 0)
    for items, after in zip(code.items, live_out(code), strict=True):
        for _, op, alive in backwards(items, after):
            if alive.bit_count() > best[0]:
                best = (alive.bit_count(), op, alive)
    count, op, alive = best
    names = {r: o.note for items in code.items for o in items if isinstance(o, Op) for r in o.results}
    notes = tuple(f"{names.get(r, r)} is live" for r in members(alive) if r >= FIRST_VARIABLE)
    message = f"{count} values are live at once{op.place.words() if op else ''}, and there are 8 registers"
    return PolyloomError(Diagnostic("PL1280", message, INFEASIBLE, notes=notes, help="reload a value from `dst_reg`"))
