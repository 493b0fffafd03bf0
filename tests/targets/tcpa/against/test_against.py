# SPDX-License-Identifier: Apache-2.0
"""Configurations against their sources, for all data: what the compiler makes is proved, what was changed is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Call
from tests.conftest import Golden
from tests.kernels.sizes import PRIMES

import polyloom as pl
from polyloom import api, frontend
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import load
from polyloom.frontend.source import Options
from polyloom.ir.pla_text import digest
from polyloom.targets.tcpa.words import program_file

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

FOLDER = Path(__file__).parents[4] / "examples"
EXAMPLES = {
    "bits": ("paper", {"N": 16}, (1, 3)),
    "fir": ("unit", {"N": 8, "T": 4}, (2, 2)),
    "matmul": ("wide", {"N": 4, "M": 3, "K": 5}, (2, 2)),
    "lcs": ("unit", {"N": 6, "M": 5}, (2, 2)),
    "jacobi1d": ("unit", {"T": 3, "N": 8}, (1, 2)),
    "matvec": ("wide", {"N": 4, "M": 3}, (2, 1)),
}
# A reduction over two loops, choices by data, several phases, scalars.
KERNELS = ("doitgen", "smith_waterman", "atax", "gesummv")


@pytest.mark.parametrize("name", EXAMPLES)
def test_equations_are_proved(name: str) -> None:
    member, sizes, region = EXAMPLES[name]
    path = FOLDER / f"{name}.pla"
    instance = pl.compile(path, on=f"tcpa:{member}").instantiate(sizes, pes=region)
    assert pl.prove(instance, path)


@pytest.mark.parametrize("name", KERNELS)
def test_functions_are_proved(name: str) -> None:
    path = FOLDER / "kernels" / f"{name}.py"
    compiled = pl.compile(path, on="tcpa:wide")
    sizes = {n: PRIMES[name][n] for n in compiled.parameters}
    instance = compiled.instantiate(sizes, pes=(2, 2))
    proof = pl.prove(instance, compiled.source)
    assert proof
    assert proof.elements == sum(a.size for a in instance.run().outputs.values())


def test_a_file_names_its_program(tmp_path: Path) -> None:
    """Symbolic and concrete ones alike. Another name is a note: the terms decide."""
    paths = [FOLDER / f"{name}.pla" for name in ("matvec", "fir")]
    compiled = [pl.compile(path, on="tcpa:wide") for path in paths]
    digests = [program_file.digest(made.data) for made in compiled]
    assert len(set(digests)) == 2
    instance = compiled[0].instantiate(N=4, M=3, pes=(2, 1))
    assert program_file.digest(instance.data) == digests[0] == digest(load(paths[0]))
    proof = pl.prove(instance, paths[0])
    assert (bool(proof), proof.notes) == (True, ())
    renamed = _written(tmp_path, "renamed.pla", paths[0].read_text().replace("X", "Z"))
    proof = pl.prove(instance, renamed)
    assert proof
    assert proof.notes == (
        f"the file was compiled from other equations ({digests[0]}) than the source's ({digest(load(renamed))})",
    )


SUM = """
import polyloom as pl
N, M = pl.sizes("N M")
@pl.kernel
def total(a: pl.TYPE[N, M], out: pl.TYPE[1]) -> None:
    out[0] = 0
    for i in range(N):
        for j in range(M):
            out[0] = out[0] OPERATION a[i, j]
"""


def _written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(("dtype", "operation", "free"), [("i32", "+", False), ("i8", "^", False), ("f32", "+", True)])
def test_reductions_in_another_order(dtype: str, operation: str, free: bool, tmp_path: Path) -> None:
    """The compiler sums rows first; f32 only where the user allows it, and only then the proof does."""
    path = _written(tmp_path, "total.py", SUM.replace("TYPE", dtype).replace("OPERATION", operation))
    compiled = pl.compile(path, on="tcpa:wide", options=Options(reassociate=free))
    instance = compiled.instantiate(N=3, M=4, pes=(1, 1))
    proof = pl.prove(instance, path, options=Options(reassociate=free))
    assert (bool(proof), len(proof.notes)) == (True, int(free))
    if free:
        assert not pl.prove(instance, path)


CHOICE = """
import polyloom as pl
N = pl.size("N")
@pl.kernel
def choice(a: pl.i32[N], b: pl.i32[N], out: pl.i32[N]) -> None:
    for i in range(N):
        out[i] = a[i] * b[i] + 3
        if a[i] > b[i]:
            out[i] = a[i] - 7
            if b[i] > 5:
                out[i] += i
