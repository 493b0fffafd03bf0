# SPDX-License-Identifier: Apache-2.0
"""The native module (native/bind.cpp): models of the machines.

Arrays cross the boundary as words: one 32-bit register value an element, integers sign-extended, f32 as its bits.
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
    def feedback_high(self) -> list[list[int]]:
        """By class and fd: the greatest occupancy in any element."""

    @property
    def input_high(self) -> list[list[int]]:
        """By class and id."""

    @property
    def report(self) -> Report: ...
    def take_outputs(self) -> list[NDArray[np.uint32]]:
        """The words of each array, empty for inputs. Only the first call returns them."""

    def take_trace(
        self,
    ) -> tuple[
        NDArray[np.int32],
        NDArray[np.int32],
        NDArray[np.int64],
        NDArray[np.int32],
        NDArray[np.uint8],
        NDArray[np.uint32],
    ]:
        """(element, unit, cycle, instruction, opcode, value), one row an operation. Only the first call returns
        them."""

def run(
    placements: Sequence[tuple[Config, int, int, Sequence[NDArray[np.uint32]]]],
    latencies: NDArray[np.uint16],
    pipelined: Sequence[bool],
    hop_delay: int,
    trace: bool = False,
    check_only: bool = False,
    progress: Callable[[int], None] | None = None,
) -> list[Result]:
    """Runs configurations whose first elements stand at (row, column), each with the words of its arrays (anything for
    an output).

    `latencies` is units x 256 opcodes in cycles, 0 for an operation that the unit lacks. Raises Fault, and ValueError
    for programs of another number of units or inputs that are too short. `check_only` needs no inputs and gives
    `Result.report`. `progress` is called with the cycle some times a second; what it raises ends the run.
    """

def run_kinds(
    config: Config, latencies: NDArray[np.uint16], pipelined: Sequence[bool], hop_delay: int
) -> Result | None:
    """What `run` gives with `check_only`, by running one element per class; None where there is a fault, or something
    late, unread or idle, which `run` then names."""

def dominators(n: int, edges: NDArray[np.int32], root: int, strategy: int) -> NDArray[np.int32]:
    """idom by node, -1 for the root and for nodes not reached; `edges` is (m, 2) in row-major order.

    Strategies are 0 scratch, 1 cached, 2 balanced. The caller has checked all numbers: `polyloom.analysis.dominators`
    does.
    """

@final
class DominatorTree:
    """The dominator tree of a graph, with preorder positions; arguments as for `dominators`."""

    def __init__(self, n: int, edges: NDArray[np.int32], root: int, strategy: int) -> None: ...
    @property
    def idom(self) -> NDArray[np.int32]:
        """By node; -1 for the root and for nodes not reached."""

    @property
    def preorder(self) -> NDArray[np.int32]:
        """The reached nodes in an order in which every subtree is a range: `preorder[position[v] : position[v] +
        size[v]]` is v's."""

    @property
    def position(self) -> NDArray[np.int32]:
        """By node; -1 for nodes not reached."""

    @property
    def size(self) -> NDArray[np.int32]:
        """Nodes in the subtree, by node; 0 for nodes not reached."""

    def frontier_sizes(self) -> NDArray[np.int64]:
        """By node; without making frontiers."""

    def frontiers(self, cooper: bool) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(start, members) by one of two methods: v's frontier is `members[start[v] : start[v + 1]]`, ascending."""

    def iterated_frontier(self, nodes: NDArray[np.int32], within: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Ascending; nodes w with `within[w]` false are left out and lead no further, unless `within` is empty."""

    def construct(
        self, node: NDArray[np.int32], variable: NDArray[np.int32], kind: NDArray[np.uint8], variables: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """(start, variable, reaching, arguments) of native/graph/construct.hpp for touches, nodes ascending: 0 loads, 1
        stores, 2 forgets."""

@final
class RiscvHart:
    """One RISC-V hart and its memory of zeros (native/riscv/hart.hpp), whose code lies in [code_base, code_base +
    code_size)."""

    def __init__(self, xlen: int, extensions: int, base: int, size: int, code_base: int, code_size: int) -> None:
        """`extensions` is a set as polyloom.riscv.header.extension_bits writes it. Raises ValueError for code outside
        the memory, MemoryError where there is not enough."""

    x: list[int]
    """The 32 integer registers, unsigned; what is assigned to x0 is ignored."""
    f: list[int]
    """The bits of the 32 floating-point registers, singles boxed in ones."""
    fcsr: int

    def write(self, address: int, data: bytes) -> None:
        """Raises ValueError outside the memory, as does `read`."""

    def read(self, address: int, length: int) -> bytes: ...
    def run(self, pc: int, stop: int, limit: int) -> tuple[int, int, int, int, int]:
        """Runs until the program exits, traps, reaches `stop`, or has executed `limit` instructions. Reservations stay.

        Returns (cause, pc, value, executed instructions, word at pc); causes are in the order of
        native/riscv/hart.hpp."""

    def written(self, file: int) -> bytes:
        """What the program wrote to file 1 or 2."""

class Instantiation:
    """What native/instantiate made: polyloom_result of polyloom_instantiate.h, where the fields are explained, and the
    file.

    `status` is 0, or the number of a diagnostic (510 is PL0510), then `file` is empty; 1 to 3 say that scratch or
    output would exceed 2 GiB, or that a number does not fit. `scratch`: bytes that were used. `asked`: the tile sizes
    of the request."""

    status: int
    position: int
    file: bytes
    scratch: int
    kind: int
    index: int
    side: int
    place: int
    needed: int
    available: int
    candidate: int
    region: tuple[int, int]
    asked: Sequence[int]

    def sizes(self, dimensions: int) -> tuple[int, ...]:
        """Of the tiles that are refused or were taken, by dimension; in PL0506 the least ones."""

def instantiate(
    symbolic: bytes,
    values: Sequence[int],
    rows: int,
    columns: int,
    candidate: int | None = None,
    sizes: Sequence[int] | None = None,
    layouts: Sequence[tuple[Sequence[int], int, int]] | None = None,
    threads: int = 0,
) -> Instantiation:
    """A concrete file from a symbolic one, values in the order of its parameters, and a region (native/instantiate).

    `candidate`: the only one that is tried. `sizes`: of the tiles, by dimension. `layouts`: by array (strides, base,
    bank), without strides row-major. Classes are instantiated by so many threads, each in scratch of its own; 0: one
    after another."""

def instantiate_sizes(
    symbolic: bytes,
    values: Sequence[int],
    rows: int,
    columns: int,
    candidate: int | None = None,
    sizes: Sequence[int] | None = None,
    layouts: Sequence[tuple[Sequence[int], int, int]] | None = None,
) -> tuple[int, int, int, int]:
    """(status, bytes of output, bytes of scratch, bytes of scratch of one class's own) that such a request needs."""

def instantiation_seconds(
    symbolic: bytes, values: Sequence[int], rows: int, columns: int, candidate: int, times: int, whole: int
) -> tuple[list[tuple[float, float]], list[tuple[float, float, float, float]], int]:
    """CPU seconds of warm instantiations, and bytes of the file: `times` runs of (concretization through
    functional-unit programs, all but emission), then `whole` runs of (all but emission, emission, a checksum of its
    bytes alone, a memcpy of its bytes), each for three seconds at most. Nothing is written where `whole` is 0. Raises
    RuntimeError for a request that is refused."""

def fletcher64(data: bytes) -> int:
    """The checksum of files, of the library (native/instantiate/read.c). Raises ValueError where words of 32 bits do
    not fill the bytes."""

def instantiate_text(status: int) -> str:
    """What a status means."""

def litmus_executions(
    events: Sequence[tuple[int, int, int, int, int, int, int, int, bool, bool, int]],
    locations: Sequence[tuple[int, int, bool]],
    most: int,
    steps: int,
) -> tuple[list[tuple[list[int], int, int]] | None, int]:
    """What the allowed executions of a litmus test observe, with the low and the high 64 bits of their number, and the
    steps that are left.

    None where sets are extended in more than `most` ways, or where the steps do not suffice. Events and locations are
    the fields of native/riscv/executions.hpp, in their order. Raises ValueError out of their ranges."""

def riscv_search(
    xlen: int, inputs: Sequence[Sequence[int]], target: Sequence[int], steps: Sequence[int], length: int, most: int
) -> list[list[tuple[int, int, int]]]:
    """Up to `most` sequences of exactly `length` of the allowed steps (native/riscv/search.hpp) that give `target` on
    all 64 samples.

    A line is (step, a, b): value 0 is the constant zero, then come the inputs, then the results of the lines before."""
