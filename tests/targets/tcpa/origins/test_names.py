# SPDX-License-Identifier: Apache-2.0
"""The name of a source in a file is only a name: it leads nowhere, and the source is not opened.

A stranger's file could otherwise bring a file of the user's onto a page.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.files import kinds

import polyloom as pl
from polyloom import api, files
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.words import belt_file
from polyloom.targets.provenance import Provenance, match_texts

SECRET = "BEGIN PRIVATE KEY"
PATCHED = ("ir.ssa", "targets.provenance", "riscv.source_lines", "targets.tensix.source.note")
"""Who asks for a recorded name."""
BOTH = [(file, ("../{}", "{folder}/{}")[n % 2]) for n, file in enumerate(kinds.FILES)]
_SSA = """pointers 32
external @__sfpi_sfpabs(i32x32, i32) -> i32x32 ordered
external @__sfpi_load(i32, i32, i32) -> i32x32 ordered
external @__sfpi_store(i32x32, i32, i32, i32) ordered
function k() {{ !"{}":2:0
entry:
    %x: i32x32 = call @__sfpi_load 0:i32, 3:i32, 0:i32 !3:22
    %y: i32x32 = call @__sfpi_sfpabs %x, 1:i32 !4:24
    call @__sfpi_store %y, 0:i32, 3:i32, 0:i32 !4:22
    return !5:1
}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own"


@given(st.lists(st.sampled_from(["/", "..", ".", "a", "b.c", "~", "\\"]), max_size=8).map("".join))
def test_a_recorded_name_is_relative_and_stays(path: str) -> None:
    name = files.recorded_name(path)
    assert files.is_recorded_name(name)
    assert files.recorded_name(name) == name
    assert not name.startswith("/")
    assert ".." not in name.split("/")
    assert path.endswith(name) or not name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("k.c", "k.c"),
        ("a/k.c", "a/k.c"),
        ("./k.c", "./k.c"),
        ("/a/b/k.c", "k.c"),
        ("../k.c", "k.c"),
        ("a/../../k.c", "k.c"),
        ("<string>", "<string>"),
        ("..", ""),
        ("a/..", "a"),
        ("/", ""),
        ("", ""),
        ("..k/k..c", "..k/k..c"),
    ],
)
def test_recorded_names(path: str, name: str) -> None:
    assert files.recorded_name(path) == name


