# SPDX-License-Identifier: Apache-2.0
"""Machine descriptions: the shipped members, resolved texts, and the text of every error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyloom.codes import CODES
from polyloom.diagnostics import PolyloomError
from polyloom.ir.operations import BY_NAME, CONVERSIONS, DIVISIONS, ELEMENT_TYPES, OPERATIONS, STORED, ElementType
from polyloom.targets.tcpa.machine import ACCESSES, FunctionalUnit, Machine
from polyloom.targets.tcpa.machine_file import fingerprint, load, members, read, resolve

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


PAIRS: list[tuple[str, ElementType]] = [(o.name, t) for o in OPERATIONS if o.gives not in STORED for t in o.types]


@st.composite
def units(draw: st.DrawFn, name: str) -> FunctionalUnit:
    latencies = draw(st.dictionaries(st.sampled_from(PAIRS), st.integers(1, 255), min_size=1, max_size=60))
    operations = sorted({operation for operation, _ in latencies})
    return FunctionalUnit(name, latencies, {o: draw(st.just(o) | NAMES) for o in operations}, draw(st.booleans()))


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    def capacity(most: int) -> int | None:
        return draw(st.none() | st.integers(1, most))

    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    return replace(
        load("unit"),
        name=draw(NAMES),
        units=tuple(draw(units(name)) for name in names),
        destinations=draw(st.integers(1, 15)),
        channels=capacity(4096),
        adjacency=draw(st.none() | st.just((("west0", "pe0"), ("pe0", "east0")))),
        half_spaces=draw(st.booleans()),
        bank_words=capacity(1 << 31),
        rows=capacity(4096),
        bank_halves=draw(st.integers(1, 2)),
        dma_words=capacity(1 << 16),
        dma_request_cycles=draw(st.integers(0, 99)),
        configuration_words=capacity(1 << 16),
        clock_mhz=draw(st.none() | st.floats(0.001, 9999)),
    )


def test_words_and_types_narrow_what_units_execute() -> None:
    narrow = read(BASE + "word_bits = 32\n", "narrow")
    assert narrow.types == tuple(t for t in ELEMENT_TYPES if t != "f64")
    # What gives an f64 of a narrow type is gone, too.
    assert not [p for u in narrow.units for p in u.latencies if p[1] == "f64" or p[0] == "to_f64"]
    assert read(BASE, "wide").find_units("to_f64", "i32")
    integers = read(BASE + 'types = ["i32", "i8"]\n', "integers")
    assert integers.types == ("i8", "i32") and not integers.find_units("to_f32", "i32")
    assert "sqrt" not in [u.name for u in integers.units]
    assert read(resolve(integers), "again") == integers


def test_a_machine_from_before_widths_keeps_its_fingerprint() -> None:
    # Also that of `mine` as it was: configurations that were made for it are run.
    assert fingerprint(read(BASE + "word_bits = 64\n", "mine")) == fingerprint(read(BASE, "mine"))
    assert "word_bits" not in resolve(load("wide")) and "\ntypes" not in resolve(load("wide"))


def test_memory_and_configuration_are_without_limit_where_a_file_says_nothing() -> None:
    keys = {
        "dma_words": None,
        "dma_request_cycles": 0,
        "configuration_words": None,
        "bank_halves": 1,
        "clock_mhz": None,
    }
    wide, mid, mid16 = load("wide"), load("mid"), load("mid16")
    assert {key: getattr(wide, key) for key in keys} == keys and not set(keys).intersection(resolve(wide).split())
    same = 'dma_words = "unlimited"\ndma_request_cycles = 0\nconfiguration_words = "unlimited"\nbank_halves = 1\n'
    assert fingerprint(read(BASE + same, "mine")) == fingerprint(read(BASE, "mine"))
    assert [getattr(mid, key) for key in keys] == [2, 6, 1, 2, None]
    assert [getattr(mid16, key) for key in keys] == [2, 6, 1, 1, None]


def test_energies_read_back() -> None:
    machine = read(BASE + ENERGY + "operations = { mul = { i32 = 3.1, f32 = 4 }, add = 0.1 }\n", "mine")
    assert machine.energy is not None and read(resolve(machine), "again") == machine
    names = ("mul i32", "mul f32", "mul i8", "add f32", "xor i32")
    assert [machine.energy.operation_energy(name) for name in names] == [3.1, 4, 0.5, 0.1, 0.5]
    assert machine.energy.accesses["hop"] == ACCESSES.index("hop")
    assert fingerprint(machine) != fingerprint(read(BASE, "mine"))


def test_area_table() -> None:
    """Figures of the parts, each optional; those of an array need all three and a number of channels."""
    text = f'{BASE}channels = 2\n[area]\nsource = "a report"\nunit = "µm²"\n'
    machine = read(text + "element = 100\nbank = 10\ncontroller = 7.5\nmemory_bit = 0.5\n", "mine")
    assert machine.area is not None and read(resolve(machine), "again") == machine
    assert machine.array_area(2, 3) == 6 * 100 + 2 * (2 + 3) * 2 * 10 + 7.5
    assert read(text + "element = 100\n", "mine").array_area(2, 3) is None
    assert read(BASE, "mine").array_area(2, 3) is None


def test_members() -> None:
    assert members() == ("fau", "generic", "ideal", "mid", "mid16", "paper", "unit", "wide")
    for name in members():
        assert load(name).name == name
    assert len({fingerprint(load(name)) for name in members()}) == len(members())


@pytest.mark.parametrize("name", members())
def test_resolved_text(name: str, golden: Callable[[str, str], None]) -> None:
    machine = load(name)
    text = resolve(machine)
    assert read(text, name) == machine
    golden(name, f"{text}\nfingerprint {fingerprint(machine):#018x}")


@settings(max_examples=20)
@given(machines())
def test_reads_back_what_it_resolves(machine: Machine) -> None:
    text = resolve(machine)
    assert read(text, "resolved") == machine
    assert read("\ufeff" + text.replace("\n", "\r\n"), "resolved") == machine
    assert resolve(read(text, "resolved")) == text


def test_every_operation_has_a_unit_where_the_member_promises_it() -> None:
    for name in ("generic", "unit", "wide", "ideal"):
        machine = load(name)
        assert all(machine.find_units(*pair) for pair in PAIRS)
    converting, paper = {o.name for o in CONVERSIONS}, load("paper")
    assert {pair for pair in PAIRS if paper.find_units(*pair)} == {
        (name, t) for name, t in PAIRS if t in ("i8", "i16", "i32", "f32") and name not in converting
    }
    assert {o for o in BY_NAME if load("fau").find_units(o, "i32")} == {
        "add",
        "sub",
        "neg",
        "abs",
        "mul",
        "and",
        "or",
        "xor",
        "shl",
        "shr",
        "move",
    }


def test_latencies_of_wide() -> None:
    wide = load("wide")
    latency = {(o, t): wide.units[wide.find_units(o, t)[0]].latencies[o, t] for o, t in PAIRS}
    longer = {("add", "f32"): 3, ("sub", "f32"): 3, ("sqrt", "f32"): 16, ("sqrt", "f64"): 16}
    longer |= {("add", "f64"): 4, ("sub", "f64"): 4, ("mul", "f64"): 5, ("madd", "f64"): 6}
    by_operation = {"mul": 3, "madd": 4} | dict.fromkeys(DIVISIONS, 12)
    assert latency == {(o, t): longer.get((o, t), by_operation.get(o, 1)) for o, t in latency}
    assert [u.name for u in wide.units if not u.pipelined] == ["div", "sqrt"]


BASE = 'name = "mine"\nbased_on = "wide"\n'
UNIT = BASE + '[[unit]]\nname = "alu"\noperations = ["add", "mul"]\n'
ACCESS_ENERGIES = "".join(f"{name} = {n}\n" for n, name in enumerate(ACCESSES))
ENERGY = f'[energy]\nsource = "a table"\n{ACCESS_ENERGIES}operation = 0.5\n'
FAULTY = {
    "endless_integer": 'based_on = "wide"\nchannels = ' + "9" * 5000 + "\n",
    "endless_brackets": 'based_on = "wide"\nchannels = ' + "[" * 5000 + "\n",
    "syntax": 'name = mine\nbased_on = "wide"\n',
    "syntax_at_the_end": BASE + "channels = [",
    "repeated_key": BASE + "channels = 1\nchannels = 2\n",
    "unknown_key": BASE + "fifo_dept = 4\n",
    "unknown_key_far_from_all": BASE + "zzz = 4\n",
    "unknown_unit_key": UNIT + "latencies = 1\n",
    "unknown_section": BASE + "\n[units]\n",
    "missing_key": 'name = "mine"\ndestinations = 1\n',
    "missing_unit_key": BASE + '\n[[unit]]\nname = "alu"\n',
    "text_for_integer": BASE + 'channels = "5"\n',
    "boolean_for_integer": BASE + "hop_delay = true\n",
    "integer_for_boolean": BASE + "half_spaces = 1\n",
    "float_for_integer": BASE + "channels = 1.5\n",
    "date_for_text": "name = 2026-01-01\n",
    "unlimited_where_a_number_is_needed": BASE + 'branch_flags = "unlimited"\n',
    "too_large": BASE + "destinations = 16\n",
    "negative": BASE + "hop_delay = -1\n",
    "zero_rows": BASE + "rows = 0\n",
    "bad_name": 'name = "my machine"\nbased_on = "wide"\n',
    "unknown_base": 'name = "mine"\nbased_on = "wild"\n',
    "unit_not_a_section": BASE + "unit = 3\n",
    "no_unit": BASE + "unit = []\n",
    "unit_named_twice": UNIT + '[[unit]]\nname = "alu"\noperations = ["sub"]\n',
    "no_operation": BASE + '[[unit]]\nname = "alu"\noperations = []\n',
    "unknown_operation": BASE + '[[unit]]\nname = "alu"\noperations = ["add", "mull"]\n',
    "operation_twice": BASE + '[[unit]]\nname = "alu"\noperations = ["add", "add"]\n',
    "operation_not_a_text": BASE + '[[unit]]\nname = "alu"\noperations = ["add", 7]\n',
    "unit_of_unknown_type": UNIT + 'types = ["i32", "i63"]\n',
    "latency_of_another_operation": UNIT + "latency = { sub = 1 }\n",
    "latency_zero": UNIT + "latency = { add = 0 }\n",
    "latency_of_another_type": UNIT + "latency = { add = { f16 = 1 } }\n",
    "latency_without_types": UNIT + "latency = { add = {} }\n",
    "latency_section": UNIT + "[unit.latency]\nadd = 300\n",
    "words_of_12_bits": BASE + "word_bits = 12\n",
    "words_of_48_bits": BASE + "word_bits = 48\n",
    "type_wider_than_words": BASE + 'word_bits = 32\ntypes = ["i32", "f64"]\n',
    "machine_of_unknown_type": BASE + 'types = ["i32", "int8"]\n',
    "no_unit_of_the_type": BASE + 'types = ["i32"]\n[[unit]]\nname = "alu"\noperations = ["add"]\ntypes = ["f32"]\n',
    "dma_of_no_words": BASE + "dma_words = 0\n",
    "dma_as_a_text": BASE + 'dma_words = "two"\n',
    "dma_request_negative": BASE + "dma_request_cycles = -1\n",
    "configuration_of_half_a_word": BASE + "configuration_words = 0.5\n",
    "three_halves": BASE + "bank_halves = 3\n",
    "clock_of_zero": BASE + "clock_mhz = 0\n",
    "clock_as_a_text": BASE + 'clock_mhz = "fast"\n',
    "clock_twice": BASE + "clock_mhz = 50\n[stated]\nclock_mhz = 60\n",
    "energy_without_a_source": BASE + "[energy]\nfetch = 1\n",
    "energy_of_an_access_missing": BASE + '[energy]\nsource = "x"\nfetch = 1\n',
    "energy_negative": BASE + '[energy]\nsource = "x"\nfetch = -1\n',
    "energy_as_a_text": BASE + '[energy]\nsource = "x"\nfetch = "much"\n',
    "energy_of_an_unknown_access": BASE + "[energy]\nfetches = 1\n",
    "energy_of_an_unknown_operation": BASE + "[energy]\noperations = { mull = 1 }\n",
    "energy_of_another_type": BASE + ENERGY + "operations = { and = { f32 = 1 } }\n",
    "area_without_a_source": BASE + '[area]\nunit = "LUT4"\n',
    "area_of_an_unknown_part": BASE + '[area]\nsource = "x"\nunit = "LUT4"\nelements = 1\n',
    "area_negative": BASE + '[area]\nsource = "x"\nunit = "LUT4"\nelement = -1\n',
    "adjacency_word": BASE + 'adjacency = "some"\n',
    "adjacency_triple": BASE + 'adjacency = [["west0", "pe0", "east0"]]\n',
    "adjacency_port": BASE + 'adjacency = [\n  ["west0", "pe0"],\n  ["up0", "pe0"],\n]\n',
    "adjacency_beyond": BASE + 'channels = 2\nadjacency = [["west2", "pe0"]]\n',
}


@pytest.mark.parametrize("name", FAULTY)
def test_error(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"error_{name}", refusal(lambda: read(FAULTY[name], "mine.toml")))


@pytest.mark.parametrize("name", ["wid", "tcpa", "", "absent.toml"])
def test_unknown_machine(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"error_machine_{name or 'empty'}", refusal(lambda: load(name)))


def test_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes('name = "für"'.encode("latin-1"))
    assert "is not UTF-8 text" in refusal(lambda: load(str(path)))
    assert "cannot read" in refusal(lambda: load("nul\0.toml"))


@given(st.text(max_size=40))
def test_any_text_is_refused_kindly(text: str) -> None:
    assert refusal(lambda: read(text, "any.toml"))


@given(st.data())
def test_one_changed_character_never_breaks_the_reader(data: st.DataObject) -> None:
    text = UNIT + "latency = { add = 2, mul = { i32 = 3 } }\nmnemonics = { add = 'ADD' }\n"
    at = data.draw(st.integers(0, len(text) - 1))
    changed = text[:at] + data.draw(st.sampled_from(" \n\"'[]{}=,.#0a-")) + text[at + 1 :]
    try:
        machine = read(changed, "changed.toml")
    except PolyloomError as error:
        assert error.diagnostics[0].code in CODES
    else:
        assert read(resolve(machine), "resolved") == machine


def refusal(action: Callable[[], object]) -> str:
    """The rendered errors that `action` raises, each with a catalogued code, exit code 1 and a help line."""
    with pytest.raises(PolyloomError) as caught:
        action()
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.code in CODES
        assert diagnostic.exit_code == 1
        assert diagnostic.help
    return str(caught.value)
