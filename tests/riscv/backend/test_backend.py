# SPDX-License-Identifier: Apache-2.0
"""Parts of the backend: allocation and its checker, the calling convention, encodings, the executable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.in_turns import in_turns
from tests.riscv.backend.test_functions import CALLING, calling, copied, equal, functions, given
from tests.transform.ssa.native import same

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_types import F32, F64, I32, I64, PTR, Type
from polyloom.riscv import names
from polyloom.riscv.backend import abi
from polyloom.riscv.backend import code as machine_code
from polyloom.riscv.backend import expand as frames
from polyloom.riscv.backend.allocate import allocate
from polyloom.riscv.backend.check import AllocationError, check_allocation, saved_registers
from polyloom.riscv.backend.code import BRANCHES, RA, SP, ZERO, Block, Code, Op, Reg, defs_and_uses, shape
from polyloom.riscv.backend.compile import allocate_registers, compile_function, lower_functions
from polyloom.riscv.backend.data import Layout
from polyloom.riscv.backend.expand import expand, frame_layout
from polyloom.riscv.backend.link import executable, link_functions
from polyloom.riscv.backend.pairs import is_pair
from polyloom.riscv.backend.run import call
from polyloom.riscv.backend.schedule import schedule
from polyloom.riscv.backend.words import encode_words
from polyloom.riscv.encode import decode, expand_compressed
from polyloom.riscv.image import elf_image, raw_image
from polyloom.riscv.model import Machine

WIDE, PLAIN, NARROW = names.parse_isa("rv64gc"), names.parse_isa("rv64g"), names.parse_isa("rv32gc")
A0, A1, A2 = (Reg("x", n) for n in (10, 11, 12))


@cache
def _code(name: str) -> Code:
    function = _function(name)
    return lower_functions(function, WIDE, Layout(function.data))[0]


def _function(name: str, xlen: int = 64) -> Function:
    return (calling if name in CALLING else functions)(xlen)[name]


def _executable(code: Code, name: str) -> bytes:
    """What the linker makes of allocated code, and of what it calls."""
    layout = Layout(_function(name).data)
    others = lower_functions(_function(name), WIDE, layout)[1:]  # adds constants
    made, starts = link_functions([expand(code), *(expand(allocate_registers(other)) for other in others)])
    return executable(bytes(layout.bytes), layout.end, made.words, WIDE, starts)


@pytest.mark.parametrize("name", ["pressure", "many_floats", "multiply", "machine", "sort", "gcd"])
def test_allocations_are_right(name: str) -> None:
    for code in (_code(name), schedule(_code(name))):
        after = check_allocation(code, allocate(code))
        assert not [
            r for b in after.blocks for op in b.ops for group in defs_and_uses(op, WIDE) for r in group if r.is_virtual
        ]
    assert allocate(_code("pressure")).slots > 0
    assert allocate(_code("gcd")).slots == 0


@pytest.mark.parametrize("name", ["machine", "gcd", "pressure", "across", "narrow_results"])
def test_the_checker_finds_every_wrong_register(name: str) -> None:
    """A use of another register is found, or makes no difference: both held the value, as behind a move."""
    before = _code(name)
    after = allocate(before)
    changed = list(_with_another_register(after))[:: {"pressure": 11, "across": 4}.get(name, 1)]
    unnoticed = [code for code in changed if not _is_refused(before, code)]
    assert len(changed) > 20
    assert len(unnoticed) <= len(changed) // 20
    random = np.random.default_rng(0)
    for code in unnoticed:
        for _ in range(3):
            values = given(_function(name), random)
            ours, theirs = copied(values), copied(values)
            found = call(_executable(code, name), WIDE, _function(name), ours, limit=10**6)
            assert same(found.result, call(_executable(after, name), WIDE, _function(name), theirs).result)
            assert equal(ours, theirs)


def _is_refused(before: Code, after: Code) -> bool:
    try:
        check_allocation(before, after)
    except AllocationError:
        return True
    return False


def _with_another_register(code: Code) -> Iterator[Code]:
    """The code with one register that is read replaced by one that is written somewhere."""
    others = sorted(
        {r for b in code.blocks for op in b.ops for r in defs_and_uses(op, WIDE)[0] if r.bank == "x" and r != SP}
    )
    for k, block in enumerate(code.blocks):
        for i, op in enumerate(block.ops):
            for n, letter in enumerate(shape(op.mnemonic, WIDE)[: len(op.operands)]):
                register = op.operands[n]
                if letter == "u" and isinstance(register, Reg) and register.bank == "x" and register not in (ZERO, SP):
                    other = next(o for o in others[(i + n) % len(others) :] + others if o != register)
                    yield _replaced(code, k, i, Op(op.mnemonic, (*op.operands[:n], other, *op.operands[n + 1 :])))


def _replaced(code: Code, k: int, i: int, *ops: Op) -> Code:
    block = code.blocks[k]
    made = Block(block.name, (*block.ops[:i], *ops, *block.ops[i + 1 :]))
    return replace(code, blocks=(*code.blocks[:k], made, *code.blocks[k + 1 :]))


def test_the_checker_finds_lost_and_changed_instructions() -> None:
    before = _code("pressure")
    after = allocate(before)
    for k, block in enumerate(after.blocks):
        for i, op in list(enumerate(block.ops))[::7]:
            if op.mnemonic == "spill":
                continue  # the slot may hold the value already
            if op.mnemonic == "reload":
                wrong = Op("reload", (op.operands[0], after.slots))
                assert _is_refused(before, _replaced(after, k, i, wrong))
            else:
                assert _is_refused(before, _replaced(after, k, i)), op


PAIRED = ("csel", "csneg", "clamp", "conditional_sums", "extrema")


@pytest.mark.parametrize("isa", ["rv64gc+sfb", "rv64g+sfb", "rv32imac+sfb"])
def test_pairs_stay_together_until_they_are_words(isa: str) -> None:
    """Through scheduling and allocation; then a branch goes over the bytes of the one instruction in its shadow."""
    machine = names.parse_isa(isa)
    for name in PAIRED[:3] if machine.xlen == 64 else PAIRED[3:]:
        code = allocate_registers(lower_functions(functions(machine.xlen)[name], machine, Layout(()))[0])
        pairs = [op for block in code.blocks for op in block.ops if is_pair(op)]
        assert pairs
        assert all(op.operands[0] == op.operands[1] not in op.operands[2:] for op in pairs)
        data = encode_words(expand(code))
        sizes = [2 if word & 3 < 3 else 4 for word in _words(data)]
        listed = [(mnemonic, values[-1]) for mnemonic, values in _meanings(data, machine)]
        over = [
            op
            for k, op in enumerate(listed[:-1])
            if op[0] in BRANCHES and op[1] == sizes[k] + sizes[k + 1] and listed[k + 1][0] not in ("jal", "jalr")
        ]
        assert len(over) >= len(pairs)


def _words(data: bytes) -> Iterator[int]:
    """The first two bytes of each instruction."""
    place = 0
    while place < len(data):
        word = int.from_bytes(data[place : place + 2], "little")
        yield word
        place += 2 if word & 3 < 3 else 4


def test_the_checker_wants_one_register_for_what_is_kept_and_written() -> None:
    """Even where both hold the value."""
    value = Reg("x", 40)
    before = Code(
        "f",
        WIDE,
        (
            Block(
                "a",
                (
                    Op("mv", (value, A0)),
                    Op("bne+add", (value, value, A1, ZERO, A1, A1)),
                    Op("mv", (A0, value)),
                    Op("ret", (A0,)),
                ),
            ),
        ),
    )
    after = check_allocation(before, allocate(before))
    assert after.blocks[0].ops[1].operands[:2] == (A0, A0)
    parted = (Op("mv", (A2, A0)), Op("bne+add", (A2, A0, A1, ZERO, A1, A1)), Op("mv", (A0, A2)), Op("ret", (A0,)))
    with pytest.raises(AllocationError, match="keeps another register than it writes"):
        check_allocation(before, replace(after, blocks=(Block("a", parted),)))


def test_the_checker_wants_values_on_all_paths() -> None:
    """Where only one of two paths sets the register."""
    value = Reg("x", 40)
    branch, jump = Op("beq", (A1, ZERO, "b")), Op("j", ("c",))
    before = Code(
        "f",
        WIDE,
        (
            Block("a", (Op("mv", (value, A0)), branch, jump)),
            Block("b", (jump,)),
            Block("c", (Op("mv", (A0, value)), Op("ret", (A0,)))),
        ),
    )
    after = Code(
        "f",
        WIDE,
        (
            Block("a", (Op("mv", (A2, A0)), branch, jump)),
            Block("b", (jump,)),
            Block("c", (Op("mv", (A0, A2)), Op("ret", (A0,)))),
        ),
    )
    assert check_allocation(before, after) is after
    stray = replace(
        after,
        blocks=(after.blocks[0], Block("b", (Op("spill", (A1, 0)), Op("reload", (A2, 0)), jump)), after.blocks[2]),
    )
    with pytest.raises(AllocationError, match="a2, which does not always hold"):
        check_allocation(before, stray)


def test_the_checker_knows_what_calls_change() -> None:
    """Everything but what the convention saves, in both banks; results are new."""
    value, real = Reg("x", 40), Reg("f", 41)
    moved = Op("mv", (value, A1)), Op("fmv", (real, Reg("f", 11)))
    used = Op("mv", (A1, value)), Op("fmv", (Reg("f", 11), real)), Op("ret", (A0,))
    before = Code("f", WIDE, (Block("a", (*moved, Op("call", ("g", A0)), *used)),))
    for number in range(5, 32):
        x, f = Reg("x", number), Reg("f", number)
        ops = (
            Op("mv", (x, A1)),
            Op("fmv", (f, Reg("f", 11))),
            Op("call", ("g", A0)),
            Op("mv", (A1, x)),
            Op("fmv", (Reg("f", 11), f)),
            Op("ret", (A0,)),
        )
        after = Code("f", WIDE, (Block("a", ops),))
        assert _is_refused(before, after) == (number not in abi.SAVED)
    kept = check_allocation(before, allocate(before)).blocks[0].ops
    assert [o.number in abi.SAVED for op in kept[:2] for o in op.operands[:1] if isinstance(o, Reg)] == [True, True]
    lost = Code("f", WIDE, (Block("a", tuple(op for op in kept if op.mnemonic != "call")),))
    assert _is_refused(before, lost)
    assert _is_refused(before, Code("f", WIDE, (Block("a", (*kept[:2], Op("call", ("h", A0)), *kept[3:])),)))


@pytest.mark.parametrize("name", ["across", "floats_across", "longs_across", "quicksort", "fibonacci"])
def test_an_allocator_that_forgets_what_calls_change_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(
        c
        for c in lower_functions(_function(name), WIDE, Layout(_function(name).data))
        if c.calls and c.name not in ("quicksort", "fibonacci")
    )
    check_allocation(code, allocate(code))
    monkeypatch.setattr(machine_code, "CLOBBERED", ())
    assert _is_refused(code, allocate(code))


def test_a_return_address_that_is_not_saved_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that calls and does not save ra returns to itself, until the stack ends."""
    function = _function("chain")
    assert call(compile_function(function, WIDE).elf, WIDE, function, [7], limit=1000).instructions < 100

    def without_ra(code: Code) -> list[Reg]:
        return [register for register in saved_registers(code) if register != RA]

    monkeypatch.setattr(frames, "saved_registers", without_ra)
    with pytest.raises(PolyloomError, match=r"PL091\d"):
        call(compile_function(function, WIDE).elf, WIDE, function, [7], limit=1000)


