# SPDX-License-Identifier: Apache-2.0
"""Options of the Minion target: what the model checks and times, what lies in memory, and how loops are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.targets.options import integer, option

# `poison` makes a missing wait visible in the results; under the others they are as if the wait were there.
Hazards = Literal["error", "report", "poison", "off"]
POLICIES: Final[tuple[Hazards, ...]] = ("error", "report", "poison", "off")
Fp = Literal["strict", "contract", "reassociate"]
MODES: Final[tuple[Fp, ...]] = ("strict", "contract", "reassociate")
# Ten seconds of the chip at 1 GHz: longer than any run that a user waits for, and an end to a program that spins.
MAX_CYCLES: Final = 10**10
MAX_THREADS: Final = 256
_ADDRESS_BITS: Final = 64
# Verbs that take an option: a flag that has no effect is refused.
_RUNS: Final = ("run", "simulate")
_LOOPS: Final = ("run", "compile")


def _usage_error(message: str, help: str) -> PolyloomError:
    return PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def _hazards(text: Any) -> Hazards:
    found: Hazards | None = next((known for known in POLICIES if known == text), None)
    if found is None:
        raise _usage_error(f"--hazards is '{text}'", nearest(str(text), POLICIES, "value"))
    return found


def _fp(text: Any) -> Fp:
    found: Fp | None = next((known for known in MODES if known == text), None)
    if found is None:
        raise _usage_error(f"--fp is '{text}'", nearest(str(text), MODES, "mode"))
    return found


def _cycles(text: Any) -> int:
    """Reader of --max-cycles. Errors: PL0801 below 1, and where the native model's 64-bit counter could not hold it."""
    if (found := integer(str(text), "--max-cycles")) < 1:
        raise _usage_error("--max-cycles is less than 1", "give a positive integer")
    if found >= 1 << 63:
        raise _usage_error("--max-cycles is 2^63 or more", f"leave it out for {MAX_CYCLES}")
    return found


def _threads(text: Any) -> int:
    if not 1 <= (found := integer(str(text), "--threads")) <= MAX_THREADS:
        raise _usage_error(f"--threads is {found}", f"give 1 to {MAX_THREADS} threads of the host")
    return found


def _split_k(text: Any) -> int:
    """Reader of --split-k. Errors: PL0801 unless it is a power of two, because the reduction is a tree over minion
    numbers (manual, chapter 9, tensor_reduce: HEIGHT).
    """
    found = integer(str(text), "--split-k")
    if found < 1 or found & (found - 1):
        near = 1 << max(found, 1).bit_length() - 1
        raise _usage_error(
            f"--split-k is {found}, which is no power of two", f"write for instance --split-k {min(near, 1024)}"
        )
    return found


def parse_address(text: str, what: str) -> int:
    """An address in C's spelling: decimal or 0x. Errors: PL0801; `what` begins the message."""
    try:
        found = int(text, 0)
    except ValueError:
        raise _usage_error(f"{what} is '{text}', which is no address", "write it as 0x8000001000") from None
    if not 0 <= found < 1 << _ADDRESS_BITS:
        raise _usage_error(f"{what} is {text}, which does not fit in {_ADDRESS_BITS} bits", "write it as 0x8000001000")
    return found


def _entry(text: Any) -> int:
    return parse_address(str(text), "--entry")


def _raw_placements(texts: Any) -> tuple[tuple[int, str], ...]:
    return tuple(_raw_placement(str(text)) for text in texts)


def _raw_placement(text: str) -> tuple[int, str]:
    """Placement of raw bytes, ADDRESS=FILE. Errors: PL0801."""
    at, equals, path = text.partition("=")
    if not equals or not path:
        raise _usage_error(f"--raw is '{text}'", "write an address and a file: --raw 0x8000001000=FILE")
    return parse_address(at, "the address of --raw"), path


def _raw_files(value: Any) -> Sequence[str]:
    return [path for _, path in value]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the command line and of `api.compile`, with the verbs that take them.

    `hazards` None is `error` for `run`, where a hazard is a fault of the compiler, and `report` for `simulate`.
    """

    hazards: Hazards | None = option(
        "what a hazard does: error ends the run, report, poison (what is pending holds NaN), off",
        *_RUNS,
        metavar="POLICY",
        read=_hazards,
    )
    functional: bool = option("without time: cycles are not counted", *_RUNS, default=False)
    threads: int = option(
        "threads of the host, which compute products of tiles; results and cycles do not depend on it (1)",
        *_RUNS,
        default=1,
        metavar="N",
        read=_threads,
    )
    max_cycles: int = option(
        f"give up after so many cycles ({MAX_CYCLES})", *_RUNS, default=MAX_CYCLES, metavar="N", read=_cycles
    )
    raw: tuple[tuple[int, str], ...] = option(
        "put the bytes of a file at an address; may be repeated",
        "simulate",
        default=(),
        metavar="ADDRESS=FILE",
        repeatable=True,
        read=_raw_placements,
        files=_raw_files,
    )
    entry: int | None = option(
        "where all harts start (the entry of the ELF file)", "simulate", metavar="ADDRESS", read=_entry
    )
    peer: str | None = option(
        "run the vendor's emulator at this path on the same program, and compare the host's seconds",
        "simulate",
        metavar="PATH",
    )
    # Compiled code avoids the erratum at a cost; a simulation only reports it.
    errata: bool = option(
        "avoid erratum 1.29 (a stale register after tensor operations), and report it",
        "run",
        "compile",
        "simulate",
        default=False,
    )
    fp: Fp = option(
        "order of floats: strict, contract (the default: products and sums fuse) or reassociate",
        *_LOOPS,
        default="contract",
        metavar="MODE",
        read=_fp,
    )
    exact: bool = option(
        "use the tensor unit only where it gives the bits of the source, not another order within a bound",
        *_LOOPS,
        default=False,
    )
    split_k: int | None = option(
        "split the sum of a product over so many minions, a power of two", *_LOOPS, metavar="P", read=_split_k
    )
    broadcast: bool = option(
        "give the result of a split sum to all minions that share it (where that is predicted to be faster)",
        *_LOOPS,
        default=False,
    )
    all_minions: bool = option(
        "let all minions take part in products, also where fewer are predicted to be faster", *_LOOPS, default=False
    )
    resident: bool = option("start with packed operands in the scratchpads that use them", *_LOOPS, default=False)
    include: tuple[str, ...] = option(
        "a folder whose files `.include` may read; may be repeated",
        "asm",
        default=(),
        metavar="DIR",
        repeatable=True,
        read=tuple,
    )
