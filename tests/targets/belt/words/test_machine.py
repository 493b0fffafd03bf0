# SPDX-License-Identifier: Apache-2.0
"""Members: what the table of the machine says, resolved texts, and the text of every error."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import polyloom
from polyloom.codes import CODES as GENERAL
from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt import isa
from polyloom.targets.belt.codes import CODES
from polyloom.targets.belt.codes_words import CODES as WORDS
from polyloom.targets.belt.machine import LOOP_SLOTS, load, member, members, read, resolve
from polyloom.targets.belt.place import place
from polyloom.targets.belt.value_types import BYTES

TABLE = {  # belt, scratch, vector; R, P, W; loads and stores; stations; delays of loads
    "tin": (8, 128, 8, 2, 1, 2, 1, 8, (3, 10)),
    "copper": (8, 256, 16, 3, 1, 2, 2, 8, (3, 11)),
    "silver": (16, 512, 32, 4, 2, 3, 3, 16, (3, 20)),
    "gold": (32, 2048, 128, 8, 4, 5, 8, 32, (3, 36)),
    "gold5": (32, 2048, 128, 8, 4, 5, 5, 32, (3, 36)),
    "hex4": (32, 2048, 8, 8, 2, 4, 2, 32, (1, 36)),
    "unit": (32, 2048, 8, 1, 1, 1, 1, 1, (1, 8)),
}


@pytest.mark.parametrize("name", TABLE)
def test_members_are_those_of_the_page(name: str) -> None:
    m = member(name)
    kinds = [slot.kind for slot, _ in m.slots]
    counts = tuple(kinds.count(kind) for kind in "RPW")
    assert (m.belt, m.scratch, m.vector, *counts, len(m.unit_slots("ls")), m.stations, m.load) == TABLE[name]


def test_there_is_no_other_member() -> None:
    assert set(members()) == set(TABLE)
    assert [m for m in members() if not member(m).supports("addf")] == ["tin"]
    assert [m for m in members() if member(m).supports("muladd")] == ["hex4"]
    assert [m for m in members() if not member(m).supports("mins")] == ["copper", "gold", "gold5", "silver", "tin"]


@pytest.mark.parametrize("name", TABLE)
def test_resolved_texts(name: str, golden: Callable[[str, str], None]) -> None:
    text = resolve(member(name))
    assert read(text, name) == member(name)
    golden(f"member_{name}", f"{text}\nfingerprint {member(name).fingerprint:#018x}")


def test_latencies() -> None:
    silver, hex4 = member("silver"), member("hex4")
    assert [silver.latency(isa.OPS["mul"], width) for width in BYTES] == [3, 3, 3, 4, 5]
    assert [silver.latency(isa.OPS["shl"], width) for width in BYTES] == [1, 1, 1, 2, 2]
    assert [silver.latency(isa.OPS[op]) for op in ("add", "addf", "fmaf", "divs", "pick", "con")] == [1, 4, 5, 16, 0, 0]
    assert (silver.busy(isa.OPS["divs"]), silver.busy(isa.OPS["mul"])) == (16, 1)
    assert {hex4.latency(op, width) for op in isa.ROWS if op.phase == "C" and op.unit != "ls" for width in BYTES} == {1}


def test_without_phases_every_result_takes_a_bundle() -> None:
    assert {member("gold", phasing=False).latency(op) for op in isa.ROWS if op.results} <= {1, 2, 3, 4, 5, 16}
    assert member("gold", phasing=False) != member("gold")


def test_slots_of_a_counted_loop_take_its_three_operations_alone() -> None:
    hex4 = member("hex4")
    takers = {slot: {op.name for op in isa.ROWS if slot in hex4.issue_slots(op)} for slot in LOOP_SLOTS}
    assert takers[LOOP_SLOTS[0]] == {"add", "sub"}
    assert takers[LOOP_SLOTS[2]] == {"leave", "leavetr", "leavefl"}
    assert all(isa.OPS[name].latency == "compare" for name in takers[LOOP_SLOTS[1]])
    assert not any(slot in member("gold").issue_slots(op) for slot in LOOP_SLOTS for op in isa.ROWS)


BASE = 'name = "mine"\nbased_on = "silver"\n'
FAULTY = {
    "unknown_key": BASE + "belts = 8\n",
    "missing_key": 'name = "mine"\nbelt = 8\n',
    "belt_below_4": BASE + "belt = 3\n",
    "belt_beyond_words": BASE + "belt = 63\n",
    "vector_no_power": BASE + "vector = 24\n",
    "loads_the_wrong_way_round": BASE + "load = [8, 3]\n",
    "loads_at_once": BASE + "load = [0, 3]\n",
    "loads_of_one_number": BASE + "load = 3\n",
    "unknown_unit": BASE + '[slots]\nE0 = ["alu", "adder"]\nR = 1\nP = 1\nW = 1\n',
    "unknown_slot": BASE + '[slots]\nG0 = ["alu"]\nR = 1\nP = 1\nW = 1\n',
    "no_slot_for_products": BASE
    + '[slots]\nE0 = ["alu", "shift", "shuf"]\nF0 = ["ls", "control", "con", "conform"]\nR = 1\nP = 1\nW = 1\n',
    "no_slot_for_spills": BASE + '[slots]\nE0 = ["alu"]\nR = 1\nP = 1\nW = 0\n',
    "latency_zero": BASE + "[latency]\nalu = 0\n",
    "latency_by_width": BASE + "[latency]\nalu = { b = 1 }\n",
    "lacks_what_is_needed": BASE + 'lacks = ["add"]\n',
    "unknown_base": 'name = "mine"\nbased_on = "sliver"\n',
    "base_of_itself": 'name = "silver"\nbased_on = "silver"\n',
    "syntax": "name = mine\n",
}


def refusal(action: Callable[[], object]) -> str:
    with pytest.raises(PolyloomError) as caught:
        action()
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.code in {**CODES, **GENERAL}
        assert diagnostic.help
    return str(caught.value)


@pytest.mark.parametrize("name", FAULTY)
def test_errors(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"error_{name}", refusal(lambda: read(FAULTY[name], "mine.toml")))


@pytest.mark.parametrize("seed", range(60))
def test_one_changed_character_never_breaks_the_reader(seed: int) -> None:
    rng = Random(seed)
    text = resolve(member(rng.choice(members())))
    at = rng.randrange(len(text))
    changed = text[:at] + rng.choice(" \n\"'[]{}=,.#0a-") + text[at + 1 :]
    try:
        machine = read(changed, "changed.toml")
    except PolyloomError as error:
        assert error.diagnostics[0].code in {**CODES, **GENERAL}
    else:
        assert read(resolve(machine), "resolved") == machine


def test_places(tmp_path: Path) -> None:
    assert place("").machine == member("silver")
    assert place("gold:unphased").machine == member("gold", phasing=False)
    assert str(place("gold:unphased")) == "gold:unphased"
    path = tmp_path / "mine.toml"
    path.write_text(BASE + "belt = 12\n", encoding="utf-8")
    assert (place(str(path)).machine.belt, place(f"{path}:unphased").machine.phasing) == (12, False)


@pytest.mark.parametrize("text", ["sliver", "absent.toml", "gold:phases"])
def test_unknown_places(text: str, golden: Callable[[str, str], None]) -> None:
    golden(f"error_place_{text.replace(':', '_').replace('.', '_')}", refusal(lambda: place(text)))


def test_a_member_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes('name = "für"'.encode("latin-1"))
    assert "is not UTF-8 text" in refusal(lambda: load(str(path)))


def test_every_code_is_explained() -> None:
    folder = Path(polyloom.__file__).parent / "targets" / "belt"
    sources = (path for path in folder.rglob("*.py") if not path.name.startswith("codes"))
    raised = {code for path in sources for code in re.findall(r'"(PL10[0-4]\d)"', path.read_text(encoding="utf-8"))}
    assert sorted(raised) == sorted(WORDS)
    assert set(WORDS) <= set(CODES)
