# SPDX-License-Identifier: Apache-2.0
"""The static check: silent on a right configuration, and one edit for every rule.
(tests/targets/tcpa/sabotage changes every word.)"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.targets.tcpa.model.configurations import BITS, DATA, FD0, FULL, MACHINE, PARTIAL, RD0, SHR, box

from polyloom.diagnostics import INPUT
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.verify.verify_concrete import verify
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import ArrayLayout, Concrete, Connection, ConvexSet, ElementProgram, HalfSpace
from polyloom.targets.tcpa.words.isa import File, Goto, Halt, If, Immediate, Instruction, Register


def _with(**changes: Any) -> Concrete:
    return replace(BITS, **changes)


def _controller(**changes: Any) -> Concrete:
    return _with(controller=replace(BITS.controller, **changes))


def _generator(number: int, **changes: Any) -> Concrete:
    return _with(generators=tuple(replace(g, **changes) if n == number else g for n, g in enumerate(BITS.generators)))


def _instruction(unit: int, at: int, **changes: Any) -> Concrete:
    programs = list(FULL.programs)
    programs[unit] = (*programs[unit][:at], replace(programs[unit][at], **changes), *programs[unit][at + 1 :])
    return _with(classes=(replace(FULL, programs=tuple(programs)), PARTIAL))


def _dead(constant: Immediate) -> Concrete:
    """With a constant in the instruction of the partial tile whose result goes nowhere."""
    unit, at = next(
        (u, at) for u, p in enumerate(PARTIAL.programs) for at, i in enumerate(p) if i.sources and not i.destinations
    )
    program = PARTIAL.programs[unit]
    changed = (*program[:at], replace(program[at], sources=(program[at].sources[0], constant)), *program[at + 1 :])
    return _with(
        classes=(FULL, replace(PARTIAL, programs=(*PARTIAL.programs[:unit], changed, *PARTIAL.programs[unit + 1 :])))
    )


def _wrapper(*connections: Connection) -> Concrete:
    return _with(wrappers=((*BITS.wrappers[0], *connections), *BITS.wrappers[1:]))


EDITS = {
    "register file too small": ("PL0640", _instruction(0, 2, destinations=(Register(File.RD, 20),))),
    "fd without depth": ("PL0641", _instruction(0, 2, sources=(Register(File.FD, 3),))),
    "id without depth": ("PL0641", _instruction(0, 2, sources=(Register(File.IO, 3),))),
    "branch outside": ("PL0641", _instruction(0, 3, branch=If((0,), (2, 6)))),
    "signal that does not exist": ("PL0705", _instruction(0, 3, branch=If((5,), (2, 4)))),
    "goto for next": ("PL0641", _instruction(0, 1, branch=Goto(2))),
    "shift amount": ("PL0641", _instruction(1, 1, sources=(RD0, Immediate(33)))),
    "destination twice": ("PL0641", _instruction(0, 2, destinations=(RD0, RD0))),
    "port twice": ("PL0705", _wrapper(Connection((0, 0), (2, 0)))),
    "port of the border": ("PL0705", _wrapper(Connection((0, 1), (4, 1)))),
    "route out of the region": ("PL0705", _generator(1, links=1)),
    "route over a driven port": ("PL0705", _generator(0, links=1)),
    "input register of a route": ("PL0640", _generator(0, register=40)),
    "output register of a route": ("PL0640", _generator(1, register=40)),
    "dangling connection": ("PL0642", _wrapper(Connection((2, 1), (0, 1)))),
    "unused wrapper": ("PL0646", _with(wrappers=(*BITS.wrappers, ()))),
    "equal wrappers": ("PL0646", _with(wrappers=(*BITS.wrappers, BITS.wrappers[0]), wrapper=((3, 1, 2),))),
    "unused class": ("PL0646", _with(classes=(*BITS.classes, replace(FULL, input_depths=(2,))))),
    "equal classes": ("PL0646", _with(classes=(*BITS.classes, FULL), element_class=((2, 0, 1),))),
    "units": ("PL0641", _with(classes=(FULL, ElementProgram(PARTIAL.programs[:1], (1,), (1,))))),
    "unused signal": ("PL0646", _controller(signals=(*BITS.controller.signals, box(1, 1)))),
    "empty signal": ("PL0643", _controller(signals=((), *BITS.controller.signals[1:]))),
    "set leaves the tile": ("PL0705", _generator(1, domain=box(0, 6))),
    "set leaves the scan": ("PL0643", _controller(signals=(*BITS.controller.signals[:2], (*box(2, 2), *box(7, 8))))),
    "sets out of order": ("PL0643", _generator(1, domain=(*box(3, 5), *box(0, 2)))),
    "sets overlap": ("PL0643", _generator(1, domain=(*box(0, 3), *box(3, 5)))),
    "implied half-space": ("PL0643", _generator(1, domain=(ConvexSet((0,), (5,), (HalfSpace((1,), 0),)),))),
    "delay without elements": ("PL0648", _controller(row_delay=3)),
    "corner without delay": ("PL0648", _controller(south=True)),
    "more steps": ("PL0648", _controller(steps=8)),
    "tile too long": ("PL0648", _with(extents=(7,))),
    "names": ("PL0644", _with(arrays=(replace(BITS.arrays[0], name="bits"), BITS.arrays[1]))),
    "strides": ("PL0644", _with(arrays=(BITS.arrays[0], ArrayLayout("bits", "i32", (16,), (2,), True)))),
    "coefficient of one value": ("PL0644", _generator(0, coefficients=(1,))),
    "address": ("PL0625", _generator(3, base=13)),
    "early input": ("PL0611", _generator(0, delay=2)),
    "deep fd": ("PL0645", _with(classes=(replace(FULL, feedback_depths=(2,)), PARTIAL))),
    "deep id": ("PL0645", _with(classes=(replace(FULL, input_depths=(2,)), PARTIAL))),
    "unread register": ("PL0647", _instruction(1, 2, destinations=(Register(File.IO, 1), Register(File.RD, 1)))),
    "od to nowhere": ("PL0647", _instruction(1, 2, destinations=(Register(File.IO, 1), Register(File.IO, 2)))),
    "signal without a reader": ("PL0649", _controller(signals=(box(4, 5), *BITS.controller.signals[1:]))),
    "constant of nothing": ("PL0641", _dead(Immediate(2))),
    "another type": ("PL0626", _instruction(1, 2, opcode=SHR - 1)),
    "kept token": ("PL0622", _instruction(1, 5, destinations=(Register(File.IO, 0), FD0))),
    "halt inside a kernel": ("PL0641", _instruction(1, 6, branch=Halt())),
}


ROOMY = replace(MACHINE, destinations=3)


def _codes(concrete: Concrete, machine: Machine = ROOMY) -> set[str]:
    found = verify(concrete_file.encode(replace(concrete, machine_hash=machine_file.fingerprint(machine))), machine)
    assert all(d.exit_code == INPUT and d.help for d in found)
    return {d.code for d in found}


def test_a_right_configuration_is_passed() -> None:
    assert verify(DATA, MACHINE) == ()


@pytest.mark.parametrize("name", EDITS)
def test_every_rule(name: str) -> None:
    code, concrete = EDITS[name]
    assert code in _codes(concrete)


def test_equal_wrappers() -> None:
    """That one of them is used by no element is another finding."""
    twins = _with(wrappers=(*BITS.wrappers, BITS.wrappers[0]))
    assert any("wrappers equal wrapper 0" in d.message for d in verify(concrete_file.encode(twins), MACHINE))


def _on(**changes: Any) -> set[str]:
    """The codes for `BITS` on a smaller machine."""
    return _codes(BITS, replace(MACHINE, **changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"rows": 1, "columns": 2},
        {"instruction_words": 7},
        {"control_signals": 2},
        {"channels": 0},
        {"counter_bits": 3},
        {"delay_bits": 4},
        {"bank_words": 5},
        {"general_registers": 0},
        {"output_registers": 1},
    ],
    ids=str,
)
def test_every_capacity(changes: dict[str, int]) -> None:
    assert _on(**changes) == {"PL0640"}


def test_adjacency() -> None:
    assert _on(adjacency=(("west0", "pe0"), ("pe1", "north0"))) == {"PL0642"}


def test_another_machine() -> None:
    assert {d.code for d in verify(DATA, machine_file.load("unit"))} == {"PL0603"}


def test_nothing_to_do_is_right() -> None:
    idle = Instruction()
    empty = _with(
        initiation_interval=1,
        extents=(0,),
        controller=replace(BITS.controller, column_delay=0, steps=0, signals=()),
        classes=(),
        element_class=((-1,) * 3,),
        wrappers=((),),
        wrapper=((0,) * 3,),
        generators=(),
    )
    assert _codes(empty) == set()
    assert _codes(replace(empty, initiation_interval=2)) == {"PL0641"}
    assert _codes(replace(empty, classes=(ElementProgram(((idle,), ()), (), ()),))) == {"PL0641"}
