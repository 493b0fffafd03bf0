# SPDX-License-Identifier: Apache-2.0
"""Operations of vector kernels: external functions of `ir.ssa` over 32 lanes of bits (`i32x32`) and masks of them.

    %y: i32x32 = call @__sfpi_sfpmad %a, %x, %b, 0:i32

A row of the table has a name, operands, results, what it compiles to and one line of meaning; names that begin with
`sfp` are those of the vendor's builtins, `__builtin_rvtt_NAME` (the public SFPI headers). Operands are written
`name:kind`: `f`, `i` and `b` are vectors of floats, of integers, of bits of any kind, `m` a mask, `s` a scalar that may
be known only at run time, `p` a pointer; numbers are an immediate, which must be a constant: `0,4` or `0-3`, those
behind `|` on Blackhole alone. All operations are ordered: nobody merges, moves or drops them but passes that know what
they mean. The table is printed in docs/sfpi.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from polyloom.ir.ssa import Instruction
from polyloom.ir.ssa_externals import External, Externals
from polyloom.ir.ssa_types import I1, I32, PTR, Type
from polyloom.targets.tensix.words.isa import Member

LANES: Final = 32
VECTOR: Final = I32.with_lanes(LANES)
MASK: Final = I1.with_lanes(LANES)
SPACES: Final[Mapping[int, Type]] = {1: VECTOR, 2: MASK}
"""In C a vector is a pointer to an incomplete type in address space 1, a mask one in 2."""
PREFIX: Final = "__sfpi_"
CONDITIONS: Final = ("lt", "le", "eq", "ne", "ge", "gt")
"""The first operand of comparisons, by number."""

Kind = Literal["float", "integer", "bits", "mask", "immediate", "scalar", "pointer"]
Group = Literal[
    "constants", "floats", "fields", "integers", "conversions", "tables", "lanes", "comparisons", "masks", "regions",
    "dst", "registers", "words", "printing",
]  # fmt: skip
_KINDS: Final[dict[str, Kind]] = {
    "f": "float", "i": "integer", "b": "bits", "m": "mask", "s": "scalar", "p": "pointer",
}  # fmt: skip
_TYPES: Final[dict[Kind, Type]] = {
    "float": VECTOR, "integer": VECTOR, "bits": VECTOR, "mask": MASK, "immediate": I32, "scalar": I32, "pointer": PTR,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of an operation. `values` are those of an immediate on every member, `more` the ones that only
    Blackhole has.
    """

    name: str
    kind: Kind
    values: tuple[int, ...] = ()
    more: tuple[int, ...] = ()

    @property
    def type(self) -> Type:
        return _TYPES[self.kind]

    @property
    def is_vector(self) -> bool:
        return self.type is VECTOR

    def allowed(self, member: Member) -> tuple[int, ...]:
        """Values of an immediate on a member."""
        return self.values + (self.more if member == "blackhole" else ())


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table. `results` are kinds of vectors and masks; `words` is what it compiles to."""

    name: str
    group: Group
    operands: tuple[Operand, ...]
    results: tuple[Kind, ...]
    words: str
    meaning: str
    only_blackhole: bool = False

    @property
    def external(self) -> External:
        """External function that calls name."""
        parameters = tuple(operand.type for operand in self.operands)
        return External(PREFIX + self.name, parameters, tuple(_TYPES[kind] for kind in self.results), ("ordered",))

    @property
    def builtin(self) -> str | None:
        """Vendor's builtin of the same meaning, if the name is one of them."""
        return f"__builtin_rvtt_{self.name}" if self.name.startswith("sfp") and self.name != "sfpsub" else None

    def operand(self, name: str) -> int | None:
        """The position of an operand."""
        return next((k for k, operand in enumerate(self.operands) if operand.name == name), None)


