# SPDX-License-Identifier: Apache-2.0
"""Golden texts of what the command line says to bad input: exit code, stdout, stderr. Nothing is left half-written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.conftest import Call
from tests.conftest import Golden

from polyloom.cli import entry
from polyloom.cli.answer import Answer

CASES = {
    "no-command": "",
    "unknown-command": "rnu matmul.pla",
    "unknown-option": "run bits.pla N=4 --jsn",
    "unlike-option": "simulate bits.plcc --seed 3",
    "malformed-option": "run bits.pla N=4 --seed many",
    "unknown-operand": "verify bits.plcc bits.plsc",
    "missing-operand": "compile bits.pla",
    "missing-file": "run nowhere.pla N=4",
    "missing-near": "run bit.pla N=4",
    "missing-symbolic": "show nowhere.plsc",
    "missing-concrete": "simulate nowhere.plcc",
    "report-without-file": "run bits.pla N=4 --report",
    "target-for-on": "run bits.pla N=4 --target belt",
    "target-as-parameter": "run bits.pla N=4 target=belt:gold",
    "parameter-text-unknown": "run bits.pla N=4 K=many",
    "not-a-program": "run bits.plcc N=4",
    "not-a-file": "show folder",
    "malformed-parameter": "run bits.pla N",
    "parameter-twice": "run bits.pla N=4 N=5",
    "parameter-missing": "run matmul.pla N=4 M=4",
    "parameter-unknown": "run bits.pla N=4 K=4",
    "parameter-not-integer": "run bits.pla N=1.5",
    "parameter-text": "run bits.pla N=many",
    "parameter-negative": "run bits.pla N=-1",
    "parameter-too-large": "run bits.pla N=2147483648",
    "parameter-huge": "run bits.pla N=1" + "0" * 60,
    "unknown-target": "run bits.pla N=4 --on tpca:4x4",
    "unknown-machine": "run bits.pla N=4 --on tcpa:wid:4x4",
    "missing-machine-file": "run bits.pla N=4 --on tcpa:mine.toml",
    "region-of-zero": "run bits.pla N=4 --on tcpa:0x4",
    "region-malformed": "run bits.pla N=4 --on tcpa:unit:4x",
    "region-negative": "run bits.pla N=4 --on tcpa:-1x4",
    "output-directory": "run bits.pla N=4 --out bits=folder",
    "output-nowhere": "run bits.pla N=4 --report missing/page.html",
    "output-is-input": "run bits.pla N=4 --in in=in.npy --out bits=./in.npy",
    "output-twice": "run bits.pla N=4 --out bits=x.npy --trace folder/../x.npy",
    "output-is-source": "compile bits.pla -o bits.pla",
    "output-unknown": "run bits.pla N=4 --out bit=new.npy",
    "mapping-missing": "run bits.pla N=4 --mapping mine.map",
    "mapping-binary": "run bits.pla N=4 --mapping bits.plcc",
    "trace-ending": "run bits.pla N=4 --trace run.txt",
    "seed-negative": "run bits.pla N=4 --seed -1",
    "compare-nowhere": "compare bits.pla N=4",
    "compare-unknown-target": "compare bits.pla N=4 --on tcpa:1x2,tpca",
    "compare-twice": "compare bits.pla N=4 --on tcpa:1x2,riscv,tcpa:1x2",
    "compare-empty-place": "compare bits.pla N=4 --on tcpa,,riscv",
    "compare-option": "compare bits.pla N=4 --on tcpa:1x2,riscv --format bf16",
    "compare-option-writes": "compare bits.pla N=4 --on belt --counts counts.json",
    "compare-parameter": "compare bits.pla --on tcpa:1x2,riscv",
    "compare-missing-file": "compare nowhere.pla N=4 --on tcpa,riscv",
    "compare-output-is-source": "compare bits.pla N=4 --on tcpa --report bits.pla",
    "instantiate-missing": "instantiate bits.plsc --pes 1x3 -o new.plcc",
    "instantiate-unknown": "instantiate bits.plsc N=4 M=4 --pes 1x3 -o new.plcc",
    "instantiate-negative": "instantiate bits.plsc N=-4 --pes 1x3 -o new.plcc",
    "instantiate-region": "instantiate bits.plsc N=16 --pes 0x0 -o new.plcc",
    "instantiate-concrete": "instantiate bits.plcc N=16 -o new.plcc",
    "instantiate-candidate": "instantiate bits.plsc N=16 --pes 1x3 --candidate 9 -o new.plcc",
    "simulate-symbolic": "simulate bits.plsc",
    "simulate-output-first": "simulate bits.plcc --out bit=new.npy",
    "simulate-no-input": "simulate bits.plcc",
    "simulate-unknown-input": "simulate bits.plcc --in inn=in.npy",
    "simulate-shape": "simulate bits.plcc --in in=long.npy",
    "simulate-type": "simulate bits.plcc --in in=float.npy",
    "simulate-not-npy": "simulate bits.plcc --in in=words.npy",
    "simulate-unknown-output": "simulate bits.plcc --in in=in.npy --out bit=new.npy",
    "simulate-other-machine": "simulate bits.plcc --in in=in.npy --on tcpa:unit",
    "simulate-unknown-machine": "simulate mine.plcc --in in=in.npy",
    "file-empty": "show empty.plcc",
    "file-truncated": "show short.plcc",
    "file-altered": "verify altered.plcc",
    "file-newer": "simulate newer.plcc --in in=in.npy",
    "file-foreign": "show text.plcc",
    "verify-other-machine": "verify other.plsc",
    "machine-unknown": "machines unti",
    "explain-unknown": "explain PL0899",
    "explain-far": "explain PL9999",
    "explain-malformed": "explain overflow",
    "bench-unknown": "bench exmples",
}


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, call: Call, golden: Golden, scratch: Path) -> None:
    before = sorted(os.listdir(scratch))
    status, out, err = call(*CASES[name].split())
    assert status in (1, 2)
    assert "Traceback" not in out + err
    assert sorted(os.listdir(scratch)) == before
    golden(name, f"$ polyloom {CASES[name]}\nexit {status}\n--- stdout\n{out}--- stderr\n{err}")


def test_json_errors_are_objects_on_stdout(call: Call) -> None:
    status, out, err = call("run", "bits.pla", "N=many", "--json")
    (error,) = json.loads(out)["errors"]
    assert (status, error["code"], error["exit_code"]) == (1, "PL0804", 1)
    assert err.startswith("error[PL0804]")


def test_located_error_as_json(call: Call, scratch: Path) -> None:
    (scratch / "bad.pla").write_text("parameter N >= 0\noutput y[N]: i32\nfor 0 <= i < N do\n  y[i] = \n")
    status, out, _ = call("show", "bad.pla", "--json")
    (error,) = json.loads(out)["errors"]
    assert status == 1
    assert error["file"] == "bad.pla" and error["line"] >= 3 and error["column"] >= 1


def test_write_protected_folder(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def access(path: str, mode: int) -> bool:
        """As for users who are not the superuser."""
        return False

    monkeypatch.setattr(os, "access", access)
    status, _, err = call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", "folder/new.plcc")
    assert status == 1
    assert "cannot write 'folder/new.plcc': the directory 'folder' is write-protected" in err


def test_a_file_without_a_name(call: Call) -> None:
    assert "cannot write '': the name is empty" in call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", "")[2]
    for verb in ("show", "verify", "simulate", "dominators", "litmus"):
        assert call(verb, "")[2].startswith("error[PL0807]: the name of a file is empty")


def test_a_link_stays_and_its_file_is_written(call: Call, scratch: Path) -> None:
    """Not so, the superuser would replace /dev/stdout by a file."""
    (scratch / "link.plcc").symlink_to("folder/new.plcc")
    assert call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", "link.plcc")[0] == 0
    assert (scratch / "link.plcc").is_symlink()
    assert (scratch / "folder" / "new.plcc").read_bytes() == (scratch / "bits.plcc").read_bytes()
    (scratch / "nowhere.plcc").symlink_to("missing/new.plcc")
    assert (
        "cannot write 'nowhere.plcc': there is no directory"
        in call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", "nowhere.plcc")[2]
    )


def test_an_interrupt_while_a_module_is_loaded(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(words: object) -> Answer:
        raise ImportError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr(entry, "_run_verb", load)
    assert call("doctor") == (130, "", "")


def test_a_failed_write_leaves_nothing(call: Call, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    before = sorted(os.listdir(scratch))
    status, _, err = call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", "new.plcc")
    assert (status, sorted(os.listdir(scratch))) == (1, before)
    assert "No space left on device" in err


def test_internal_error_is_one_line(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(words: object) -> Answer:
        raise RuntimeError(f"lost {len(str(words)) > 0}\nsecond line")

    monkeypatch.setattr(entry, "_run_verb", fail)
    status, out, err = call("doctor")
    assert (status, out) == (70, "")
    assert err.splitlines()[0] == "error[PL0870]: internal error: RuntimeError: lost True"
    assert "Traceback" not in err
    monkeypatch.setenv("POLYLOOM_DEBUG", "1")
    assert "Traceback" in call("doctor")[2]
