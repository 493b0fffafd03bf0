# SPDX-License-Identifier: Apache-2.0
"""RISC-V as a target of C functions: a member is an instruction set; the file is a static ELF executable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument
from polyloom.targets.registry import FunctionRun, FunctionTarget
from polyloom.targets.riscv import names
from polyloom.targets.riscv.backend import abi
from polyloom.targets.riscv.backend.compile import compile_function
from polyloom.targets.riscv.backend.run import call
from polyloom.targets.riscv.disassemble import listing
from polyloom.targets.riscv.image import elf

_DEFAULT: Final = "rv64gc"


def _model(member: str) -> tuple[str, int]:
    xlen = names.parse(member).xlen
    return f"riscv{xlen}-unknown-elf", xlen // 8


def _call(data: bytes, function: Function, arguments: Sequence[Argument], member: str) -> FunctionRun:
    isa = names.parse(member)
    done = call(data, isa, function, arguments)
    code_bytes = sum(len(segment.data) for segment in elf(data, isa).segments if segment.is_code)
    facts = {"instructions": done.instructions, "code_bytes": code_bytes, "abi": abi.name(isa), "elf_bytes": len(data)}
    return FunctionRun(done.result, done.instructions, dict(facts))


def _show(data: bytes, member: str) -> str:
    isa = names.parse(member)
    code = next(segment for segment in elf(data, isa).segments if segment.is_code)
    return "\n".join(listing(code.data, isa, code.address))


TARGET: Final = FunctionTarget(
    name="riscv",
    member=lambda text: str(names.parse(text or _DEFAULT, "--on")),
    model=_model,
    compile=lambda function, member: compile_function(function, names.parse(member)).elf,
    call=_call,
    show=_show,
)
