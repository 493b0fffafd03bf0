# SPDX-License-Identifier: Apache-2.0
"""Register pressure of a loop: what is live at once, round the loop and over a branch within it."""

from __future__ import annotations

import pytest

from polyloom.riscv.assemble import assemble
from polyloom.riscv.disassemble import addresses
from polyloom.riscv.image import raw_image
from polyloom.riscv.names import parse_isa
from polyloom.riscv.register_pressure import register_pressure

# By loop, the most x and f registers that are live, and the number of the instruction in front of which they are.
_LOOPS = {
    "a sum": ("loop: lw x5, 0(x10)\n add x11, x11, x5\n addi x10, x10, 4\n bne x10, x12, loop", {"x": (4, 1)}),
    # x6 is used only where the branch is not taken, and still live in front of it.
    "a branch": (
        "loop: lw x5, 0(x10)\n bltz x5, over\n add x6, x6, x5\n over: addi x10, x10, 4\n bne x10, x12, loop",
        {"x": (4, 1)},
    ),
    "zero": ("loop: addi x10, x10, -1\n bne x10, x0, loop", {"x": (1, 0)}),
    "floats": (
        "loop: flw f0, 0(x10)\n fmadd.s f1, f0, f2, f1\n addi x10, x10, 4\n bne x10, x12, loop",
        {"x": (2, 0), "f": (3, 1)},
    ),
}


@pytest.mark.parametrize("name", _LOOPS)
def test_live_registers(name: str) -> None:
    text, expected = _LOOPS[name]
    isa = parse_isa("rv32gc")
    image = raw_image(assemble(text, isa, 0x1000).data, isa, 0x1000)
    places = list(addresses(image.segments[0].data, 0x1000))
    found = {own.file: (own.live, places.index(own.address)) for own in register_pressure(image, places)}
    assert found == expected
