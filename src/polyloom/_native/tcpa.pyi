# SPDX-License-Identifier: Apache-2.0
"""The model of the array (native/tcpa/bind.cpp).

Arrays cross the boundary as bytes: their elements as they lie in memory, of the width of their type.
"""

from collections.abc import Callable, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

class Fault(RuntimeError):
    """A run that went wrong; `args` is (cause, cycle, row, column, unit or -1, text). The cause is a code's last two
    digits."""

    args: tuple[int, int, int, int, int, str]

@final
class Config:
    """A concrete configuration, read from its bytes."""

    def __init__(self, data: bytes, most_bytes: int = ...) -> None:
        """Raises ValueError where the bytes are no concrete configuration, MemoryError (of the bytes needed) where its
        wires take more than `most_bytes`."""

    def run_bytes(self, check_only: bool) -> int:
        """The memory that a run takes, at most 2**64 - 1."""

    def kinds_bytes(self) -> int:
        """The memory that `run_kinds` takes, at most 2**64 - 1."""

    @property
    def most_operations(self) -> int:
        """How many operations a run issues, at most."""

    def accesses(self, array: int) -> int:
        """In how many steps generators of the array are enabled, at most."""

    def predict(self) -> tuple[int, bool]:
        """Cycles from the first issue to the last bank write, and whether that is what a run takes; else it takes at
        most so many."""

    @property
    def initiation_interval(self) -> int: ...
    @property
    def kernel(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def machine_hash(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def element_class(self) -> list[int]:
        """Row by row; -1 is an empty tile."""

    @property
    def arrays(self) -> list[tuple[str, int, list[int], list[int], bool]]:
        """(name, element type's number, shape, strides in words, whether it is an output)."""

@final
class Terms:
    """Terms by number (native/tcpa/terms.hpp): 0 is what nothing has written. Operations and element types are given by
    their numbers in `polyloom.ir.operations`. MemoryError beyond `most` terms."""

    def __init__(self, seed: int, reassociate: bool, most: int) -> None: ...
    def constant(self, type: int, bits: int) -> int:
        """`bits` is a word of the model."""

    def inputs(self, array: int, type: int, count: int) -> NDArray[np.uint64]:
        """One term per element."""

    def apply_one(self, operation: int, type: int, a: int, b: int, c: int) -> int:
        """Operands that the operation has not are ignored."""

    def apply(
        self, operation: int, type: int, a: NDArray[np.uint64], b: NDArray[np.uint64], c: NDArray[np.uint64]
    ) -> NDArray[np.uint64]:
        """Element by element; an operand of one element is that of all."""

    def parts(self, id: int) -> tuple[int, int, int, int, list[int], int]:
        """(kind, operation, type of operands, type of the result, operands, bits). The kinds: 0 nothing, 1 a constant
        with its bits, 2 an input (number of the array, element in two halves), 3 and 4 an operation."""

    @property
    def size(self) -> int:
        """How many there are, with number 0."""

@final
class Report:
    """What a static run saw. Lists of (element, index, number) name the first place of each kind."""

    @property
    def coverage(self) -> list[list[list[tuple[bool, list[bool], list[bool], list[int]]]]]:
        """By class, unit and instruction: executed, which destinations led somewhere, which branch codes occurred, and,
        by position, the lowest signal that had the branch's values in every reading."""

    @property
    def steps(self) -> int:
        """Steps of the controller that some element needs."""

    @property
    def shortest(self) -> int:
        """Steps of the functional unit that halts first; -1 where no unit has a program."""

    @property
    def late(self) -> list[tuple[int, int, int]]:
        """(element, id, cycles): a generator's token was popped that many cycles after it was ready."""

    @property
    def unread(self) -> list[tuple[int, int, int]]:
        """(element, rd, cycle): the register was overwritten in that cycle, or left at the end, without a read."""

    @property
    def idle(self) -> list[tuple[int, int, int]]:
        """(element, connection, 0): no token passes it on a way to an id or a bank."""

    @property
    def wasted(self) -> list[tuple[int, int, int]]:
        """(0, signal, step): the signal is 1 and no branch reads it."""

@final
class Result:
    """The outcome of one placement."""

    @property
    def cycles(self) -> int: ...
    @property
    def operations(self) -> int: ...
    @property
    def first_issue(self) -> int: ...
    @property
    def issues(self) -> list[int]:
        """Operations by functional unit, over all elements."""

    @property
    def executed(self) -> list[list[list[int]]]:
        """By class, unit and instruction: how often an element of the class executed it; the last instruction of a unit
        stands for all beyond its program."""

    @property
    def held(self) -> tuple[int, bytes]:
        """With `account`: a step, and cycles that units are held by what they issued, by class and unit of all its
        elements, at multiples of the step from the first issue on; 64 bits each."""

    @property
    def feedback_high(self) -> list[list[int]]:
        """By class and fd: the greatest occupancy in any element."""

    @property
    def input_high(self) -> list[list[int]]:
        """By class and id."""

    @property
    def report(self) -> Report: ...
    @property
    def counts(self) -> tuple[int, int, int, int, int, int, int, int, list[int]]:
        """Fetches, reads and writes of registers, FIFOs and banks, hops, and operations by opcode."""

    def take_outputs(self) -> list[NDArray[np.uint8]]:
        """The words of each array, empty for inputs. Only the first call returns them."""

    def take_trace(
        self,
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.uint16],
        NDArray[np.uint64],
    ]:
        """(element, unit, cycle, instruction, opcode, value), one row per operation. Only the first call returns
        them."""

@final
class Saved:
    """A snapshot of a `Stepper`, which only that one can restore."""

    @property
    def bytes(self) -> int: ...

@final
class Stepper:
    """A run of one configuration that stops between cycles. `inputs` and the table are those of `run`."""

    def __init__(
        self,
        config: Config,
        inputs: Sequence[NDArray[np.uint8]],
        latencies: NDArray[np.uint16],
        pipelined: Sequence[bool],
        hop_delay: int,
    ) -> None: ...
    def step(self) -> bool:
        """The next cycle in which something happens; False where nothing is left. Raises Fault."""

    @property
    def cycle(self) -> int:
        """Of the last step, -1 before the first."""

    @property
    def operations(self) -> list[tuple[int, int, int, int, int, int]]:
        """Of the last step: (element, unit, cycle, instruction, opcode, value)."""

    @property
    def accesses(self) -> list[tuple[int, bool, int, int]]:
        """Of the last step, to banks: (array, whether it writes, word, value)."""

    def registers(self, element: int) -> list[tuple[str, int, list[int]]]:
        """(rd, fd or id; number; values): one of a register that was written, of a FIFO its tokens in order."""

    def output(self, array: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """The bytes of an output's words, and whether each word is written."""

    def save(self) -> Saved: ...
    def restore(self, saved: Saved) -> None: ...

def run(
    placements: Sequence[tuple[Config, int, int, Sequence[NDArray[np.uint8]]]],
    latencies: NDArray[np.uint16],
    pipelined: Sequence[bool],
    hop_delay: int,
    trace: bool = False,
    check_only: bool = False,
    progress: Callable[[int], None] | None = None,
    first_fault: bool = False,
    account: bool = False,
) -> list[Result]:
    """Runs configurations whose first elements stand at (row, column), each with the words of its arrays (anything for
    an output).

    `latencies` is units x 256 opcodes in cycles, 0 for an operation that the unit lacks. Raises Fault, and ValueError
    for programs of another number of units or inputs that are too short. `check_only` needs no inputs and gives
    `Result.report`. `progress` is called with the cycle some times per second; what it raises ends the run. With
    `first_fault`, the Fault is the first one in time, not the first that is found.
    """

def run_terms(
    config: Config,
    inputs: Sequence[NDArray[np.uint8]],
    latencies: NDArray[np.uint16],
    pipelined: Sequence[bool],
    hop_delay: int,
    terms: Terms,
) -> Result:
    """Runs a configuration on terms: a word of an array takes 8 bytes, the number of its term."""

def run_kinds(
    config: Config, latencies: NDArray[np.uint16], pipelined: Sequence[bool], hop_delay: int
) -> Result | None:
    """What `run` gives with `check_only`, by running one element per class; None where there is a fault, or something
    late, unread or idle, which `run` then names."""