@pytest.mark.parametrize(("name", "isa"), in_turns(CALLING, ["rv64gc", "rv32gc", "rv32gc_zbb"], 3))
def test_the_stack_is_aligned_at_calls(name: str, isa: str) -> None:
    """To sixteen bytes, and arguments of calls lie below everything else."""
    machine = names.parse_isa(isa)
    function = _function(name, machine.xlen)
    for code in map(allocate_registers, lower_functions(function, machine, Layout(function.data))):
        frame = frame_layout(code)
        assert frame.end % 16 == 0
        assert frame.memory >= code.outgoing + 8 * code.slots
        assert frame.end >= frame.saved + 8 * len(saved_registers(code))


@pytest.mark.parametrize("isa", [WIDE, NARROW])
@pytest.mark.parametrize("name", ["pressure", "many_floats", "large_frame", "across", "floats_across", "longs_across"])
def test_what_the_caller_keeps_is_kept(name: str, isa: names.Isa) -> None:
    """Registers s0 to s11, fs0 to fs11, sp, gp and tp."""
    function = _function(name, isa.xlen)
    machine = Machine(elf_image(compile_function(function, isa).elf, isa), 1 << 16)
    kept = (*abi.SAVED, 3, 4)
    for number in kept:
        machine.set_x(number, 0x1000 + number)
        machine.set_f(number, 0x4000_0000_0000_0000 + number)
    before = machine.x, machine.f
    array = machine.base + machine.size - 4096
    machine.set_x(2, array - 64)
    machine.call(machine.entry, array, 3)
    assert machine.x[2] == array - 64
    assert all(machine.x[n] == before[0][n] for n in kept)
    assert all(machine.f[n] == before[1][n] for n in abi.SAVED)


