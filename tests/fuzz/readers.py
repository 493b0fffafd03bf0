# SPDX-License-Identifier: Apache-2.0
"""Every reader behind the command line, fed with damaged files: no exit code 70, no crash, no hang, no memory beyond a
limit.

A reader is the seeds that are damaged, the damage, and the commands that get the damaged file. What takes long by its
nature, a simulation or a search, is stopped after a while; everything else has to answer.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
from tests.device.devices import ROOT
from tests.fuzz import assembly, damage
from tests.fuzz.isolated import PATIENCE, Hunt, hunt, limited
from tests.fuzz.mlir_modules import damage_module, mlir_seeds, read_module
from tests.fuzz.onnx_models import damage_model, onnx_seeds, read_damaged
from tests.fuzz.python_kernels import damage_kernel, python_seeds, read_kernel
from tests.targets.belt.run.programs import Draw, file
from tests.targets.belt.run.test_loops import dot
from tests.targets.tcpa.phases import plans

import polyloom as pl
from polyloom import api, npy
from polyloom.cli import main
from polyloom.diagnostics import INFEASIBLE, INPUT, INTERNAL, PolyloomError
from polyloom.ir.arguments import Arrays
from polyloom.riscv.assemble import assemble
from polyloom.riscv.backend.link import executable as executable_of
from polyloom.riscv.names import Isa, parse_isa
from polyloom.targets import registry
from polyloom.targets.belt import machine as belt_machines
from polyloom.targets.belt.run import model
from polyloom.targets.belt.words import belt_file
from polyloom.targets.tcpa import machine_file

EXAMPLES: Final = ROOT / "examples"
PLACE: Final = 0x10000
LONG: Final = 3.0
"""Seconds for what may take any time."""
_VALUES: Final = (0, 1, 2, 3, 7, 20)
_REGIONS: Final = ((1, 1), (1, 2), (2, 2), (3, 1), (1, 7))
_MOST: Final = 1 << 16
"""Elements of an array that is made up for a simulation."""
Damage = Callable[[bytes, Random], bytes]


@dataclass(frozen=True, slots=True)
class Reader:
    """`attempt` gets the path of a damaged file, and raises where something is wrong. `inputs` are those of a test run,
    which tries the same ones on every machine: some take a hundred times as long as others, so that each reader gets
    about a third of a second for a share of 1."""

    name: str
    suffix: str
    seeds: Callable[[], Sequence[bytes]]
    damage: Damage
    attempt: Callable[[str], None]
    inputs: int
    share: float = 1.0

    def fuzz(self, seconds: float, seed: int, most: int | None = None) -> Hunt:
        """Damages the seeds for `seconds`, or `most` times."""
        seeds = self.seeds()
        return hunt(seconds, seed, lambda random: self.damage(random.choice(seeds), random), self.attempt_on, most)

    def attempt_on(self, data: bytes) -> None:
        """One input, in the current folder."""
        path = f"damaged{self.suffix}"
        Path(path).write_bytes(data)
        self.attempt(path)


class Fault(Exception):
    """What a command must not do."""


def call(*words: str, seconds: float = PATIENCE, may_be_long: bool = False) -> tuple[int | None, str]:
    """The exit code (None where it took too long) and the text on stderr. Raises `Fault` for an internal error."""
    status: list[int] = []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as err:
        ended = limited(seconds, lambda: status.append(main(words)))
    if not ended and not may_be_long:
        raise Fault(f"{' '.join(words)} takes more than {seconds} seconds")
    if ended and status[0] == INTERNAL:
        raise Fault(f"{' '.join(words)}\n{err.getvalue()}")
    return (status[0] if ended else None), err.getvalue()


def configuration(path: str) -> None:
    """Shown, checked, instantiated where it is symbolic, and run."""
    for words in (("show", path), ("show", path, "--json")):
        call(*words)
    valid = call("verify", path)[0] == 0
    try:
        loaded = pl.load(path)
    except PolyloomError:
        return
    if isinstance(loaded, api.Instance):
        simulated(path)
        return
    chosen = Random(loaded.data)
    for n, region in zip(chosen.sample(_VALUES, 3), chosen.sample(_REGIONS, 3), strict=True):
        instantiated(path, [f"{name}={n + k % 2}" for k, name in enumerate(loaded.parameters)], region, valid)


def instantiated(path: str, values: Iterable[str], region: tuple[int, int], valid: bool) -> None:
    """What is valid is instantiated, or the machine is too small, or the file is to blame; what is made of it is
    right."""
    status, err = call("instantiate", path, *values, "--pes", "x".join(map(str, region)), "-o", "made.plcc")
    if (
        valid
        and status not in (0, INFEASIBLE)
        and not (status == INPUT and (path in err or "PL0230" in err))
        and "PL0505" not in err
    ):
        raise Fault(f"valid, but with {region} and {values} it ends in {status}: {err}")
    if status != 0:
        return
    found, err = call("verify", "made.plcc")
    if found != 0 and valid and _from_mapping(err):
        raise Fault(f"what is made of it for {region} and {values} is not right: {err}")
    simulated("made.plcc")


def _from_mapping(err: str) -> bool:
    """Whether an error is not one that a contradictory but well-formed mapping has, such as a schedule that is too
    early."""
    return "error[PL07" in err


def simulated(path: str) -> None:
    """Run for a while with arrays that are made up, where they are small."""
    call("verify", path, may_be_long=True, seconds=LONG)
    arrays = inputs(path)
    if arrays is None:
        return
    given: list[str] = []
    for number, (name, array) in enumerate(arrays.items()):
        Path(f"{number}.npy").write_bytes(npy.encode(array))
        given += ["--in", f"{name}={number}.npy"]
    call("simulate", path, *given, seconds=LONG, may_be_long=True)


def inputs(path: str) -> Arrays | None:
    """Random inputs of a concrete configuration; None where one is large."""
    try:
        loaded = pl.load(path)
        assert isinstance(loaded, api.Instance)
        signature = loaded.signature
    except PolyloomError:
        return None
    shapes = [tuple(max(0, n) for n in a.extents({})) for a in signature.inputs]
    if any(np.prod(s, dtype=object) > _MOST for s in shapes):
        return None
    generator = np.random.default_rng(1)
    return {a.name: generator.integers(-4, 5, s).astype(a.dtype) for a, s in zip(signature.inputs, shapes, strict=True)}


@cache
def _compiled() -> tuple[api.Compiled, ...]:
    mapped = [
        api.compile(str(EXAMPLES / f"{name}.pla"), on=f"tcpa:{on}")
        for name, on in (("bits", "paper"), ("fir", "unit"), ("matvec", "wide"), ("lcs", "unit"))
    ]
    return (*mapped, *(api.compile(case.plan, on="tcpa:unit") for case in (plans.MVT, plans.PARTLY)))


def symbolic() -> Sequence[bytes]:
    return [c.data for c in _compiled()]


@cache
def concrete() -> Sequence[bytes]:
    return [c.instantiate(dict.fromkeys(c.parameters, 4), pes=(2, 2)).data for c in _compiled()]


def array(path: str) -> None:
    Path("bits.plcc").write_bytes(concrete()[0])
    call("simulate", "bits.plcc", "--in", f"in={path}", seconds=LONG, may_be_long=True)


def arrays() -> Sequence[bytes]:
    made = (
        np.int32(7),
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.ones((3, 2), np.int8)),
        np.arange(4, dtype=">i4"),
    )
    return [npy.encode(np.asarray(a)) for a in made]


def machine(path: str) -> None:
    call("machines", path)
    call(
        "compile", str(EXAMPLES / "bits.pla"), "--on", f"tcpa:{path}", "-o", "made.plsc", seconds=LONG, may_be_long=True
    )


def machines() -> Sequence[bytes]:
    own = (
        b'based_on = "unit"\nname = "mine"\n[[unit]]\nname = "alu"\noperations = ["add", "mul", "shr", "and", '
        b'"move"]\nlatency = { add = 2 }\ncount = 2\n'
    )
    return [*(machine_file.resolve(machine_file.load(name)).encode() for name in ("unit", "paper")), own]


def mapping(path: str) -> None:
    call("compile", str(EXAMPLES / "matvec.pla"), "--mapping", path, "-o", "made.plsc", seconds=LONG, may_be_long=True)


def mappings() -> Sequence[bytes]:
    return [
        b'rows = "i"\ncolumns = "j"\norder = ["j", "i"]\ninitiation_interval = 1\n',
        b'rows = "i"\n[equations.p]\ntau = 1\nunit = "mul0"\n',
    ]


def program(path: str) -> None:
    call("show", path, may_be_long=True)
    call("verify", path, may_be_long=True)
    sizes = [f"{name}=3" for name in ("N", "M", "K", "T")]
    for count in (1, 2):
        call("run", path, *sizes[:count], "--on", "tcpa:2x2", seconds=LONG, may_be_long=True)


def programs() -> Sequence[bytes]:
    return [path.read_bytes() for path in sorted(EXAMPLES.glob("*.pla"))]


def litmus(path: str) -> None:
    call("litmus", path, "--max-executions", "1000", seconds=LONG, may_be_long=True)


def log(path: str) -> None:
    test = sorted((EXAMPLES / "litmus").rglob("*.litmus"))[0]
    call("litmus", str(test), "--against", path, "--max-executions", "1000", seconds=LONG, may_be_long=True)


def tests() -> Sequence[bytes]:
    return [path.read_bytes() for path in sorted((EXAMPLES / "litmus").rglob("*.litmus"))]


LOG: Final = b"""Test SB Forbidden
States 2
0:x8=0; 1:x8=0; x=1; y=-1;
0:x8=-1; 1:x8=0; [x]=1; [y]=-1;
Ok
Witnesses
Positive: 3 Negative: 1
Condition ~exists (0:x8=0 /\\ 1:x8=0)
Observation SB Sometimes 1 3
Hash=0123456789abcdef
Time SB 0.00
"""


def belt_program(path: str) -> None:
    """Shown, checked, and run for some bundles with what its words ask for."""
    call("show", path)
    call("verify", path)
    data = Path(path).read_bytes()

    def run() -> None:
        with contextlib.suppress(PolyloomError):
            code = model.decode_parts(belt_file.parts(data))
            given = [np.zeros(8, np.int32) if width == 2 else 1 for width, _ in code.parameters]
            model.run(data, given, max_cycles=1 << 16, trace=True)

    if not limited(PATIENCE, run):
        raise Fault("the model of the belt machine does not end")


@cache
def belt_programs() -> Sequence[bytes]:
    """A pipelined loop, open code, calls, scratch."""
    drawn = (
        Draw(Random(seed), belt_machines.member(name)).program()
        for seed, name in enumerate(("tin", "silver", "gold") * 3)
    )
    return [file(made) for made in (dot(), *drawn)]


def executable(path: str) -> None:
    call("show", path)
    call("verify", path)


@cache
def executables() -> Sequence[bytes]:
    """For 32 and 64 bits, with data and with a symbol."""
    return [
        executable_of(data, PLACE, _words(isa), isa, {"f": 0})
        for isa in map(parse_isa, ("rv64gc", "rv32im"))
        for data in (b"\1\2\3\4", b"")
    ]


def _words(isa: Isa) -> bytes:
    return assemble("f:\n addi a0, a0, 1\n bne a0, a1, f\n jalr x0, 0(x1)\n", isa, PLACE).data


def assembler(path: str) -> None:
    """The assembler has no command: what it raises must be an error of its own."""
    text = Path(path).read_bytes().decode("utf-8", "replace")

    def assembled() -> None:
        with contextlib.suppress(PolyloomError):
            assemble(text, parse_isa("rv64gc"))

    if not limited(PATIENCE, assembled):
        raise Fault("the assembler does not end")


def assembled(path: str, on: str) -> None:
    """What the assembler of a target raises must be an error of its own."""
    target, place = registry.split_place(on)
    assert target.assemble is not None
    text, assemble = Path(path).read_bytes().decode("utf-8", "replace"), target.assemble

    def attempt() -> None:
        with contextlib.suppress(PolyloomError):
            assemble(text, path, place, target.options())

    limited(LONG, attempt)


ASSEMBLY: Final = b"""loop:
    lw a0, 4(a1)
    addi a1, a1, 4
    c.add a0, a2
    fadd.d fa0, fa1, fa2, rne
    bne a1, a3, loop
    li t0, 0x12345678
    .word 0x13
    csrrw x0, fcsr, t1
    amoadd.w.aqrl a0, a1, (a2)
    fence rw, w
    ret
