# SPDX-License-Identifier: Apache-2.0
"""Processor classes and programs that the paper prints, and that neither grows with the region."""

from __future__ import annotations

import pytest
from tests.targets.tcpa.files.paper import SYMBOLIC
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.naive import symbolic
from tests.targets.tcpa.instantiate.oracle import instantiate

from polyloom.targets.tcpa.words.concrete import ConvexSet
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, Halt, If, Instruction, Next, Register, decode_opcode


def test_bits_as_printed_in_the_paper() -> None:
    concrete = instantiate(SYMBOLIC, {"N": 16}, 1, 3)
    assert concrete.element_class == ((0, 0, 1),)
    assert concrete.extents == (6,)
    assert (concrete.controller.row_delay, concrete.controller.column_delay, concrete.controller.steps) == (0, 12, 7)
    assert concrete.controller.signals[0] == (ConvexSet((4,), (4,)),)
    assert [_line(i) for i in concrete.classes[0].programs[1]] == [
        "nop",
        "shr fd0 rd0 1",
        "and od1 rd0 1",
        "shr fd0 rd0 1 / if ic0 2 4",
        "and od1 rd0 1",
        "shr od0 rd0 1",
        "and od1 rd0 1",
        "nop / halt",
    ]
    assert concrete.classes[0].feedback_depths == (1,)
    banks = [(g.side, g.position, g.base, g.domain) for g in concrete.generators]
    assert banks == [
        ("west", 0, 0, (ConvexSet((0,), (0,)),)),
        ("north", 0, 0, (ConvexSet((0,), (5,)),)),
        ("north", 1, 6, (ConvexSet((0,), (5,)),)),
        ("north", 2, 12, (ConvexSet((0,), (3,)),)),
    ]


def _line(instruction: Instruction) -> str:
    if instruction.opcode == OPCODE_NOP:
        text = "nop"
    else:
        written = [("rd", "fd", "od")[d.file] + str(d.index) for d in instruction.destinations]
        read = [
            ("rd", "fd", "id")[s.file] + str(s.index) if isinstance(s, Register) else str(s.bits)
            for s in instruction.sources
        ]
        text = " ".join([decode_opcode(instruction.opcode)[0], *written, *read])
    match instruction.branch:
        case Next():
            return text
        case Halt():
            return f"{text} / halt"
        case If(signals, targets):
            return f"{text} / if {' '.join(f'ic{s}' for s in signals)} {' '.join(map(str, targets))}"
        case other:
            return f"{text} / {other}"


@pytest.mark.parametrize("size", [4, 8, 32])
def test_classes_on_perfect_tilings_do_not_depend_on_the_region(size: int) -> None:
    bits = symbolic(samples.BITS, rows=None, columns=0, order=(0,), interval=2, share=True)
    product = symbolic(samples.MATMUL, rows=0, columns=1, order=(1, 0, 2), interval=1, share=True)
    fir = symbolic(samples.FIR, rows=0, columns=1, order=(1, 0), interval=1)
    conv = symbolic(samples.CONV, rows=0, columns=1, order=(5, 4, 3, 2, 1, 0), interval=1)
    assert len(instantiate(bits, {"N": 6 * size}, 1, size).classes) == 1
    assert len(instantiate(product, {"N": 5 * size, "M": 4 * size, "K": 9}, size, size).classes) == 1
    assert len(instantiate(fir, {"N": 4 * size, "T": 3 * size}, size, size).classes) == 6
    assert (
        len(instantiate(conv, {"M": 2 * size, "C": 2, "H": 3 * size + 2, "W": 6, "R": 3, "S": 2}, size, size).classes)
        == 1
    )


@pytest.mark.parametrize("size", [4, 8, 32])
def test_classes_on_imperfect_tilings_do_not_depend_on_the_region(size: int) -> None:
    product = symbolic(samples.MATMUL, rows=0, columns=1, order=(1, 0, 2), interval=1, share=True)
    fir = symbolic(samples.FIR, rows=0, columns=1, order=(1, 0), interval=1)
    conv = symbolic(samples.CONV, rows=0, columns=1, order=(5, 4, 3, 2, 1, 0), interval=1)
    assert len(instantiate(product, {"N": 5 * size - 2, "M": 4 * size - 1, "K": 9}, size, size).classes) == 4
    assert len(instantiate(fir, {"N": 4 * size - 1, "T": 3 * size - 1}, size, size).classes) <= 9
    assert (
        len(
            instantiate(
                conv, {"M": 2 * size - 1, "C": 2, "H": 3 * size + 1, "W": 6, "R": 3, "S": 2}, size, size
            ).classes
        )
        == 4
    )


def test_programs_and_signals_do_not_grow_with_the_iterations() -> None:
    product = symbolic(samples.MATMUL, rows=0, columns=1, order=(1, 0, 2), interval=1)
    small, large = (instantiate(product, {"N": n, "M": n, "K": n}, 4, 4) for n in (32, 4096))
    assert [len(p) for c in small.classes for p in c.programs] == [len(p) for c in large.classes for p in c.programs]
    assert len(small.controller.signals) == len(large.controller.signals)
