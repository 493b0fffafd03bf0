# SPDX-License-Identifier: Apache-2.0
"""Function calls on the interpreter: arguments where the calling convention has them (psABI), arrays above the image.

The stack grows down towards the arrays. A guard pattern between them, larger than common frames, tells whether the
stack has overflowed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.ssa import RESULT, Function
from polyloom.ir.ssa_interpret import Argument
from polyloom.ir.ssa_semantics import Number, bits_value, value_bits
from polyloom.ir.ssa_types import F32, FLOATS, I1, PTR, WIDTH, Type
from polyloom.riscv.backend import abi
from polyloom.riscv.image import Image, elf_image
from polyloom.riscv.model import LIMIT, RA, SP, Machine
from polyloom.riscv.names import Isa
from polyloom.riscv.timing.core import Core, CycleCounts

# A cache line of common machines, more than any type needs.
_ALIGNMENT: Final = 64
STACK: Final = 1 << 23
"""Bytes, as many as Linux gives a process."""
LARGEST: Final = (1 << 31) - 1
"""Bytes of an object."""
# A megabyte: only a larger frame could skip it without touching a byte.
_GUARD: Final = b"\xa5" * (1 << 20)
_ONES: Final = 0xFFFFFFFF << 32


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a call: what the function returned, its executed instructions, the bytes that these loaded and stored,
    the addresses of those that were to be kept, and what a hart that counts has counted.
    """

    result: Number | None
    instructions: int
    moved: int
    executed: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64), compare=False)
    counts: CycleCounts | None = field(default=None, compare=False)