@pytest.mark.parametrize(("file", "way"), BOTH)
def test_compile_writes_no_path(file: str, way: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A source that is named by `..` or by an absolute path is called by its last part, so it is the same file."""
    source = kinds.make(file).source
    here = Path(file).read_bytes()
    kinds.make(file, way.format(source, folder=folder.parent))
    assert Path(file).read_bytes() == here
    assert main(["verify", file]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(("file", "way"), BOTH)
def test_verify_refuses_a_name_that_leads_elsewhere(
    file: str,
    way: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    golden: Golden,
) -> None:
    source = kinds.Kind(file, *_source_of(file)).source
    path = way.format(source, folder=folder.parent)
    with monkeypatch.context() as patched:
        patched.setattr(files, "is_recorded_name", bool)
        for module in PATCHED:
            patched.setattr(f"polyloom.{module}.recorded_name", str)
        kind = kinds.make(file, path)
    belt_file._read.cache_clear()  # pyright: ignore[reportPrivateUsage]
    Path(path).write_text(f"{kind.text}# {SECRET}\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["verify", file]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error[PL0707]") and f"the file names the source '{path}'" in err
    if way == "../{}":
        golden(f"name-in-{file}", err)
    main([*kind.words, "--report", "page.html"])
    page = Path("page.html")
    assert not page.exists() or SECRET not in page.read_text(encoding="utf-8")
    main(["show", file])
    assert path not in capsys.readouterr().out


def _source_of(file: str) -> tuple[str, str, str]:
    kind = kinds.KINDS[kinds.symbolic_of(file)]
    return kind.source, kind.text, kind.compiled


@pytest.mark.parametrize("file", [file for file in kinds.FILES if kinds.is_simulated(file)])
def test_a_source_is_shown_only_if_the_user_names_it(
    file: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though it is there, and has every line that the file tells."""
    del folder
    kind = kinds.make(file)
    Path(kind.source).write_text(f"{kind.text}# {SECRET}\n", encoding="utf-8")
    assert main([*kind.words, "--report", "page.html", "--trace", "trace.json"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert SECRET not in page
    assert "The source is not shown" in page
    assert main([*kind.words, "--report", "page.html", "--source", kind.source]) == 0
    shown = SECRET in Path("page.html").read_text(encoding="utf-8")
    assert shown == (file.endswith((".plcc", ".belt"))), "the other kinds have no schedule beside a source"
    capsys.readouterr()


def test_a_source_with_other_lines_is_refused(folder: Path, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    del folder
    kind = kinds.make("one.plcc")
    Path(kind.source).write_text(kind.text.replace("+=", "-="), encoding="utf-8")
    Path("other.py").write_text(kind.text, encoding="utf-8")
    capsys.readouterr()
    assert main([*kind.words, "--report", "page.html", "--source", kind.source]) == 1
    golden("source-with-other-lines", capsys.readouterr().err)
    assert main([*kind.words, "--report", "page.html", "--source", "other.py"]) == 1
    golden("source-of-another-name", capsys.readouterr().err)
    assert main([*kind.words, "--report", "page.html", "--source", "none.py"]) == 1
    assert "error[PL0104]: cannot read none.py" in capsys.readouterr().err
    assert not Path("page.html").exists()


def test_programs_together_have_their_own_sources(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    kind = kinds.make("steps.plsc")
    words = ["simulate", "--array", "2x4", "--report", "page.html"]
    for n, at in ((1, "0,0"), (2, "0,2")):
        placed = f"steps.plsc N=4 --pes 2x2 --array 2x4 --at {at} -o {n}.plcc"
        assert main(["instantiate", *placed.split()]) == 0
        words += [f"{n}.plcc", "--at", at, "--in", f"{n}:p=p.npy"]
    Path(kind.source).write_text(f"{kind.text}# {SECRET}\n", encoding="utf-8")
    for sources in ([], ["--source", "1:steps.py"], ["--source", "1:steps.py", "--source", "2:steps.py"]):
        assert main([*words, *sources]) == 0
        assert (SECRET in Path("page.html").read_text(encoding="utf-8")) == bool(sources)
    assert main([*words, "--source", "steps.py"]) == 2
    assert "error[PL0801]: --source 'steps.py' is of none of the 2 files" in capsys.readouterr().err


def test_a_program_that_tells_no_lines_takes_no_source(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    Path("p.s").write_text("addi a0, a0, 1\nebreak\n", encoding="utf-8")
    assert main(["asm", "p.s", "--on", "riscv", "-o", "p.elf"]) == 0
    assert main(["simulate", "p.elf", "--on", "riscv", "--source", "p.s"]) == 2
    assert "leave --source out" in capsys.readouterr().err


def test_load_takes_sources(folder: Path) -> None:
    del folder
    kind = kinds.make("one.plsc")
    named, loaded = pl.load("one.plsc", source=kind.source), pl.load("one.plsc")
    assert isinstance(named, api.Compiled) and isinstance(loaded, api.Compiled)
    (view,) = named.instantiate(N=4, pes=(2, 2)).run(fill="random").views
    assert view.sources == ((kind.source, kind.text),)
    (view,) = loaded.instantiate(N=4, pes=(2, 2)).run(fill="random").views
    assert view.sources == ()
    assert any(o.provenance is not None and o.provenance.statement for o in view.operations)


def test_texts_by_names_alone() -> None:
    """Where nothing is known of a program's lines."""
    assert match_texts([], [("a/k.c", "x")]) == {"k.c": "x"}
    place = Provenance("b/k.c", 2, 0, 0, "")
    assert match_texts([place], [("a/k.c", "x\ny")]) == {"b/k.c": "x\ny"}
    with pytest.raises(PolyloomError, match="it has other lines"):
        match_texts([place], [("a/k.c", "x")])


@pytest.mark.parametrize("suffix", [".h", ".ssa"])
def test_a_vector_kernel_names_other_files(suffix: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By `#line`, and in the text of its form: not opened for messages, pages and the lines in its executable."""
    (folder.parent / "secret").write_text(f"{SECRET}\n" * 9, encoding="utf-8")
    Path("near").write_text(f"{SECRET}\n" * 9, encoding="utf-8")
    kinds.make_arrays()
    for name in ("../secret", str(folder.parent / "secret"), "near"):
        text = kinds.VECTOR.replace("void", f'#line 1 "{name}"\nvoid') if suffix == ".h" else _SSA.format(name)
        Path(f"k{suffix}").write_text(text, encoding="utf-8")
        words = [f"k{suffix}", "--function", "k", "--on", "tensix:wormhole"]
        assert main(["run", *words, "--report", "page.html", "--trace", "trace.json"]) == 0
        assert main(["compile", *words, "-o", "k.elf"]) == 0
        assert main(["show", "k.elf"]) == 0
        assert f"<{Path(name).name}>:" in capsys.readouterr().out
        for made in ("page.html", "trace.json", "k.elf"):
            assert SECRET.encode() not in Path(made).read_bytes()


def test_a_vector_kernel_shows_its_own_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    Path("inner.h").write_text(kinds.VECTOR, encoding="utf-8")
    Path("k.h").write_text('#include "inner.h"\n', encoding="utf-8")
    words = ["k.h", "--function", "k", "--on", "tensix:wormhole"]
    assert main(["compile", *words, "-o", "k.elf"]) == 0
    assert main(["show", "k.elf"]) == 0
    assert "inner.h:3  sfpi::vFloat x = sfpi::dst_reg[0];" in capsys.readouterr().out