"""


def notation(path: str) -> None:
    call("asm", path, "--on", "belt:silver", "-o", "made.belt", seconds=LONG, may_be_long=True)


def notations() -> Sequence[bytes]:
    """Conasm; genasm has loops that are scheduled."""
    belt = ROOT / "tests" / "targets" / "belt"
    paths = (belt / "words" / "sum.conasm", *sorted((belt / "source").glob("*.genasm")))
    return [path.read_bytes() for path in paths]


def graph(path: str) -> None:
    for more in ((), ("--post",), ("--frontiers", "--max-frontier", "10000")):
        call("dominators", path, *more)


GRAPHS: Final = (
    b'{"n": 5, "root": 0, "edges": [[0, 1], [1, 2], [2, 1], [1, 3]]}',
    b'{"edges": [], "n": 1}',
    b'{"n": 3, "root": 2, "edges": [[2, 0], [0, 1]]}\n',
)


def expression(path: str) -> None:
    text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
    call("select", text, seconds=LONG, may_be_long=True)


EXPRESSIONS: Final = (
    b"c ? a : -b",
    b"x <u y ? min(x, 5) : abs(y + 1)",
    b"(s ? a : b) ^ (a & ~7)",
    b"a == b ? -1 : c << 2",
)


READERS: Final = (
    Reader("symbolic configurations", ".plsc", symbolic, damage.of_configuration, configuration, 4, 4.0),
    Reader("concrete configurations", ".plcc", concrete, damage.of_configuration, configuration, 8, 3.0),
    Reader("arrays", ".npy", arrays, damage.of_bytes, array, 25),
    Reader("machines", ".toml", machines, damage.of_text_bytes, machine, 6),
    Reader("mappings", ".toml", mappings, damage.of_text_bytes, mapping, 6),
    Reader("programs", ".pla", programs, damage.of_text_bytes, program, 5, 2.0),
    Reader("Python kernels", ".py", python_seeds, damage_kernel, read_kernel, 20, 2.0),
    Reader("modules of MLIR", ".mlir", mlir_seeds, damage_module, read_module, 150, 2.0),
    Reader("models", ".onnx", onnx_seeds, damage_model, read_damaged, 20, 2.0),
    Reader("litmus tests", ".litmus", tests, damage.of_text_bytes, litmus, 25),
    Reader("logs", ".log", lambda: [LOG], damage.of_text_bytes, log, 25),
    Reader("executables", ".elf", executables, damage.of_bytes, executable, 10),
    Reader("belt programs", ".belt", belt_programs, damage.of_file, belt_program, 10, 2.0),
    Reader("notations of the belt", ".conasm", notations, damage.of_text_bytes, notation, 15),
    Reader("assembly", ".s", lambda: [ASSEMBLY], damage.of_text_bytes, assembler, 25),
    *(
        Reader(f"assembly for {on}", ".s", texts, assembly.of_operands, partial(assembled, on=on), 10, 0.5)
        for on, texts in assembly.NOTATIONS.items()
    ),
    Reader("graphs", ".json", lambda: GRAPHS, damage.of_text_bytes, graph, 15),
    Reader("expressions", ".txt", lambda: EXPRESSIONS, damage.of_text_bytes, expression, 15),
)
