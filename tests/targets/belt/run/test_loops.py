# SPDX-License-Identifier: Apache-2.0
"""A pipelined loop by hand, whatever its trip count: what the machine promises of Nones, drops and leaves, without the
specializer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.targets.belt.run.loops import Loop, Node
from tests.targets.belt.run.programs import WORD, file, program
from tests.targets.belt.run.twin import BASE, Twin, Value

from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.machine import Slot
from polyloom.targets.belt.run import model
from polyloom.targets.belt.words.program import Belt, Bundle, Immediate, Issue, Program, Routine

_BYTES = {"x": 0, "y": 4, "n": 8}
"""Of invariants, in scratch."""
_HEAD = 3
_STAGES = 4


def _w(**fields: object) -> dict[str, object]:
    return {"width": "w", **fields}


def dot() -> Program:
    """`for (i = 0; i < n; i++) s += x[i] * y[i]`, n >= 1, in passes of two bundles and four stages.

    The leave of iteration i looks at the test of iteration i + 3, against n + 3: the belt need not keep the test for
    three passes.
    """
    silver = machines.member("silver")
    loop = Loop(
        silver,
        (
            *(Node(f"{v}p", "fillx", 0, f"R{k}", (), _w(offset=_BYTES[v])) for k, v in enumerate("xy")),
            *(Node(v, "load", 0, f"F{k}", (f"{v}p", ("i", 1)), _w(scale=4, delay=3)) for k, v in enumerate("xy")),
            Node("i", "add", 0, "E0", (("i", 1), 1)),
            Node("n", "fillx", 1, "R0", (), _w(offset=_BYTES["n"])),
            Node("q", "geqs", 1, "E0", ("i", "n")),
            Node("m", "mul", 3, "E1", ("x", "y"), _w()),
            Node("a", "add", 6, "E1", (("s", 1), "m")),
            Node("zero", "con", 6, "F2", (), _w()),
            Node("s", "recur", 6, "P0", ("a", "zero")),
            Node("leave", "leavetr", 7, "F0", (("q", -3), "s"), {"target": _HEAD + 2}),
        ),
        2,
    )
    # The belt is n, x, y; behind the addition n + 3, n, x, y.
    spills = tuple(
        Issue("spillx", Slot("W", k), (Belt(p),), "w", offset=_BYTES[v])
        for k, (v, p) in enumerate(zip("nxy", (0, 2, 3), strict=True))
    )
    scratch = Issue("scratchf", Slot("F", 0), offset=16)
    bundles = (
        Bundle((Issue("add", Slot("E", 0), (Belt(0), Immediate(3))), scratch, *spills), 1),
        Bundle((Issue("con", Slot("F", 0), (), "w"),), 1),
        Bundle((Issue("inner", Slot("F", 0), loop.entry({"i": 0}), target=_HEAD),), 0),
        *loop.bundles(),
        Bundle((Issue("retn", Slot("F", 0), (Belt(0),)),), 0),
    )
    return program(silver, Routine("dot", bundles, ((_HEAD, 2),), (WORD,) * 3, (WORD,)))


@pytest.mark.parametrize("n", range(1, 3 * _STAGES + 1))
def test_dot_for_every_trip_count(n: int) -> None:
    x, y = np.arange(n, dtype=np.int32) * 3 - 7, np.arange(n, dtype=np.int32) + 5
    run = model.run(file(dot()), [n, x, y])
    assert run.results == ((int(x @ y) % (1 << 32),),)
    assert run.cycles == 2 * (n + _STAGES - 1) + _HEAD + 1
    assert (run.stations, run.high_water) == (4, 11)
    assert run.executed["dot"] == (1, 1, 1, n + 3, n + 3, 1)
    assert run.taken == {("dot", 2, "F0"): 1, ("dot", 4, "F0"): 1, ("dot", 5, "F0"): 1}


def test_twin_runs_dot_alike() -> None:
    n, made = 5, dot()
    memory = np.arange(2 * n + 16, dtype=np.int32)
    twin = Twin(made, machines.member("silver"), bytearray(memory.tobytes()), 1000)
    found = twin.run([Value(32, (v,)) for v in (n, BASE, BASE + 64)])
    assert found is not None
    assert found[0].lanes == (int(memory[:n] @ memory[16 : 16 + n]),)


def test_a_wrong_header_is_noticed_in_the_steady_state() -> None:
    """In the first passes what is missing may be what nobody issued; then not any more."""
    made = dot()
    routine = made.routines[0]
    bundles = list(routine.bundles)
    bundles[_HEAD] = replace(bundles[_HEAD], drops=bundles[_HEAD].drops + 1)
    wrong = replace(made, routines=(replace(routine, bundles=tuple(bundles)),))
    x = np.ones(40, np.int32)
    with pytest.raises(PolyloomError) as caught:
        model.run(file(wrong), [40, x, x])
    assert caught.value.diagnostics[0].code == "PL1051"
