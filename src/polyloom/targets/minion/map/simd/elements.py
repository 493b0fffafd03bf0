# SPDX-License-Identifier: Apache-2.0
"""Elements of arrays in vector registers, and what addresses need: forms of loops in integer registers, constants.

Outside of vectorized loops all lanes hold the same value. An i8, i16 or u8 is kept extended to 32 bits, an f16 as its
16 bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from polyloom.ir.nest import Cell
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.targets.minion.map.simd.memory import Memory
from polyloom.targets.minion.map.simd.short_division import Divisor, scratch_address
from polyloom.targets.minion.map.simd.text import CONSTANTS, Text

_IMMEDIATE: Final = range(-2048, 2048)


@dataclass(frozen=True, slots=True)
class Around:
    """Environment of code: integer registers of loops; the vectorized loop; vector registers of locals, of elements
    that are held through a loop and of elements that were loaded ahead; divisors whose reciprocals are known; pointers
    by array and by what of an address depends on loops, with their constants. `live` are the same `locals` where
    registers come and go (mutable): "" is a local without one, and `ends` says which are dead behind a statement.
    """

    loops: Mapping[str, str] = field(default_factory=dict[str, str])
    lane: str | None = None
    locals: Mapping[str, str] = field(default_factory=dict[str, str])
    live: dict[str, str] = field(default_factory=dict[str, str])
    ends: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    held: Mapping[Cell, str] = field(default_factory=dict[Cell, str])
    loaded: Mapping[Cell, str] = field(default_factory=dict[Cell, str])
    divisors: Mapping[Cell, Divisor] = field(default_factory=dict[Cell, Divisor])
    pointers: Mapping[tuple[str, tuple[tuple[str, int], ...]], tuple[str, int]] = field(
        default_factory=dict[tuple[str, tuple[tuple[str, int], ...]], tuple[str, int]]
    )


@dataclass(slots=True)
class Elements:
    """Writer of loads and stores into `text`. `constants` are registers that the work sets first, out of `spares`: of
    bits in all lanes, or of the numbers of lanes times a stride.
    """

    text: Text
    memory: Memory
    constants: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    spares: tuple[str, ...] = CONSTANTS

    # Addresses

    def integer(self, form: Affine, around: Around, register: str, other: str) -> None:
        """Value of an affine form in an integer register."""
        self.text.number(register, form.constant)
        for name, factor in form.terms:
            loop = around.loops[name]
            if factor in (1, -1):
                self.text.add(f"{'add' if factor > 0 else 'sub'} {register}, {register}, {loop}")
            # A multiplication takes four to eight cycles, a shift one.
            elif factor > 0 and not factor & (factor - 1):
                self.text.add(
                    f"slli {other}, {loop}, {factor.bit_length() - 1}", f"add {register}, {register}, {other}"
                )
            else:
                self.text.add(
                    f"li {other}, {factor}", f"mul {other}, {other}, {loop}", f"add {register}, {register}, {other}"
                )

    def address(self, reference: Reference, around: Around, *, exact: bool = False) -> tuple[str, int]:
        """Address of lane 0's element: a register and what is to be added to it, nothing where `exact`; t0 may be the
        register.
        """
        form = self.memory.address(reference)
        found = around.pointers.get((reference.name, form.terms))
        if found is None:
            self.integer(form, around, "t0", "t1")
            return "t0", 0
        pointer, base = found
        offset = form.constant - base
        if offset in _IMMEDIATE and not (exact and offset):
            return pointer, offset
        self.text.add(
            *(
                [f"addi t0, {pointer}, {offset}"]
                if offset in _IMMEDIATE
                else [f"li t0, {offset}", f"add t0, t0, {pointer}"]
            )
        )
        return "t0", 0

    def stride(self, reference: Reference, around: Around) -> int:
        """Bytes from lane to lane; 0 where all lanes have the same element."""
        return 0 if around.lane is None else self.memory.address(reference).coefficient(around.lane)

    def is_contiguous(self, reference: Reference, around: Around) -> bool:
        """Whether lanes have neighbouring words."""
        return self.memory.types[reference.name] in ("f32", "i32") and self.stride(reference, around) == 4

    def constant(self, kind: str, number: int) -> tuple[str, bool]:
        """Vector constant: its register, and whether it is a temporary. `bits` in all lanes, or `lanes` times a
        number.
        """
        found = self.constants.get((kind, number))
        if found is not None:
            return found, False
        if len(self.constants) < len(self.spares):
            made = self.spares[len(self.constants)]
            self.constants[kind, number] = made
            return made, False
        made = self.text.vectors.take()
        self.set(made, kind, number)
        return made, True

    def set(self, register: str, kind: str, number: int) -> None:
        """Code that sets a constant's register. Lane numbers stand in the scratch of every hart, which its start-up
        wrote.
        """
        if kind == "bits":
            source = "zero" if not number else "t1"
            self.text.add(*([] if not number else [f"li t1, {number}"]), f"fbcx.ps {register}, {source}")
            return
        self.text.add(
            *scratch_address("t1", "t2", self.memory.scratch),
            f"flw.ps {register}, 0(t1)",
        )
        if number != 1:
            spare = self.text.vectors.take()
            self.text.add(f"li t1, {number}", f"fbcx.ps {spare}, t1", f"fmul.pi {register}, {register}, {spare}")
            self.text.vectors.give(spare)

    def drop(self, value: tuple[str, bool]) -> None:
        """Gives a temporary back."""
        if value[1]:
            self.text.vectors.give(value[0])

    # Elements

    def load(self, reference: Reference, around: Around, into: str) -> None:
        """Load of an element of every lane: contiguous words, a broadcast, or a gather."""
        dtype, stride = self.memory.types[reference.name], self.stride(reference, around)
        if dtype in ("f32", "i32") and stride in (0, 4):
            register, offset = self.address(reference, around)
            self.text.add(f"{'flw' if stride else 'fbc'}.ps {into}, {offset}({register})")
        elif not stride:
            register, offset = self.address(reference, around)
            instruction = {"i8": "lb", "u8": "lbu", "i16": "lh", "u16": "lhu", "f16": "lhu"}[dtype]
            self.text.add(f"{instruction} t1, {offset}({register})", f"fbcx.ps {into}, t1")
        else:
            self._gather(reference, around, into, dtype, stride)

    def _gather(self, reference: Reference, around: Around, into: str, dtype: ElementType, stride: int) -> None:
        """Gather of elements at a stride (manual, chapters 3 to 6). Gathers of bytes and halves extend the sign, so
        unsigned ones are cut.
        """
        register, _ = self.address(reference, around, exact=True)
        if register != "t0":
            self.text.add(f"mv t0, {register}")
        indices = self.constant("lanes", stride)
        self.text.add(f"fg{_letter(dtype)}.ps {into}, {indices[0]}(t0)")
        if dtype == "u8":
            self.text.add(f"fandi.pi {into}, {into}, 255")
        elif dtype == "u16":
            self.text.add(f"fslli.pi {into}, {into}, 16", f"fsrli.pi {into}, {into}, 16")
        self.drop(indices)

    def store(self, reference: Reference, around: Around, value: str) -> None:
        """Store of an element of every lane that the mask has. Outside of vectorized loops all lanes are the same;
        inside, one element for all lanes means that a condition holds in one of them at most.
        """
        dtype, stride = self.memory.types[reference.name], self.stride(reference, around)
        if around.lane is None:
            register, offset = self.address(reference, around)
            if WIDTH[dtype] == 32:
                self.text.add(f"fsw {value}, {offset}({register})")
            else:
                self.text.add(f"fmv.x.w t1, {value}", f"{'sb' if WIDTH[dtype] == 8 else 'sh'} t1, {offset}({register})")
        elif WIDTH[dtype] == 32 and stride == 4:
            register, offset = self.address(reference, around)
            self.text.add(f"fsw.ps {value}, {offset}({register})")
        else:
            register, _ = self.address(reference, around, exact=True)
            indices = self.constant("lanes", stride)
            self.text.add(f"fsc{_letter(dtype)}.ps {value}, {indices[0]}({register})")
            self.drop(indices)


def _letter(dtype: ElementType) -> str:
    return {8: "b", 16: "h", 32: "w"}[WIDTH[dtype]]
