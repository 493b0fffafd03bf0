# SPDX-License-Identifier: Apache-2.0
"""Files of phases: round trips, one layout, what every kind of damage is answered with, and what the commands say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from struct import iter_unpack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.targets.tcpa.phases.plans import ATAX, MVT, PARTLY, SQUARE, TRANSPOSED

import polyloom as pl
from polyloom import api
from polyloom.binary import CHECKED, FileKind, fletcher64
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.ir.operations import ELEMENT_TYPES
from polyloom.ir.pla import Array
from polyloom.modulo.guards.solve import search
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.targets.tcpa.words.phases import phase_file, stages
from polyloom.targets.tcpa.words.phases.phase_file import CONCRETE, PARAMETRIC, SYMBOLIC, Phased, Stage, Window

Call = Callable[..., tuple[int, str, str]]
_affine = st.builds(
    Affine.from_terms, st.dictionaries(st.sampled_from(("N", "M")), st.integers(-9, 9)), st.integers(-99, 99)
)
_condition = st.builds(
    Condition, st.lists(st.builds(Polyhedron, st.lists(_affine, max_size=3).map(tuple)), max_size=3).map(tuple)
)
_word = st.integers(0, 2**32 - 1).map(lambda n: n.to_bytes(4, "little"))


@st.composite
def phased(draw: st.DrawFn) -> Phased:
    names = draw(st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True))
    arrays = tuple(
        Array(n, draw(st.sampled_from(ELEMENT_TYPES)), tuple(draw(st.lists(_affine, max_size=3)))) for n in names
    )
    number = st.integers(0, len(names) - 1)
    arguments = st.lists(st.lists(_affine, min_size=1, max_size=2).map(tuple), max_size=3).map(tuple)
    origin = st.lists(_affine, max_size=3).map(tuple)
    windows = st.dictionaries(st.integers(0, 4), origin, max_size=2).map(
        lambda found: tuple(Window(array, found[array]) for array in sorted(found))
    )
    data = st.lists(_word, max_size=9).map(b"".join)
    stage = st.builds(Stage, data, st.lists(number, max_size=5).map(tuple), arguments, windows)
    roles = tuple(draw(st.integers(0, PARAMETRIC)) for _ in names)
    arrays = tuple(replace(a, shape=()) if role == PARAMETRIC else a for a, role in zip(arrays, roles, strict=True))
    values = tuple(draw(_affine) for role in roles if role == PARAMETRIC)
    return Phased(
        draw(st.text(max_size=5)),
        ("M", "N"),
        draw(_condition),
        arrays,
        roles,
        tuple(draw(st.lists(stage, min_size=1, max_size=3))),
        values,
    )


@settings(max_examples=50)
@given(phased(), st.sampled_from((SYMBOLIC, CONCRETE)))
def test_files_come_back(value: Phased, kind: FileKind) -> None:
    data = phase_file.encode(kind, value)
    assert len(data) % 4 == 0
    assert phase_file.decode(kind, data) == value


@settings(max_examples=20)
@given(phased(), st.fixed_dictionaries({"M": st.integers(0, 300), "N": st.integers(0, 1 << 20)}), st.data())
def test_concrete_files_have_one_form(value: Phased, values: dict[str, int], data: st.DataObject) -> None:
    """What fills the holes of a form gives the bytes that are written of the whole."""
    files = [data.draw(st.lists(_word, max_size=9).map(b"".join)) for _ in value.stages]
    arrays = tuple(
        replace(a, shape=tuple(Affine((), max(0, e.evaluate(values))) for e in a.shape)) for a in value.arrays
    )
    scalars = tuple(Affine((), v.evaluate(values)) for v in value.values)
    made = tuple(Stage(file, stage.arrays) for stage, file in zip(value.stages, files, strict=True))
    whole = Phased(value.name, (), Condition(), arrays, value.roles, made, scalars)
    assert phase_file.fill_template(phase_file.make_template(value), values, files) == phase_file.encode(
        CONCRETE, whole
    )


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    compiled = pl.compile(ATAX.plan, on="tcpa:wide:1x2")
    return {"atax.plsc": compiled.data, "atax.plcc": compiled.instantiate(N=4).data}


def repaired(data: bytes) -> bytes:
    """`data` with a checksum and a hash of the names that match."""
    ends = [end for (end,) in iter_unpack("<I", data[32:44])]
    begin, end = (n + -n % 4 for n in ends[-2:])
    data = (
        data[:24] + fletcher64(data[begin:end]).to_bytes(8, "little") + data[32:] if begin <= end <= len(data) else data
    )
    return data[:8] + fletcher64(data[CHECKED:]).to_bytes(8, "little") + data[CHECKED:]


def code_of(data: bytes) -> str | None:
    try:
        stages.check_file(data)
    except PolyloomError as error:
        assert error.exit_code in (1, 3)
        return error.diagnostics[0].code
    return None


@pytest.mark.parametrize("name", ["atax.plsc", "atax.plcc"])
def test_every_changed_bit_is_noticed(name: str, files: dict[str, bytes]) -> None:
    data, random = files[name], Random(4)
    for _ in range(150):
        at = random.randrange(4, len(data))
        assert code_of(data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]) in (
            "PL0702",
            "PL0703",
            "PL0704",
        )
    assert all(code_of(data[:size]) == "PL0702" for size in range(4, len(data), 37))
    assert code_of(data + bytes(4)) == "PL0704"


@pytest.mark.parametrize("name", ["atax.plsc", "atax.plcc"])
def test_no_change_with_a_matching_checksum_ends_in_a_traceback(name: str, files: dict[str, bytes]) -> None:
    """What is refused is a malformed file, or a damaged phase in it; a few changes, as of a name, are other files."""
    data, random = files[name], Random(5)
    found = set[str | None]()
    for _ in range(150):
        at = random.randrange(16, len(data))
        found.add(code_of(repaired(data[:at] + bytes([random.randrange(256)]) + data[at + 1 :])))
    assert found <= {None, "PL0701", "PL0702", "PL0703", "PL0704", "PL0705", "PL0706", "PL0810"}


def test_arrays_of_phases_are_those_of_the_kernel(files: dict[str, bytes]) -> None:
    whole = phase_file.decode(SYMBOLIC, files["atax.plsc"])
    crossed = replace(whole, stages=tuple(replace(s, arrays=s.arrays[::-1]) for s in whole.stages))
    assert code_of(phase_file.encode(SYMBOLIC, crossed)) == "PL0705"
    assert code_of(phase_file.encode(CONCRETE, whole)) == "PL0705"


def test_compiling_twice_gives_the_same_bytes(files: dict[str, bytes]) -> None:
    search.cache_clear()
    assert pl.compile(ATAX.plan, on="tcpa:wide").data == files["atax.plsc"]


def test_the_layout_is_documented(golden: Golden) -> None:
    """A change of this golden is a change of the format: docs/formats.md and the version number change with it."""
    whole = Phased(
        "k",
        ("N",),
        Condition((Polyhedron((Affine.symbol("N") - 2,)),)),
        (Array("x", "f32", (Affine.symbol("N"),)), Array("t", "i8")),
        (3, 0),
        (),
    )
    data = phase_file.encode(SYMBOLIC, replace(whole, stages=(Stage(bytes(range(32)), (0, 1)),)))
    golden("bytes", "\n".join(f"{n:4}: {data[n : n + 16].hex(' ', 4)}" for n in range(0, len(data), 16)))


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: dict[str, bytes]
) -> Call:
    """The command line in a folder with files of two phases, some damaged, and inputs."""
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    whole = files["atax.plcc"]
    (tmp_path / "short.plcc").write_bytes(whole[:-40])
    (tmp_path / "altered.plcc").write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    (tmp_path / "newer.plcc").write_bytes(whole[:4] + (99).to_bytes(4, "little") + whole[8:])
    for name in ("x", "zero"):
        np.save(tmp_path / f"{name}.npy", np.arange(4, dtype=np.int32))
    np.save(tmp_path / "A.npy", np.arange(16, dtype=np.int32).reshape(4, 4))
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(words)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


CASES = {
    "truncated": "show short.plcc",
    "altered": "verify altered.plcc",
    "newer": "simulate newer.plcc --in x=x.npy",
    "candidate": "instantiate atax.plsc N=4 --candidate 0 -o new.plcc",
    "candidate-phase": "instantiate atax.plsc N=4 --candidate 3:0 -o new.plcc",
    "candidate-unknown": "instantiate atax.plsc N=4 --candidate 2:99 -o new.plcc",
    "candidate-text": "instantiate atax.plsc N=4 --candidate 2:last -o new.plcc",
    "parameter-missing": "instantiate atax.plsc -o new.plcc",
    "parameter-unknown": "instantiate atax.plsc N=4 M=4 -o new.plcc",
    "concrete": "instantiate atax.plcc N=4 -o new.plcc",
    "symbolic": "simulate atax.plsc",
    "input-missing": "simulate atax.plcc --in A=A.npy --in x=x.npy",
    "input-unknown": "simulate atax.plcc --in A=A.npy --in x=x.npy --in zero=zero.npy --in tmp=x.npy",
    "input-shape": "simulate atax.plcc --in A=x.npy --in x=x.npy --in zero=zero.npy",
    "output-unknown": "simulate atax.plcc --in A=A.npy --in x=x.npy --in zero=zero.npy --out tmp=tmp.npy",
    "other-machine": "verify atax.plcc --on tcpa:unit",
}


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, call: Call, golden: Golden) -> None:
    status, out, err = call(*CASES[name].split())
    assert status == 1
    golden(f"error-{name}", f"$ polyloom {CASES[name]}\nexit {status}\n--- stdout\n{out}--- stderr\n{err}")


def test_the_way_in_steps(call: Call, tmp_path: Path) -> None:
    status, out, _ = call("instantiate", "atax.plsc", "N=4", "--pes", "1x2", "-o", "new.plcc", "--json")
    assert (status, len(json.loads(out)["phases"])) == (0, 2)
    assert (tmp_path / "new.plcc").read_bytes() == (tmp_path / "atax.plcc").read_bytes()
    for name in ("atax.plsc", "atax.plcc"):
        assert call("verify", name) == (0, f"{name}: valid\n", "")
    status, out, _ = call(
        "simulate",
        "new.plcc",
        "--in",
        "A=A.npy",
        "--in",
        "x=x.npy",
        "--in",
        "zero=zero.npy",
        "--out",
        "y=y.npy",
        "--json",
    )
    data = json.loads(out)
    assert (status, data["verified"], len(data["phases"])) == (0, None, 2)
    inputs = {n: np.load(tmp_path / f"{n}.npy") for n in ("A", "x", "zero")}
    assert np.array_equal(np.load(tmp_path / "y.npy"), ATAX.expected(inputs)["y"])


def test_show(call: Call) -> None:
    for name, title in (
        ("atax.plsc", "symbolic configuration of phases of atax(N)"),
        ("atax.plcc", "concrete configuration of phases of atax"),
    ):
        status, out, err = call("show", name)
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == title
        assert "phase 2 of 2, where start is zero, x is tmp, y is y" not in lines
        assert "phase 2 of 2, where start is zero, x is tmp" in lines
        data = json.loads(call("show", name, "--json")[1])
        assert data["phases"][0]["outputs"] == {"y": "tmp"}
        assert [a["role"] for a in data["arrays"]] == ["input", "input", "input", "output", "intermediate"]


def test_an_infeasible_phase_is_named() -> None:
    divided = replace(
        MVT.plan.phases[1],
        program=replace(
            TRANSPOSED,
            equations=tuple(
                replace(e, operation="div" if e.operation == "mul" else e.operation) for e in TRANSPOSED.equations
            ),
        ),
    )
    with pytest.raises(PolyloomError) as caught:
        pl.compile(replace(MVT.plan, body=(MVT.plan.phases[0], divided)), on="tcpa:fau")
    (found,) = caught.value.diagnostics
    assert found.exit_code == 3 and found.notes[-1] == "in phase 2 of 2"


@pytest.mark.parametrize("twice", ["1:0 --candidate 1:2", "0 --candidate 1:2", "0 --candidate 0"])
def test_a_phase_has_one_candidate(twice: str, call: Call) -> None:
    status, _, err = call("instantiate", "atax.plsc", "N=4", "--candidate", *twice.split(), "-o", "new.plcc")
    assert status == 2 and "--candidate PHASE:..., once for each phase" in err


def test_candidates_are_of_phases(call: Call, tmp_path: Path, files: dict[str, bytes]) -> None:
    assert (
        call(
            "instantiate",
            "atax.plsc",
            "N=4",
            "--pes",
            "1x2",
            "--candidate",
            "2:1",
            "--candidate",
            "1:1",
            "-o",
            "new.plcc",
        )[0]
        == 0
    )
    compiled = api.decode("atax.plsc", files["atax.plsc"])
    assert isinstance(compiled, api.Compiled)
    choices = ({1: 1, 2: 1}, {2: 1}, {2: 0})
    made = [compiled.instantiate(N=4, pes=(1, 2), candidate=choice).data for choice in choices]
    assert (tmp_path / "new.plcc").read_bytes() == made[0]
    second = [phase_file.decode(CONCRETE, data).stages[1].data for data in made]
    assert second[0] == second[1] != second[2]


def test_a_mapping_is_of_a_phase(tmp_path: Path) -> None:
    path = tmp_path / "mine.map"
    path.write_text('rows = "i"\norder = ["i", "j"]\n')
    for wrong in (path, {3: path}):
        with pytest.raises(PolyloomError, match="PL0818"):
            pl.compile(ATAX.plan, mapping=wrong)
    stages = phase_file.decode(SYMBOLIC, pl.compile(ATAX.plan, mapping={1: path}).data).stages
    mapped = [{(c.rows, c.order) for c in symbolic_file.decode(s.data).candidates} for s in stages]
    assert mapped[0] == {(0, (0, 1))} and len(mapped[1]) > 1


def test_a_candidate_of_one_phase_may_be_chosen() -> None:
    compiled = pl.compile(replace(PARTLY.plan, body=(PARTLY.plan.phases[1],)))
    assert compiled.instantiate(N=4, candidate=0).run().verified
    assert pl.compile(SQUARE).instantiate(N=4, candidate=0).run().verified
