# SPDX-License-Identifier: Apache-2.0
"""Why statements found no common space: the read whose value travels too far, or dependences that contradict every
order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.nest import accesses
from polyloom.ir.operations import FLOATS
from polyloom.ir.pla import Reference
from polyloom.ir.recurrence import Produced, Recurrence, System
from polyloom.sets import Affine
from polyloom.transform.embed import dimensions, embed
from polyloom.transform.reduction import nest_reductions


def refusal(system: System, unit: Sequence[Recurrence]) -> PolyloomError:
    """Explanation of a failed embedding: PL0261 with the first read that no space makes uniform, else PL0262."""
    for reader, access, origin in _reads(unit):
        writer = system[origin.statement]
        # The pair alone: if even two statements find no common space, this read is what stands in the way.
        if not _has_constant_distance(reader, writer.loops, origin) and not embed(
            system, [reader] if reader is writer else [writer, reader]
        ):
            return _distance_error(system, unit, reader, access, origin)
    names = ", ".join(e.name for e in unit)
    help = "separate the statements into loop nests of their own, or reverse a loop"
    return input_error(
        "PL0262", f"the dependences among {names} have no common order of the loops", span=unit[0].span, help=help
    )


def _reads(unit: Sequence[Recurrence]) -> Iterator[tuple[Recurrence, Reference, Produced]]:
    """Every value that one of `unit` produces for another."""
    names = {e.name for e in unit}
    for reader in unit:
        for access, pieces in zip(accesses(reader.value), reader.reads, strict=True):
            yield from (
                (reader, access, p.origin)
                for p in pieces
                if isinstance(p.origin, Produced) and p.origin.statement in names
            )


def _has_constant_distance(reader: Recurrence, loops: tuple[str, ...], origin: Produced) -> bool:
    """Whether a statement reads what was written in its own loops, a constant number of iterations before."""
    return loops == reader.loops and _is_aligned(reader, origin)


def _is_aligned(reader: Recurrence, origin: Produced) -> bool:
    """Whether each loop of the writer stands at a constant distance from that of the reader in the same position."""
    pairs = zip(reader.loops, origin.index, strict=False)
    return len(reader.loops) == len(origin.index) and all((Affine.symbol(loop) - at).is_constant for loop, at in pairs)


def _distance_error(
    system: System, unit: Sequence[Recurrence], reader: Recurrence, access: Reference, origin: Produced
) -> PolyloomError:
    writer, dims = system[origin.statement], ", ".join(dimensions(system, unit))
    at, come = (
        ", ".join(reader.loops),
        ", ".join(
            str(a) if writer.loops == reader.loops or str(a) == n else f"{n} = {a}"
            for n, a in zip(writer.loops, origin.index, strict=True)
        ),
    )
    message = (
        f"iteration ({at}) needs what iteration ({come}) wrote to `{access.name}`, and that cannot be passed "
        "from neighbour to neighbour"
    )
    note = f"the distance is not constant, and no loop among {dims} keeps the value in step"
    if _is_aligned(reader, origin):
        note = f"{writer.name} and {reader.name} pass values on in opposite directions of one loop"
    # The most specific advice first: another order of one sum is a flag, a loop taken out is a change of the kernel.
    if _is_one_sum(system, reader):
        help = (
            "allow another order of this f32 reduction, hence other roundings: --reassociate, in Python "
            "`Options(reassociate=True)`"
        )
    elif (step := _carrying_loop(reader, writer, origin)) is not None:
        help = (
            f"take the loop `{step}` out: make `{step}` an integer argument, and run the function once for each of "
            "its values"
        )
    else:
        help = (
            "store the value in an array of its own in a separate loop nest, so that a later phase reads it as an input"
        )
    return input_error("PL0261", message, span=access.span or reader.span, notes=(note,), help=help)


def _carrying_loop(reader: Recurrence, writer: Recurrence, origin: Produced) -> str | None:
    """The outermost loop, where an earlier iteration of it wrote what is read: without it the value comes from memory.
    A transposition of two loops is no such step."""
    if reader.loops[:1] != writer.loops[:1] or not reader.loops:
        return None
    distance = Affine.symbol(reader.loops[0]) - origin.index[0]
    is_step = bool(distance.constant) if distance.is_constant else len(reader.loops) > 2
    return reader.loops[0] if is_step else None


def _is_one_sum(system: System, reader: Recurrence) -> bool:
    """Whether only the order of a reduction of floats stands in the way."""
    if reader.dtype not in FLOATS:
        return False
    added = {e.name for e in nest_reductions(system, reassociate=True).equations} - {e.name for e in system.equations}
    # Nested accumulations are named after the statement that they replace.
    return any(name.startswith(f"{reader.name}.") for name in added)
