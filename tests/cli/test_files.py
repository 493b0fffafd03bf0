# SPDX-License-Identifier: Apache-2.0
"""Commands on configuration files: what they print, and what they write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from tests.cli.conftest import Call

import polyloom as pl
from polyloom.cli.explain import code_address
from polyloom.codes import CODES
from polyloom.diagnostics import PolyloomError
from polyloom.targets.entry import BUILT_IN


def test_instantiate_then_simulate(call: Call, scratch: Path) -> None:
    status, out, err = call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", "new.plcc", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["pes"] == [1, 3]
    assert (scratch / "new.plcc").read_bytes() == (scratch / "bits.plcc").read_bytes()
    status, out, _ = call("simulate", "new.plcc", "--in", "in=in.npy", "--out", "bits=bits.npy", "--json")
    data = json.loads(out)
    assert status == 0
    assert data["outputs"]["bits"]["shape"] == [16]
    assert data["verified"] is None
    assert np.array_equal(np.load(scratch / "bits.npy"), np.array([12345 >> n & 1 for n in range(16)], np.int32))


def test_outputs_keep_the_usual_permissions(call: Call, scratch: Path) -> None:
    (scratch / "plain").touch()
    call("instantiate", "bits.plsc", "N=16", "--pes", "1x3", "-o", "new.plcc")
    assert (scratch / "new.plcc").stat().st_mode == (scratch / "plain").stat().st_mode


@pytest.mark.parametrize("name", ["bits.plsc", "bits.plcc", "bits.pla"])
def test_show(name: str, call: Call) -> None:
    status, out, err = call("show", name)
    assert (status, err) == (0, "")
    assert "bits" in out
    assert isinstance(json.loads(call("show", name, "--json")[1]), dict)


@pytest.mark.parametrize("name", ["bits.plsc", "bits.plcc", "bits.pla"])
def test_verify(name: str, call: Call) -> None:
    assert call("verify", name) == (0, f"{name}: valid\n", "")
    assert json.loads(call("verify", name, "--json")[1])["valid"] is True


def test_machines(call: Call) -> None:
    listed = json.loads(call("machines", "--json")[1])["machines"]
    assert list(dict.fromkeys(name.partition(":")[0] for name in listed)) == list(BUILT_IN)
    for name in listed:
        assert json.loads(call("machines", name, "--json")[1])["name"] in (name, name.partition(":")[2])
    assert [name for name in listed if name.startswith("tcpa:")] == [
        "tcpa:fau",
        "tcpa:generic",
        "tcpa:ideal",
        "tcpa:mid",
        "tcpa:mid16",
        "tcpa:paper",
        "tcpa:unit",
        "tcpa:wide",
    ]
    assert [name for name in listed if name.startswith("tensix:")] == ["tensix:wormhole", "tensix:blackhole"]
    assert call("machines", "tcpa:unit") == call("machines", "unit")
    assert json.loads(call("machines", "unit", "--json")[1])["name"] == "unit"


def test_a_machine_of_riscv(call: Call) -> None:
    assert call("machines", "riscv:rv32imc")[1] == (
        'name = "rv32imc"\nxlen = 32\nextensions = ["c", "i", "m"]\nabi = "ilp32"\nshort_branches = false\n'
    )


@pytest.mark.parametrize("code", CODES)
def test_explain(code: str, call: Call) -> None:
    title, text = CODES[code]
    assert call("explain", code.lower()) == (0, f"{code}: {title}\n\n{text}\n\n{code_address(code, title)}\n", "")


def test_load_in_python(scratch: Path) -> None:
    del scratch
    compiled = pl.load("bits.plsc")
    assert isinstance(compiled, pl.Compiled)
    instance = compiled.instantiate(N=16, pes=(1, 3))
    result = instance.run({"in": np.asarray(np.int32(5))})
    assert result.verified is None
    assert result.outputs["bits"].tolist() == [1, 0, 1] + [0] * 13
    assert "slot" in result.report()
    with pytest.raises(PolyloomError, match="in"):
        instance.run()


def test_help_is_quick(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "polyloom", "--help"], capture_output=True, text=True, check=True)
    with capsys.disabled():
        print(f" {time.perf_counter() - start:.2f} s for --help", end="")
    assert "polyloom run examples/matmul.pla" in done.stdout
    code = (
        "import sys, polyloom.cli; polyloom.cli.main(['--help']); print(sorted({'numpy', 'islpy', 'ortools'} & "
        "set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.endswith(
        "[]\n"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["machines"], ["machines", "--json"]])
def test_full_standard_output(words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "polyloom", *words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert (
        done.stderr
        == "error[PL0808]: cannot write the standard output: No space left on device\nhelp: send it where there is "
        "room\n"
    )


def test_names_and_texts_of_any_encoding(call: Call, scratch: Path) -> None:
    """Names of files are bytes, and a standard output need not be UTF-8."""
    name = os.fsdecode(b"b\xff.pla")
    (scratch / "bits.pla").rename(scratch / name)
    assert call("run", name, "N=16", "--on", "tcpa:paper:1x3")[1].startswith(
        "b? N=16 on tcpa:paper:1x3: equal bits, compared with the source"
    )
    (scratch / "\u00fc.plsc").write_bytes((scratch / "bits.plsc").read_bytes())
    command = [sys.executable, "-m", "polyloom", "verify", "\u00fc.plsc"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    assert subprocess.run(command, env=environment, capture_output=True, check=True).stdout == b"\\xfc.plsc: valid\n"
    found = subprocess.run([*command, "--json"], env=environment, capture_output=True, check=True).stdout
    assert json.loads(found)["file"] == "\u00fc.plsc"


def test_sizes_may_be_numpy_integers(scratch: Path) -> None:
    del scratch
    compiled, size = pl.load("bits.plsc"), cast("int", np.int64(16))
    assert isinstance(compiled, pl.Compiled)
    assert compiled.instantiate(N=size, pes=(1, 3)).data == compiled.instantiate(N=16, pes=(1, 3)).data
