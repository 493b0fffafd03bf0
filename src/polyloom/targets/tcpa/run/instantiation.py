# SPDX-License-Identifier: Apache-2.0
"""Instantiation (the array paper, section 6): a symbolic configuration's bytes, parameter values and a region become a
concrete configuration's bytes (native/instantiate).

The library says by numbers what it refuses and why; here these become sentences, with the names that the file has.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyloom._native import instantiate as native
from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError, infeasible, input_error
from polyloom.targets.tcpa.layouts import Layouts
from polyloom.targets.tcpa.words.sides import LOCATIONS
from polyloom.targets.tcpa.words.symbolic import Symbolic

_SECTIONS = ("head", "classes", "wrappers", "maps", "domains", "generators", "names")
_DEFECT = "this is a defect of the mapping; please report it"
_FEEDBACK, _INPUT, _RESULT, _WAVEFRONT, _CHANNELS, _SIGNAL, _GENERATOR, _SLOT, _REGION, _PORT, _HELD = (
    3,
    4,
    5,
    2,
    11,
    7,
    8,
    13,
    14,
    15,
    17,
)
"""Kinds of polyloom_instantiate.h."""


def instantiate(
    data: bytes,
    symbolic: Symbolic,
    values: Sequence[int],
    rows: int,
    columns: int,
    *,
    candidate: int | None = None,
    sizes: Sequence[int] | None = None,
    layouts: Layouts | None = None,
    closed: int = 0,
) -> bytes:
    """Concrete file of a symbolic configuration (the array paper, section 6). `symbolic` is what `data` holds, `values`
    are those of its parameters in order.

    `candidate` restricts the choice to one; `sizes` overrides the tile sizes, by dimension; `layouts` places every
    array, as (strides, base, bank), where no strides are row-major ones. `closed` are borders of the region without
    banks, 1 north, 2 east, 4 south, 8 west, not both of opposite ones. Raises `PolyloomError`: PL0506 and PL0706,
    PL0510 to PL0520 where no candidate fits the machine (exit 3; the binding limit of the best candidate is named).
    """
    return checked_file(symbolic, call_library(data, values, rows, columns, candidate, sizes, layouts, closed))


def call_library(
    data: bytes,
    values: Sequence[int],
    rows: int,
    columns: int,
    candidate: int | None,
    sizes: Sequence[int] | None = None,
    layouts: Layouts | None = None,
    closed: int = 0,
) -> native.Instantiation:
    """Library call: the result of `instantiate`'s arguments, if only a refusal. Errors: PL0706 for memory."""
    try:
        return native.instantiate(data, values, rows, columns, candidate, sizes, layouts, closed=closed)
    except MemoryError:
        raise infeasible(
            "PL0706", "the configuration does not fit into memory", help="use smaller loop bounds or a smaller region"
        ) from None


def checked_file(symbolic: Symbolic, made: native.Instantiation) -> bytes:
    """The concrete file. Errors: those of `instantiate`."""
    if made.status:
        raise _refusal(symbolic, made)
    return made.file


def _refusal(symbolic: Symbolic, made: native.Instantiation) -> PolyloomError:
    code = f"PL{made.status:04}"
    match made.status:
        case 506:
            return _uncovered_error(symbolic, made)
        case 530:
            return PolyloomError(Diagnostic(code, _defect(made), INTERNAL, help=_DEFECT))
        case 706 if made.kind == _SIGNAL:
            help = (
                "use a smaller region, one that divides the loop bounds, or a machine with fewer control signals, "
                "for which they are shared"
            )
            return infeasible(
                code,
                f"{made.needed} control signals are needed, but a configuration has at most {made.available}",
                help=help,
            )
        case 706:
            help = "use smaller loop bounds or a smaller region"
            message = (
                f"a number in the file's section of {_SECTIONS[made.index]} would be {made.needed}, but the "
                f"format holds less than {made.available}"
            )
            return infeasible(code, message, help=help)
        # Below 500 are the library's own conditions; from 500 on, the number is that of the diagnostic.
        case status if status < 500:
            help = "use smaller loop bounds or a smaller region"
            return infeasible("PL0706", f"the configuration does not fit: {native.status_message(status)}", help=help)
        case status if 510 <= status <= 520:
            message, help = _exceeded_limit(symbolic, made)
            return infeasible(code, message, help=help)
        case status:
            return input_error(
                code,
                f"{native.status_message(status)}, at byte {made.position}",
                help="create the file again with this version",
            )


def _uncovered_error(symbolic: Symbolic, made: native.Instantiation) -> PolyloomError:
    asked, least = made.asked, made.sizes(len(symbolic.dimensions))
    fitting = ", ".join(f"{n} >= {p}" for n, p in zip(symbolic.dimensions, least, strict=True))
    message = f"tiles of {'x'.join(map(str, asked))} do not cover the iteration space, or a dependence is longer"
    return input_error("PL0506", message, help=f"choose sizes with {fitting}")


