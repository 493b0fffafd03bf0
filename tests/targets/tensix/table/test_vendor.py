# SPDX-License-Identifier: Apache-2.0
"""Names, opcodes and positions are those that wolfpine publishes, and every bit of a word has one meaning."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pytest

from polyloom.targets.tensix.words.configuration import settings
from polyloom.targets.tensix.words.isa import MEMBERS, UNITS, Member, table

_UNITS = {
    "SYNC": "sync",
    "MATH": "matrix",
    "SFPU": "vector",
    "THCON": "scalar",
    "CFG": "config",
    "PACK": "pack",
    "UNPACK": "unpack",
    "XMOV": "mover",
    "TDMA": "misc",
}
_FRONT = ("MOP", "MOP_CFG", "REPLAY", "NOP", "RESOURCEDECL")
"""wolfpine calls the unit of some of them that of what follows."""

_CORRECTED = {f"THCON_SEC{section}_REG2_Context_count": 0xC0 for section in (0, 1)}
"""Published masks that lie outside of the field's own shift."""


def _published(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml", reason="PyYAML, of the dev group, is not installed")
    spec = find_spec("framework")
    if spec is None or spec.submodule_search_locations is None:
        pytest.skip("wolfpine, of the dev group, is not installed")
    path = Path(next(iter(spec.submodule_search_locations))) / "pe" / "tensix" / name
    return cast("dict[str, Any]", yaml.safe_load(path.read_text(encoding="utf-8")))


def test_instructions_are_the_published_ones() -> None:
    published = _published("tensix_instructions.yaml")
    ours = {row.name: row for row in (*table("blackhole").values(), *table().values())}
    assert sorted(ours) == sorted(published)
    for name, theirs in published.items():
        row = ours[name]
        listed = theirs.get("arguments")
        arguments = cast("list[dict[str, Any]]", listed) if isinstance(listed, list) else []
        assert row.opcode == theirs["op_binary"], name
        expected = {str(a["name"]).replace(" ", "_"): int(a["start_bit"]) for a in arguments}
        assert {f.name: f.shift for f in row.fields} == expected, name
        assert [f.shift for f in row.fields] == sorted(expected.values(), reverse=True), name
        assert row.unit == ("front" if name in _FRONT else _UNITS[theirs["ex_resource"]]), name


@pytest.mark.parametrize(
    ("member", "file"),
    [("wormhole", "tensix_backend_cfg.yaml"), ("blackhole", "tensix_backend_cfg_blackhole.yaml")],
)
def test_configuration_is_the_published_one(member: Member, file: str) -> None:
    published = _published(file)
    corrected = _CORRECTED if member == "wormhole" else {}
    ours = {s.name: {"ADDR32": s.word, "SHAMT": s.shift, "MASK": s.mask} for s in settings(member).values()}
    unlike = {name: place for name, place in published.items() if ours.get(name) != place}
    assert set(unlike) == set(corrected)
    assert set(ours) == set(published)
    for name, mask in corrected.items():
        assert ours[name] == {**unlike[name], "MASK": mask}, name


@pytest.mark.parametrize("member", MEMBERS)
def test_no_bit_has_two_meanings(member: Member) -> None:
    for row in table(member).values():
        taken = 0xFF000000
        for field in row.fields:
            assert not taken & field.mask, (row.name, field.name)
            taken |= field.mask
        assert row.unit in UNITS
        assert set(row.operands) <= set(row.fields)


def test_the_modes_of_addressing_are_wider_on_blackhole() -> None:
    for name, opcode, bits in (
        ("sfpu_addr_mode", 0x70, (13, 3)),
        ("addr_mode", 0x26, (14, 3)),
        ("addr_mode", 0x33, (15, 3)),
        ("instr_mod", 0x13, (11, 3)),
        ("dst", 0x13, (0, 11)),
    ):
        field = table("blackhole")[opcode].field(name)
        assert field is not None
        assert (field.shift, field.width) == bits
