# SPDX-License-Identifier: Apache-2.0
"""Condition regions of a vector kernel: which frames are open at each instruction, and what has narrowed them.

A frame begins with `push` and ends with `pop`; in it, `cond` and `and_` narrow and `else_` takes what the last `cond`
left. A path has a step for each: `cond` and `and_` append one, `else_` appends one to the path before the last `cond`,
so that a path that begins with another stands for some of the other's lanes. Paths at the start of blocks are a forward
data-flow problem (Kildall 1973): where ways meet, frames keep the steps that they share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from polyloom.ir.ssa import Block, Function, Instruction, Place, Return, successor_edges
from polyloom.targets.tensix.source.locate import error
from polyloom.targets.tensix.source.operations import called_operation

Path = tuple[int, ...]
"""Numbers of steps."""
Spot = tuple[str, int]
"""A block and the position of an instruction in it; that of the terminator is the number of instructions."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame. `steps` begins with the frame's own number; `base` is how many of them stood before the last `cond`;
    `arm` is the position of the last `else_`, 0 without one.
    """

    steps: Path
    base: int = 1
    arm: int = 0


Frames = tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """A split by a condition: the lanes of `whole` are those of `taken` and of `rest`."""

    whole: Path
    taken: Path
    rest: Path


@dataclass(frozen=True, slots=True)
class Regions:
    """Result of the analysis: by spot the frames before it; the splits, and which paths are equal to one that a `push`
    continues.
    """

    frames: Mapping[Spot, Frames]
    splits: tuple[Split, ...]
    same: tuple[tuple[Path, Path], ...]

    def path(self, spot: Spot) -> Path:
        return region_path(self.frames[spot])

    def depth(self, spot: Spot) -> int:
        return len(self.frames[spot])


def region_path(frames: Frames) -> Path:
    return tuple(step for frame in frames for step in frame.steps)


def analyze_regions(function: Function) -> Regions:
    """Region analysis of all blocks that the entry reaches. Raises PL1240 where frames are not balanced."""
    numbers = _number_instructions(function)
    blocks = {block.name: block for block in function.blocks}
    start: dict[str, Frames] = {function.blocks[0].name: ()}
    work = [function.blocks[0].name]
    while work:
        block = blocks[work.pop()]
        end = _walk_block(block, start[block.name], numbers)
        # A frame that is open at the return would leave lanes disabled for the caller.
        if end and isinstance(block.terminator, Return):
            raise error("PL1240", "a condition is not closed", _frame_place(function, end[-1], numbers), help=_CLOSE)
        for edge in successor_edges(block.terminator):
            met = _meet_frames(start.get(edge.block), end, -1 - list(blocks).index(edge.block))
            if met is None:
                raise error("PL1240", _DIFFERS, _block_place(blocks[edge.block]), help=_CLOSE)
            # Frames only lose steps when ways meet, which is why the iteration ends.
            if met != start.get(edge.block):
                start[edge.block] = met
                work.append(edge.block)
    return _collect_regions(function, start, numbers)


def _number_instructions(function: Function) -> dict[Spot, int]:
    """Numbers of the instructions, from 1 on."""
    spots = [(block.name, k) for block in function.blocks for k in range(len(block.instructions))]
    return {spot: n + 1 for n, spot in enumerate(spots)}


def _walk_block(block: Block, frames: Frames, numbers: Mapping[Spot, int]) -> Frames:
    for k, instruction in enumerate(block.instructions):
        frames = step_frames(instruction, frames, numbers[block.name, k])
    return frames


def _frame_place(function: Function, frame: Frame, numbers: Mapping[Spot, int]) -> Place:
    """Place where a frame begins; where the kernel does, if it begins on several ways."""
    blocks = {block.name: block for block in function.blocks}
    found = [blocks[name].instructions[k].place for (name, k), number in numbers.items() if number == frame.steps[0]]
    return found[0] if found else function.place


def step_frames(instruction: Instruction, frames: Frames, number: int) -> Frames:
    """Transfer function: the frames behind an instruction."""
    row = called_operation(instruction)
    if row is None or row.group != "regions":
        return frames
    if row.name == "push":
        return *frames, Frame((number,))
    if not frames:
        raise error("PL1240", _ALONE[row.name], instruction.place, help=_OPEN)
    *outer, frame = frames
    steps = frame.steps
    match row.name:
        case "pop":
            return tuple(outer)
        case "cond":
            frame = Frame((*steps, number), len(steps), frame.arm)
        case "and_":
            frame = Frame((*steps, number), frame.base, frame.arm)
        case _:
            # The else replaces the condition's step by its own: its lanes lie in what was enabled before the condition.
            frame = Frame((*steps[: frame.base], number), frame.base + 1, frame.base)
    return *outer, frame


def _meet_frames(known: Frames | None, new: Frames, join: int) -> Frames | None:
    """Meet of frames: what holds on both ways; None where the numbers of frames differ."""
    if known is None or known == new:
        return new
    if len(known) != len(new):
        return None
    return tuple(_meet_frame(a, b, join) for a, b in zip(known, new, strict=True))


def _meet_frame(a: Frame, b: Frame, join: int) -> Frame:
    """Meet of two frames: the steps that both share, then one of the block's own; of other frames nothing but that."""
    if a == b:
        return a
    shared = next((k for k, (x, y) in enumerate(zip(a.steps, b.steps, strict=False)) if x != y), None)
    length = min(len(a.steps), len(b.steps)) if shared is None else shared
    # The block's own step says that the lanes are some of the shared path's, and no more.
    steps = a.steps[:length] if join in a.steps[:length] else (*a.steps[:length], join)
    return Frame(steps, min(a.base, b.base, length) or 1, min(a.arm, b.arm, length))


def _collect_regions(function: Function, start: Mapping[str, Frames], numbers: Mapping[Spot, int]) -> Regions:
    frames: dict[Spot, Frames] = {}
    splits: list[Split] = []
    same: list[tuple[Path, Path]] = []
    for block in function.blocks:
        if block.name not in start:
            continue
        at = start[block.name]
        for k, instruction in enumerate(block.instructions):
            frames[block.name, k] = at
            then = step_frames(instruction, at, numbers[block.name, k])
            _record_split(instruction, at, then, splits, same)
            at = then
        frames[block.name, len(block.instructions)] = at
    return Regions(frames, tuple(splits), tuple(same))


def _record_split(
    instruction: Instruction, at: Frames, then: Frames, splits: list[Split], same: list[tuple[Path, Path]]
) -> None:
    row = called_operation(instruction)
    if row is not None and row.name == "push":
        same.append((region_path(at), region_path(then)))
    if row is not None and row.name == "else_":
        *outer, frame = at
        whole = (*region_path(tuple(outer)), *frame.steps[: frame.base])
        splits.append(Split(whole, (*whole, *frame.steps[frame.base : frame.base + 1]), region_path(then)))


def _block_place(block: Block) -> Place:
    return next(_places(block), block.terminator.place)


def _places(block: Block) -> Iterator[Place]:
    return (instruction.place for instruction in block.instructions if instruction.place.line)


_DIFFERS = "a condition is open on one way to this place and closed on another"
_OPEN = "open it with `v_if` or `v_block`"
_CLOSE = "write `v_endif` for each `v_if` and `v_endblock` for each `v_block`, on every way through the kernel"
_ALONE = {
    "pop": "`v_endif` without a `v_if`",
    "cond": "a condition outside of `v_if`",
    "and_": "`v_and` outside of `v_if` and `v_block`",
    "else_": "`v_else` without a `v_if`",
}