def test_arguments_are_where_the_convention_has_them() -> None:
    """psABI: an i64 on RV32 takes two registers, the last of which may be followed by the stack, where it is else
    aligned to eight."""
    types: tuple[Type, ...] = (I32, I64, F32, I64, I64, I32, I64, F64)
    found = abi.argument_places(types, NARROW)
    f0, f1 = Reg("f", 10), Reg("f", 11)
    x = [Reg("x", 10 + n) for n in range(8)]
    stack = abi.Stack
    assert found == ((x[0],), (x[1], x[2]), (f0,), (x[3], x[4]), (x[5], x[6]), (x[7],), (stack(0), stack(4)), (f1,))
    assert abi.argument_places((I64,) * 7 + (I32, I64), NARROW)[3:6] == (
        (x[6], x[7]),
        (stack(0), stack(4)),
        (stack(8), stack(12)),
    )
    assert abi.argument_places((I32,) * 7 + (I64, I64), NARROW)[7:] == ((x[7], stack(0)), (stack(8), stack(12)))
    assert abi.argument_places((F64,) * 9, WIDE)[8] == (x[0],)
    assert abi.argument_places((F32, PTR), names.parse_isa("rv64imac")) == ((x[0],), (x[1],))
    assert [abi.abi_name(names.parse_isa(isa)) for isa in ("rv64gc", "rv32gc", "rv32imac", "rv64if", "rv32if")] == [
        "lp64d",
        "ilp32d",
        "ilp32",
        "lp64f",
        "ilp32f",
    ]


