# SPDX-License-Identifier: Apache-2.0
"""RISC-V as a target of C functions: a member is an instruction set; the file is a static ELF executable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument
from polyloom.targets.registry import FunctionRun, FunctionTarget, Json
from polyloom.targets.riscv import symbols
from polyloom.targets.riscv.backend import abi
from polyloom.targets.riscv.backend.compile import compile_function
from polyloom.targets.riscv.backend.run import call
from polyloom.targets.riscv.disassemble import addresses, listing
from polyloom.targets.riscv.image import MAGIC, elf
from polyloom.targets.riscv.names import Isa, parse

_DEFAULT: Final = "rv64gc"
_WIDE: Final = b"\x02"
"""ELF's class of files for 64 bits."""


def _model(member: str) -> tuple[str, int]:
    xlen = parse(member).xlen
    return f"riscv{xlen}-unknown-elf", xlen // 8


def _call(data: bytes, function: Function, arguments: Sequence[Argument], member: str, limit: int, watch: Callable[[int], None]) -> FunctionRun:
    isa = parse(member)
    done = call(data, isa, function, arguments, limit, watch)
    code_bytes = sum(len(segment.data) for segment in elf(data, isa).segments if segment.is_code)
    facts = {"instructions": done.instructions, "code_bytes": code_bytes, "abi": abi.name(isa), "elf_bytes": len(data)}
    return FunctionRun(done.result, done.instructions, dict(facts))


def _show(data: bytes, member: str) -> str:
    """With the names of functions, where there are several."""
    isa, names = parse(member), symbols.read(data).names
    code = next(segment for segment in elf(data, isa).segments if segment.is_code)
    return "\n".join(line for _, line in _listed(code.data, isa, code.address, names if len(names) > 1 else {}))


def _listed(code: bytes, isa: Isa, start: int, names: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Lines with their addresses: instructions, and names above them."""
    for address, line in zip(addresses(code, start), listing(code, isa, start), strict=True):
        if address in names:
            yield address, f"{names[address]}:"
        yield address, line


def _inspect(data: bytes) -> tuple[dict[str, Json], str]:
    """Any executable, disassembled with all extensions that are modelled; words that are no instructions are `illegal`."""
    isa = parse("rv64gc_zicond_zbb" if data[4:5] == _WIDE else "rv32gc_zicond_zbb")
    image = elf(data, isa)
    tables = symbols.read(data)
    illegal: list[Json] = []
    lines = [f"# entry {image.entry:#x}", *(f"# {s.size} bytes of data at {s.address:#x}" for s in image.segments if not s.is_code)]
    for start, code in tables.code or [(s.address, s.data) for s in image.segments if s.is_code]:
        for address, line in _listed(code, isa, start, tables.names):
            lines.append(line)
            illegal += [address] if "  ." in line else []
    named: dict[str, Json] = {name: address for address, name in tables.names.items()}
    found: dict[str, Json] = {"xlen": isa.xlen, "entry": image.entry, "symbols": named, "illegal": illegal, "listing": "\n".join(lines)}
    return found, "\n".join(lines)


TARGET: Final = FunctionTarget(
    name="riscv",
    member=lambda text: str(parse(text or _DEFAULT, "--on")),
    model=_model,
    compile=lambda function, member: compile_function(function, parse(member)).elf,
    call=_call,
    show=_show,
    magic=MAGIC,
    inspect=_inspect,
)
