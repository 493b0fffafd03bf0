# SPDX-License-Identifier: Apache-2.0
"""`simulate --on tensix`: words for a thread and programs of cores, places in and out, what JSON tells, bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.tensix.table.conftest import Call, link

from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.words.isa import table
from polyloom.targets.tensix.words.numbers import L1_FORMATS, to_bits, to_l1, to_rows, to_tiles

SQUARE = """SFPLOAD L0, {0}, {1}, 3
SFPMUL L1, L0, L0, L9, 0
SFPNOP
SFPSTORE L1, {0}, {1}, 3
"""
EARLY = "SFPLOADI L0, 0x4000, 0\nSFPMUL L1, L0, L0, L9, 0\nSFPSTORE L1, 0, 0, 3\n"
FORMATS = {"bf16": (2, np.float32), "fp16": (1, np.float16), "fp32": (3, np.float32)}
"""SFPLOAD's mode of a format, and the type of its output."""
WRONG = {
    "no-thread": "k.tts",
    "unlike-thread": "k.tts --thread t4",
    "unlike-core": "--core t4=fw.elf",
    "core-twice": "fw.elf --core b=fw.elf",
    "overlap": "fw.elf --core t1=fw.elf",
    "no-elf": "--core t1=k.tts",
    "outside": "k.tts --thread t1 --in 0x170000=in.npy",
    "no-address": "k.tts --thread t1 --in 0xq=in.npy",
    "no-array": "k.tts --thread t1 --in dts:bf16=in.npy",
    "no-format": "k.tts --thread t1 --in dst:bf61=in.npy",
    "empty-format": "k.tts --thread t1 --in 0x20000:=in.npy",
    "no-format-of-l1": "k.tts --thread t1 --in 0x20000:bfp9=in.npy",
    "bytes-of-tiles": "k.tts --thread t1 --in 0x20000:bf16=k.tts",
    "shape": "k.tts --thread t1 --in dst:bf16=long.npy",
    "type": "k.tts --thread t1 --in dst:int32=in.npy",
    "raw-array": "k.tts --thread t1 --in lregs=in.npy",
    "dump-is-input": "k.tts --thread t1 --in dst:bf16=in.npy --out dst:bf16=in.npy",
    "unbounded": "k.tts --thread t1 --max-cycles 0",
    "policy": "k.tts --thread t1 --hazards warn",
    "mmio": "k.tts --thread t1 --mmio off",
    "nothing": "",
    "no-size": "k.tts --thread t1 --out 0x20000=out.bin",
    "negative-size": "k.tts --thread t1 --out 0x20000=out.bin:-4",
    "long-output": "k.tts --thread t1 --out 0x20000=out.bin:99999999",
    "huge-output": "k.tts --thread t1 --out 0x20000=out.bin:9999999999999",
    "many-rows": "k.tts --thread t1 --out dst:fp32=out.npy:600",
    "size-of-array": "k.tts --thread t1 --out lregs=out.npy:3",
    "format-of-array": "k.tts --thread t1 --out lregs:bf16=out.npy",
    "endless": "k.tts --thread t1 --max-cycles 99999999999999999999999999",
    "number": "k.tts --thread t1 --in dst:bf16=number.npy",
    "bits-of-dst": "k.tts --thread t1 --in dst:uint16=in.npy",
    "odd-address": "odd.tts --thread t1 --in dst:bf16=in.npy",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.tts").write_text(SQUARE.format(0, 2) + SQUARE.format(2, 2), encoding="utf-8")
    Path("early.tts").write_text(EARLY, encoding="utf-8")
    Path("nop.tts").write_text("SFPNOP\n", encoding="utf-8")
    np.save("in.npy", (np.arange(64).reshape(4, 16) / 2).astype(np.float32))
    Path("odd.tts").write_text("SFPLOAD L0, 1, 2, 3\n", encoding="utf-8")
    np.save("number.npy", np.float32(1))
    np.save("long.npy", np.zeros((4, 17), np.float32))


def run(call: Call, words: str) -> dict[str, Any]:
    status, out, err = call("simulate", *words.split(), "--on", "tensix", "--json")
    found = json.loads(out)
    assert (status, err) == (0, ""), found
    return found


@pytest.mark.parametrize("form", FORMATS)
def test_rows_of_dst_in_every_format(call: Call, form: str) -> None:
    mode, dtype = FORMATS[form]
    Path("k.tts").write_text("".join(SQUARE.format(at, mode) for at in (0, 2)), encoding="utf-8")
    given = np.arange(64).reshape(4, 16) / 8
    np.save("in.npy", given.astype(np.float32))
    found = run(call, f"k.tts --thread t1 --in dst:{form}=in.npy --out dst:{form}=out.npy")
    out = np.load("out.npy")
    assert (out.dtype, out.shape) == (dtype, (4, 16))
    assert found["outputs"] == {f"dst:{form}": {"dtype": str(out.dtype), "shape": [4, 16]}}
    exact = given * given
    if form == "bf16":
        exact = (exact.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
    np.testing.assert_array_equal(out, exact.astype(dtype))


def test_what_json_tells(call: Call) -> None:
    found = run(call, "k.tts --thread t1 --in dst:bf16=in.npy --trace t.json")
    assert (found["stop"], found["verified"], found["hazards"], found["operations"]) == ("idle", None, [], 8)
    assert found["threads"]["t1"] == {"instructions": 8, "after_mop": 8, "after_replay": 8}
    assert 0 < found["utilization"]["vector"] <= 1
    events = json.loads(Path("t.json").read_text())["traceEvents"]
    spans = [e for e in events if e["ph"] == "X"]
    assert len(spans) == 3 * 8  # pushed, executed, retired
    assert [e["ph"] for e in events if e["ph"] in "sf"].count("f") == 2 * 8
    lanes: dict[int, int] = {}
    for span in sorted(spans, key=lambda e: e["ts"]):
        assert lanes.get(span["tid"], 0) <= span["ts"]
        lanes[span["tid"]] = span["ts"] + span["dur"]


def test_a_hazard_ends_the_run_with_its_outputs(call: Call, golden: Golden) -> None:
    words = ("simulate", "early.tts", "--on", "tensix", "--thread", "t1", "--out", "lregs=l.npy")
    status, out, err = call(*words)
    golden("run-hazard", f"exit {status}\n{out}{err}")
    assert np.load("l.npy").shape == (17, 32)
    status, out, _ = call(*words, "--json")
    found = json.loads(out)
    assert (status, found["stop"], found["fault"]["line"], found["fault"]["earlier_line"]) == (1, "fault", 3, 2)
    assert call(*words, "--hazards", "off")[0] == 0
    status, out, _ = call(*words, "--hazards", "report", "--json")
    assert (status, [h["kind"] for h in json.loads(out)["hazards"]]) == (0, ["read-too-early"])


def test_a_deadlock_says_what_waits(call: Call, golden: Golden) -> None:
    Path("wait.tts").write_text("TTSEMWAIT 0x1ff, 1, 1\nTTMVMUL 0, 0, 0, 0\n", encoding="utf-8")
    status, out, err = call("simulate", "wait.tts", "--on", "tensix", "--thread", "t1")
    golden("run-deadlock", f"exit {status}\n{out}{err}")


def test_a_program_of_a_core(call: Call) -> None:
    link("b", "int main(void) { *(volatile unsigned *)0x20000 += 5; return 0; }")
    Path("in.bin").write_bytes((37).to_bytes(4, "little"))
    found = run(call, "fw.elf --in 0x20000=in.bin --out 0x20000=out.bin:4")
    assert int.from_bytes(Path("out.bin").read_bytes(), "little") == 42
    assert found["stop"] == "idle" and list(found["cores"]) == ["b"]


def test_a_core_pushes_words(call: Call) -> None:
    text = '#include "tensix_wormhole.h"\nint main(void) {{ TTI_SFPLOADI(3, 4, 42); {0}(2, 4, 7); return 0; }}'
    link("t1", text.format("TT_SFPLOADI"))
    run(call, "--core t1=fw.elf --out lregs=l.npy")
    assert np.load("l.npy")[2:4, 0].tolist() == [7, 42]


def test_text_in_memory(call: Call) -> None:
    run(call, "k.tts@0x20000 --form riscv --out 0x20000=out.bin:32")
    assert call("asm", "k.tts", "--on", "tensix", "--form", "riscv", "-o", "k.bin")[0] == 0
    assert Path("out.bin").read_bytes() == Path("k.bin").read_bytes()


def test_two_cores_of_two_files(call: Call) -> None:
    link("t1", '#include "tensix_wormhole.h"\nint main(void) { TTI_SFPLOADI(3, 4, 42); return 0; }')
    shutil.move("fw.elf", "math.elf")
    link("b", "int main(void) { return 0; }")
    found = run(call, "fw.elf --core t1=math.elf --max-cycles 10000")
    assert list(found["cores"]) == ["b", "t1"]


@pytest.mark.parametrize("name", WRONG)
def test_message(name: str, call: Call, golden: Golden) -> None:
    if "fw.elf" in WRONG[name]:
        link("b", "int main(void) { return 0; }")
    status, out, err = call("simulate", *WRONG[name].split(), "--on", "tensix")
    assert status in (1, 2) and "Traceback" not in err
    assert not Path("out.bin").exists()
    golden(f"run-{name}", f"exit {status}\n{out}{err}")


@pytest.mark.parametrize("form", L1_FORMATS)
@pytest.mark.parametrize("shape", [(32, 32), (3, 32, 32), (20, 16)])
def test_tiles_in_l1_in_every_format(call: Call, form: str, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(4).integers(-100, 101, shape)
    dtype = form if "int" in form else "float32"
    given = (np.abs(values) if form.startswith("uint") else values).astype(dtype)
    np.save("in.npy", given)
    run(call, f"nop.tts --thread t1 --in 0x20000:{form}=in.npy --out 0x20000:{form}=out.npy --out 0x20000=out.bin:64")
    out, data = np.load("out.npy"), np.fromfile("out.bin", np.uint8)
    assert out.shape == shape and out.dtype.kind == given.dtype.kind
    if form != "bfp8":
        assert np.array_equal(out, given)
        first = to_l1(
            form, to_bits(form, given, "").reshape(-1, 16 if len(shape) == 2 and shape[1] == 16 else 32)[:1, :16]
        )
        assert data[: len(first)].tobytes() == first
        return
    row = given.reshape(-1, shape[-1])[0, :16]
    assert int(data[0]) - 127 == int(np.log2(np.abs(row).max()))
    rows = to_rows(given, "")
    unit = 2.0 ** (np.floor(np.log2(np.abs(rows).max(1, keepdims=True))) - 6)
    assert (np.abs(to_rows(out, "") - rows) <= unit / 2).all()


def test_outputs_of_l1_are_tiles_unless_an_input_says_otherwise(call: Call) -> None:
    np.save("in.npy", np.ones((2, 32, 32), np.float32))
    run(call, "nop.tts --thread t1 --in 0x20000:bf16=in.npy --out 0x20800:bf16=one.npy --out 0x20000:fp16=two.npy:2")
    assert np.array_equal(np.load("one.npy"), np.ones((32, 32))) and np.load("two.npy").shape == (2, 32, 32)


def test_tiles_are_four_faces() -> None:
    tiles = np.arange(2048).reshape(2, 32, 32)
    rows = to_rows(tiles, "tiles")
    assert np.array_equal(to_tiles(rows), tiles)
    assert np.array_equal(rows[0:16], tiles[0, :16, :16]) and np.array_equal(rows[16:32], tiles[0, :16, 16:])
    assert np.array_equal(rows[32:48], tiles[0, 16:, :16]) and np.array_equal(rows[64:80], tiles[1, :16, :16])


@pytest.mark.parametrize("name", [row.name for row in table().values()])
def test_what_is_not_modelled_faults_by_name(name: str) -> None:
    """And nothing else of Wormhole does so as a whole."""
    row = next(row for row in table().values() if row.name == name)
    tile = Tile(hazards="off")
    tile.push("t1", [row.opcode << 24])
    fault = tile.run(2000, check=False).fault
    told = fault is not None and fault.text.startswith(("this instruction", "the mover"))
    assert (fault is not None) if row.semantics is None else not told, fault