def _defect(made: native.Instantiation) -> str:
    # The mapper's own checks make these impossible; that they can be said at all helps whoever reports one.
    match made.kind:
        case kind if kind == _SLOT:
            return f"two instructions or operands of offset {made.needed} meet in slot {made.place}"
        case kind if kind == _REGION:
            return "a propagation channel leaves the region"
        case kind if kind == _PORT:
            element = divmod(made.place, made.region[1])
            return f"port {LOCATIONS[made.side]}{made.index} of element {element} would be driven twice"
        case _:
            return "the control flow of a unit contradicts itself"


def _exceeded_limit(symbolic: Symbolic, made: native.Instantiation) -> tuple[str, str]:
    """(message, help) of PL0510 to PL0520."""
    needed, limit = made.needed, made.available
    match made.status:
        case 510:
            return _dependence_error(symbolic, made)
        case 511:
            message = f"{_register(made)} must hold {needed} tokens, the machine's FIFOs hold {limit}"
            return message, f"use a machine with fifo_depth = {needed}, or smaller tiles (a larger region)"
        case 512:
            message = (
                f"kernel class {made.place + 1} of unit {symbolic.limits.units[made.index]} has {needed} successors, "
                f"but a branch has {limit} targets"
            )
            return (
                message,
                f"use a machine with {(needed - 1).bit_length()} branch flags instead of {(limit - 1).bit_length()}",
            )
        case 513:
            help = f"use a machine with {needed} control signals, or a region that divides the loop bounds"
            return f"{needed} control signals are needed, the machine has {limit}", help
        case 514 if needed:
            message = f"{_owner(symbolic, made)} needs {needed} convex sets, the machine has {limit} for each"
            return message, f"use a machine with signal_sets = {needed}"
        case 514:
            return f"{_owner(symbolic, made)} is 1 in a set that is not a box", "use a machine with half_spaces = true"
        case 515:
            bits = needed.bit_length()
            message = (
                f"an iteration counter or a delay counts to {needed}, which needs {bits} bits; the machine has {limit}"
            )
            return message, f"use a machine with counter_bits = {bits}, or smaller loop bounds"
        case 516:
            # Units have programs of their own (OIP, section 3.2), so each one is measured against the instruction
            # memory alone.
            kernels = f"{made.place} kernel classes of {needed // made.place}"
            message = (
                f"unit {symbolic.limits.units[made.index]} needs {needed} instructions ({kernels}), the machine "
                f"has {limit}"
            )
            return message, f"use a machine with instruction_words = {needed}"
        case 517:
            return _channel_error(made)
        case 518:
            message = f"{_owner(symbolic, made)} needs {needed} dimensions, the machine has {limit}"
            return message, f"use a machine with generator_dimensions = {needed}"
        case 519:
            bits = needed.bit_length()
            message = (
                f"{_owner(symbolic, made)} waits {needed} cycles, which needs {bits} bits; the machine has {limit}"
            )
            return message, f"use a machine with delay_bits = {bits}, or smaller loop bounds"
        case _:
            message = f"{_owner(symbolic, made)} covers {needed} words, a bank of the machine has {limit}"
            return message, f"use a machine with bank_words = {needed}, or a larger region"


def _dependence_error(symbolic: Symbolic, made: native.Instantiation) -> tuple[str, str]:
    if made.kind == _HELD:
        return _held_unit(symbolic, made)
    use = symbolic.uses[made.index]
    name = symbolic.node_names[use.consumer] if symbolic.node_names else f"node {use.consumer}"
    lack = (
        "has no wavefront that serves all tiles"
        if made.kind == _WAVEFRONT
        else f"comes {-made.needed} cycles too early"
    )
    tile = "x".join(map(str, made.sizes(len(symbolic.dimensions))))
    message = (
        f"with tiles of {tile} the dependence of {name} at distance {use.distance} {lack}, in every stored candidate"
    )
    return message, "ask for a smaller region, so that tiles become larger, or use larger loop bounds"


def _held_unit(symbolic: Symbolic, made: native.Instantiation) -> tuple[str, str]:
    name = symbolic.node_names[made.index] if symbolic.node_names else f"node {made.index}"
    tile = "x".join(map(str, made.sizes(len(symbolic.dimensions))))
    message = f"with tiles of {tile} the unit of {name} may still be held by another operation"
    return message, "leave the choice of the candidate to the compiler, or ask for a smaller region or larger bounds"


def _channel_error(made: native.Instantiation) -> tuple[str, str]:
    if made.kind != _CHANNELS:
        message = f"no free channel leads from {_register(made)} to a bank on the {LOCATIONS[made.side]} side"
        return message, "use a machine with more channels or adjacent ports"
    (rows, columns), square = made.region, made.place
    fits = f"ask for at most {square}x{square}, or use" if square else "use"
    message = (
        f"input and output of {rows}x{columns} elements need {made.needed} channels and banks per side, the "
        f"machine has {made.available}"
    )
    return message, f"{fits} a machine with channels = {made.needed}"


def _register(made: native.Instantiation) -> str:
    file = {_FEEDBACK: "fd", _INPUT: "id", _RESULT: "od"}[made.kind]
    return f"{file}{made.index}"


def _owner(symbolic: Symbolic, made: native.Instantiation) -> str:
    if made.kind != _GENERATOR:
        return "a control signal"
    return f"the address generator of {symbolic.arrays[made.index].name} at {LOCATIONS[made.side]} {made.place}"
