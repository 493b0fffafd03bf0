# SPDX-License-Identifier: Apache-2.0
"""`polyloom run FILE.c --on riscv:ISA`: what it prints, what it writes, what it refuses."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.riscv.backend.running import run as run_function

from polyloom import extras
from polyloom.cli import main, run
from polyloom.frontend.c import clang
from polyloom.frontend.source import Options
from polyloom.riscv import model, names
from polyloom.riscv.backend import link
from polyloom.riscv.backend.code import Block, Code, Op
from polyloom.riscv.backend.words import Marked, encode_function
from polyloom.riscv.image import elf_image
from polyloom.riscv.model import Machine
from polyloom.targets.forms import ssa_function

pytest.importorskip("ziglang", reason="C needs the extra `c`")

COMMANDS = Path(__file__).with_name("commands.c")
Call = Callable[..., tuple[int, str, str]]
REFUSED = {
    "length-unknown": "total n=4 --on riscv:rv64gc",
    "length-not-known-at-call": "total n=4 --shape a=n/2 --on riscv:rv64gc",
    "dimensions": "scale n=2 m=2 --shape a=n,m,n --on riscv:rv64gc",
    "pointer-to-function": "applied x=3 --on riscv:rv64gc",
    "no-atomics": "added n=3 --on riscv:rv64imfd",
    "size-missing": "dot --on riscv:rv64gc",
    "size-negative": "dot n=-3 --on riscv:rv64gc",
    "size-too-large": "dot n=2147483648 --on riscv:rv64gc",
    "memory": "scale n=2147483647 m=2147483647 --on riscv:rv64gc",
    "scalar-malformed": "dot n=many --on riscv:rv64gc",
    "array-as-scalar": "dot n=4 a=3 --on riscv:rv64gc",
    "parameter-unknown": "dot n=4 m=3 --on riscv:rv64gc",
    "input-type": "dot n=3 --in a=float.npy --fill random --on riscv:rv64gc",
    "input-shape": "dot n=4 --in a=int.npy --fill random --on riscv:rv64gc",
    "some-arrays": "sums n=3 --in a=int.npy --on riscv:rv64gc",
    "some-arrays-no-nest": "squeezed n=3 --in a=int.npy --on riscv:rv64gc",
    "output-unknown": "dot n=4 --out sum=s.npy --on riscv:rv64gc",
    "function-unknown": "dto n=4 --on riscv:rv64gc",
    "isa-unknown": "dot n=4 --on riscv:rv64gcv",
    "isa-contradictory": "dot n=4 --on riscv:rv64ie",
    "isa-none": "dot n=4 --on riscv:unit",
    "too-many-instructions": "dot n=1000 --on riscv:rv64gc --max-instructions 50",
    "no-instructions": "dot n=4 --on riscv:rv64gc --max-instructions 0",
    "instructions-of-an-array": "dot n=4 --on tcpa --max-instructions 9",
    "level-unknown": "dot n=4 --on riscv:rv64gc --ssa 3",
    "level-of-an-array": "dot n=4 --on tcpa --ssa 0",
    "option-of-arrays": "dot n=4 --on riscv:rv64gc --candidate 1",
    "floats-missing": "half x=1 --on riscv:rv32imac",
    "double-missing": "half x=1 --on riscv:rv64imaf",
    "division-by-zero": "quotient a=1 b=0 --on riscv:rv64gc",
    "out-of-bounds": "beyond n=4 --on riscv:rv64gc",
    "recursion-without-an-end": "deeper n=9 --on riscv:rv64gc",
    "call-of-another-file": "elsewhere n=9 --on riscv:rv64gc",
    "variable-array": "variable n=9 --on riscv:rv64gc",
    "pointer-result": "somewhere n=9 --on riscv:rv64gc",
    "pointer-to-pointer": "indirect n=9 --shape a=n --on riscv:rv64gc",
    "structure-by-value": "by_value --on riscv:rv64gc",
    "union": "overlaid --on riscv:rv64gc",
}


_dump_tree = clang._dump_tree  # pyright: ignore[reportPrivateUsage]  # what asks clang for it


@cache
def _tree(path: str, options: Options, target: str, text: str) -> Any:
    """One tree of each text: all tests run copies of one file."""
    assert Path(path).read_text(encoding="utf-8") == text
    return _dump_tree(path, options, target)


def _cached_tree(path: str, options: Options, target: str) -> Any:
    return _tree(path, options, target, Path(path).read_text(encoding="utf-8"))


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    (tmp_path / "commands.c").write_text(COMMANDS.read_text(encoding="utf-8"), encoding="utf-8")
    np.save(tmp_path / "float.npy", np.zeros(3, np.float32))
    np.save(tmp_path / "int.npy", np.arange(3, dtype=np.int32))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clang, "_dump_tree", _cached_tree)

    def run(words: str) -> tuple[int, str, str]:
        status = main(["run", "commands.c", "--function", *words.split()])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, call: Call, golden: Golden) -> None:
    status, out, err = call(REFUSED[name])
    assert status in (1, 2)
    text = re.sub(r"there are [\d.]+ GiB", "there are M GiB", f"{out}{err}")
    golden(f"refused-{name}", f"$ polyloom run commands.c --function {REFUSED[name]}\nexit {status}\n{text}")


def _json(call: Call, words: str) -> dict[str, Any]:
    status, out, err = call(f"{words} --json")
    assert status == 0, err
    return json.loads(out)


@pytest.mark.parametrize("words", ["any a=1 b=0", "length row=4", "rows n=3", "matrix", "pointed n=4"])
def test_functions_are_read_as_they_are_written(words: str, call: Call) -> None:
    assert _json(call, f"{words} --on riscv:rv32imac")["verified"] is True


@pytest.mark.parametrize("on", ("riscv:rv64gc", "belt:silver"))
def test_unused_pointers_need_no_extent(on: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`(void)p` reads nothing behind p; a pointer that is subscripted as well still needs its extent (PL0155)."""
    source = tmp_path / "f.c"
    text = "void f(int *y, const int *sums, const int *x) {{ (void)sums; (void)x; *y = {}; }}\n"
    source.write_text(text.format("*x + 1"), encoding="utf-8")
    assert main(["run", str(source), "--on", on]) == 0
    assert "equal bits" in capsys.readouterr().out
    source.write_text(text.format("x[2]"), encoding="utf-8")
    assert main(["run", str(source), "--on", on]) == 1
    assert "PL0155]: the length of what `x` points to is not known" in capsys.readouterr().err


