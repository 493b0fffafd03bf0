# SPDX-License-Identifier: Apache-2.0
"""`--on minion:…`, machine files and the map of memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom.targets.minion.machine import Machine, load, read, resolve
from polyloom.targets.minion.memory_map import find_gap, scratchpad_address
from polyloom.targets.minion.place import Place, parse_place

CHIP = load("et-soc-1")


@pytest.mark.parametrize(
    ("text", "minions", "shires"), [("", 1, 1), ("5", 5, 1), ("32", 32, 1), ("64", 64, 2), ("1024", 1024, 32)]
)
def test_counts(text: str, minions: int, shires: int) -> None:
    found = parse_place(text)
    assert (found, found.shires) == (Place(CHIP, minions), shires)
    assert parse_place(str(found)) == found


def test_a_file_and_a_count(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text('name = "m"\nbased_on = "et-soc-1"\nshires = 2\n', encoding="utf-8")
    found = parse_place(f"{path}:64")
    assert (found.machine, found.minions) == (replace(CHIP, name="m", shires=2), 64)
    assert str(found) == f"{path}:64"
    assert parse_place(str(path)).minions == 1


@given(st.integers(1, 32), st.integers(1, 1022), st.integers(1, 1022), st.text(max_size=5))
def test_descriptions_are_read_back(shires: int, l2: int, l3: int, name: str) -> None:
    rest = 1024 - l2 - l3
    machine = Machine(name, shires, 4 * l2, 4 * l3, 4 * rest)
    if rest >= 0:
        assert read(resolve(machine), "m.toml") == machine


@given(st.integers(0, 31), st.integers(0, 2**23 - 1), st.integers(1, 2**23))
def test_scratchpads_by_shire(shire: int, offset: int, size: int) -> None:
    """A range is memory where all its bytes lie in the 2.5 MiB of one shire."""
    inside = offset + size <= 2560 * 1024
    assert (find_gap(CHIP, scratchpad_address(shire, offset), size) is None) == inside


def test_scratchpads_by_lines() -> None:
    """With all 32 shires the lines follow one another without a gap; with fewer, each 2 KiB have one."""
    whole = 32 * CHIP.scratchpad_bytes
    assert find_gap(CHIP, 0xC000_0000, whole) is None
    assert find_gap(CHIP, 0xC000_0000, whole + 1) is not None
    few = replace(CHIP, shires=2)
    assert find_gap(few, 0xC000_0800, 128) is None
    assert find_gap(few, 0xC000_0800, 129) is not None
    assert find_gap(few, 0xC000_0080, 1) is not None


@pytest.mark.parametrize(
    ("address", "what"),
    [
        (0x1000, "the I/O region"),
        (0x4000_0000, "the service processor"),
        (0x1_0000_0000, "the region of ESRs"),
        (0x2_0000_0000, "nothing"),
        (0x40_0000_0000, "PCIe"),
        (0xC0_0000_0000, "the uncacheable alias of DRAM"),
        (0x9000_0000, "shire 32, which et-soc-1 does not have"),
        (-1, "nothing"),
    ],
)
def test_what_is_no_memory_has_a_name(address: int, what: str) -> None:
    found = find_gap(CHIP, address, 8)
    assert found is not None and (found.address, found.what) == (address, what)
