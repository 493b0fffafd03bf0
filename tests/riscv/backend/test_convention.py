# SPDX-License-Identifier: Apache-2.0
"""The calling convention is clang's: our functions call those that clang compiled for RISC-V, and are called by these.

Both executables are in one memory; where a called function of one begins, a jump leads to that of the other.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from tests.riscv.backend.test_functions import CALLS, calling, copied, equal, given
from tests.transform.ssa.native import same

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.riscv import names, symbols
from polyloom.riscv.assemble import assemble
from polyloom.riscv.backend import abi
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import call_image
from polyloom.riscv.image import Image, elf_image

pytest.importorskip("ziglang", reason="C needs the extra `c`")

INTEGER = ("narrow_results", "narrow_arguments", "many_arguments", "pointed", "across", "longs_across")
FLOATING = ("single_arguments", "float_arguments", "floats_after_integers", "floats_across")
CASES = [
    *((name, isa) for name in (*INTEGER, *FLOATING) for isa in ("rv64gc", "rv32gc")),
    *((name, isa) for name in INTEGER for isa in ("rv64imac", "rv32im")),
    *(("single_arguments", isa) for isa in ("rv64imafc", "rv32imf")),
]


@cache
def _by_clang(isa: names.Isa) -> bytes:
    """The functions of the file as clang compiles them, with calls that stay calls; tables and runtime functions are
    not needed."""
    zig = [sys.executable, "-m", "ziglang"]
    with TemporaryDirectory() as folder:
        target = [
            f"--target=riscv{isa.xlen}-unknown-elf",
            f"-march={isa}",
            f"-mabi={abi.abi_name(isa)}",
            "-mno-relax",
            "-fno-pic",
        ]
        options = [*target, "-O1", "-w", "-fwrapv", "-ffp-contract=off", "-fsigned-char"]
        subprocess.run([*zig, "clang", *options, "-c", str(CALLS), "-o", "a.o"], check=True, cwd=folder)
        link = [
            *zig,
            "ld.lld",
            "-static",
            "--image-base=0x40000",
            "--unresolved-symbols=ignore-all",
            "-e",
            "across",
            "-o",
            "a.elf",
            "a.o",
        ]
        subprocess.run(link, check=True, cwd=folder, capture_output=True)
        return Path(folder, "a.elf").read_bytes()


def _places(data: bytes) -> dict[str, int]:
    return {name: address for address, name in symbols.read_tables(data).names.items()}


def _led(image: Image, jumps: Mapping[int, int]) -> Image:
    """With a jump to the other address at each."""
    segments = list(image.segments)
    for place, target in jumps.items():
        k, segment = next(
            (k, s) for k, s in enumerate(segments) if s.is_code and s.address <= place < s.address + len(s.data)
        )
        jump = assemble(f"jal x0, {target - place}", image.isa).data
        at = place - segment.address
        segments[k] = replace(segment, data=segment.data[:at] + jump + segment.data[at + len(jump) :])
    return replace(image, segments=tuple(segments))


def _joined(isa: names.Isa, function: Function, ours_first: bool) -> Image:
    """An image that enters at our function, or at clang's, and goes on in what the other made of the functions that it
    calls."""
    own, other = compile_function(function, isa).elf, _by_clang(isa)
    places = _places(own), _places(other)
    caller, callee = places if ours_first else places[::-1]
    first, second = elf_image(own, isa), elf_image(other, isa)
    image = Image(isa, (*first.segments, *second.segments), caller[function.name])
    assert function.others
    return _led(image, {caller[f.name]: callee[f.name] for f in function.others})


@pytest.mark.parametrize(
    ("name", "isa"), [pytest.param(*case, marks=pytest.mark.long if k // 2 % 2 else ()) for k, case in enumerate(CASES)]
)
def test_calls_and_is_called_by_what_clang_compiles(name: str, isa: str) -> None:
    machine = names.parse_isa(isa)
    function = calling(machine.xlen)[name]
    random = np.random.default_rng(0)
    for image in (_joined(machine, function, True), _joined(machine, function, False)):
        for _ in range(5):
            values = given(function, random)
            ours, expected = copied(values), copied(values)
            result = interpret(function, expected)
            assert same(call_image(image, function, ours, limit=10**6).result, result), values
            assert equal(ours, expected)


def test_a_jump_to_another_function_is_noticed() -> None:
    """The jumps are taken."""
    isa = names.parse_isa("rv64gc")
    function = calling(64)["narrow_results"]
    own = _places(compile_function(function, isa).elf)
    image = _led(_joined(isa, function, True), {own["small"]: _places(_by_clang(isa))["character"]})
    assert not same(call_image(image, function, [100, 5], limit=10**6).result, interpret(function, [100, 5]))
