# SPDX-License-Identifier: Apache-2.0
"""`--json`: the keys that docs/cli.md promises, command by command, and texts that every reader of JSON takes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.cli.conftest import Call

ROOT = Path(__file__).parents[2]
HELLO = ROOT / "examples" / "minion" / "hello.s"
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").partition("## JSON")[2]
PROMISED = {
    m[1]: re.findall("`([a-z_]+)`", m[2]) for m in re.finditer(r"^\| `([^`]+)` \| (.*) \|$", PAGE, re.MULTILINE)
}
assert len(PROMISED) > 10


def refuse(constant: str) -> float:
    """NaN and infinities, which Python writes and reads, are not JSON."""
    raise ValueError(constant)


def keys(call: Call, words: str) -> list[str]:
    status, out, err = call(*shlex.split(words), "--json")
    assert (status, err) == (0, "")
    return list(json.loads(out, parse_constant=refuse))


@pytest.mark.parametrize("words", PROMISED)
def test_promised_keys(words: str, call: Call, scratch: Path) -> None:
    shutil.copy(ROOT / "examples" / "dot.c", scratch)
    (scratch / "sum.s").write_text("ret\n")
    (scratch / "graph.json").write_text('{"n": 2, "edges": [[0, 1]]}')
    (scratch / "loop.json").write_text('{"nodes": [{"name": "a"}]}')
    (scratch / "k.tts").write_text("SFPNOP\n")
    (scratch / "k.bin").write_bytes(bytes.fromhex("0000008f"))
    if words == "simulate prog.elf --on minion:32":
        (scratch / "prog.s").write_text(HELLO.read_text(encoding="utf-8"))
        call("asm", "prog.s", "--on", "minion", "-o", "prog.elf")
    if words == "show dot.elf":
        call("compile", "dot.c", "--on", "riscv", "-o", "dot.elf")
    assert keys(call, words) == PROMISED[words]


def test_a_configuration_has_the_keys_of_its_run(call: Call) -> None:
    run = keys(call, "run bits.pla N=16 --on tcpa:paper:1x3")
    # Accesses and unit-cycles are counted by the model, which only a run has.
    after = [key for key in run[run.index("pes") :] if key not in ("account", "bound_by", "counts")]
    assert keys(call, "instantiate bits.plsc N=16 --pes 1x3 -o new.plcc") == ["kernel", "parameters", *after]
    assert keys(call, "simulate bits.plcc --in in=in.npy") == run


def test_an_installation_is_whole(call: Call) -> None:
    status, out, err = call("doctor")
    assert (status, err) == (0, "")
    assert "ok      self-test      bits, N = 16 on 1x3 elements: 33 cycles, equal bits" in out
