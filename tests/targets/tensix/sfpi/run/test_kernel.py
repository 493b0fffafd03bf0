# SPDX-License-Identifier: Apache-2.0
"""Vector kernels from C++ to checked outputs: run, compile, show, verify and simulate, arguments, several tiles, and
that a wrong word is noticed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.conftest import Golden

from polyloom.cli.entry import main
from polyloom.riscv.image import elf_image
from polyloom.targets.tensix.run import kernel_run
from polyloom.targets.tensix.source.executable import CORE
from polyloom.targets.tensix.source.note import decode

pytest.importorskip("ziglang", reason="C++ needs the extra `c`")

HERE = Path(__file__).parent
KERNELS = str(HERE / "kernels.h")
TILE = np.random.default_rng(5).uniform(-8, 8, (32, 32)).astype(np.float32)
Data = dict[str, Any]
_ANYWHERE = re.compile(r"(?<=cycle )\d+|0xa[0-9a-f]{3}\b|(?<=SFPLOAD )L\d")
"""What the compiler chooses."""


@pytest.fixture
def tile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with x.npy."""
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", TILE)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    found = capsys.readouterr()
    return code, found.out, found.err


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> Data:
    """The data of a run that is verified."""
    code, out, err = run(capsys, "run", *words, "--on", "tensix", "--json")
    assert code == 0, err
    data = cast(Data, json.loads(out))
    assert data["verified"] is True and data["compared_with"] == ["interpreter"]
    assert data["hazards"] == []
    return data


