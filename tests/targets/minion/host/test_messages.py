# SPDX-License-Identifier: Apache-2.0
"""What `simulate --on minion` says to files, options and machines that are wrong: exit code and text, and that nothing
is left behind."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.minion.host.conftest import Call
from tests.targets.minion.host.programs import CODE, END, Elf, Load, made

MIB = 1 << 20
FILES = {
    "x86.elf": Elf(machine=62),
    "narrow.elf": Elf(width=1),
    "big.elf": Elf(order=2),
    "object.elf": Elf(kind=1),
    "shared.elf": Elf(kind=3),
    "double.elf": Elf(flags=5),
    "low.elf": Elf([Load(CODE), Load(0x1000)]),
    "esr.elf": Elf([Load(CODE), Load(0x1_0034_0000)]),
    "beyond.elf": Elf([Load(CODE), Load(0x87_FFFF_FFF8)]),
    "huge.elf": Elf([Load(CODE), Load(CODE + MIB, b"", 6, 1 << 60)]),
    "scratchpad.elf": Elf([Load(CODE), Load(0x8000_0000 + 2560 * 1024 - 8)]),
    "own.elf": Elf([Load(CODE), Load(0xBF80_0000)]),
    "overlap.elf": Elf([Load(CODE), Load(CODE + 8)]),
    "nowhere.elf": Elf(entry=CODE + 4096),
    "odd.elf": Elf(entry=CODE + 1),
    "data.elf": Elf([Load(CODE), Load(CODE + 4096, flags=6)], entry=CODE + 4096),
    "fetch.elf": Elf([Load(CODE), Load(0x8000_0000)], entry=0x8000_0000),
    "no-code.elf": Elf([Load(CODE, flags=6)]),
    "empty.elf": Elf([]),
}
MACHINES = {
    "unknown.toml": 'name = "m"\nbased_on = "et-soc-1"\nl2kib = 512\n',
    "split.toml": 'name = "m"\nbased_on = "et-soc-1"\nl2_kib = 1024\n',
    "excess.toml": 'name = "m"\nbased_on = "et-soc-1"\nl2_kib = 4096\nl3_kib = 8\n',
    "odd.toml": 'name = "m"\nbased_on = "et-soc-1"\nl2_kib = 514\nscratchpad_kib = 2558\n',
    "shires.toml": 'name = "m"\nbased_on = "et-soc-1"\nshires = 33\n',
    "missing.toml": 'name = "m"\nshires = 1\n',
    "base.toml": 'name = "m"\nbased_on = "et-soc"\n',
    "type.toml": 'name = "m"\nbased_on = "et-soc-1"\nshires = "all"\n',
    "syntax.toml": "name = \n",
    "small.toml": 'name = "small"\nbased_on = "et-soc-1"\nshires = 1\n',
}
CASES = {
    "nothing": "--on minion",
    "missing-file": "absent.elf --on minion",
    "no-elf": "text.txt --on minion",
    **{name.removesuffix(".elf"): f"{name} --on minion" for name in FILES},
    "truncated": "short.elf --on minion",
    "two-programs": "k.elf x86.elf --on minion",
    "minions-zero": "k.elf --on minion:0",
    "minions-negative": "k.elf --on minion:-4",
    "minions-many": "k.elf --on minion:1056",
    "minions-huge": "k.elf --on minion:99999999999999999999",
    "minions-between": "k.elf --on minion:48",
    "minions-of-small": "k.elf --on minion:small.toml:64",
    "machine-name": "k.elf --on minion:et-soc:4",
    "machine-missing": "k.elf --on minion:nowhere.toml",
    **{
        f"machine-{name.removesuffix('.toml')}": f"k.elf --on minion:{name}"
        for name in MACHINES
        if name != "small.toml"
    },
    "raw-elf": "--raw 0x8000001000=k.elf --on minion",
    "raw-address": "--raw 0xq=text.txt --on minion",
    "raw-wide": "--raw 0x10000000000000000=text.txt --on minion",
    "raw-no-file": "--raw 0x8000001000 --on minion",
    "raw-empty": "--raw 0x8000001000=empty.bin --on minion",
    "raw-overlap": "k.elf --raw 0x8000001000=text.txt --on minion",
    "raw-entry": "--raw 0x8000002000=text.txt --on minion",
    "raw-outside": "--raw 0x4000000000=text.txt --on minion",
    "entry-outside": "k.elf --entry 0x8000000000 --on minion",
    "entry-text": "k.elf --entry start --on minion",
    "in-symbol": "k.elf --in strat=in.npy --on minion",
    "in-outside": "k.elf --in 0x87fffffffc=in.npy --on minion",
    "in-type": "k.elf --in 0x8000100000:i32=in.npy --on minion",
    "in-no-array": "k.elf --in 0x8000100000=words.npy --on minion",
    "in-large": "k.elf --in start=large.npy --on minion",
    "out-symbol": "k.elf --out strat=out.npy --on minion",
    "out-no-size": "k.elf --out 0x8000100000=out.npy --on minion",
    "out-shape": "k.elf --out 0x8000100000=out.npy:16,16:f32 --on minion",
    "out-type": "k.elf --out 0x8000100000=out.npy:16x16:float --on minion",
    "out-twice-typed": "k.elf --out 0x8000100000:f32[16]=out.npy:16:f32 --on minion",
    "out-outside": "k.elf --out 0x8000100000=out.npy:99999999999x99:f32 --on minion",
    "out-of-symbol": "k.elf --out start=out.npy:4096:f32 --on minion",
    "out-is-input": "k.elf --in 0x8000100000=in.npy --out 0x8000100000=in.npy:4:f32 --on minion",
    "out-folder": "k.elf --out 0x8000100000=missing/out.npy:4:f32 --on minion",
    "hazards": "k.elf --hazards warn --on minion",
    "max-cycles": "k.elf --max-cycles 0 --on minion",
    "max-cycles-text": "k.elf --max-cycles many --on minion",
    "threads": "k.elf --threads 0 --on minion",
    "option-of-others": "k.elf --thread t1 --on minion",
    "peer": "k.elf --peer nowhere --on minion",
    "trace": "k.elf --trace run.txt --on minion",
}


@pytest.fixture(autouse=True)
def folder(scratch: Path) -> None:
    for name, file in FILES.items():
        (scratch / name).write_bytes(file.data)
    for name, text in MACHINES.items():
        (scratch / name).write_text(text, encoding="utf-8")
    (scratch / "k.elf").write_bytes(made(f"start:\n{END}"))
    (scratch / "short.elf").write_bytes(made(END)[:90])
    (scratch / "text.txt").write_text("a text of thirty-two characters.", encoding="utf-8")
    (scratch / "empty.bin").touch()
    (scratch / "words.npy").write_text("no array\n", encoding="utf-8")
    np.save(scratch / "in.npy", np.zeros(4, np.float32))
    np.save(scratch / "large.npy", np.zeros(4096, np.float32))


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, call: Call, golden: Golden, scratch: Path) -> None:
    before = sorted(os.listdir(scratch))
    status, out, err = call("simulate", *CASES[name].split())
    assert status in (1, 2)
    assert "Traceback" not in out + err
    assert sorted(os.listdir(scratch)) == before
    golden(name, f"$ polyloom simulate {CASES[name]}\nexit {status}\n--- stdout\n{out}--- stderr\n{err}")
