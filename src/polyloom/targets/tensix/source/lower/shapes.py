# SPDX-License-Identifier: Apache-2.0
"""Machine instructions as the passes of vector kernels have them: calls in SSA form over values instead of registers.

    %r: i32x32 = call @SFPMAD %a, %b, %c, 0:i32

A shape names the registers that its operands and results stand in (`a` to `d` are the fields VA to VD, digits are fixed
registers) and the fields of its immediates, which follow. A letter on both sides is one register: the instruction
overwrites that operand. `.into` behind the name of a shape with one result says that disabled lanes keep what the first
operand, which is added, has; where the instruction overwrites an operand, that is this one again. Vector constants are
the constant registers L8 to L11. Source: ISA documentation, one page per instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from polyloom.ir.ssa import NOWHERE, Constant, Function, Instruction, Operand, Place, Value
from polyloom.ir.ssa_externals import External
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.operations import VECTOR, operations
from polyloom.targets.tensix.words.isa import Instruction as Row
from polyloom.targets.tensix.words.isa import Member, instructions_by_name, spelling_key
from polyloom.twos_complement import sign_extend

INTO: Final = ".into"
CONSTANTS: Final[Mapping[int, int]] = {0x3F56594B: 8, 0: 9, 0x3F800000: 10, 0xBF800000: 11}
"""The bits in the constant registers that hold one value by contract."""
ALL_LANES: Final = 2
"""The mode of SFPMOV that ignores flags."""

_TABLE: Final = """
SFPLOAD > d | instr_mod0 sfpu_addr_mode dest_reg_addr
SFPLOADI > d | instr_mod0 imm16
SFPLOADI.half d > d | instr_mod0 imm16
SFPSTORE d > | instr_mod0 sfpu_addr_mode dest_reg_addr
SFPLUT 0 1 2 3 > d | instr_mod0
SFPLUTFP32.3 0 1 2 3 7 > 3 | instr_mod1
SFPLUTFP32.6 0 1 2 4 5 6 3 > d | instr_mod1
SFPMULI d > d | imm16_math
SFPADDI d > d | imm16_math
SFPMAD a b c > d | instr_mod1
SFPMUL a b c > d | instr_mod1
SFPADD a b c > d | instr_mod1
SFPMUL24 a b c > d | instr_mod1
SFPARECIP c > d | instr_mod1
SFPDIVP2 c > d | imm12_math instr_mod1
SFPEXEXP c > d | instr_mod1
SFPEXMAN c > d | instr_mod1
SFPIADD c d > d | instr_mod1
SFPIADD.i c > d | imm12_math instr_mod1
SFPSHFT d c > d | instr_mod1
SFPSHFT.i d > d | imm12_math instr_mod1
SFPSHFT.c c > d | imm12_math instr_mod1
SFPSHFT2.v b c > d | instr_mod1
SFPSHFT2 c > d | instr_mod1
SFPMOV c > d | instr_mod1
SFPMOV.random > d | lreg_c instr_mod1
SFPABS c > d | instr_mod1
SFPAND d c > d |
SFPOR d c > d |
SFPXOR d c > d |
SFPNOT c > d |
SFPLZ c > d | instr_mod1
SFPSETEXP d c > d | instr_mod1
SFPSETEXP.i c > d | imm12_math instr_mod1
SFPSETMAN d c > d | instr_mod1
SFPSETMAN.i c > d | imm12_math instr_mod1
SFPSETSGN d c > d | instr_mod1
SFPSETSGN.i c > d | imm12_math instr_mod1
SFPCAST c > d | instr_mod1
SFP_STOCH_RND c > d | imm8_math instr_mod1 rnd_mode
SFP_STOCH_RND.v c b > d | instr_mod1 rnd_mode
SFPSWAP d c > d c | instr_mod1
SFPSWAP.c d c > d | instr_mod1
SFPTRANSP 0 1 2 3 > 0 1 2 3 |
SFPCONFIG 0 > | config_dest instr_mod1
SFPSETCC c > | imm12_math instr_mod1
SFPPUSHC > |
SFPPOPC > | instr_mod1
SFPCOMPC > |
SFPENCC > | imm12_math instr_mod1
"""
REGISTER: Final = "register"
"""`register k` is what register k holds, from entry on if nothing wrote it; it takes no word unless copied."""
PINNED: Final = "pin"
"""`pin v, k` puts the enabled lanes of v into register k, where it stays."""
# SFPTRANSP transposes L4 to L7 along with L0 to L3 (page of `SFPTRANSP`).
CLOBBERS: Final[Mapping[str, tuple[int, ...]]] = {"SFPTRANSP": (4, 5, 6, 7), "SFPLUTFP32.3": ()}
"""Registers that an instruction changes beyond its results."""
_SHIFT: Final = {"a": 16, "b": 12, "c": 8}


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape: `operands` and `results` are registers, a letter of a field or the digit of a fixed one."""

    name: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    immediates: tuple[str, ...]

    @property
    def row_name(self) -> str:
        return self.name.partition(".")[0]

    def row(self, member: Member) -> Row:
        return instructions_by_name(member)[spelling_key(self.row_name)]

    @property
    def tied(self) -> tuple[tuple[int, int], ...]:
        """Tied operands: pairs of an operand and a result that are one register, by letter."""
        return tuple(
            (self.operands.index(slot), k)
            for k, slot in enumerate(self.results)
            if slot in self.operands and not slot.isdecimal()
        )

    @property
    def is_mergeable(self) -> bool:
        """Whether there is a form with `.into`."""
        return self.results == ("d",)

    def place(self, slot: str, member: Member) -> int:
        """Lowest bit of a register's field."""
        if slot != "d":
            return _SHIFT[slot]
        field = self.row(member).field("vd")
        assert field is not None, f"{self.name} has no VD"
        return field.shift

    def externals(self) -> tuple[External, ...]:
        immediates = (I32,) * len(self.immediates)
        results = (VECTOR,) * len(self.results)
        # "ordered" keeps the general passes of SSA form from moving or merging machine instructions.
        made = External(self.name, ((VECTOR,) * len(self.operands)) + immediates, results, ("ordered",))
        if not self.is_mergeable:
            return (made,)
        merged = External(self.name + INTO, (VECTOR, *made.parameters), results, ("ordered",))
        return made, merged