@pytest.mark.parametrize("name", ["linear", "characters", "machine", "horner", "packed"])
def test_compressed_instructions_stand_for_the_others(name: str) -> None:
    """Expanded again they are, but for distances and for c.mv, what is encoded without C."""
    code = expand(allocate(_code(name)))
    long, short = (_meanings(encode_words(replace(code, isa=isa)), isa) for isa in (PLAIN, WIDE))
    assert len(encode_words(code)) < len(encode_words(replace(code, isa=PLAIN)))
    assert len(long) == len(short)
    for a, b in zip(long, short, strict=True):
        assert a[0] == b[0]
        assert a[0] in ("beq", "bne", "blt", "bge", "bltu", "bgeu", "jal") or a[1] in (b[1], (b[1][0], *b[1][:0:-1]))


def _meanings(data: bytes, isa: names.Isa) -> list[tuple[str, tuple[int, ...]]]:
    place, made = 0, list[tuple[str, tuple[int, ...]]]()
    while place < len(data):
        found = decode(int.from_bytes(data[place : place + 4], "little"), isa)
        assert found is not None
        place += found.row.size
        whole = expand_compressed(found, isa)
        made.append((whole.row.mnemonic, whole.values))
    return made


@pytest.mark.parametrize("count", [10, 60, 200, 1500, 3000])
def test_branches_reach_far(count: int) -> None:
    """A compressed branch, a plain one, and one that was inverted over a jump, forwards and back."""
    body = Block("b", tuple(Op("addi", (A0, A0, 1)) for _ in range(count)))
    loop = Block("c", (Op("addi", (A1, A1, -1)), Op("bne", (A1, ZERO, "b")), Op("beq", (ZERO, ZERO, "d"))))
    code = Code(
        "f",
        WIDE,
        (Block("a", (Op("beq", (A1, ZERO, "d")),)), body, loop, Block("d", (Op("jalr", (ZERO, 0, Reg("x", 1))),))),
    )
    machine = Machine(raw_image(encode_words(code), WIDE, 0x1000))
    assert machine.call(0x1000, 5, 3)[0] == 5 + 3 * count
    assert machine.call(0x1000, 5, 0)[0] == 5


