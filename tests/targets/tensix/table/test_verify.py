# SPDX-License-Identifier: Apache-2.0
"""What `verify` says of words that the hardware would run to a wrong end; where the cure stands, it is silent."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.targets.tensix.table.conftest import Call

from polyloom.targets.target import Given
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.place import place
from polyloom.targets.tensix.words.isa import MEMBERS, Member
from polyloom.targets.tensix.words.program import Item, Program, read
from polyloom.targets.tensix.words.verify import verify

WRONG = {
    "read-too-early": ("SFPMAD L1, L0, L0, L9, 0", "SFPSTORE L1, 0, 0, 3"),
    "early-operand": ("SFPMULI L2, 0x3f80, 0", "SFPADDI L2, 0x3f80, 0"),
    "early-lut": ("SFPLUTFP32 L5, 0", "SFPABS L5, L5, 1"),
    "shuffle-followed": ("SFPSHFT2 L1, L2, 0, 3", "SFPIADD L3, L4, 1, 5"),
    "dst-too-early": ("TTMVMUL 0, 0, 0, 0", "TTSETRWC 0, 0, 0, 0, 0, 4", "SFPLOAD L0, 0, 0, 3"),
    "store-from-constant": ("SFPSTORE L12, 0, 0, 3",),
    "captured-template": ("SFPMOV L13, L0, 0",),
    "stack-overflow": ("SFPPUSHC 0",) * 9,
    "stack-underflow": ("SFPPUSHC 0", "SFPPOPC 0", "SFPPOPC 0"),
    "config-too-early": ("TTWRCFG 4, 0, ALU_FORMAT_SPEC_REG0_SrcA", "TTMVMUL 0, 0, 0, 0"),
    "gpr-before-load": ("TTLOADIND 1, 0, 0, 5, 4", "TTADDDMAREG 0, 6, 5, 5"),
    "replayed": ("TTREPLAY 0, 1, 0, 1", "SFPADD L0, L10, L0, L1, 0", "SFPMUL L0, L1, L1, L9, 0", "TTREPLAY 0, 1, 0, 0"),
    "odd-address": ("SFPSTORE L1, 5, 0, 3",),
    "reserved-mode": ("SFPLOADI L1, 0, 3",),
    "mutex": ("TTATGETM 1",),
    "not-modelled": ("TTXMOV 0, 0",),
    "stray-bits": (".word 0x8f000001",),
    "no-opcode": (".word 0xff000000",),
}
"""What is wrong in each is one thing."""

RIGHT = (
    ("SFPMAD L1, L0, L0, L9, 0", "SFPNOP", "SFPSTORE L1, 0, 0, 3"),
    ("SFPMAD L1, L0, L0, L9, 0", "SFPMAD L2, L0, L0, L9, 0", "SFPSTORE L1, 0, 0, 3"),
    ("SFPMAD L1, L0, L0, L9, 0", "TTINCRWC 0, 2, 0, 0", "SFPSTORE L1, 0, 0, 3"),
    ("SFPMAD L1, L0, L0, L9, 0", "SFPLOADI L1, 0, 0"),
    ("SFPMAD L1, L0, L0, L9, 0", "SFPLOADI L2, 0, 0"),
    ("SFPSWAP L1, L2, 1", "SFPSTORE L1, 0, 0, 3"),
    ("SFPSHFT2 L1, L2, 0, 3", "SFPNOP", "SFPIADD L3, L4, 1, 5"),
    ("SFPSHFT2 L1, L2, 3, 6", "SFPIADD L1, L1, 1, 5"),
    ("TTMVMUL 0, 0, 0, 0", "TTSTALLWAIT 0x100, 0x80", "SFPLOAD L0, 0, 0, 3"),
    ("TTMVMUL 0, 0, 0, 0", "SFPNOP", "SFPNOP", "SFPNOP", "SFPLOAD L0, 0, 0, 3"),
    ("SFPCONFIG 15, 2, 1", "SFPMOV L13, L0, 0"),
    ("SFPPUSHC 0", "SFPPOPC 3", "SFPPOPC 0"),
    ("TTWRCFG 4, 0, ALU_FORMAT_SPEC_REG0_SrcA", "TTNOP", "TTMVMUL 0, 0, 0, 0"),
    ("TTWRCFG 4, 0, PRNG_SEED_Seed_Val", "TTSETRWC 0, 0, 0, 0, 0, 4"),
    ("TTLOADIND 1, 0, 0, 5, 4", "TTSTALLWAIT 0x20, 1", "TTADDDMAREG 0, 6, 5, 5"),
    ("TTMOP 1, 0, 0", "SFPPOPC 0"),
)


def found(lines: tuple[str, ...], on: str = "") -> list[str]:
    text = "\n".join(lines).encode()
    return [d.message for d in verify(read(Given("k.tts", text, place(on), Options())), place(on).member)]


@pytest.mark.parametrize("name", WRONG)
def test_message(name: str, call: Call, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.tts").write_text("\n".join(WRONG[name]) + "\n", encoding="utf-8")
    status, out, err = call("verify", "k.tts", "--on", "tensix")
    assert status == 1
    assert err.count("error[") == 1
    golden(name, f"exit {status}\n{out}{err}")


@pytest.mark.parametrize("lines", RIGHT, ids=" / ".join)
def test_the_cure_is_enough(lines: tuple[str, ...]) -> None:
    assert found(lines) == []


def test_blackhole_waits_by_itself() -> None:
    for name in ("read-too-early", "shuffle-followed"):
        assert len(found(WRONG[name])) == 1
        assert found(WRONG[name], "blackhole") == []


@given(st.lists(st.integers(0, 0xFFFFFFFF), max_size=60), st.sampled_from(MEMBERS))
def test_any_words_are_verified(words: list[int], member: Member) -> None:
    """Whatever stands in a file: every finding says where, and a second look finds the same."""
    items = tuple(Item(4 * at, word) for at, word in enumerate(words))
    program = Program(items, {}, is_elf=False)
    messages = verify(program, member)
    assert all("at 0x" in d.message for d in messages)
    assert messages == verify(program, member)


def test_a_long_program_is_quick_enough() -> None:
    """Rules look back a bounded number of instructions: a thousand times the words take a thousand times the steps."""
    assert len(found(("SFPMAD L1, L0, L0, L9, 0", "SFPSTORE L1, 0, 0, 3") * 3000)) == 3000
