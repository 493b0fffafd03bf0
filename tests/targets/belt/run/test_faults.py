# SPDX-License-Identifier: Apache-2.0
"""Each fault of docs/targets/belt.md, by the smallest program that has it, and its message."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tests.targets.belt.run.programs import WORD, bundle, do, file, immediate, program
from tests.targets.belt.run.twin import BASE

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Data
from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.run import model
from polyloom.targets.belt.run.model import Argument
from polyloom.targets.belt.value_types import Type
from polyloom.targets.belt.words.program import NONE, Bundle, Issue, Program, Routine

RETURN = bundle(do("retn"))
QUIET = Bundle((), 0)


def main(*bundles: Bundle, member: str = "silver", results: int = 0, data: tuple[Data, ...] = ()) -> Program:
    """A routine of one parameter."""
    routine = Routine("main", bundles, (), (WORD,), (WORD,) * results)
    return program(machines.member(member), routine, data=data)


def message(made: Program, arguments: Sequence[Argument] = (7,), max_cycles: int = 1000) -> str:
    with pytest.raises(PolyloomError) as caught:
        model.run(file(made), arguments, max_cycles=max_cycles)
    (diagnostic,) = caught.value.diagnostics
    return f"{diagnostic.code} {diagnostic.message}\n  help: {diagnostic.help}"


def con(literal: int) -> Issue:
    return do("con", width="w", literal=literal)


def load(position: int, delay: int = 3) -> Issue:
    return do("load", position, width="w", delay=delay)


def recursive() -> Program:
    routine = Routine("main", (bundle(do("call", 0, callee="main")), RETURN), (), (WORD,), ())
    return program(machines.member("silver"), routine)


def divided(then: Callable[[], Bundle]) -> Program:
    return main(bundle(immediate("divs", 0, value=0)), *(QUIET,) * 14, Bundle((), 1), then(), RETURN)


CASES: dict[str, Callable[[], Program]] = {
    "a position that nothing has dropped to": lambda: main(bundle(do("add", 0, 1), drops=1), RETURN),
    "more drops than the header says": lambda: main(bundle(do("add", 0, 0)), RETURN),
    "fewer drops than the header says": lambda: main(Bundle((), 2), RETURN),
    "loads over stations": lambda: main(bundle(load(0, 8), load(0, 8)), RETURN, member="unit"),
    "scratch beyond the member's": lambda: main(bundle(do("scratchf", offset=513)), RETURN),
    "a spill that is not allocated": lambda: main(bundle(do("spillx", 0, width="w")), RETURN),
    "a fill that is not written": lambda: main(
        bundle(do("scratchf", offset=8)), bundle(do("fillx", width="w"), drops=1), RETURN
    ),
    "a fill too early": lambda: main(
        bundle(do("scratchf", offset=8), do("spillx", 0, width="w")), bundle(do("fillx", width="w"), drops=1), RETURN
    ),
    "a fill of another size": lambda: main(
        bundle(do("scratchf", offset=8), do("spillx", 0, width="w")),
        QUIET,
        bundle(do("fillx", width="b"), drops=1),
        RETURN,
    ),
    "a NaR that is stored": lambda: divided(lambda: bundle(con(BASE), do("store", 0, 1, width="w"), drops=1)),
    "a NaR that is an address": lambda: divided(lambda: bundle(do("store", 0, 1, width="w"))),
    "a NaR that decides": lambda: divided(lambda: bundle(do("brtr", 0, target=0))),
    "calls too deep": recursive,
    "operands of different widths": lambda: main(bundle(do("con", width="d"), do("add", 0, 1), drops=2), RETURN),
    "a store outside": lambda: main(bundle(do("store", 0, 0, width="w")), RETURN),
    "a store into constants": lambda: main(
        bundle(con(BASE), do("store", 0, 1, width="w"), drops=1), RETURN, data=(Data("t", bytes(4), 4, constant=True),)
    ),
    "control past the routine": lambda: main(Bundle((), 0)),
    "a leave without a loop": lambda: main(bundle(do("leave", target=0))),
    "too few results": lambda: main(RETURN, results=1),
    "no end": lambda: main(bundle(do("br", 0, target=0))),
}


def test_messages(golden: Callable[[str, str], None]) -> None:
    golden("faults", "\n".join(f"{name}: {message(made())}" for name, made in CASES.items()) + "\n")


def test_arguments_that_do_not_fit(golden: Callable[[str, str], None]) -> None:
    made, double = main(RETURN), Routine("main", (RETURN,), (), (Type("h"),), ())
    half = program(machines.member("silver"), double)
    given: list[tuple[Program, list[Argument]]] = [(made, []), (half, [1.5]), (made, [np.ones((4, 4))[:, 1]])]
    golden("arguments", "\n".join(message(p, arguments) for p, arguments in given) + "\n")


def test_none_is_not_stored_and_decides_nothing() -> None:
    array = np.full(4, 5, np.int32)
    head = bundle(do("conform", 0, NONE))
    stores = bundle(do("store", 0, 1, width="w"), do("store", 1, 0, width="w"), do("brtr", 1, target=0))
    model.run(file(main(head, stores, RETURN)), [array])
    assert array.tolist() == [5] * 4


def test_malformed_words_name_their_byte() -> None:
    data = file(main(RETURN))
    parts = model.belt_file.parts(data)
    with pytest.raises(PolyloomError) as caught:
        model.decode_parts(model.belt_file.Parts(parts.machine, (), parts.code[:-8], (), parts.routines))
    assert "a word is missing" in caught.value.diagnostics[0].message


def test_arguments_of_numpy_are_numbers() -> None:
    made = main(bundle(do("retn", 0)), results=1)
    given: list[Argument] = [np.int32(-1), np.float32(1.5), 1.5]  # pyright: ignore[reportAssignmentType] (NumPy's numbers)
    assert [model.run(file(made), [one]).results for one in given] == [
        ((n,),) for n in (0xFFFFFFFF, 0x3FC00000, 0x3FC00000)
    ]


def test_immediates_are_operands() -> None:
    run = model.run(file(main(bundle(immediate("add", 0, value=-8), drops=1), bundle(do("retn", 0)), results=1)), [7])
    assert run.results == ((0xFFFFFFFF,),)
