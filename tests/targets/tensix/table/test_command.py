# SPDX-License-Identifier: Apache-2.0
"""`asm`, `show`, `verify` and `machines` of the Tensix target, in both forms, and what they say to bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.targets.tensix.table.conftest import Call, link

import polyloom
from polyloom.targets.tensix import header
from polyloom.targets.tensix import python as tensix
from polyloom.targets.tensix.words.isa import MEMBERS, table

KERNEL = """; x * x, a row of eight times
SFPLOAD L0, 0, 0, 3
TTI_SFPMUL(0, 0, 9, 1, 0);
SFPNOP
SFPSTORE L1, 0, 0, 3
TTINCRWC 0, 2, 0, 0
TTSETC16 DEST_TARGET_REG_CFG_MATH_Offset, 0
"""
BAD = {
    "unknown": "SFPMDA L1, L0, L13, L14, 0",
    "unlike": "INCRCW 0, 2, 0, 0",
    "of-blackhole": "SFPARECIP L1, L0, 0, 0",
    "range": "SFPLOADI L3, 65536, 8",
    "register": "SFPMAD L16, L0, L13, L14, 0",
    "no-register": "SFPMAD L17, L0, L13, L14, 0",
    "many": "SFPABS L1, L0, 0, 0",
    "field": "SFPABS L1, L0, mdo1=1",
    "twice": "SFPABS L1, L0, vd=L2",
    "order": "SFPABS vd=L1, L0",
    "name": "TTSETC16 ADR_MOD_SET_Base, 1",
    "expression": "SFPLOADI L3, 5 +, 8",
    "parenthesis": "SFPLOADI L3, (5 + 2, 8",
    "shift": "SFPLOADI L3, 1 << 99, 8",
    "words": "SFPLOADI L3 5 8",
    "macro": "TTI_SFPNOP(",
    "nothing": "; only a comment",
    "no-instruction": "3 + 4",
    "word": ".word 0x100000000",
    "several": "SFPNOPE\nSFPNOP\nSFPLOADI L3, -1, 8",
}
FIRMWARE = """
#include "tensix_wormhole.h"
#include "tensix_config.h"
int main(void) {
    TTI_SETC16(DEST_TARGET_REG_CFG_MATH_Offset_ADDR32, 0);
    for (int i = 0; i < 4; i++) TT_SFPLOADI(1, 0, i);
    TTI_SFPMAD(0, 13, 14, 1, 0);
    TTI_SFPNOP();
    return 0;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.tts").write_text(KERNEL, encoding="utf-8")


@pytest.mark.parametrize("form", ["tensix", "riscv"])
def test_words_in_both_forms(call: Call, golden: Golden, form: str) -> None:
    assert call("asm", "k.tts", "--on", "tensix", "--form", form, "-o", "k.bin")[0] == 0
    listing = call("show", "k.bin", "--on", "tensix", "--form", form)[1]
    golden("listing", listing)
    assert call("show", "k.tts", "--on", "tensix")[1] == listing
    assert call("verify", "k.bin", "--on", "tensix", "--form", form)[0] == 0


def test_listing_as_json(call: Call) -> None:
    found = json.loads(call("show", "k.tts", "--on", "tensix", "--json")[1])
    assert found["member"] == "wormhole"
    assert found["tensix"] == list(tensix.assemble(KERNEL).words)


def test_a_form_is_of_this_target(call: Call, golden: Golden) -> None:
    assert call("asm", "k.tts", "--on", "tensix", "-o", "k.bin")[0] == 0
    shown = [call("show", "k.bin", "--form", "riscv"), call("show", "k.bin", "--on", "tensix", "--form", "arm")]
    shown += [call("show", "k.bin", "--on", "tensix", "--form", "riscv"), call("show", "k.bin", "--on", "tensix:gs")]
    golden("forms", "\n".join(f"exit {status}\n{out}{err}" for status, out, err in shown))


@pytest.mark.parametrize("name", BAD)
def test_message(name: str, call: Call, golden: Golden) -> None:
    Path("bad.tts").write_text(BAD[name] + "\n", encoding="utf-8")
    status, out, err = call("asm", "bad.tts", "--on", "tensix", "-o", "bad.bin")
    assert status == 1
    assert not Path("bad.bin").exists()
    golden(f"asm-{name}", f"exit {status}\n{out}{err}")


def test_each_member_has_names_of_its_own(call: Call, golden: Golden) -> None:
    """Words differ: the same name is another number."""
    lines = "TTSETC16 FIDELITY_BASE_Phase, 1\nTTRMWCIB0 1, 2, PRNG_SEED_Seed_Val\n"
    Path("names.tts").write_text(lines, encoding="utf-8")
    shown: list[str] = []
    for member in ("wormhole", "blackhole"):
        assert call("asm", "names.tts", "--on", f"tensix:{member}", "-o", "names.bin")[0] == 0
        shown.append(call("show", "names.bin", "--on", f"tensix:{member}")[1])
    golden("names-of-members", "".join(shown))
    Path("names.tts").write_text("TTSETC16 ADDR_MOD_SET_Base, 0\n", encoding="utf-8")
    status, out, err = call("asm", "names.tts", "--on", "tensix:blackhole", "-o", "names.bin")
    golden("names-of-blackhole", f"exit {status}\n{out}{err}")


@pytest.mark.parametrize("processor", ["riscv32 generic_rv32+m+c", "riscv64 generic_rv64+m", "x86_64 baseline"])
def test_programs_of_other_machines(call: Call, golden: Golden, processor: str) -> None:
    machine, features = processor.split()
    link("b", "int main(void) { return 0; }", machine, features)
    shown = [call(verb, "fw.elf", "--on", "tensix") for verb in ("show", "verify", "simulate")]
    golden(f"machine-{machine}", "\n".join(f"exit {status}\n{out}{err}" for status, out, err in shown))


def test_files_that_are_no_programs(call: Call, golden: Golden) -> None:
    Path("odd.bin").write_bytes(b"\x01\x02\x03")
    Path("text.tts").write_bytes(b"\xff\xfe")
    Path("high.tts").write_text(".word 0xc0000000\n", encoding="utf-8")
    shown = [call("show", "odd.bin", "--on", "tensix"), call("verify", "text.tts", "--on", "tensix")]
    shown += [call("asm", "high.tts", "--on", "tensix", "--form", "riscv", "-o", "high.bin")]
    golden("no-programs", "\n".join(f"exit {status}\n{out}{err}" for status, out, err in shown))


def test_machines_tell_where_the_headers_are(call: Call) -> None:
    found = json.loads(call("machines", "tensix", "--json")[1])
    assert found["machines"] == [f"tensix:{member}" for member in MEMBERS]
    assert found["include"] == tensix.include
    assert {"tensix.h", "crt0.S", "b.ld", "t0.ld", "t1.ld", "t2.ld", "nc.ld"} <= {
        path.name for path in Path(found["include"]).iterdir()
    }
    assert json.loads(call("machines", "tensix:blackhole", "--json")[1])["l1_bytes"] == 0x180000


def test_the_name_in_python() -> None:
    assert polyloom.tensix is tensix  # pyright: ignore[reportAttributeAccessIssue]  # names of targets are found when used


def test_headers_that_were_built_are_those_of_the_table() -> None:
    """They stand beside those that were written by hand; an edited table asks for `make .venv/installed`."""
    built = {name: (Path(tensix.include) / name).read_text(encoding="utf-8") for name, _ in header.files()}
    assert built == dict(header.files())


def test_a_macro_and_a_setting(golden: Golden) -> None:
    """The first of each header, as a C compiler sees it."""
    heads = ["\n".join(text.splitlines()[:20]) for _, text in header.files()]
    golden("generated_headers", "\n\n".join(heads))


@pytest.mark.parametrize("core", ["b", "t0", "t1", "t2", "nc"])
def test_firmware_in_c(call: Call, core: str) -> None:
    """A program of clang's with all three kinds of macros, whose Tensix words stand among RISC-V instructions."""
    link(core, FIRMWARE)
    status, listing, err = call("show", "fw.elf", "--on", "tensix")
    assert (status, err) == (0, "")
    for line in ("SFPMAD L1, L0, L13, L14, 0", "SFPNOP", "TTSETC16 1, 0  ; DEST_TARGET_REG_CFG_MATH_Offset", "ebreak"):
        assert any(shown.endswith(line) for shown in listing.splitlines()), line
    start = {"b": 0, "t0": 0x6000, "t1": 0xA000, "t2": 0xE000, "nc": 0x12000}[core]
    lines = [line for line in listing.splitlines() if not line.endswith(":")]
    assert lines[0].startswith(f"{start:8x}:")
    assert call("verify", "fw.elf", "--on", "tensix") == (0, "fw.elf: valid\n", "")


def test_macros_give_the_words_of_the_assembler() -> None:
    rows = [row for row in table().values() if row.opcode < 0xC0]
    calls = [f"{row.name}({', '.join(str(f.most if f.kind != 's' else 5) for f in row.fields)})" for row in rows]
    data = ", ".join(f"TT_OP_{call}" for call in calls)
    text = f'#include "tensix_wormhole.h"\nconst volatile uint32_t words[] = {{{data}}};'
    link("b", f"{text}\nint main(void) {{ return words[0]; }}")
    expected = tensix.assemble("\n".join(f"TTI_{call}" for call in calls)).words
    assert b"".join(word.to_bytes(4, "little") for word in expected) in Path("fw.elf").read_bytes()