def call(
    executable: bytes,
    isa: Isa,
    function: Function,
    arguments: Sequence[Argument],
    limit: int = LIMIT,
    watch: Callable[[int], None] | None = None,
    record: int = 0,
    core: Core | None = None,
) -> Outcome:
    """Runs the file on one argument per parameter; arrays are changed in place, but for read-only ones.

    `watch` hears how many instructions were executed; the addresses of the first `record` of them are kept. Errors:
    PL0910 to PL0915.
    """
    return call_image(elf_image(executable, isa), function, arguments, limit, watch, record, core)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Call that is ready to run: the machine, the address of each array, where the function returns to, and the guard
    between arrays and stack.
    """

    machine: Machine
    addresses: tuple[int, ...]
    end: int
    guard: int


def prepare_call(image: Image, function: Function, arguments: Sequence[Argument], core: Core | None = None) -> Prepared:
    """Call of the entry function of an image, with its arguments where the calling convention has them. Errors: PL0605,
    PL0910.
    """
    isa = image.isa
    top = max(s.address + s.size for s in image.segments)
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    _check_sizes(arrays)
    # A gap behind each array: an access past its end reads other bytes than the host would, and shows as a difference.
    room = sum(a.nbytes + 2 * _ALIGNMENT for a in arrays)
    machine = Machine(image, room + _ALIGNMENT + len(_GUARD) + STACK, core)
    addresses: list[int] = []
    for array in arrays:
        top = -(-top // _ALIGNMENT) * _ALIGNMENT
        machine.store_array(top, array)
        addresses.append(top)
        top += array.nbytes + _ALIGNMENT
    # A pattern between arrays and stack tells when the stack has grown into the arrays.
    machine.write(top, _GUARD)
    following = iter(addresses)
    values = [
        next(following) if isinstance(a, np.ndarray) else value_bits(p.type, a)
        for p, a in zip(function.parameters, arguments, strict=True)
    ]
    _pass_arguments(machine, isa, function, values)
    end = (machine.base + machine.size) % (1 << isa.xlen)
    # The function returns to an address past the memory, where the run stops.
    machine.set_x(RA, end)
    return Prepared(machine, tuple(addresses), end, top)


def call_image(
    image: Image,
    function: Function,
    arguments: Sequence[Argument],
    limit: int = LIMIT,
    watch: Callable[[int], None] | None = None,
    record: int = 0,
    core: Core | None = None,
) -> Outcome:
    """Call of the entry function of a loaded image; otherwise as `call`."""
    prepared = prepare_call(image, function, arguments, core)
    machine, end, top = prepared.machine, prepared.end, prepared.guard
    isa, arrays = image.isa, [a for a in arguments if isinstance(a, np.ndarray)]
    with _stack_guard(machine, top):
        done = machine.run(stop=end, limit=limit, watch=watch, record=record)
    for array, address in zip(arrays, prepared.addresses, strict=True):
        # Copied back in place, as C functions change their arrays; nobody looks at what became of read-only ones.
        if array.flags.writeable:
            machine.load_array(address, array)
    result = _read_result(machine, isa, function)
    return Outcome(result, done.instructions, machine.moved, done.executed, machine.counts)


def _check_sizes(arrays: Sequence[np.ndarray]) -> None:
    """Refuses objects of 2**31 bytes or more: what a loop accesses in two iterations is less than that far apart
    (`transform.ssa.index_widening`).
    """
    largest = max((array.nbytes for array in arrays), default=0)
    if largest > LARGEST:
        message = f"an array has {largest} bytes, and an object of a compiled function at most {LARGEST}"
        raise input_error("PL0605", message, help="give smaller sizes")


@contextmanager
def _stack_guard(machine: Machine, guard: int) -> Generator[None]:
    """Stack overflow check around a run: however it ends, a destroyed guard is what is reported."""
    try:
        yield
    except PolyloomError:
        _check_guard(machine, guard)
        raise
    _check_guard(machine, guard)


def _check_guard(machine: Machine, guard: int) -> None:
    if machine.read(guard, len(_GUARD)) != _GUARD:
        message = f"the program needs more than the {STACK >> 20} megabytes of its stack"
        raise input_error(
            "PL0915",
            message,
            help="does a recursion not end? Otherwise recur less deeply, or pass large local arrays as parameters",
        )


def _pass_arguments(machine: Machine, isa: Isa, function: Function, values: Sequence[int]) -> None:
    """Puts the bits of arguments into registers and on the stack."""
    places = abi.argument_places([p.type for p in function.parameters], isa)
    words = [place for group in places for place in group if isinstance(place, abi.Stack)]
    # psABI: sp is aligned to 16 bytes at the call, and the arguments begin where it points to.
    sp = machine.x[SP] - -(-max((w.offset + 8 for w in words), default=0) // 16) * 16
    machine.set_x(SP, sp)
    for k, (parameter, group, pattern) in enumerate(zip(function.parameters, places, values, strict=True)):
        type = parameter.type
        for place, part in zip(
            group, _register_words(type, pattern, len(group), isa, k in function.unsigned), strict=True
        ):
            if isinstance(place, abi.Stack):
                machine.write(sp + place.offset, (part % (1 << isa.xlen)).to_bytes(isa.xlen // 8, "little"))
            elif place.bank == "x":
                machine.set_x(place.number, part)
            else:
                # NaN-boxing: a single has ones in the upper half of the register.
                machine.set_f(place.number, _ONES | pattern if type == F32 else pattern)


def _register_words(type: Type, pattern: int, count: int, isa: Isa, is_unsigned: bool) -> list[int]:
    """Parts of an argument or a result; an integer narrower than a register is extended."""
    if count == 2:
        return [pattern & 0xFFFFFFFF, pattern >> 32]
    if type not in FLOATS and type not in (PTR, I1) and not is_unsigned:
        return [int(bits_value(type, pattern))]
    return [pattern % (1 << isa.xlen) if type not in FLOATS else pattern]


def _read_result(machine: Machine, isa: Isa, function: Function) -> Number | None:
    """Result of the function, whose extension by the convention is asserted."""
    if (type := function.result) is None:
        return None
    places = abi.result_places(type, isa)
    if places[0].bank == "f":
        return bits_value(type, machine.f[places[0].number] & ((1 << WIDTH[type]) - 1))
    words = [machine.x[place.number] for place in places]
    pattern = sum(word << (isa.xlen * k) for k, word in enumerate(words)) & ((1 << WIDTH[type]) - 1)
    extended = [
        word % (1 << isa.xlen) for word in _register_words(type, pattern, len(words), isa, RESULT in function.unsigned)
    ]
    # The convention is an invariant of selection (abi.py): a caller in another language relies on the extension.
    assert type in FLOATS or extended == words, (
        f"{function.name} leaves {words} for a {type}, which the convention has as {extended}"
    )
    return bits_value(type, pattern)