def bf16(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rounded to nearest even."""
    bits = array.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


def truncated(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """As SFPSTORE puts FP32 into a Dst of 16 bits."""
    return (array.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


def test_unsigned_numbers_come_back_as_they_are(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.random.default_rng(7).integers(0, 1 << 32, (32, 32), np.uint32)
    np.save("u.npy", x)
    words = [KERNELS, "--function", "complement", "--dest", "32"]
    ran(capsys, *words, "--in", "dst:uint32=u.npy", "--out", "dst:uint32=y.npy")
    y = np.load("y.npy")
    assert y.dtype == np.uint32 and np.array_equal(y, ~x)
    code, _, err = run(capsys, "run", *words, "--in", "dst:int32=u.npy", "--on", "tensix")
    assert code == 1 and "write dst:uint32" in err


def test_a_tile_goes_through_a_kernel_and_its_initialization(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--function", "scaled<8>", "--init", "prepare", "scale=0x40400000", "offset=0x3f000000"]
    data = ran(capsys, KERNELS, *words, "--in", "dst:bf16=x.npy", "--out", "dst:bf16=y.npy")
    assert np.array_equal(np.load("y.npy"), truncated(bf16(TILE) * np.float32(3) + np.float32(0.5)))
    assert data["parameters"] == {"offset": 0x3F000000, "scale": 0x40400000}
    assert data["kernel"] == "scaled<8>"
    keys = ("instructions", "words", "nops", "replayed", "registers", "spills", "cycles", "utilization")
    assert all(key in data for key in keys)
    assert 0 < data["words"] < data["instructions"] and 0 < data["registers"] <= 8 and data["spills"] == 0


def test_32_bits(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--function", "scaled<8>", "scale=0x40400000", "--dest", "32"]
    ran(capsys, KERNELS, *words, "--in", "dst:fp32=x.npy", "--out", "dst:fp32=y.npy")
    assert np.load("y.npy") == pytest.approx(TILE * 3 + 1 / 512, rel=1e-6)


def test_halves(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(
        capsys,
        KERNELS,
        "--function",
        "negated_tile",
        "--per",
        "tile",
        "--in",
        "dst:fp16=x.npy",
        "--out",
        "dst:fp16=y.npy",
    )
    assert np.array_equal(np.load("y.npy"), -TILE.astype(np.float16))


def test_one_call_may_do_a_tile(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = ran(
        capsys,
        KERNELS,
        "--function",
        "negated_tile",
        "--per",
        "tile",
        "--in",
        "dst:bf16=x.npy",
        "--out",
        "dst:bf16=y.npy",
    )
    assert np.array_equal(np.load("y.npy"), -bf16(TILE))
    assert whole["per"] == "tile"


def test_several_tiles(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("two.npy", np.stack([TILE, 2 * TILE]))
    ran(capsys, KERNELS, "--function", "added", "--in", "dst:bf16=two.npy", "--out", "dst:bf16=y.npy")
    found = np.load("y.npy")
    assert found.shape == (2, 32, 32)
    assert np.array_equal(found[0], truncated(bf16(TILE) + bf16(2 * TILE)))
    assert np.array_equal(found[1], bf16(2 * TILE))


def test_a_kernel_is_called_on_each_tile(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("three.npy", np.stack([TILE, 2 * TILE, 3 * TILE]))
    words = ["--function", "chosen", "count=8", "doubles=1", "--tiles", "2"]
    ran(capsys, KERNELS, *words, "--in", "dst:bf16=three.npy", "--out", "dst:bf16=y.npy")
    found = np.load("y.npy")
    assert np.array_equal(found, np.stack([2 * bf16(TILE), 2 * bf16(2 * TILE), bf16(3 * TILE)]))


@pytest.mark.parametrize(("doubles", "factor"), [("0", 0.25), ("1", 2)])
def test_scalar_code_runs_on_the_core(
    tile: Path, capsys: pytest.CaptureFixture[str], doubles: str, factor: float
) -> None:
    words = ["--function", "chosen", "count=4", f"doubles={doubles}"]
    ran(capsys, KERNELS, *words, "--in", "dst:bf16=x.npy", "--out", "dst:bf16=y.npy")
    rows = np.arange(32) % 16 < 8
    assert np.array_equal(np.load("y.npy"), np.where(rows[:, None], bf16(TILE) * np.float32(factor), bf16(TILE)))


def test_lanes_without_a_value_are_warned_of_and_not_compared(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "run", KERNELS, "--function", "partly", "--on", "tensix", "--json")
    assert code == 0 and json.loads(out)["verified"] is True
    assert err.startswith("warning[PL1243]") and "kernels.h:54" in err


def test_random_numbers_are_those_of_the_interpreter(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, KERNELS, "--function", "stochastic", "--in", "dst:bf16=x.npy", "--tiles", "1")


def test_what_a_kernel_prints_goes_to_standard_error(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "run", KERNELS, "--function", "spoken", "count=-3", "--on", "tensix", "--json")
    assert code == 0 and err == "added to -3 of 8\n" * 4
    assert json.loads(out)["printed"] == err


@pytest.mark.parametrize("function", ["chosen", "scaled<8>", "stochastic"])
def test_the_other_member(tile: Path, capsys: pytest.CaptureFixture[str], function: str) -> None:
    words = [KERNELS, "--function", function, "--on", "tensix:blackhole", "--json"]
    code, out, err = run(capsys, "run", *words)
    assert code == 0, err
    assert json.loads(out)["verified"] is True and json.loads(out)["on"] == "tensix:blackhole"


def test_a_trace_tells_when_words_are_executed(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran(capsys, KERNELS, "--function", "scaled<8>", "--trace", "t.json")
    names = {event.get("name") for event in json.loads(Path("t.json").read_text(encoding="utf-8"))["traceEvents"]}
    assert any(str(name).startswith("SFPMAD") for name in names)


def test_steps_can_be_left_out(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = ran(capsys, KERNELS, "--function", "scaled<8>", "scale=0x40400000")
    for step in ("combine", "flags", "schedule", "replay"):
        less = ran(capsys, KERNELS, "--function", "scaled<8>", "scale=0x40400000", "--without", step)
        assert less["outputs"] == whole["outputs"] and less["cycles"] >= whole["cycles"]


def test_without_contraction_a_sum_is_rounded_twice(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--function", "scaled<8>", "--init", "prepare", "scale=0x3f800001", "offset=0xbf800000", "--dest", "32"]
    np.save("one.npy", np.full((32, 32), 1 + 2.0**-23, np.float32))
    found: list[float] = []
    for more in ([], ["--no-contract"]):
        ran(capsys, KERNELS, *words, *more, "--in", "dst:fp32=one.npy", "--out", "dst:fp32=y.npy")
        found.append(float(np.load("y.npy")[0, 0]))
    assert found[0] > found[1] == 2.0**-22


def test_registers_are_spilled_where_that_is_allowed(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", KERNELS, "--function", "many", "--on", "tensix"]
    code, _, err = run(capsys, *words)
    assert code == 3 and "error[PL1280]" in err and "--spill" in err
    assert run(capsys, *words, "--spill", "256:384")[0] == 2
    data = ran(capsys, *words[1:4], "--dest", "32", "--spill", "256:384")
    assert data["spills"] > 0


def test_forms_between_passes_are_printed(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["show", KERNELS, "--function", "scaled<8>", "--on", "tensix", "--print-after", "contract"]
    code, out, _ = run(capsys, *words)
    assert code == 0 and "after contract" in out and "@__sfpi_sfpmad" in out


def test_files_are_equal_every_time_and_run_by_themselves(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compile", KERNELS, "--function", "chosen", "--on", "tensix", "-o"]
    assert run(capsys, *words, "k.elf")[0] == run(capsys, *words, "again.elf")[0] == 0
    data = Path("k.elf").read_bytes()
    assert data == Path("again.elf").read_bytes()
    assert run(capsys, "verify", "k.elf")[:2] == (0, "k.elf: valid\n")
    arguments = ["count=8", "doubles=1", "--in", "dst:bf16=x.npy", "--out", "dst:bf16=y.npy"]
    assert run(capsys, "simulate", "k.elf", *arguments)[0] == 0
    assert np.array_equal(np.load("y.npy"), 2 * bf16(TILE))


def test_on_a_machine_with_places_a_kernel_is_t1_s(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "compile", KERNELS, "--function", "scaled<8>", "--on", "tensix", "-o", "k.elf")
    code, out, _ = run(
        capsys, "simulate", "k.elf", "--on", "tensix", "--in", "dst:bf16=x.npy", "--out", "dst:bf16=y.npy", "--json"
    )
    assert code == 0 and list(json.loads(out)["cores"]) == ["t1"]


def test_a_wrong_word_is_noticed(
    tile: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SFPMAD becomes one with another addend, L10, in what is loaded."""

    def damaged(machine_tile: Any, data: bytes) -> int:
        note = decode(data)
        assert note is not None
        entry = original(machine_tile, data)
        for address in note.lines.addresses:
            word = int.from_bytes(machine_tile.l1[address : address + 4].tobytes(), "little")
            plain = (word >> 2 | word << 30) & 0xFFFFFFFF
            if plain >> 24 == 0x84:
                other = plain & ~0xF00 | 0xA00
                rotated = (other << 2 | other >> 30) & 0xFFFFFFFF
                machine_tile.l1[address : address + 4] = list(rotated.to_bytes(4, "little"))
        return entry

    original = kernel_run.load_program
    monkeypatch.setattr(kernel_run, "load_program", damaged)
    code, _, err = run(capsys, "run", KERNELS, "--function", "scaled<8>", "scale=0x40400000", "--on", "tensix")
    assert code == 4 and "differs from the interpreter" in err


def test_the_listing_stands_beside_the_source(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", KERNELS, "--function", "chosen", "--on", "tensix")
    assert code == 0
    places = [line for line in out.splitlines() if line.startswith("  kernels.h:")]
    assert "  kernels.h:44  x = x * 0.25f;" in places and "  kernels.h:47  dst_reg++;" in places
    words = [line.split() for line in out.partition("kernel.chosen:")[2].splitlines()]
    stores = [word for word in words if word[3:4] == ["SFPSTORE"]]
    assert len(stores) == 1 and len(stores[0][2]) == 8
    run(capsys, "compile", KERNELS, "--function", "chosen", "--on", "tensix", "-o", "k.elf")
    assert run(capsys, "show", "k.elf")[1] == out


def test_what_is_wrong_is_said(golden: Golden, tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("kernels.h").write_bytes(Path(KERNELS).read_bytes())
    np.save("flat.npy", np.zeros(7, np.float32))
    kernel = ["run", "kernels.h", "--on", "tensix", "--function"]
    cases = [
        ["run", "kernels.h", "--on", "tensix"],
        [*kernel, "added", "--in", "dst:fp32=x.npy"],
        [*kernel, "added", "--dest", "32", "--in", "dst:bf16=x.npy"],
        [*kernel, "added", "--dest", "8"],
        [*kernel, "added", "--per", "row"],
        [*kernel, "added", "--tiles", "17"],
        [*kernel, "added", "--without", "everything"],
        [*kernel, "added", "--spill", "5"],
        [*kernel, "added", "--in", "dst:bf16=flat.npy"],
        [*kernel, "added", "--in", "dst:bf17=x.npy"],
        [*kernel, "added", "--in", "dts:bf16=x.npy"],
        [*kernel, "added", "--in", "dst:bf16=x.npy"],
        [*kernel, "chosen", "counts=3"],
        [*kernel, "chosen", "count=x"],
        [*kernel, "scaled<8>", "scale=0x123456789"],
        ["run", "kernels.h", "--on", "riscv", "--function", "added"],
        ["show", "kernels.h"],
    ]
    texts: list[str] = []
    for words in cases:
        code, _, err = run(capsys, *words)
        texts.append(f"$ polyloom {' '.join(words)}\n{_ANYWHERE.sub('N', err)}exit {code}")
    golden("bad_input", "\n\n".join(texts))


def test_segments_lie_where_the_core_has_memory(tile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "compile", KERNELS, "--function", "chosen", "--on", "tensix", "-o", "k.elf")
    image = elf_image(Path("k.elf").read_bytes(), CORE)
    assert image.entry == 0xA000
    assert all(s.address >= 0xA000 and s.address + s.size <= 0x20000 for s in image.segments)
