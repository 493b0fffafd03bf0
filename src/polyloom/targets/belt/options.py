# SPDX-License-Identifier: Apache-2.0
"""Options of the belt machine: when loops are pipelined and by which solver, vectors, what is expected of a run, and
how long it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.modulo.solve import SOLVERS
from polyloom.targets.options import integer, option

LIMIT: Final = 10**9
"""As many cycles a run may take, unless more are asked for."""
Spl = float | Literal["always", "never"]
Vectorize = Literal["", "always", "try"]


def _wrong(message: str, help: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def _spl(text: Any) -> Spl:
    """Ratio of the SPL test, or `always`, `never` (docs/targets/belt.md, Loops). Error PL0801."""
    if text in ("always", "never"):
        return text
    try:
        found = float(text)
    except ValueError:
        # Fails the range below, so that text and numbers out of range have one message.
        found = -1.0
    if not 0 < found < 1e6:
        raise _wrong(f"--spl is '{text}', which is no ratio", "write a positive number, `always` or `never`")
    return found


def _choice_reader(flag: str, known: Sequence[str]) -> Any:
    """Reader of an option that takes one of several words. Error PL0801."""

    def read(text: str) -> str:
        if text not in known:
            raise _wrong(f"{flag} is '{text}'", nearest(text, known, "value"))
        return text

    return read


def _cycles(text: Any) -> int:
    if (found := integer(str(text), "--max-cycles")) < 1:
        raise _wrong("--max-cycles is less than 1", "give a positive integer")
    return found


def _expected_values(texts: Any) -> Mapping[str, int]:
    """Expected values of parameters, from texts `NAME=VALUE`. Error PL0801."""
    found: dict[str, int] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise _wrong(f"--expect is '{text}'", "write what a parameter is expected to be, as in --expect n=1000")
        found[name] = integer(value, f"--expect {name}")
    return found


def _file_list(value: Any) -> Sequence[str]:
    return (value,) if value else ()


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line. `spl`: a loop is pipelined where its linear latency is at least so many times its
    packed one (I. Godard, "Pipelining"; docs/targets/belt.md, Loops). `expect`: values of parameters that are likely;
    loops that run for fewer iterations than a vector has lanes stay scalar."""

    spl: Spl = option(
        "pipeline a loop whose linear latency is at least R times its packed one (2), or `always`, `never`",
        *("run", "compile", "asm"),
        # The ratio of the method: linear latency twice the packed one (I. Godard, "Pipelining").
        default=2.0,
        metavar="R",
        read=_spl,
    )
    solver: str = option(
        f"schedule loops by {', '.join(SOLVERS)}, or by the better of exact and torus (best)",
        *("run", "compile", "asm"),
        default="best",
        metavar="NAME",
        read=_choice_reader("--solver", ("best", *SOLVERS)),
    )
    vectorize: Vectorize = option(
        "make loops work on vectors; `try`: those that can",
        *("run", "compile"),
        default="",
        metavar="always|try",
        const="always",
        read=_choice_reader("--vectorize", ("always", "try")),
    )
    expect: Mapping[str, int] | None = option(
        "the likely value of a parameter",
        *("run", "compile"),
        metavar="NAME=VALUE",
        repeatable=True,
        read=_expected_values,
    )
    profile: str | None = option(
        "how often blocks were entered, as `run --counts` wrote it",
        *("run", "compile"),
        metavar="FILE",
        files=_file_list,
    )
    counts: str | None = option("write how often blocks were entered", "run", metavar="FILE", writes=_file_list)
    emit: str | None = option(
        "write text in place of the program: genasm or conasm",
        "compile",
        metavar="NOTATION",
        read=_choice_reader("--emit", ("genasm", "conasm")),
    )
    timeline: bool = option(
        "draw each pipelined loop: rows by slots, and how long values are on the belt", "show", default=False
    )
    max_cycles: int = option(
        f"give up after so many cycles ({LIMIT})", "run", "simulate", default=LIMIT, metavar="N", read=_cycles
    )