"""


def test_a_symbolic_file_from_the_command_line(call: Call, scratch: Path, golden: Golden) -> None:
    _written(scratch, "choice.py", CHOICE)
    assert call("compile", "choice.py", "-o", "choice.plsc")[0] == 0
    shown = call("verify", "choice.plsc", "--against", "choice.py", "N=4", "--pes", "1x2")
    golden("proved", f"exit {shown[0]}\n{shown[1]}{shown[2]}")
    data = json.loads(call("verify", "choice.plsc", "--against", "choice.py", "N=4", "--json")[1])
    assert data["equal"] is True
    assert data["parameters"] == {"N": 4}


@pytest.mark.parametrize(
    ("name", "old", "new"), [("constant", "- 7", "- 8"), ("operation", "+ 3", "- 3"), ("index", "+= i", "+= i + 1")]
)
def test_another_source_is_told_apart(name: str, old: str, new: str, call: Call, scratch: Path, golden: Golden) -> None:
    _written(scratch, "choice.py", CHOICE)
    _written(scratch, "other.py", CHOICE.replace(old, new))
    call("compile", "choice.py", "-o", "choice.plsc")
    call("instantiate", "choice.plsc", "N=3", "--pes", "1x2", "-o", "choice.plcc")
    status, out, err = call("verify", "choice.plcc", "--against", "other.py")
    golden(f"differs-{name}", f"exit {status}\n{out}{err}")


@pytest.mark.parametrize(
    ("name", "words"),
    {
        "other-arrays": "choice.plcc --against matmul.pla N=3 M=3 K=3",
        "no-parameter": "choice.plsc --against choice.py",
        "against-source": "choice.py --against choice.py",
        "without-against": "choice.plcc N=4",
        "against-configuration": "choice.plcc --against choice.plsc",
        "other-size": "choice.plcc --against choice.py N=4",
        "no-proof": "dot.elf --against dot.c",
    }.items(),
)
def test_messages(name: str, words: str, call: Call, scratch: Path, golden: Golden) -> None:
    _written(scratch, "choice.py", CHOICE)
    _written(scratch, "dot.c", (FOLDER / "dot.c").read_text())
    call("compile", "choice.py", "-o", "choice.plsc")
    call("compile", "dot.c", "--on", "riscv", "-o", "dot.elf")
    call("instantiate", "choice.plsc", "N=3", "--pes", "1x2", "-o", "choice.plcc")
    status, out, err = call("verify", *words.split())
    golden(name, f"exit {status}\n{out}{err}")


DIVISION = """
parameter N >= 1
input a[N]: i32, b[N]: i32
output q[N]: i32
for 0 <= i < N do
  q[i] = a[i] / b[i]
"""


def test_data_that_would_fault_do_not_stop_a_proof(tmp_path: Path) -> None:
    path = _written(tmp_path, "division.pla", DIVISION)
    assert pl.prove(pl.compile(path, on="tcpa:wide").instantiate(N=3, pes=(1, 1)), path)


def test_what_does_not_hold_by_itself_is_refused_first() -> None:
    path = FOLDER / "matvec.pla"
    instance = pl.compile(path, on="tcpa:wide").instantiate(N=4, M=3, pes=(2, 1))
    with pytest.raises(PolyloomError) as raised:
        api.prove(api.Instance(instance.target, instance.data[:-8]), frontend.load(str(path)))
    assert raised.value.diagnostics[0].code.startswith("PL07")
