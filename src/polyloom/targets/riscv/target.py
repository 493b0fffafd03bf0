# SPDX-License-Identifier: Apache-2.0
"""RISC-V as a target of functions and of programs, the record that the registry loads: a member is an instruction set;
a program is a static ELF executable (RISC-V psABI).

An executable of ours has a note (`note.py`) that tells its arguments; one of other tools starts at its entry
(`foreign.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.frontend import SSA_PASSES
from polyloom.ir.signature import RESULT, Signature
from polyloom.ir.ssa import assume_distinct_arrays
from polyloom.riscv import foreign, source_lines, symbols
from polyloom.riscv import note as notes
from polyloom.riscv.assemble import assemble
from polyloom.riscv.assembly.open_files import folder_files
from polyloom.riscv.backend import abi
from polyloom.riscv.backend.compile import PASSES, compile_function
from polyloom.riscv.backend.data import BASE
from polyloom.riscv.backend.link import assembly_executable, segments_executable
from polyloom.riscv.backend.run import call
from polyloom.riscv.disassemble import addresses, listing
from polyloom.riscv.image import MAGIC, elf_image, is_riscv, raw_image
from polyloom.riscv.names import Isa, parse_isa
from polyloom.riscv.source_lines import Lines
from polyloom.riscv.timing.core import COUNTING, Core, CycleCounts
from polyloom.targets.account import Account
from polyloom.targets.forms import function
from polyloom.targets.forms.image import IMAGE
from polyloom.targets.forms.image import Image as Given
from polyloom.targets.forms.ssa_function import called_arrays, passed_arguments
from polyloom.targets.riscv import core_file
from polyloom.targets.riscv.account import account
from polyloom.targets.riscv.core_file import CoreFile
from polyloom.targets.riscv.costs import costs
from polyloom.targets.riscv.options import Options
from polyloom.targets.riscv.stepper import call_stepper
from polyloom.targets.riscv.trace import LONGEST, trace
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Json, Kind, Program, Target

_DEFAULT: Final = "rv64gc"
_ALL: Final = "gc_zicond_zbb"
_MEMBERS: Final = ("rv64gc", "rv64gc_zicond_zbb", "rv32gc", "rv32imac", "rv32imc")
"""Instruction sets to choose from; any other of `names` does, too."""
_WIDE: Final = b"\x02"
"""ELF's class of files for 64 bits."""
_PROGRAM: Final = Kind(".elf", "RISC-V executable")


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a program: an instruction set, or a core that has one, which models time."""

    isa: Isa
    core: CoreFile | None = None

    def __str__(self) -> str:
        return str(self.isa) if self.core is None else self.core.name


def _place(text: str) -> Place:
    """Errors: PL0901."""
    if text.endswith(".toml") or text in core_file.MEMBERS.names():
        found = core_file.load(text)
        return Place(found.isa, found)
    return Place(parse_isa(text or _DEFAULT, "--on"))


def _describe_isa(name: str) -> str:
    """Instruction set or core as TOML. Errors: PL0901."""
    if name.endswith(".toml") or name in core_file.MEMBERS.names():
        return core_file.resolve(core_file.load(name))
    isa = parse_isa(name, "the machine")
    # Single letters come first, as in the names of instruction sets (RISC-V unprivileged manual, naming conventions).
    extensions = ", ".join(f'"{found}"' for found in sorted(isa.extensions, key=lambda found: (len(found), found)))
    rows = [f'name = "{isa}"', f"xlen = {isa.xlen}", f"extensions = [{extensions}]", f'abi = "{abi.abi_name(isa)}"']
    return "\n".join([*rows, f"short_branches = {str(isa.short_branches).lower()}\n"])


def _model(place: Place, options: Options) -> function.Model:
    """Data model of C on this instruction set: ILP32 or LP64 (RISC-V psABI)."""
    xlen = place.isa.xlen
    return function.Model(f"riscv{xlen}-unknown-elf", xlen // 8, options.ssa)


def _owns(data: bytes) -> Kind | None:
    return _PROGRAM if data.startswith(MAGIC) and is_riscv(data) and notes.decode_note(data) is not None else None


def _file_isa(data: bytes, place: Place | None) -> Isa:
    """Instruction set of a file: the one that was asked for; else that of the note; else everything that is
    modelled.
    """
    found = notes.decode_note(data)
    if place is not None:
        return place.isa
    return parse_isa(found.member if found else _largest_isa(data))


def _largest_isa(data: bytes) -> str:
    return f"{'rv64' if data[4:5] == _WIDE else 'rv32'}{_ALL}"


def _signature(data: bytes) -> Signature:
    found = notes.decode_note(data)
    return found.signature if found else Signature("program", (), (), (), is_open=True)


def _compile(
    subject: Subject, place: Place, values: Mapping[str, int], options: Options, progress: Progress | None
) -> bytes:
    """Compilation of a function to an executable, or of images to one."""
    del values, options
    if progress is not None:
        progress("compiling", 0.0)
    # Images are programs already; compiling them only links them.
    if subject.form == "image":
        return _link_images(cast("tuple[Given, ...]", subject.content), place.isa)
    content = cast(function.Content, subject.content)
    note = notes.Note(str(place.isa), subject.signature)
    # Arrays of a Python kernel never overlap, which C cannot say; loads may move past stores then.
    program = assume_distinct_arrays(content.function) if content.distinct else content.function
    made = compile_function(
        program, place.isa, lambda places: notes.encode_note(note, source_lines.encode_lines(places)), subject.watch
    )
    return made.elf


def _link_images(images: Sequence[Given], isa: Isa) -> bytes:
    """Executable of all images, which starts where the first one does. Errors: PL0910."""
    if len(images) == 1 and images[0].is_elf:
        elf_image(images[0].data, isa)
        return images[0].data
    for image in images:
        if not image.is_elf and image.address is None:
            help = f"write {image.path}@0x1000 for raw words at that address"
            raise input_error("PL0910", f"'{image.path}' is no ELF file, and has no address", help=help)
    loaded = [elf_image(i.data, isa) if i.is_elf else raw_image(i.data, isa, i.address or 0) for i in images]
    return segments_executable([s for image in loaded for s in image.segments], loaded[0].entry, isa)


def _assemble(text: str, name: str, place: Place, options: Options) -> bytes:
    """Executable that starts at the label `_start`, or at the first instruction. Errors: PL0910."""
    made = assemble(text, place.isa, BASE, name, open_file=folder_files(options.include))
    if not made.data:
        raise input_error("PL0910", f"{name} has no instruction", help="write at least one, such as `ebreak`")
    return assembly_executable(made, place.isa)


def _run(data: bytes, job: Job) -> Execution:
    """Run of a file: a function of ours is called, another program starts at its entry."""
    options, isa = cast(Options, job.options), _file_isa(data, cast("Place | None", job.place))
    core = _core(job)
    limit = options.max_instructions
    watch = _watch(job.progress, limit)
    # Addresses are recorded only for a trace: recording takes time and memory for each instruction.
    found, record = notes.decode_note(data), LONGEST if job.trace else 0
    if found is None:
        done = foreign.run_program(data, isa, job.inputs, job.wanted, limit, watch, record, core)
        text = done.output.decode("utf-8", "replace")
        facts: dict[str, Json] = {**_code_size(data, isa), "exit_code": done.exit_code, "standard_output": text}
        made = trace(data, isa, done.executed, done.instructions)
        facts = {"instructions": done.instructions, **facts}
        return Execution(done.outputs, _cycles(done.counts), done.instructions, facts, made, counted=done.counts)
    return _call_function(data, isa, found.signature, job, limit, watch, record)


def _core(job: Job) -> Core | None:
    """Core of a run: that of the place, or one that only counts where the account is asked for."""
    place = cast("Place | None", job.place)
    if place is not None and place.core is not None:
        return place.core.core
    return COUNTING if job.account else None


def _cycles(counts: CycleCounts | None) -> int | None:
    return counts.cycles if counts is not None and counts.is_timed else None


def _account(program: Program, execution: Execution) -> Account | None:
    counted = cast("CycleCounts | None", execution.counted)
    return None if counted is None else account(counted, source_lines.decode_lines(program.data))


def _call_function(
    data: bytes, isa: Isa, signature: Signature, job: Job, limit: int, watch: Callable[[int], None] | None, record: int
) -> Execution:
    """Call of the function of a file of ours, which the calling convention gives its arguments (RISC-V psABI). Errors:
    PL0914.
    """
    given = called_arrays(signature, job.inputs)
    passed = passed_arguments(signature.inputs, given)
    # Types as the calling convention needs them: which register an argument is in depends on them.
    declared = notes.function_declaration(signature)
    try:
        done = call(data, isa, declared, passed, limit, watch, record, _core(job))
    except PolyloomError as error:
        raise _limit_error(error, signature.name, limit) from None
    outputs = {a.name: given[a.name] for a in signature.outputs if a.name != RESULT}
    if (result := signature.argument(RESULT)) is not None and declared.result is not None and done.result is not None:
        outputs = {RESULT: function.as_result(done.result, result.dtype, declared.result), **outputs}
    facts = {
        "instructions": done.instructions,
        **_code_size(data, isa),
        "abi": abi.abi_name(isa),
        "elf_bytes": len(data),
    }
    made = trace(data, isa, done.executed, done.instructions)
    return Execution(outputs, _cycles(done.counts), done.instructions, facts, made, done.moved, done.counts)


def _limit_error(error: PolyloomError, name: str, limit: int) -> PolyloomError:
    """Error of a function that exceeds the limit of instructions, in terms of the function."""
    if error.code != "PL0914":
        return error
    help = f"is there a loop without an end? `--max-instructions {10 * limit}` lets it run longer"
    message = f"`{name}` has not returned after {limit} instructions"
    return PolyloomError(replace(error.diagnostics[0], message=message, help=help))


def _code_size(data: bytes, isa: Isa) -> dict[str, Json]:
    return {"code_bytes": sum(len(segment.data) for segment in elf_image(data, isa).segments if segment.is_code)}


def _watch(progress: Progress | None, limit: int) -> Callable[[int], None]:
    """Callback of a run that is watched, so that it heeds signals."""
    return lambda n: None if progress is None else progress("running", n / limit)


def _code_lines(code: bytes, isa: Isa, start: int, names: Mapping[int, str], lines: Lines) -> Iterator[tuple[int, str]]:
    """Lines of a listing with their addresses: instructions, each with its line in the source where one is known, and
    names above them.
    """
    for address, line in zip(addresses(code, start), listing(code, isa, start), strict=True):
        if address in names:
            yield address, f"{names[address]}:"
        yield address, lines.annotate(address, line)


def _inspect(data: bytes) -> dict[str, Json]:
    """Inspection of any executable, disassembled with all modelled extensions; other words are `illegal`."""
    isa = parse_isa(_largest_isa(data))
    image = elf_image(data, isa)
    tables, known = symbols.read_tables(data), source_lines.decode_lines(data)
    illegal: list[Json] = []
    lines = [f"# entry {image.entry:#x}"]
    lines += [f"# {s.size} bytes of data at {s.address:#x}" for s in image.segments if not s.is_code]
    for start, code in tables.code or [(s.address, s.data) for s in image.segments if s.is_code]:
        for address, line in _code_lines(code, isa, start, tables.names, known):
            lines.append(line)
            # The listing shows a word that is no instruction as data, `.word` or `.half`.
            illegal += [address] if "  ." in line else []
    named: dict[str, Json] = {name: address for address, name in tables.names.items()}
    return {"xlen": isa.xlen, "entry": image.entry, "symbols": named, "illegal": illegal, "listing": "\n".join(lines)}


def _verify(data: bytes, place: Place | None) -> Sequence[Diagnostic]:
    """Verifier of an executable: every word of the code has to be an instruction (PL0911)."""
    del place
    illegal = cast("list[int]", _inspect(data)["illegal"])
    found = [Diagnostic("PL0911", f"what stands at {address:#x} is no instruction") for address in illegal]
    return [*source_lines.findings(data), *found]


def _summary(data: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
    """Summary rows of a run."""
    code = f", {data['code_bytes']} bytes of code" if "code_bytes" in data else ""
    cycles = [("cycles", str(data["cycles"]))] if data.get("cycles") is not None else []
    rows = [*cycles, ("instructions", f"{data['instructions']} executed{code}")]
    if "exit_code" in data:
        rows += [("exit code", str(data["exit_code"])), ("output", str(data["standard_output"]).rstrip("\n"))]
    return rows


TARGET: Final = Target(
    name="riscv",
    title="RISC-V, RV32 and RV64",
    takes=(function.form(_model), IMAGE),
    kinds=(_PROGRAM,),
    owns=_owns,
    place=_place,
    signature=_signature,
    compile=_compile,
    run=_run,
    show=lambda data, _: str(_inspect(data)["listing"]),
    options=Options,
    made=lambda data: {"elf_bytes": len(data)},
    summary=_summary,
    costs=lambda program, execution: costs(
        elf_image(program.data, _file_isa(program.data, cast("Place | None", program.place))),
        str(_inspect(program.data)["listing"]),
        source_lines.decode_lines(program.data),
        execution,
    ),
    account=_account,
    as_json=_inspect,
    members=lambda: (*_MEMBERS, *core_file.MEMBERS.names()),
    describe=_describe_isa,
    assemble=_assemble,
    verify=_verify,
    stepper=lambda data, job: call_stepper(data, _file_isa(data, cast("Place | None", job.place)), job),
    passes=(*SSA_PASSES, *PASSES),
)
