# SPDX-License-Identifier: Apache-2.0
"""Programs of a tile's core made from SSA form: words in the instruction stream and words that are stored, data that
are changed before the run, and the entry."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa_read import read
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.core import Placement, Program, compile_program
from polyloom.riscv.image import elf_image
from polyloom.riscv.names import parse_isa
from polyloom.targets.tensix.run.tile import Tile

CORE = parse_isa("rv32im")
T1 = Placement(0xA000, 0xE000, 0xFFB00800)
TEXT = """pointers 32
external @tensix.word(i32, i32) ordered
data @count align 4 05000000
function main() {
entry:
    %n: i32 = load @count align 4
    call @tensix.word 1157767936:i32, 7:i32
    jump loop(0:i32)
loop(%i: i32):
    %k: i32 = shl %i, 8:i32
    %w: i32 = or %k, 1157627908:i32
    call @tensix.word %w, 8:i32
    %j: i32 = add %i, 1:i32
    %c: i1 = slt %j, %n
    branch %c, loop(%j), done
done:
    return
}
"""
"""Two GPRs: 0x0223 in the first half of 0 by a constant word, the last of 0 to n - 1 in that of 2."""


def compiled(text: str = TEXT, placement: Placement = T1) -> Program:
    return compile_program(read(text), CORE, placement)


def run(program: Program, folder: Path, count: int | None = None) -> Tile:
    path = folder / "k.elf"
    path.write_bytes(program.elf)
    tile = Tile()
    entry = tile.load_elf("t1", path)
    if count is not None:
        tile.l1[program.data["count"]] = count
    tile.release("t1", entry)
    tile.run(10**4)
    return tile


def test_constant_words_stand_in_the_stream_and_computed_ones_are_stored(tmp_path: Path) -> None:
    program = compiled()
    code = next(s for s in elf_image(program.elf, CORE).segments if s.is_code)
    stands, stored = (
        int.from_bytes(code.data[at - code.address :][:4], "little") for at in (program.marks[7], program.marks[8])
    )
    assert stands == (0x45022300 << 2 | 0x45022300 >> 30) & 0xFFFFFFFF
    assert stored & 0x7F == 0b0100011
    tile = run(program, tmp_path)
    assert [int(tile.gpr[1, k]) for k in (0, 2)] == [0x0223, 4]
    assert tile.threads()[1][0] == 6


def test_data_may_be_changed_before_the_run(tmp_path: Path) -> None:
    tile = run(compiled(), tmp_path, 9)
    assert int(tile.gpr[1, 2]) == 8


def test_code_begins_where_it_is_placed_and_data_end_where_they_may() -> None:
    segments = elf_image(compiled().elf, CORE).segments
    code, data = sorted(segments, key=lambda s: s.address)
    assert code.address == T1.code
    assert data.address + data.size <= T1.end
    assert elf_image(compiled().elf, CORE).entry == T1.code


def test_a_word_that_no_instruction_can_be_is_stored() -> None:
    text = TEXT.replace("1157767936", "-469762048")
    program = compiled(text)
    code = next(s for s in elf_image(program.elf, CORE).segments if s.is_code)
    assert code.data[program.marks[7] - code.address] & 0x7F == 0b0100011


def test_words_keep_their_order_with_stores() -> None:
    text = """pointers 32
external @tensix.word(i32, i32) ordered
data @a align 4 00000000
function main() {
entry:
    call @tensix.word 1:i32, 0:i32
    store 1:i32, @a align 4
    call @tensix.word 2:i32, 1:i32
    store 2:i32, @a align 4
    return
}
"""
    program = compiled(text)
    code = next(s for s in elf_image(program.elf, CORE).segments if s.is_code)
    words = [int.from_bytes(code.data[k : k + 4], "little") for k in range(0, len(code.data), 4)]
    kinds = ["word" if w & 3 != 3 else "store" for w in words if w & 3 != 3 or w & 0x7F == 0b0100011]
    assert kinds == ["word", "store", "word", "store"]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(PolyloomError, match="bytes of code, and there is room for"):
        compiled(placement=Placement(0xA000, 0xA040, 0xFFB00800))


@pytest.mark.parametrize("isa", ["rv32imc", "rv64im"])
def test_only_cores_without_compressed_instructions_have_words(isa: str) -> None:
    text = TEXT.replace("pointers 32\n", "") if isa == "rv64im" else TEXT
    with pytest.raises(PolyloomError, match=r"external function `tensix\.word`"):
        compile_function(read(text), parse_isa(isa))
