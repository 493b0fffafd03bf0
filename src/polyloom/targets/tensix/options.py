# SPDX-License-Identifier: Apache-2.0
"""Options of the Tensix target: the form of raw words, what runs where on a tile, and how vector kernels are compiled
and run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.targets.options import integer, option

Form = Literal["tensix", "riscv"]
FORMS: Final[tuple[Form, ...]] = ("tensix", "riscv")
"""Of raw words."""
Name = Literal["tf32", "bf16", "fp16", "i8"]
NAMES: Final[tuple[Name, ...]] = ("tf32", "bf16", "fp16", "i8")
VectorFormat = Literal["fp32"]
"""Format of products that the vector unit computes, element by element: phases of vector code."""
FP32: Final[VectorFormat] = "fp32"
"""Formats of factors."""
Dest = Literal[16, 32]
Core = Literal["b", "t0", "t1", "t2", "nc"]
CORES: Final[tuple[Core, ...]] = ("b", "t0", "t1", "t2", "nc")
Hazards = Literal["error", "wrong", "report", "off"]
POLICIES: Final[dict[Hazards, int]] = {"off": 0, "report": 1, "error": 2, "wrong": 3}
MAX_CYCLES: Final = 10**8
Format = Literal["bf16", "fp16", "fp32", "uint32"]
FORMATS: Final[tuple[Format, ...]] = ("bf16", "fp16", "fp32", "uint32")
"""Of the values of a sweep."""
# A Fermat prime: coprime to every power of 2, so a sweep meets all exponents and varied mantissas.
STRIDE: Final = 65537
"""Of a sweep of 32 bits where none is given: as many values as 16 bits have."""
THREADS: Final = ("t0", "t1", "t2")
Per = Literal["face", "tile"]
PERS: Final[tuple[Per, ...]] = ("face", "tile")
SWITCHES: Final = ("combine", "flags", "schedule", "replay")
"""Passes over vector kernels that can be left out."""
# Dst of 16 bits has 1024 rows, 64 per tile; of 32 bits 512 rows.
MAX_TILES, MAX_ROWS = 16, 512
_KERNELS: Final = ("run", "compile", "show", "sweep")


def _parse_form(text: Any) -> Form:
    found: Form | None = next((form for form in FORMS if form == text), None)
    if found is None:
        message = f"--form is '{text}', which is no form of words"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=nearest(text, FORMS, "form")))
    return found


def _usage_error(message: str, help: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def _parse_hazards(text: Any) -> Hazards:
    found: Hazards | None = next((known for known in POLICIES if known == text), None)
    if found is None:
        raise _usage_error(f"--hazards is '{text}'", nearest(text, POLICIES, "value"))
    return found


def _parse_thread(text: Any) -> str:
    if text not in THREADS:
        raise _usage_error(f"--thread is '{text}', which is no thread", nearest(text, THREADS, "thread"))
    return str(text)


def _parse_cores(texts: Any) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for text in texts:
        core, equals, path = str(text).partition("=")
        if core not in CORES or not equals or not path:
            raise _usage_error(f"--core is '{text}'", f"write --core t1=program.elf; the cores are {', '.join(CORES)}")
        found.append((core, path))
    return tuple(found)


def _parse_mmio(text: Any) -> str:
    if text != "ignore":
        raise _usage_error(f"--mmio is '{text}'", "write --mmio ignore, or leave it out")
    return str(text)


def _parse_cycles(text: Any) -> int:
    if (found := integer(str(text), "--max-cycles")) < 1:
        raise _usage_error("--max-cycles is less than 1", "give a positive integer")
    # The native model counts cycles in signed 64 bits.
    if found >= 1 << 63:
        raise _usage_error("--max-cycles is 2^63 or more", f"leave it out for {MAX_CYCLES}")
    return found


def _parse_format(text: Any) -> Name | VectorFormat:
    found: Name | VectorFormat | None = next((name for name in (*NAMES, FP32) if name == text), None)
    if found is None:
        raise _usage_error(f"--format is '{text}'", nearest(text, (*NAMES, FP32), "format"))
    return found


def _parse_fidelity(text: Any) -> int:
    if (found := integer(str(text), "--fidelity")) not in (1, 2, 3, 4):
        raise _usage_error(f"--fidelity is {found}", "write 1, 2, 3 or 4: the phases in which mantissas are multiplied")
    return found


def _parse_dest(text: Any) -> Dest:
    if text not in ("16", "32"):
        raise _usage_error(f"--dest is '{text}'", "write --dest 16 or --dest 32, the bits of a datum in Dst")
    return 16 if text == "16" else 32


def _parse_call_unit(text: Any) -> Per:
    found: Per | None = next((known for known in PERS if known == text), None)
    if found is None:
        raise _usage_error(f"--per is '{text}'", "write --per face, or --per tile for a kernel that does a whole tile")
    return found


def _parse_tiles(text: Any) -> int:
    if not 1 <= (found := integer(str(text), "--tiles")) <= MAX_TILES:
        raise _usage_error(
            f"--tiles is {found}", f"give 1 to {MAX_TILES}: Dst holds so many tiles, of 32 bits half as many"
        )
    return found


def _parse_omitted_passes(texts: Any) -> tuple[str, ...]:
    for text in texts:
        if text not in SWITCHES:
            raise _usage_error(f"--without is '{text}', which cannot be left out", nearest(text, SWITCHES, "step"))
    return tuple(sorted(set(texts)))


def _parse_spill(text: Any) -> tuple[int, int]:
    first, colon, last = str(text).partition(":")
    if not colon or not first.isdecimal() or not last.isdecimal() or not int(first) < int(last) <= MAX_ROWS:
        raise _usage_error(f"--spill is '{text}'", f"write --spill 256:320: rows of a 32-bit Dst, at most {MAX_ROWS}")
    return int(first), int(last)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the target. `form`: raw words as the coprocessor has them, or as a core fetches them, rotated left by
    two. `init`, `dest`, `per`, `tiles`, `without`, `no_contract` and `spill` are for vector kernels; `format` and
    `fidelity` for products (docs/targets/tensix-loops.md).
    """

    form: Form = option(
        "raw words as pushed (tensix), or rotated as a core fetches them (riscv)",
        *("asm", "show", "verify", "simulate"),
        default="tensix",
        metavar="tensix|riscv",
        read=_parse_form,
    )
    thread: str | None = option(
        "push words into a thread: t0, t1 or t2", "simulate", metavar="THREAD", read=_parse_thread
    )
    core: tuple[tuple[str, str], ...] = option(
        "the program of a core: b, t0, t1, t2 or nc",
        *("simulate", "llk"),
        default=(),
        metavar="CORE=FILE",
        repeatable=True,
        read=_parse_cores,
    )
    hazards: Hazards = option(
        "which hazards end the run: error (all, the default), wrong (what is wrong here), report (none), off",
        *("run", "simulate", "llk"),
        default="error",
        metavar="POLICY",
        read=_parse_hazards,
    )
    mmio: str | None = option(
        "`ignore`: registers that are not modelled read 0 and swallow writes",
        *("simulate", "llk"),
        metavar="ignore",
        read=_parse_mmio,
    )
    max_cycles: int = option(
        f"give up after so many cycles ({MAX_CYCLES})",
        *("run", "simulate", "llk"),
        default=MAX_CYCLES,
        metavar="N",
        read=_parse_cycles,
    )
    init: str | None = option(
        "vector kernels: the function that initializes, such as 'ns::g<false>'", *_KERNELS, metavar="NAME"
    )
    dest: Dest | None = option(
        "bits of a datum in Dst (16 for vector kernels, 32 for loops)", *_KERNELS, metavar="16|32", read=_parse_dest
    )
    per: Per = option(
        "vector kernels: one call per face (the default), or per tile",
        *_KERNELS,
        default="face",
        metavar="face|tile",
        read=_parse_call_unit,
    )
    tiles: int = option(
        "vector kernels: on how many tiles, one behind the other (1)",
        "run",
        "simulate",
        default=1,
        metavar="N",
        read=_parse_tiles,
    )
    without: tuple[str, ...] = option(
        f"vector kernels: leave out a pass: {', '.join(SWITCHES)}; may be repeated",
        *_KERNELS,
        default=(),
        metavar="PASS",
        repeatable=True,
        read=_parse_omitted_passes,
    )
    no_contract: bool = option(
        "vector kernels: a product and a sum stay two operations, here and in what they are compared with",
        *_KERNELS,
        default=False,
    )
    spill: tuple[int, int] | None = option(
        "vector kernels: rows of a 32-bit Dst into which registers may be spilled",
        *_KERNELS,
        metavar="ROW:ROW",
        read=_parse_spill,
    )
    format: Name | VectorFormat | None = option(
        "operands of a product: tf32 (for f32), bf16, fp16, i8 (for i32); fp32: all on the vector unit",
        *("run", "compile"),
        metavar="tf32|bf16|fp16|i8|fp32",
        read=_parse_format,
    )
    fidelity: int = option(
        "of a product: in how many phases mantissas are multiplied (4)",
        *("run", "compile"),
        default=4,
        metavar="1..4",
        read=_parse_fidelity,
    )