_TABLE: Final = """
constants
splat bits:s > b | SFPLOADI, one or two | the bits in every lane
sfploadi imm:s mod:0,1,2,4 > b | SFPLOADI | 16 bits as BF16, FP16, unsigned, signed, in every lane
undefined > b | nothing | no lane has a value
assign old:b new:b > b | SFPMOV, or nothing | `new` in the enabled lanes, `old` in the others

floats
sfpmad a:f b:f c:f mod:0|1,2,3 > f | SFPMAD | a·b + c, rounded once; 1 negates a, 2 negates c
sfpmul a:f b:f mod:0|1 > f | SFPMUL | a·b + 0
sfpadd a:f b:f mod:0|1,2,3 > f | SFPADD | a·1 + b
sfpsub a:f b:f > f | SFPMAD | b·−1 + a
sfpmov a:b mod:0,1 > b | SFPMOV | a; 1 changes the sign bit
sfpabs a:b mod:0,1 > b | SFPABS | the magnitude of 0 an integer, 1 a float
sfparecip a:f mod:0,2 > f | SFPARECIP | approximately 0 1/a, 2 e to the |a|, with a's sign !

fields
sfpexexp a:f mod:0,1 > i | SFPEXEXP | the exponent; 1 with its bias
sfpexman a:f mod:0,1 > i | SFPEXMAN | the mantissa; 0 with the hidden bit
sfpsetexp_i a:f exp:s mod:0 > f | SFPSETEXP | a with the exponent `exp` mod 256
sfpsetexp_v a:f exp:b mod:0,2 > f | SFPSETEXP | a with the exponent in bits 7:0; 2 with the exponent of a float
sfpsetman_i a:f man:s mod:0 > f | SFPSETMAN | a with the low 23 bits of `man` as its mantissa
sfpsetman_v a:f man:b mod:0 > f | SFPSETMAN | the same, by lane
sfpsetsgn_i a:b sgn:s mod:0 > b | SFPSETSGN | a with bit 0 of `sgn` as its sign
sfpsetsgn_v a:b sgn:b mod:0 > b | SFPSETSGN | a with the sign bit of `sgn`
sfpdivp2 a:f exp:s mod:0,1 > f | SFPDIVP2 | 1 adds `exp` to the exponent, which stays 255; 0 sets it

integers
sfpiadd_v a:i b:i mod:4,6 > i | SFPIADD | 4: a + b; 6: b − a
sfpiadd_i a:i imm:s mod:4,5 > i | SFPIADD | a + imm
sfpand a:b b:b > b | SFPAND | a & b
sfpor a:b b:b > b | SFPOR | a or b
sfpxor a:b b:b > b | SFPXOR | a ^ b
sfpnot a:b > b | SFPNOT | ~a
sfpshft_v a:b amount:i mod:0|2 > b | SFPSHFT | left, of negative amounts right, by 0 to 31; 2 keeps the sign
sfpshft_i a:b amount:s mod:0|2 > b | SFPSHFT | the same by one amount
sfplz a:b mod:0,4 > i | SFPLZ | leading zeros; 4 without the sign bit
sfpmul24 a:b b:b mod:0|1 > b | SFPMUL24 | the low, with 1 the high 23 bits of the product of 23 bits each !

conversions
sfpcast a:b mod:0,1|2,3 > f | SFPCAST | to float, ties to even, 1 stochastic; 2 magnitude, 3 to sign and magnitude
sfpstochrnd_i a:b imm:s mod:0-7 mode:0,1|2 > b | SFP_STOCH_RND | rounded to 16 or 8 bits, as the instruction's mode
sfpstochrnd_v a:b descale:i mod:4,5 mode:0,1|2 > b | SFP_STOCH_RND | an integer, descaled by lane, to 8 bits

tables
sfplut l0:b l1:b l2:b a:f mod:0,4 > f | SFPLUT | slope·|a| + offset of 8 bits, in three intervals; 4 with a's sign
sfplutfp32_3r l0:b l1:b l2:b a:f mod:10,14 > f | SFPLUTFP32 | the same, of FP16
sfplutfp32_6r a0:b a1:b a2:b b0:b b1:b b2:b a:f mod:0,2,3,4,6,7 > f | SFPLUTFP32 | the same, of FP32, or FP16 in six

lanes
sfpswap a:b b:b mod:0-9 > b b | SFPSWAP | b and a; from 1 the smaller and the larger, 9 the reverse, others by row
sfptransp a:b b:b c:b d:b > b b b b | SFPTRANSP | rows of four registers against registers
sfpshft2_subvec_shfl1 a:b mod:3,4 > b | SFPSHFT2 | each row of eight lanes moved by one; 3 around
rand > i | SFPMOV | the next number of each lane's generator !

comparisons
cmp_f cond:0-5 a:f b:f > m | SFPMAD, SFPSETCC | of floats; see `CONDITIONS`
cmp_i cond:0-5 a:i b:i > m | SFPIADD, SFPSETCC | of the wrapping difference
cmp_u cond:0-5 a:i b:i > m | SFPIADD, SFPSETCC | unsigned, exactly

masks
mask_and a:m b:m > m | flags | both
mask_or a:m b:m > m | flags | one of the two
mask_not a:m > m | flags | not
mask_of a:b > m | SFPSETCC | where a is not 0
int_of a:m > i | SFPLOADI | 1 where the mask has the lane, else 0

regions
push > | SFPPUSHC | a new frame: outer = rest = enabled
cond a:m > | SFPSETCC | rest = enabled & ~a, enabled = enabled & a
else_ > | SFPCOMPC | enabled = rest, rest = none
and_ a:m > | SFPSETCC | enabled = enabled & a
pop > | SFPPOPC | enabled = outer, the frame is left

dst
load mode:0-13 addrmod:0-3|4-7 address:s > b | SFPLOAD | 32 datums of Dst, whatever is enabled
store a:b mode:0-15 addrmod:0-3|4-7 address:s > | SFPSTORE | the enabled lanes into Dst

registers
config_read k:8-15 > b | nothing | a constant register
config_write k:12-14 a:b > | SFPCONFIG | the first eight lanes, as far as enabled, into all rows of a constant register
lreg_read k:0-7 > b | nothing | a register as it is at entry, or after the last write
lreg_write k:0-7 a:b > | SFPMOV | the enabled lanes into a register

words
word bits:s > | itself | one Tensix instruction

printing
print_text text:p length:s > | cores | characters
print_int value:s > | cores | a signed integer
print_unsigned value:s > | cores | an unsigned integer
"""


