# SPDX-License-Identifier: Apache-2.0
"""The intrinsics header beside the instruction table: every instruction, with its operands where they belong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from polyloom.riscv.image import elf_image
from polyloom.riscv.isa import Instruction, Row
from polyloom.riscv.symbols import symbol_extents
from polyloom.targets.minion.machine import load
from polyloom.targets.minion.source.compile_c import CProgram, compile_c
from polyloom.targets.minion.source.intrinsics import function_name, simd_header
from polyloom.targets.minion.words.isa import ISA, decode, extension_rows

pytest.importorskip("ziglang", reason="C needs the extra `c`")

_DECLARED: Final = re.compile(r"(?:ET_INTRINSIC ([\w ]+?) |#define )(et_\w+)\((.*?)\) (?:\{|__extension__)")
# Vectors that are arguments lie at the addresses in a0, a1, ...; constants differ, so that no two may be exchanged.
_CONSTANTS: Final = {"mask_": 5, "mask1_": 6, "mask2_": 3, "lane_": 7, "amount_": 11, "immediate_": 200}


def _declarations() -> dict[str, tuple[str, list[str]]]:
    """Type of the result and parameters of every function and macro of the header."""
    found = _DECLARED.findall(simd_header())
    return {
        name: (kind, [each for each in parameters.split(", ") if each != "void"]) for kind, name, parameters in found
    }


def _caller(name: str, kind: str, parameters: list[str]) -> str:
    """A function that calls an intrinsic with vectors from memory."""
    arguments: list[str] = []
    for parameter in parameters:
        if parameter in _CONSTANTS:
            arguments.append(str(_CONSTANTS[parameter]))
        elif parameter.endswith("_"):
            body = simd_header().partition(f"#define {name}(")[2].partition("\n#define")[0]
            kind_of = re.search(rf"(\w+) \*?__et_{parameter[:-1]} = ", body)
            assert kind_of, (name, parameter)
            arguments.append("vf" if kind_of[1] == "et_f32x8" else "vi" if kind_of[1] == "et_i32x8" else "n")
        else:
            type = parameter.rpartition(" ")[0]
            arguments.append("vf" if "f32x8" in type else "vi" if "i32x8" in type else "p" if "*" in parameter else "n")
    # Several vectors must not be one.
    shown = [f"{each}[{k}]" if each in ("vf", "vi") else each for k, each in enumerate(arguments)]
    return f"void call_{name}(et_f32x8 *vf, et_i32x8 *vi, void *p, uint64_t n) {{ (void){name}({', '.join(shown)}); }}"


def test_every_instruction_is_encoded_as_the_table_has_it(tmp_path: Path) -> None:
    declarations = _declarations()
    assert {function_name(row) for row in extension_rows()} <= set(declarations)
    source = tmp_path / "all.c"
    callers = [_caller(name, *declared) for name, declared in declarations.items()]
    table = f"void *const volatile table[] = {{{', '.join(f'(void *)call_{name}' for name in declarations)}}};"
    end = "int main(void) { return table[0] == 0; }"
    source.write_text("\n".join(["#include <minion.h>", *callers, table, end, ""]))
    data = compile_c(CProgram((str(source),)), load("et-soc-1"))
    places = symbol_extents(data)
    code = {name: _instructions(data, places[f"call_{name}"][0]) for name in declarations}
    for row in extension_rows():
        for name in (function_name(row), f"{function_name(row)}_masked"):
            if name in declarations:
                found = [each for each in code[name] if each.row is row]
                # Moves of vectors are FLQ2 and FSQ2.
                assert found, name
                assert len(found) == 1 or row.mnemonic in ("flq2", "fsq2"), name
                _check_operands(row, found[-1].values)


def _instructions(data: bytes, address: int) -> list[Instruction]:
    """Decoded instructions of a function, up to its return."""
    found = list[Instruction]()
    image = elf_image(data, ISA)
    segment = next(s for s in image.segments if s.address <= address < s.address + len(s.data))
    at = address - segment.address
    while True:
        instruction = decode(int.from_bytes(segment.data[at : at + 4], "little"))
        assert instruction, hex(address)
        found.append(instruction)
        if instruction.row.mnemonic in ("c.jr", "jalr"):
            return found
        at += instruction.row.size


def _check_operands(row: Row, values: tuple[int, ...]) -> None:
    """Constants are those of the call, and the vectors of one call are in different registers, in their order."""
    expected = {"md": 5, "ms1": 6, "ms2": 3, "v3": 7, "sh5": 11}
    for field, value in zip(row.fields, values, strict=True):
        if field.name in expected:
            assert value == expected[field.name], row.mnemonic
        if field.name in ("v8", "v10", "v20"):
            assert value == 200, row.mnemonic
    vectors = [
        value for field, value in zip(row.fields, values, strict=True) if field.kind == "f" and field.role != "rd"
    ]
    assert len(set(vectors)) == len(vectors), row.mnemonic