@pytest.mark.long
def test_a_function_of_more_than_a_megabyte_is_refused() -> None:
    body = Block("b", tuple(Op("mul", (A0, A0, A0)) for _ in range(270_000)))
    code = Code(
        "f", WIDE, (Block("a", (Op("beq", (A1, ZERO, "d")),)), body, Block("d", (Op("jalr", (ZERO, 0, Reg("x", 1))),)))
    )
    with pytest.raises(PolyloomError, match="PL0932"):
        encode_words(code)


def test_files_are_the_same_every_time() -> None:
    for name in ("pressure", "sparse", "horner"):
        function = functions(64)[name]
        assert compile_function(function, WIDE).elf == compile_function(function, WIDE).elf


LENGTHS = {
    ("csel", "rv64gc_zicond"): 3,
    ("csinc", "rv64gc_zicond"): 5,
    ("csinv", "rv64gc_zicond_zbb"): 4,
    ("csneg", "rv64gc_zicond"): 4,
    ("cneg", "rv64gc_zicond"): 4,
    ("extrema", "rv64gc_zbb"): 8,
    ("difference", "rv64gc_zbb"): 6,
}
"""Instructions, with the comparison and without the return."""


@pytest.mark.parametrize(("name", "isa"), LENGTHS)
def test_selects_come_from_the_table(name: str, isa: str) -> None:
    """LLVM 22 and GCC 14 need five instructions for csneg with Zicond, and for csinv with Zbb too."""
    machine = names.parse_isa(isa)
    code = elf_image(compile_function(functions(64)[name], machine).elf, machine).segments[-1].data
    found = _meanings(code, machine)
    assert [mnemonic for mnemonic, _ in found if mnemonic.startswith("b") or mnemonic == "jal"] == []
    assert len(found) - 1 <= LENGTHS[name, isa]


BRANCHING = {("csel", "rv64gc"): 3, ("csneg", "rv64gc"): 3, ("clamp", "rv64gc_zbb"): 3}


@pytest.mark.parametrize(("name", "isa"), BRANCHING)
def test_selects_without_a_short_sequence_are_branches(name: str, isa: str) -> None:
    machine = names.parse_isa(isa)
    code = elf_image(compile_function(functions(64)[name], machine).elf, machine).segments[-1].data
    mnemonics = [mnemonic for mnemonic, _ in _meanings(code, machine) if mnemonic != "jalr"]
    assert sum(mnemonic in BRANCHES for mnemonic in mnemonics) == 1
    assert len(mnemonics) <= BRANCHING[name, isa]
