# SPDX-License-Identifier: Apache-2.0
"""Images load and run; what stops a run is told with its address; bad images are refused. Golden texts of all
errors."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.riscv.elfs import Elf
from tests.riscv.harts import BASE, NARROW, SCRATCH, WIDE, machine

from polyloom.diagnostics import PolyloomError
from polyloom.riscv import image, names
from polyloom.riscv.assemble import assemble
from polyloom.riscv.model import Machine

HELLO = """
    li a7, 64
    li a0, 1
    la a1, text
    li a2, 6
    ecall
    mv s0, a0
    li a0, 2
    ecall
    li a0, 5
    ecall
    mv s1, a0
    addi a0, s0, 1
    li a7, 93
    ecall
text: .byte 0x68, 0x65, 0x6c, 0x6c, 0x6f, 10
"""


@pytest.mark.parametrize("isa", [WIDE, NARROW], ids=str)
def test_elf_writes_and_exits(isa: names.Isa) -> None:
    code = assemble(HELLO, isa, 0x10000).data
    on = Machine(image.elf_image(Elf(code, wide=isa.xlen == 64, size=64).data, isa))
    done = on.run()
    assert (done.exit_code, done.instructions) == (7, 15)
    assert (on.output, on.errors) == (b"hello\n", b"hello\n")
    assert on.x[9] == (1 << isa.xlen) - 9, "no such file"


def test_call_of_a_function() -> None:
    on = machine("fact: li a1, 1\nloop: beqz a0, done\nmul a1, a1, a0\naddi a0, a0, -1\nj loop\ndone: mv a0, a1\nret")
    assert on.call(BASE, 5) == (120, 1 + 5 * 4 + 3)
    assert on.call(BASE, 20)[0] == 2432902008176640000
    assert on.run(BASE, stop=BASE).instructions == 0


def test_code_that_changes_itself() -> None:
    """A store into code is seen after fence.i, and only then for certain."""
    patched = int.from_bytes(assemble("li a0, 2", WIDE).data, "little")
    on = machine(f"la a1, here\nli a2, {patched}\nsw a2, (a1)\nfence.i\nhere: li a0, 1\nebreak")
    last = BASE + 4 * 7 if len(assemble(f"li a2, {patched}", WIDE).data) == 8 else BASE + 4 * 6
    on.run(stop=last)
    assert on.x[10] == 2


def test_the_same_run_twice() -> None:
    on = machine("li a0, 1\naddi a0, a0, 1\nebreak")
    assert [on.run(stop=BASE + 8).instructions for _ in range(2)] == [2, 2]
    assert on.run(stop=BASE + 4).instructions == 1
    assert on.x[10] == 1


def test_a_reservation_survives_the_end_of_a_run() -> None:
    on = machine("lr.w a0, (sp)\nli a1, 7\nsc.w a2, a1, (sp)\nsc.w a3, a1, (sp)\nebreak")
    assert on.run(stop=BASE + 8).instructions == 2
    assert on.run(BASE + 8, stop=BASE + 16).instructions == 2
    assert (on.x[12], on.x[13]) == (0, 1), "the first succeeds and ends it"


STOPS = {
    "illegal-word": ".word 0xffffffff",
    "illegal-half": ".half 0",
    "illegal-register": "csrr a0, 0x300",
    "illegal-extension": ".word 0x02000007",
    "load-outside": "lw a0, -4(zero)",
    "store-outside": "sd a0, 2047(sp)\nsd a0, 1(sp)",
    "misaligned": "lw a0, 2(sp)",
    "misaligned-atomic": "addi sp, sp, 2\namoadd.w a0, a0, (sp)",
    "fetch": "li a0, 0x123450\njr a0",
    "fetch-branch": "j 0x800",
    "fetch-half": "nop\n.half 3",
    "breakpoint": "ebreak",
    "call": "li a7, 1000\necall",
    "limit": "loop: j loop",
}


@pytest.mark.parametrize("name", STOPS)
def test_stop(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        machine(STOPS[name]).run(limit=1000)
    golden(f"stop-{name}", str(error.value))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("addw a0, a0, a0", "rv32i"),
        ("c.nop", "rv64i"),
        ("min a0, a0, a0", "rv64gc"),
        ("fadd.d fa0, fa0, fa0", "rv32imaf"),
    ],
)
def test_what_the_set_lacks_is_illegal(text: str, name: str) -> None:
    isa = names.parse_isa(name)
    with pytest.raises(PolyloomError, match="PL0911"):
        Machine(image.raw_image(assemble(text, WIDE).data, isa)).run()


def test_jumps_are_aligned_without_compressed_instructions() -> None:
    isa = names.parse_isa("rv64i")
    with pytest.raises(PolyloomError, match="jumped to 0x6"):
        Machine(image.raw_image(assemble("j 6\nnop\nnop", isa).data, isa)).run()


NOP = assemble("nop", WIDE).data
NOP_FILE = Elf(NOP).data
IMAGES = {
    "none": (b"", WIDE),
    "text": (b"#!/bin/sh\n" + b" " * 60, WIDE),
    "machine": (Elf(NOP, machine=62).data, WIDE),
    "width": (Elf(NOP, wide=False).data, WIDE),
    "big-endian": (Elf(NOP, order=2).data, WIDE),
    "object": (Elf(NOP, kind=1).data, WIDE),
    "shared": (Elf(NOP, kind=3).data, WIDE),
    "dynamic": (Elf(NOP, segment=3).data, WIDE),
    "no-code": (Elf(NOP, segment=4).data, WIDE),
    "truncated": (Elf(NOP).data[:-2], WIDE),
    "cut-header": (Elf(NOP).data[:70], WIDE),
    "far-headers": (NOP_FILE[:39] + b"\xff" + NOP_FILE[40:], WIDE),
    "compressed": (Elf(NOP, flags=1).data, names.parse_isa("rv64i")),
    "floats": (Elf(NOP, flags=4).data, names.parse_isa("rv64imac")),
    "beyond": (Elf(NOP, address=2**64 - 4096, size=8192).data, WIDE),
    "huge": (Elf(NOP, size=2**40).data, WIDE),
}


@pytest.mark.parametrize("name", IMAGES)
def test_bad_image(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        Machine(image.elf_image(*IMAGES[name]))
    golden(f"image-{name}", str(error.value))


def test_bad_raw_image() -> None:
    for data, base, text in (
        (b"", 0, "no instructions"),
        (b"\1", 0, "no instructions"),
        (NOP, 2**32, "beyond 32 bits"),
        (NOP, 4097, "starts at 0x1001"),
    ):
        with pytest.raises(PolyloomError, match=text):
            image.raw_image(data, NARROW, base)


def test_memory_is_bounded() -> None:
    on = machine("nop")
    for address in (0, on.base - 1, on.base + on.size - 3):
        with pytest.raises(PolyloomError, match="PL0912"):
            on.read(address, 4)
        with pytest.raises(PolyloomError, match="PL0912"):
            on.write(address, b"1234")
    on.write(SCRATCH, b"1234")
    assert on.read(SCRATCH, 4) == b"1234"


@pytest.mark.skipif(
    find_spec("ziglang") is None, reason="the extra [c] is not installed: no program of a compiler runs"
)
@pytest.mark.parametrize(("isa", "abi"), [("rv64gc_zicond_zbb", "lp64d"), ("rv32gc", "ilp32d"), ("rv32im", "ilp32")])
def test_a_compiled_program(isa: str, abi: str, tmp_path: Path) -> None:
    source = """
        static unsigned sieve(unsigned n) {
            static unsigned char composite[1000];
            unsigned count = 0;
            for (unsigned i = 2; i < n; ++i) {
                if (composite[i]) continue;
                ++count;
                for (unsigned j = i * i; j < n; j += i) composite[j] = 1;
            }
            return count;
        }
        static volatile double scale = 0.5;
        void _start(void) {
            register long code __asm__("a0") = (long)((double)sieve(1000) * scale);
            register long number __asm__("a7") = 93;
            __asm__ volatile("ecall" : : "r"(code), "r"(number));
            __builtin_unreachable();
        }
    """
    if "d" not in abi:
        source = source.replace("(long)((double)sieve(1000) * scale)", "sieve(1000) / 2").replace(
            "static volatile double scale = 0.5;", ""
        )
    (tmp_path / "a.c").write_text(source)
    zig = [sys.executable, "-m", "ziglang"]
    target = [f"--target=riscv{isa[2:4]}-unknown-elf", f"-march={isa}", f"-mabi={abi}", "-mno-relax"]
    subprocess.run(
        [*zig, "clang", *target, "-O2", "-ffreestanding", "-fno-pic", "-c", "a.c", "-o", "a.o"],
        check=True,
        cwd=tmp_path,
    )
    subprocess.run([*zig, "ld.lld", "-static", "-o", "a.elf", "a.o"], check=True, cwd=tmp_path)
    on = Machine(image.elf_image((tmp_path / "a.elf").read_bytes(), names.parse_isa(isa)))
    assert on.run().exit_code == 84
