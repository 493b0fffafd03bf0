# SPDX-License-Identifier: Apache-2.0
"""A target of another package, registered by an entry point: every verb and the Python interface take it, and none of
them knows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
TOY = Path(__file__).with_name("toy_target.py")


SERVER = """
import contextlib, io, json, sys
from polyloom.cli import main
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            status = main(json.loads(line))
        except SystemExit as left:
            status = left.code or 0
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""
"""Commands of all tests run in one process, which loads every target once."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The package as an installer leaves it, and inputs."""
    made = tmp_path_factory.mktemp("toy")
    shutil.copy(TOY, made)
    about = made / "toy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text("[polyloom.targets]\ntoy = toy_target:ENTRY\n", encoding="utf-8")
    for name in ("bits.pla", "dot.c"):
        shutil.copy(ROOT / "examples" / name, made)
    np.save(made / "a.npy", np.array([1, 2, 3], np.int32))
    (made / "words.bin").write_bytes(bytes([1, 2, 3]))
    yield made
    if _server.cache_info().currsize:
        server = _server(made)
        server.communicate()
        _server.cache_clear()
        assert server.returncode == 0


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder)}


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = environment(folder)
    return subprocess.run([sys.executable, *words], cwd=folder, env=own, capture_output=True, text=True)


@cache
def _server(folder: Path) -> subprocess.Popen[str]:
    words, own = [sys.executable, "-c", SERVER], environment(folder)
    return subprocess.Popen(words, cwd=folder, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def call(folder: Path, words: str) -> tuple[int, str, str]:
    server = _server(folder)
    assert server.stdin is not None and server.stdout is not None
    print(json.dumps(words.split()), file=server.stdin, flush=True)
    status, out, err = json.loads(server.stdout.readline())
    return status, out, err


def test_a_plan_runs_and_its_file_does_so_again(folder: Path) -> None:
    status, out, err = call(folder, "run bits.pla N=4 --on toy:slow --trace t.json --report r.html --json")
    data = json.loads(out)
    assert (status, err) == (0, "")
    assert (data["verified"], data["verdict"], data["compared_with"]) == (True, "equal bits", ["equations"])
    assert data["on"] == "toy:slow" and data["parameters"] == {"N": 4} and data["toy_bytes"] > 0
    assert data["cycles"] == 2 * data["operations"] and data["joy"] == data["operations"] % 7
    lanes = {event["tid"] for event in json.loads((folder / "t.json").read_text())["traceEvents"] if event["ph"] == "X"}
    assert len(lanes) == 3  # three cycles each, one starts per cycle
    assert "<h3>Toys</h3>" in (folder / "r.html").read_text()
    assert call(folder, "compile bits.pla --on toy -o bits.toy")[0] == 0
    np.save(folder / "in.npy", np.array(11, np.int32))
    status, out, err = call(folder, "simulate bits.toy N=4 --in in=in.npy --out bits=bits.npy --json")
    assert (status, json.loads(out)["verified"], err) == (0, None, "")
    assert np.load(folder / "bits.npy").tolist() == [1, 1, 0, 1]


DOT = """int dot(int n, const int a[n], const int b[n]) {
  int sum = 0;
  for (int i = 0; i < n && sum < 1000; i++) sum += a[i] * b[i];
  return sum;
}
"""
"""It ends early, so that it is no nest of loops, but a function."""


def test_a_function_runs_and_its_file_does_so_again(folder: Path) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    (folder / "dot.c").write_text(DOT, encoding="utf-8")
    status, out, _ = call(folder, "run dot.c n=3 --in a=a.npy --in b=a.npy --twice --on toy")
    assert status == 0
    compared = "equal bits, compared with the interpreter of SSA form and the host's own function"
    assert out.startswith(f"dot n=3 on toy:fast: {compared}\nreturn = 14\n")
    assert "\nToys\n  cycles\n" in out
    assert call(folder, "compile dot.c --on toy -o dot.toy")[0] == 0
    status, out, _ = call(folder, "simulate dot.toy n=3 --in a=a.npy --in b=a.npy --out return=r.npy")
    assert (status, int(np.load(folder / "r.npy"))) == (0, 14)


def test_an_image_runs(folder: Path) -> None:
    status, out, err = call(folder, "simulate words.bin@0x10 --on toy --out sum=sum.npy --json")
    assert (status, err) == (0, "")
    assert json.loads(out)["kernel"] == "words"
    assert int(np.load(folder / "sum.npy")) == 6


def test_every_verb_takes_it(folder: Path) -> None:
    call(folder, "compile bits.pla --on toy -o bits.toy")
    assert call(folder, "show bits.toy")[1].startswith("param")
    assert call(folder, "verify bits.toy") == (0, "bits.toy: valid\n", "")
    (folder / "broken.toy").write_bytes(b"TOY1{")
    status, _, err = call(folder, "verify broken.toy")
    assert (status, err.partition(":")[0]) == (1, "error[PL9001]")
    assert "toy:fast\ntoy:slow" in call(folder, "machines")[1]
    assert call(folder, "machines toy")[1] == "toy:fast\ntoy:slow\n"
    assert call(folder, "explain PL9001")[1].startswith("PL9001: broken toy\n")
    assert call(folder, "play Ada") == (0, "Ada plays\n", "")
    assert "| fast | 1      |" in call(folder, "bench toys")[1]
    assert "--twice" in call(folder, "run --help --on toy")[1]


def test_what_it_lacks_is_refused_by_name(folder: Path) -> None:
    status, _, err = call(folder, "run bits.pla N=4 --on toy --candidate 1")
    assert (status, err) == (
        2,
        "error[PL0801]: the target toy has no option --candidate\nhelp: leave it out; tcpa has it\n",
    )
    status, _, err = call(folder, "run bits.pla N=4 --twice")
    assert (status, err) == (
        2,
        "error[PL0801]: the target tcpa has no option --twice\nhelp: leave it out; toy has it\n",
    )
    call(folder, "compile bits.pla --on toy -o bits.toy")
    status, _, err = call(folder, "instantiate bits.toy N=4 -o bits.plcc")
    assert (status, err.splitlines()[1]) == (2, "help: tcpa does")


def test_python(folder: Path) -> None:
    script = (
        "import numpy as np, polyloom as pl, pickle\n"
        "compiled = pl.compile('bits.pla', on='toy:slow')\n"
        "result = compiled.run(N=4, **{'in': np.array(11, np.int32)})\n"
        "print(result.verified, result.outputs['bits'].tolist(), result.cycles == 2 * result.execution.operations)\n"
        "print(compiled.run(N=4, twice=True).verified, '<h3>Toys' in result.page(), pl.toy_place('') == "
        "'fast')\n"
        "compiled.save('saved.toy')\n"
        "print(pl.load('saved.toy').run(N=4, **{'in': np.array(3, np.int32)}).outputs['bits'].tolist())\n"
        "print(pickle.loads(pickle.dumps(result)).verified)\n"
    )
    done = python(folder, "-c", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "True [1, 1, 0, 1] True\nTrue True True\n[1, 1, 0, 0]\nTrue\n"


def test_a_comparison_has_a_row_of_it(folder: Path) -> None:
    """The toy tells no costs: its row has what the run itself tells, and null for the rest."""
    status, out, err = call(folder, "compare bits.pla N=4 --on toy,toy:slow,tcpa:1x2 --json")
    assert (status, err) == (0, "")
    rows = {row["on"]: row for row in json.loads(out)["rows"]}
    assert list(rows) == ["toy", "toy:slow", "tcpa:1x2"]
    slow = rows["toy:slow"]
    assert (slow["verified"], slow["verdict"], slow["cycles"]) == (True, "equal bits", 2 * rows["toy"]["cycles"])
    assert slow["issued"] == rows["toy"]["cycles"] and slow["work"] == rows["tcpa:1x2"]["work"]
    assert [slow[key] for key in ("time", "units", "share_of_unit_bound", "moved_bytes", "code_bytes")] == [None] * 5
    assert rows["tcpa:1x2"]["units"] > 0
    status, out, err = call(folder, "compare bits.pla N=4 --on toy,riscv --twice")
    assert (status, "| toy   | equal bits" in out, "| riscv | refused: PL0810 |" in out) == (0, True, True)


def test_a_sweep_has_rows_of_it(folder: Path) -> None:
    """The toy predicts nothing: its points are run and verified."""
    status, out, err = call(folder, "explore bits.pla --sweep N=2,4 --on toy,tcpa:1x2 --objective cycles --json")
    assert (status, err) == (0, "")
    rows = [row for row in json.loads(out)["rows"] if row["on"] == "toy"]
    assert [(row["N"], row["level"], row["verified"], row["predicted_cycles"]) for row in rows] == [
        (2, "verify", True, None),
        (4, "verify", True, None),
    ]
