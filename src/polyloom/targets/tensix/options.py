# SPDX-License-Identifier: Apache-2.0
"""Options of the Tensix target: the form of raw words, and what runs where on a tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.targets.options import integer, option
from polyloom.targets.tensix.encode import FORMS, Form
from polyloom.targets.tensix.loops.formats import FORMATS, Dest, Name
from polyloom.targets.tensix.tile import CORES, MAX_CYCLES, POLICIES, Hazards

THREADS: Final = ("t0", "t1", "t2")


def _form(text: Any) -> Form:
    found: Form | None = next((form for form in FORMS if form == text), None)
    if found is None:
        message = f"--form is '{text}', which is no form of words"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=nearest(text, FORMS, "form")))
    return found


def _wrong(message: str, help: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def _hazards(text: Any) -> Hazards:
    found: Hazards | None = next((known for known in POLICIES if known == text), None)
    if found is None:
        raise _wrong(f"--hazards is '{text}'", nearest(text, POLICIES, "value"))
    return found


def _thread(text: Any) -> str:
    if text not in THREADS:
        raise _wrong(f"--thread is '{text}', which is no thread", nearest(text, THREADS, "thread"))
    return str(text)


def _cores(texts: Any) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for text in texts:
        core, equals, path = str(text).partition("=")
        if core not in CORES or not equals or not path:
            raise _wrong(f"--core is '{text}'", f"write --core t1=program.elf; the cores are {', '.join(CORES)}")
        found.append((core, path))
    return tuple(found)


def _mmio(text: Any) -> str:
    if text != "ignore":
        raise _wrong(f"--mmio is '{text}'", "write --mmio ignore, or leave it out")
    return str(text)


def _cycles(text: Any) -> int:
    if (found := integer(str(text), "--max-cycles")) < 1:
        raise _wrong("--max-cycles is less than 1", "give a positive integer")
    return found


def _format(text: Any) -> Name:
    found: Name | None = next((known for known in FORMATS if known == text), None)
    if found is None:
        raise _wrong(f"--format is '{text}'", nearest(text, FORMATS, "format"))
    return found


def _fidelity(text: Any) -> int:
    if (found := integer(str(text), "--fidelity")) not in (1, 2, 3, 4):
        raise _wrong(f"--fidelity is {found}", "write 1, 2, 3 or 4: the phases in which mantissas are multiplied")
    return found


def _dest(text: Any) -> Dest:
    if text not in ("16", "32"):
        raise _wrong(f"--dest is '{text}'", "write 16 or 32: the bits of a number in Dst")
    return 16 if text == "16" else 32


@dataclass(frozen=True, slots=True)
class Options:
    """`form`: raw words as the coprocessor has them, or as a core fetches them, rotated left by two."""

    form: Form = option(
        "raw words as pushed (tensix), or rotated as a core fetches them (riscv)",
        *("asm", "show", "verify", "simulate"),
        default="tensix",
        metavar="tensix|riscv",
        read=_form,
    )
    thread: str | None = option("push words into a thread: t0, t1 or t2", "simulate", metavar="THREAD", read=_thread)
    core: tuple[tuple[str, str], ...] = option(
        "the program of a core: b, t0, t1, t2 or nc",
        "simulate",
        default=(),
        metavar="CORE=FILE",
        repeatable=True,
        read=_cores,
    )
    hazards: Hazards = option(
        "what a hazard does: error ends the run (the default), report, off",
        *("simulate", "run"),
        default="error",
        metavar="POLICY",
        read=_hazards,
    )
    mmio: str | None = option(
        "`ignore`: registers that are not modelled read 0 and swallow writes", "simulate", metavar="ignore", read=_mmio
    )
    max_cycles: int = option(
        f"give up after so many cycles ({MAX_CYCLES})",
        *("simulate", "run"),
        default=MAX_CYCLES,
        metavar="N",
        read=_cycles,
    )
    format: Name | None = option(
        "operands of a product: tf32 (for f32), bf16, fp16, i8 (for i32)",
        *("run", "compile"),
        metavar="tf32|bf16|fp16|i8",
        read=_format,
    )
    fidelity: int = option(
        "of a product: in how many phases mantissas are multiplied (4)",
        *("run", "compile"),
        default=4,
        metavar="1..4",
        read=_fidelity,
    )
    dest: Dest | None = option("bits of a number in Dst (32)", "run", "compile", metavar="16|32", read=_dest)