@cache
def operations() -> Mapping[str, Operation]:
    """Operation table, by name, in its order."""
    found: dict[str, Operation] = {}
    group = ""
    for line in filter(None, _TABLE.split("\n")):
        if " " not in line:
            group = line
        else:
            row = _parse_row(group, line)
            found[row.name] = row
    return found


def called_operation(instruction: Instruction) -> Operation | None:
    """Operation that an instruction of SSA form calls, if it calls one."""
    name = instruction.called
    return operations().get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None


def externals(headers: tuple[str, ...] = (str(Path(__file__).parents[1] / "sfpi" / "include"),)) -> Externals:
    """Externals that a frontend needs to read a kernel: all operations, of both members (`verify` tells them apart)."""
    return Externals(tuple(row.external for row in operations().values()), SPACES, headers)


def _parse_row(group: str, line: str) -> Operation:
    head, words, meaning = _split_line(line)
    left, _, right = head.partition(">")
    name, *operands = left.split()
    results: tuple[Kind, ...] = tuple([_KINDS[kind] for kind in right.split()])
    only = meaning.endswith(" !")
    kind: Group = group  # pyright: ignore[reportAssignmentType]: the table's own headings
    return Operation(name, kind, tuple(map(_parse_operand, operands)), results, words, meaning.removesuffix(" !"), only)


def _split_line(line: str) -> tuple[str, str, str]:
    """Columns of a row; bars within operands stand without spaces."""
    head, words, meaning = line.split(" | ", 2)
    return head, words, meaning


def _parse_operand(text: str) -> Operand:
    name, _, kind = text.partition(":")
    if kind in _KINDS:
        return Operand(name, _KINDS[kind])
    common, _, more = kind.partition("|")
    return Operand(name, "immediate", _parse_values(common), _parse_values(more))


def _parse_values(text: str) -> tuple[int, ...]:
    found: list[int] = []
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return tuple(found)