@cache
def shape_table() -> Mapping[str, Shape]:
    """Shapes by name, in the order of the table."""
    return {shape.name: shape for shape in map(_shape, filter(None, _TABLE.split("\n")))}


def _shape(line: str) -> Shape:
    head, _, immediates = line.partition(" |")
    left, _, right = head.partition(" >")
    name, *operands = left.split()
    return Shape(name, tuple(operands), tuple(right.split()), tuple(immediates.split()))


@cache
def machine_externals() -> tuple[External, ...]:
    """Externals that a function of machine instructions may call."""
    own = (
        External(REGISTER, (I32,), (VECTOR,), ("ordered",)),
        External(PINNED, (VECTOR, I32), (), ("ordered",)),
    )
    return (*(e for shape in shape_table().values() for e in shape.externals()), *own)


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine instruction taken apart. `old` is what disabled lanes keep, None where nobody asks."""

    shape: Shape
    old: Operand | None
    operands: tuple[Operand, ...]
    immediates: tuple[Operand, ...]
    results: tuple[Value, ...]

    def immediate(self, name: str) -> int | None:
        """The constant of a field, None where the field is absent or known only at run time."""
        if name not in self.shape.immediates:
            return None
        found = self.immediates[self.shape.immediates.index(name)]
        return found.value if isinstance(found, Constant) else None


def decompose(instruction: Instruction) -> Machine | None:
    """Machine instruction of a call; None for what is none."""
    name = instruction.called
    is_merging = name.endswith(INTO)
    # Called for every instruction by most passes: the table is cached.
    shape = shape_table().get(name.removesuffix(INTO)) if name else None
    if shape is None:
        return None
    old, rest = (instruction.operands[0], instruction.operands[1:]) if is_merging else (None, instruction.operands)
    count = len(shape.operands)
    return Machine(shape, old, rest[:count], rest[count:], instruction.results)


def make_instruction(
    name: str,
    operands: tuple[Operand, ...] = (),
    immediates: tuple[int | Operand, ...] = (),
    results: tuple[Value, ...] = (),
    *,
    old: Operand | None = None,
    place: Place = NOWHERE,
) -> Instruction:
    """Call of a machine instruction; immediates may be numbers."""
    numbers = tuple(Constant(I32, i) if isinstance(i, int) else i for i in immediates)
    first = () if old is None else (old,)
    called = f"@{name}{'' if old is None else INTO}"
    return Instruction("call", (*first, *operands, *numbers), results, callee=called, place=place)


def sets_flags(found: Machine) -> bool:
    """Whether an instruction changes which lanes are enabled (ISA documentation, page of `SFPIADD`, `SFPEXEXP` and
    `SFPLZ` for their modes).
    """
    name, mode = found.shape.row_name, found.immediate("instr_mod1") or 0
    match name:
        case "SFPSETCC" | "SFPPOPC" | "SFPCOMPC" | "SFPENCC":
            return True
        case "SFPIADD":
            return mode & 12 != 4
        case "SFPEXEXP" | "SFPLZ":
            return bool(mode & 10)
        case _:
            return False


def vector_constant(bits: int) -> Constant:
    """Vector constant, its bits taken as signed as SSA form has them."""
    return Constant(VECTOR, sign_extend(bits, 32))


def constant_register(operand: Constant) -> int:
    """Constant register that holds a constant."""
    return CONSTANTS[operand.value & 0xFFFFFFFF]


def declare_externals(function: Function) -> Function:
    """Function that may call machine instructions and every operation."""
    externals = {
        e.name: e for e in (*function.externals, *(o.external for o in operations().values()), *machine_externals())
    }
    return replace(function, externals=tuple(externals.values()))
