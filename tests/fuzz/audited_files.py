# SPDX-License-Identifier: Apache-2.0
"""Files of every kind that is data, their damage, and the commands that take them (the table of SECURITY.md).

`prepare` makes them in the current folder. Beside them lie decoys, which files name and commands do not: sources, a
machine that another one may be `based_on`, and what links of a sweep's folder lead to.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from tests.device.devices import ROOT
from tests.files import kinds
from tests.fuzz import assembly, damage, onnx_models, readers
from tests.fuzz.mlir_modules import damage_module, mlir_seeds

from polyloom.cli import main
from polyloom.exploration import store

Damage = Callable[[bytes, Random], bytes]
SWEEP: Final = "explore bits.pla --sweep N=4,5 --on tcpa:paper --level predict --resume s"
_SSA: Final = """pointers 32
external @__sfpi_sfpabs(i32x32, i32) -> i32x32 ordered
external @__sfpi_load(i32, i32, i32) -> i32x32 ordered
external @__sfpi_store(i32x32, i32, i32, i32) ordered
function k() { !"../decoy":2:0
entry:
    %x: i32x32 = call @__sfpi_load 0:i32, 3:i32, 0:i32 !"/etc/passwd":3:22
    %y: i32x32 = call @__sfpi_sfpabs %x, 1:i32 !"decoy":4:24
    call @__sfpi_store %y, 0:i32, 3:i32, 0:i32 !4:22
    return !5:1
}
"""


@dataclass(frozen=True, slots=True)
class Audited:
    """A kind of file: what it is called, seeds and their damage, and commands in words."""

    file: str
    seeds: Sequence[bytes]
    damage: Damage
    commands: tuple[Sequence[str], ...]

    def place(self, data: bytes) -> None:
        """Puts the file there; what an earlier command wrote is still there."""
        if self.file == "s":
            _sweep(data)
        else:
            Path(self.file).write_bytes(data)


def prepare() -> list[Audited]:
    """Files, decoys and inputs in the current folder."""
    for path in (ROOT / "examples").glob("*.pla"):
        shutil.copy(path, ".")
    Path("decoy").write_text("secret\n" * 9, encoding="utf-8")
    Path("decoy.toml").write_bytes(readers.machines()[0])
    Path(os.pardir, "decoy").write_text("secret\n" * 9, encoding="utf-8")
    kinds.make_arrays()
    made = [*_programs(), *_texts(), _sweeps()]
    Path("bits.plcc").write_bytes(readers.concrete()[0])
    Path("empty.log").touch()
    return [replace(kind, commands=tuple(kind.commands)) for kind in made]


def _programs() -> Iterator[Audited]:
    """What the compiler writes, of sources that lie beside them."""
    for file in kinds.FILES:
        kind = kinds.make(file)
        data = Path(file).read_bytes()
        of_file = damage.of_bytes if file.endswith(".elf") else damage.of_file
        ways: Damage = damage.of_configuration if file.endswith((".plsc", ".plcc")) else of_file
        run = "--report page.html --trace run.json"
        commands = [f"show {file}", f"show {file} --json", f"verify {file}"]
        if kinds.is_simulated(file):
            commands += [f"{' '.join(kind.words)} {run}", f"simulate {file}"]
        else:
            commands += [f"instantiate {file} N=4 --pes 2x2 -o made.plcc"]
        if file.endswith(".elf"):
            commands += [f"simulate {file} --on {on}" for on in ("riscv", "minion:1", "tensix")]
        yield _kind(file, [data], _with_names(ways), *commands)


def _with_names(ways: Damage) -> Damage:
    """Now and then the name of a source is one that leads elsewhere; of the same length, with the sums that belong."""

    def damaged(data: bytes, random: Random) -> bytes:
        names = [name for name in (b"one.py", b"two.py", b"steps.py", b"sum.c", b"abs.h") if name in data]
        if not names or random.randrange(3):
            return ways(data, random)
        name = random.choice(names)
        other = random.choice((b"../", b"/", b"/dev", b"/etc/", b"..", b"./", b"~/"))[: len(name)]
        changed = data.replace(name, other + name[len(other) :])
        return damage.repaired(changed)

    return damaged


def _texts() -> Iterator[Audited]:
    """What people write."""
    text = damage.of_text_bytes
    based = [b'based_on = "%s"\nname = "mine"\n' % name for name in (b"decoy", b"../decoy", b"./decoy.toml")]
    machines = [*readers.machines(), *based]
    run = "--on tcpa:2x2 --report page.html"
    programs = [*readers.programs(), b'include "decoy"\n']
    equations = ("show k.pla", "verify k.pla", f"run k.pla N=3 {run}", "compile k.pla -o k.plsc")
    yield _kind("k.pla", programs, text, *equations)
    modules = [*mlir_seeds(), b'#x = dense_resource<"../decoy">\n', b'func.func @f() { return } loc("../decoy":1:2)\n']
    module = ("show k.mlir", "show k.mlir --as mlir", f"run k.mlir N=3 {run}", "compile k.mlir -o k.plsc")
    yield _kind("k.mlir", modules, damage_module, *module)
    yield _kind("a.npy", readers.arrays(), damage.of_bytes, "simulate bits.plcc --in in=a.npy --out bits=b.npy")
    yield _kind("m.toml", machines, text, "machines m.toml", "compile bits.pla --on tcpa:m.toml -o made.plsc")
    for target, on in (("belt", "belt:belt.toml"), ("minion", "minion:minion.toml:2")):
        paths = sorted((ROOT / "src" / "polyloom" / "targets" / target / "machines").glob("*.toml"))
        members = [*(path.read_bytes() for path in paths), *based]
        Path(f"{target}.s").write_bytes(assembly.NOTATIONS[{"belt": "belt:silver", "minion": "minion:4"}[target]]()[-1])
        yield _kind(f"{target}.toml", members, text, f"machines {target}.toml", f"asm {target}.s --on {on} -o made.bin")
    beside = [*onnx_models.onnx_seeds()[:1], onnx_models.names_decoy()]
    bytes_or_graph = onnx_models.damage_model
    yield _kind("n.onnx", beside, bytes_or_graph, "show n.onnx", "run n.onnx batch=2 --on riscv --report page.html")
    yield _kind("w.toml", readers.mappings(), text, "compile matvec.pla --mapping w.toml -o made.plsc")
    yield _kind("t.litmus", readers.tests(), text, "litmus t.litmus --max-executions 500")
    yield _kind("t.log", [readers.LOG], text, "litmus t.litmus --against t.log --max-executions 500")
    yield _kind("g.json", readers.GRAPHS, text, "dominators g.json", "dominators g.json --post --json")
    loops = [(ROOT / "examples" / "biquad.json").read_bytes()]
    yield _kind("l.json", loops, text, "schedule l.json")
    vector = "--function k --on tensix"
    ssa = [_SSA.encode()]
    yield _kind("v.ssa", ssa, text, f"run v.ssa {vector} --report page.html", f"compile v.ssa {vector} -o v.elf")
    for n, (on, texts) in enumerate(assembly.NOTATIONS.items()):
        odd = [b'.incbin "decoy"\n', b'.include "decoy"\n', b'.file "decoy"\n.line 3\n nop\n']
        asm = f"asm a{n}.s --on {on} -o made.bin"
        yield _kind(f"a{n}.s", [*texts(), *odd], assembly.of_operands, asm)
    words = [bytes(range(256)), bytes.fromhex("13000000730010006f000000")]
    raw = ["simulate w.bin@0x8000001000 --on minion:1", "simulate w.bin --on tensix", "show w.bin --on tensix"]
    yield _kind("w.bin", words, damage.of_bytes, *raw, "verify w.bin --on tensix", "simulate w.bin@0x1000 --on riscv")


def _kind(file: str, seeds: Sequence[bytes], way: Damage, *commands: str) -> Audited:
    return Audited(file, seeds, way, tuple(command.split() for command in commands))


def _sweeps() -> Audited:
    """The seeds are what a folder's files are to be: a letter for links and views, then the content of rows."""
    assert main(SWEEP.split()) == 0
    rows = sqlite3.connect(Path("s", store.ROWS))
    rows.execute("PRAGMA journal_mode = DELETE")
    rows.close()
    content = Path("s", store.ROWS).read_bytes()
    shutil.copytree("s", "kept")
    seeds = [bytes([way]) + content for way in range(len(_WAYS))]
    return _kind("s", seeds, lambda data, random: data[:1] + damage.of_bytes(data[1:], random), SWEEP)


_NUMBERS: Final = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n"
_LINKS: Final = ("lock", store.SPEC, store.ROWS, f"{store.ROWS}-wal", f"{store.ROWS}-journal")
_WAYS: Final = ("", "", "", *_LINKS, "view", "spec")
"""Nothing, or which file is a link, or what else is different."""


def _sweep(data: bytes) -> None:
    way = _WAYS[data[0]]
    shutil.rmtree("s", ignore_errors=True)
    shutil.copytree("kept", "s")
    rows = Path("s", store.ROWS)
    rows.write_bytes(data[1:])
    if way == "view":
        rows.unlink()
        made = sqlite3.connect(rows)
        made.execute(f"CREATE VIEW rows(key, row) AS {_NUMBERS}")
        made.close()
    elif way == "spec":
        spec = Path("s", store.SPEC)
        spec.write_bytes(damage.of_text_bytes(spec.read_bytes(), Random(data)))
    elif way:
        Path("s", way).unlink(missing_ok=True)
        Path("s", way).symlink_to(os.path.join(os.pardir, "decoy"))