@pytest.mark.parametrize("on", ["riscv:rv64gc", "tcpa:1x1"])
def test_files_may_have_any_name(on: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / 'zwei "große" Dateien.c'
    path.write_text("void twice(int n, int a[n]) { for (int i = 0; i < n; i++) a[i] *= 2; }\n", encoding="utf-8")
    assert main(["run", str(path), "n=3", "--on", on, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True


@pytest.mark.parametrize("isa", ["rv64gc", "rv64gc_zicond", "rv32gc_zicond_zbb"])
def test_a_dot_product(isa: str, call: Call) -> None:
    found = _json(call, f"dot n=3 --in a=int.npy --fill random --out return=r.npy --on riscv:{isa}")
    assert found["verified"] is True
    assert found["cycles"] is None
    assert (found["kernel"], found["on"], found["parameters"]) == ("dot", f"riscv:{isa}", {"n": 3})
    assert 0 < found["code_bytes"] < 100
    assert 15 < found["instructions"] < 60
    assert found["compared_with"] == ["interpreter", "host"]
    assert found["outputs"]["return"]["shape"] == []
    assert int(np.load("r.npy")) == int(np.arange(3) @ np.random.default_rng([0, *b"c"]).integers(-4, 5, 3))


@pytest.mark.parametrize("isa", ["rv64gc", "rv32imac"])
def test_recursion(isa: str, call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    """The caller's name is above its code, and so are those of what it calls."""
    found = _json(call, f"fibonacci n=20 --out return=r.npy --on riscv:{isa} --ssa 0")
    assert found["verified"] and int(np.load("r.npy")) == 6765
    assert found["outputs"].keys() == {"return"}
    found = _json(call, f"partition n=50 --out a=a.npy --on riscv:{isa}")
    assert found["verified"] and list(found["outputs"]) == ["a"]
    assert np.all(np.diff(np.load("a.npy")) >= 0)
    status, out, _ = call(f"partition n=9 --on riscv:{isa} --ssa 1")
    assert status == 0
    assert re.findall(r"^\w+(?=:$)", out, re.MULTILINE) == ["partition", "sort", "least"]
    assert (
        main(["compile", "commands.c", "--function", "partition", "--on", f"riscv:{isa}", "--ssa", "1", "-o", "q.elf"])
        == 0
    )
    capsys.readouterr()
    assert main(["show", "q.elf", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["symbols"]) == ["partition", "sort", "least"]


def test_code_that_is_not_optimized(call: Call) -> None:
    """By clang has the same outputs, and at most a few more instructions."""
    levels = [_json(call, f"dot n=100 --on riscv:rv64gc --ssa {level}") for level in (0, 1, 2)]
    assert all(each["verified"] and each["outputs"] == levels[0]["outputs"] for each in levels)
    assert levels[0]["instructions"] >= levels[1]["instructions"] >= levels[2]["instructions"]
    assert levels[0]["instructions"] <= 1.05 * levels[2]["instructions"]


def test_inputs_are_made_up_from_a_seed(call: Call) -> None:
    first, again, other = (
        _json(call, f"dot n=100 --seed {seed} --on riscv")["outputs"]["return"]["sha256"] for seed in (1, 1, 2)
    )
    assert first == again != other


def test_outputs_are_what_is_written(call: Call) -> None:
    np.save("a.npy", np.arange(6, dtype=np.float64).reshape(2, 3))
    np.save("times.npy", np.array([255], np.uint8))
    for isa in ("rv64gc", "rv32gc"):
        found = _json(
            call,
            f"scale n=2 m=3 by=0.5 --in a=a.npy --in times=times.npy --out a=b.npy --out times=t.npy --on riscv:{isa}",
        )
        assert list(found["outputs"]) == ["a", "times"]
        assert np.array_equal(np.load("b.npy"), np.load("a.npy") / 2)
        assert np.load("t.npy").tolist() == [0]


def test_what_is_only_written_may_be_left_out(call: Call) -> None:
    for more in ("", " --in s=int.npy"):
        assert _json(
            call, f"sums n=3 --in a=int.npy --in c=int.npy --in t=int.npy{more} --out s=s.npy --on riscv:rv64gc"
        )["verified"]
        assert np.load("s.npy").tolist() == [0, 2, 4]
    for fill in ("--in s=int.npy", "--fill random"):
        assert _json(call, f"squeezed n=3 --in a=int.npy {fill} --on riscv:rv64gc")["verified"]


def test_structures(call: Call) -> None:
    point = np.dtype([("x", "<i4"), ("y", "<f8", (2,)), ("tag", "u1")], align=True)
    points = np.zeros(3, point)
    points["x"], points["tag"] = [1, 2, 3], 7
    first = np.zeros(1, point)
    first["x"], first["y"] = 10, [[0.5, 1.5]]
    np.save("p.npy", points)
    np.save("first.npy", first)
    for isa in ("rv64gc_zbb", "rv32gc"):
        found = _json(
            call, f"move n=3 up=1 --in p=p.npy --in first=first.npy --out p=q.npy --out return=r.npy --on riscv:{isa}"
        )
        assert list(found["outputs"]) == ["return", "p"]
        moved = np.load("q.npy")
        assert moved["x"].tolist() == [11, 12, 13]
        assert moved["y"].tolist() == [[0, 1.5], [0, 2.5], [0, 3.5]]
        assert int(np.load("r.npy")) == 1


def test_long_is_as_wide_as_a_register(call: Call) -> None:
    for isa, size in (("rv64gc", 8), ("rv32gc", 4)):
        assert _json(call, f"width --out return=r.npy --on riscv:{isa}")["verified"]
        assert int(np.load("r.npy")) == size
        assert np.load("r.npy").dtype.itemsize == size


def test_numbers_that_json_does_not_have(call: Call) -> None:
    for text in ("nan", "inf", "-inf"):
        found = _json(call, f"half x={text} --on riscv:rv64gc")
        assert found["parameters"] == {"x": text}
        assert found["verified"]


def test_the_syntax_tree_is_dumped_once(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    dumped: list[str] = []
    tree = clang._dump_tree  # pyright: ignore[reportPrivateUsage]  # what asks clang for it

    def counted(path: str, options: Options, target: str) -> Any:
        dumped.append(path)
        return tree(path, options, target)

    monkeypatch.setattr(clang, "_dump_tree", counted)
    assert _json(call, "dot n=3 --on riscv:rv32imac")["verified"]
    assert dumped == ["commands.c"]


def test_long_runs_are_compared_with_the_host_alone(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssa_function, "STEPS", 100)
    found = _json(call, "dot n=1000 --on riscv:rv64gc")
    assert found["verified"]
    assert found["compared_with"] == ["host"]


def test_a_run_without_an_end_is_ended(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its bound, or from outside, between slices; the host does not run it at all."""
    monkeypatch.setattr(ssa_function, "STEPS", 100)
    monkeypatch.setattr(model, "SLICE", 1000)
    status, out, err = call("forever n=3 --on riscv:rv64gc --max-instructions 1000000")
    assert (status, out) == (1, "")
    assert "`forever` has not returned after 1000000 instructions\n  --> commands.c:" in err
    assert "`--max-instructions 10000000` lets it run longer" in err
    monkeypatch.setattr(run, "progress_bar", lambda _: nullcontext(_interrupt))  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert call("forever n=3 --on riscv:rv64gc --max-instructions 1000000000000") == (130, "", "")


@pytest.mark.parametrize("words", ["unset n=3 --ssa 0", "astray n=3"])
def test_what_c_leaves_undefined_explains_a_run_without_an_end(
    words: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the model makes of it."""
    monkeypatch.setattr(ssa_function, "STEPS", 10000)
    status, _, err = call(f"{words} --on riscv:rv64gc --max-instructions 100000")
    assert status == 1
    assert "error[PL0972]" in err


def _interrupt(step: str, fraction: float) -> None:
    del step, fraction
    signal.raise_signal(signal.SIGINT)


def test_progress_is_reported_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "SLICE", 1000)
    shown: list[tuple[str, float]] = []

    def note(step: str, fraction: float) -> None:
        if step not in ("reading", "done"):
            shown.append((step, fraction))

    run_function(
        str(COMMANDS), "riscv:rv64gc", Options(function="dot"), {"n": "1000"}, {}, 0, limit=10000, progress=note
    )
    slices = [("running", k / 10 / 3) for k in range(1, len(shown) - 3)]
    compared = [
        (f"comparing with {what}", (n + 1) / 3)
        for n, what in enumerate(("the interpreter of SSA form", "the host's own function"))
    ]
    assert shown == [("compiling", 0), ("running", 0), *slices, *compared]
    assert 8 < len(shown) < 15


def test_a_difference_is_an_error(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """One word of the executable changed: products are subtracted instead of added."""

    def changed(code: Code) -> Marked:
        return encode_function(
            replace(code, blocks=tuple(Block(b.name, tuple(_subtracted(op) for op in b.ops)) for b in code.blocks))
        )

    monkeypatch.setattr(link, "encode_function", changed)
    status, out, err = call("dot n=3 --in a=int.npy --in c=int.npy --on riscv:rv64gc --json")
    assert status == 4
    assert json.loads(out)["verified"] is False
    assert "return differs from the interpreter of SSA form" in err


def _subtracted(op: Op) -> Op:
    return Op("subw", op.operands) if op.mnemonic == "addw" else op


def test_compile_writes_an_executable(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    del call  # the folder
    isa = names.parse_isa("rv32imac")
    assert (
        main(["compile", "commands.c", "--function", "quotient", "--on", "riscv:rv32imac", "-o", "quotient.elf"]) == 0
    )
    assert "quotient.elf: quotient for riscv:rv32imac" in capsys.readouterr().out
    machine = Machine(elf_image(Path("quotient.elf").read_bytes(), isa))
    assert machine.call(machine.entry, 100, 7)[0] == 14
    assert (
        main(
            [
                "compile",
                "commands.c",
                "--function",
                "quotient",
                "--on",
                "riscv",
                "-o",
                "q.elf",
                "--mapping",
                "commands.c",
            ]
        )
        == 2
    )
    assert "the target riscv has no option --mapping" in capsys.readouterr().err


@pytest.mark.parametrize("isa", ["rv32imac", "rv64gc"])
def test_an_executable_is_listed_and_its_words_are_verified(
    isa: str, call: Call, capsys: pytest.CaptureFixture[str]
) -> None:
    del call  # the folder
    assert main(["compile", "commands.c", "--function", "quotient", "--on", f"riscv:{isa}", "-o", "q.elf"]) == 0
    capsys.readouterr()
    assert main(["show", "q.elf"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["# entry 0x10000", "quotient:"]
    assert any("div" in line for line in lines)
    assert main(["verify", "q.elf"]) == 0
    data = bytearray(Path("q.elf").read_bytes())
    data[0x1000:0x1002] = b"\0\0"
    Path("q.elf").write_bytes(data)
    capsys.readouterr()
    assert main(["verify", "q.elf"]) == 1
    assert "error[PL0911]: q.elf: what stands at 0x10000 is no instruction" in capsys.readouterr().err
    assert main(["instantiate", "q.elf", "-o", "q.plcc"]) == 2
    assert "error[PL0801]: the target riscv has no symbolic files" in capsys.readouterr().err


def test_broken_executables_are_refused(call: Call, capsys: pytest.CaptureFixture[str]) -> None:
    del call  # the folder
    assert main(["compile", "commands.c", "--function", "quotient", "--on", "riscv:rv64gc", "-o", "q.elf"]) == 0
    data = Path("q.elf").read_bytes()
    random = np.random.default_rng(0)
    for _ in range(200):
        changed = np.frombuffer(data[: random.choice([len(data), len(data) - 9])], np.uint8).copy()
        places = np.concatenate([np.arange(4, 120), np.arange(0x1000, len(changed))])
        changed[random.choice(places, 3)] = random.integers(0, 256, 3)
        Path("q.elf").write_bytes(changed.tobytes())
        assert main(["show", "q.elf"]) in (0, 1)
        capsys.readouterr()


def test_python_kernels_are_compared_with_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernels = Path(__file__).parents[3] / "examples" / "kernels"
    for words in ("gemm.py NI=3 NJ=4 NK=5 alpha=0.5 --on riscv:rv64gc", "lcs.py N=5 M=6 --on riscv:rv32imac_zbb"):
        name, *rest = words.split()
        assert main(["run", str(kernels / name), *rest, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["verified"]
        assert found["compared_with"] == ["interpreter", "source"]
    (tmp_path / "x.pla").write_text("", encoding="utf-8")
    assert main(["run", str(tmp_path / "x.pla"), "--on", "riscv:rv64gc"]) == 1
    assert "is nothing that the target riscv takes" in capsys.readouterr().err


def test_kernels_run_without_clang(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clang, "find_spec", dict[str, None]().get)
    kernel = Path(__file__).parents[3] / "examples" / "kernels" / "trisolv.py"
    clang.clear_caches()
    assert main(["run", str(kernel), "N=5", "--on", "riscv:rv64gc", "--json"]) == 0
    monkeypatch.undo()
    clang.clear_caches()
    assert json.loads(capsys.readouterr().out)["verified"]


def test_without_the_extra(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    clang.clear_caches()
    monkeypatch.setattr(clang, "find_spec", dict[str, None]().get)
    status, _, err = call("dot n=3 --on riscv:rv64gc")
    monkeypatch.undo()
    clang.clear_caches()
    assert status == 2
    assert extras.install_command("c") in err


def test_the_listing(call: Call, golden: Golden) -> None:
    for isa in ("rv64gc_zicond", "rv32imac"):
        status, out, err = call(f"dot n=3 --on riscv:{isa}")
        assert status == 0, err
        golden(f"dot-{isa}", re.sub(r"\n  time .*", "", out))


def test_the_function_that_others_may_call_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    """Not the `static` one that it calls, although that is the only one with a loop."""
    assert main(["run", str(Path(__file__).parents[3] / "examples" / "queens.c"), "n=5", "--on", "riscv:rv64gc"]) == 0
    compared = "equal bits, compared with the interpreter of SSA form and the host's own function"
    assert capsys.readouterr().out.startswith(f"queens n=5 on riscv:rv64gc: {compared}\nreturn = 10\n")
