# SPDX-License-Identifier: Apache-2.0
"""Predication: regions and masks become instructions on the lane flags and their stack.

SFPSETCC narrows, SFPCOMPC gives the lanes of the stack's top that are not enabled. A frame pushes the flags that it
begins with; one that begins with all lanes needs no push, since SFPCOMPC takes an empty stack for all lanes and SFPENCC
enables them at the end. `a || b` is the complement of `!a && !b`. What no such order of tests gives becomes an integer
0 or 1 first. A frame all of whose ends are followed by that of the frame around it pushes for a disjunction alone, and
else leaves the end to that one. Source:
ISA documentation, page of `SFPSETCC`, `SFPCOMPC`, `SFPPUSHC` and `SFPPOPC`; the vendor's headers (SFPI) for `v_if` and
`v_else`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import NOWHERE, Block, Constant, Function, Instruction, Operand, Place, Value
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.lower.frames import Frame, find_frames
from polyloom.targets.tensix.source.lower.shapes import make_instruction
from polyloom.targets.tensix.source.lower.trees import (
    INTEGER,
    MODES,
    Both,
    Difference,
    Either,
    Leaf,
    Tree,
    condition_tree,
    negate,
    tested_integers,
)
from polyloom.targets.tensix.source.operations import PREFIX, VECTOR, called_operation
from polyloom.transform.ssa.function_editing import names
from polyloom.twos_complement import sign_extend

ENABLE_ALL: Final = (3, 10)
"""Immediates of SFPENCC: flags in use, all set."""
_STACK: Final = 8
_MINUS_ONE: Final = 0xBF800000
"""Entries of the stack of flags."""
_PEEK, _UNION, _INVERT = 1, 4, 13
"""Modes of SFPPOPC that leave the stack: flags become its top, the union with it, their own complement."""
_MASKS: Final = frozenset({"cmp_f", "cmp_i", "cmp_u", "mask_and", "mask_or", "mask_not", "mask_of"})


@dataclass(frozen=True, slots=True)
class Room:
    """Precondition of a narrowing: `is_fresh` says that what is enabled is the stack's top (all lanes if it is empty),
    `may_push` that entries may stay on the stack until the frame ends, `is_root` that all lanes are enabled and only
    this frame uses the stack.
    """

    is_fresh: bool
    may_push: bool
    is_root: bool = False


@dataclass(slots=True)
class _State:
    """State of an open frame: entries of the stack beyond what the push made, whether the last of them keeps the
    condition of the block for a later else, and what the next condition may use.
    """

    frame: Frame
    room: Room
    extra: int = 0
    saved: bool = False


def lower_conditions(function: Function, optimize: bool = True, wide: frozenset[str] = frozenset()) -> Function:
    """Lowering of masks and regions; without `optimize` each frame pushes and pops. `wide` are the results of `int_of`
    that are needed in more lanes than are enabled there.
    """
    lowering = _Lowering(function, optimize, wide)
    lowered = lowering.run()
    # Integers in place of entries need registers instead, which a stack that is full has more of.
    return lowered if lowering.deepest <= _STACK else _Lowering(function, optimize, wide, pushes=False).run()


class _Lowering:
    """Lowering in work. Mutable: the instructions of the block in work, and the open frames where each block begins."""

    def __init__(self, function: Function, optimize: bool, wide: frozenset[str], pushes: bool = True) -> None:
        self.wide, self.function, self.fresh, self.pushes = wide, function, names(function), pushes
        self.depth = self.deepest = 0
        self.frames = find_frames(function, optimize)
        self.tested = tested_integers(function)
        self.sources: Mapping[str, Instruction] = {
            result.name: i
            for block in function.blocks
            for i in block.instructions
            for result in i.results
            if i.called != INTEGER or result.name in self.tested
        }
        self.entries: dict[str, list[_State]] = {function.blocks[0].name: []}
        self.made: list[Instruction] = []
        self.open: list[_State] = []
        self.place: Place = NOWHERE

    def run(self) -> Function:
        done = {name: self._block(name) for name in self.frames.order}
        blocks = tuple(done.get(block.name, block) for block in self.function.blocks)
        return replace(self.function, blocks=blocks)

    def _block(self, name: str) -> Block:
        block = self.frames.blocks[name]
        self.made, self.open = [], [replace(state) for state in self.entries[name]]
        self.depth = sum(state.extra + (not state.frame.is_bare) for state in self.open)
        for at, instruction in enumerate(block.instructions):
            self.place = instruction.place
            self._instruction(instruction, (name, at))
        # The verifier has checked that all paths to a block arrive with the same frames open.
        for target in self.frames.targets[name]:
            self.entries.setdefault(target, [replace(state) for state in self.open])
        return replace(block, instructions=tuple(self.made))

    def _instruction(self, instruction: Instruction, site: tuple[str, int]) -> None:
        row = called_operation(instruction)
        name = "" if row is None else row.name
        match name:
            case "push":
                self._push(self.frames.pushed[site])
            case "cond":
                self._condition(self._tree(instruction.operands[0]))
            case "and_":
                self._narrow(self._tree(instruction.operands[0]), Room(False, False))
            case "else_":
                self._lower_complement(site)
            case "pop":
                self._pop()
            case "int_of" if instruction.results[0].name not in self.tested:
                self._integer(self._tree(instruction.operands[0]), instruction.results[0])
            case _ if name in _MASKS or instruction.called == INTEGER:
                pass
            case _:
                self.made.append(instruction)

    def _tree(self, mask: Operand) -> Tree:
        return condition_tree(
            mask, lambda operand: self.sources.get(operand.name) if isinstance(operand, Value) else None
        )

    def _push(self, frame: Frame) -> None:
        # Entries that stay on the stack hide the frame's own top, which an else needs.
        may_push = not frame.elses and (self.pushes or not frame.is_flat)
        self.open.append(_State(frame, Room(not frame.is_flat, may_push, frame.is_root)))
        if not frame.is_bare:
            self._machine("SFPPUSHC")

    def _condition(self, tree: Tree) -> None:
        state = self.open[-1]
        frame = state.frame
        state.extra += self._narrow(tree, state.room)
        # `v_and` narrows the block's condition, but the else complements it before that (docs/sfpi.md).
        if frame.narrows and frame.elses:
            self._machine("SFPPUSHC")
            state.extra, state.saved = state.extra + 1, True

    def _lower_complement(self, site: tuple[str, int]) -> None:
        """Else of a frame: the complement within the frame's own lanes."""
        state = self.open[-1]
        if state.saved:
            self._machine("SFPPOPC", 0)
            state.extra, state.saved = state.extra - 1, False
        # The condition left an entry on the stack, which is not the frame's: SFPCOMPC would complement within that.
        if state.frame.is_root and state.extra and not state.frame.elses.index(site):
            self._machine("SFPPOPC", _INVERT)
        else:
            self._machine("SFPCOMPC")
        is_last = site == state.frame.elses[-1]
        if not is_last:
            self._machine("SFPPUSHC")
            state.extra += 1
        state.room = Room(not is_last, is_last)

    def _pop(self) -> None:
        state = self.open.pop()
        for _ in range(state.extra + (not state.frame.is_bare)):
            self._machine("SFPPOPC", 0)
        # SFPENCC restores all lanes in one word, whatever was narrowed and wherever the stack is.
        if state.frame.is_root:
            self._machine("SFPENCC", *ENABLE_ALL)

    def _narrow(self, tree: Tree, room: Room) -> int:
        """Narrowing to the lanes of a tree; returns the entries that it leaves on the stack."""
        match tree:
            case Leaf(test, value):
                self._machine("SFPSETCC", 0, MODES[test], operands=(self._value(value),))
                return 0
            case Both(parts):
                # a disjunction needs the stack's top, or none, to be what is enabled before it: it comes first
                first = next((part for part in parts if isinstance(part, Either)), None) if room.is_fresh else None
                rest = [part for part in parts if part is not first]
                left = 0 if first is None else self._narrow(first, room)
                later = replace(room, is_fresh=False, is_root=False) if left == 0 else Room(False, room.may_push)
                return left + sum(self._narrow(part, later) for part in rest)
            case Either(parts):
                return self._narrow_disjunction(parts, room)

    def _narrow_disjunction(self, parts: tuple[Tree, ...], room: Room) -> int:
        """Narrowing to a disjunction by De Morgan's laws, as the vendor's compiler does: SETCC of all complements, then
        SFPCOMPC.
        """
        compound = sum(isinstance(part, Both) for part in parts)
        if room.is_root and room.is_fresh and compound > 1:
            return self._narrow_union(parts)
        if room.is_fresh:
            left = self._narrow(negate(Either(parts)), Room(True, False))
            assert not left
            self._machine("SFPCOMPC")
            return 0
        if room.may_push and compound < 2:
            self._machine("SFPPUSHC")
            return 1 + self._narrow_disjunction(parts, Room(True, True))
        # No order of tests gives it: an integer 0 or 1 is made of the tree and tested.
        number = self._number(Either(parts), False, self._new("int"))
        self._machine("SFPSETCC", 0, MODES["ne"], operands=(number,))
        return 0

    def _narrow_union(self, parts: tuple[Tree, ...]) -> int:
        """Union of lanes: from all lanes on each part, and the union with those before, which the stack keeps (page of
        `SFPPOPC`, mode 4).
        """
        first, *others = parts
        self._narrow(first, Room(False, False))
        for part in others:
            self._machine("SFPPUSHC")
            self._machine("SFPENCC", *ENABLE_ALL)
            self._narrow(part, Room(False, False))
            self._machine("SFPPOPC", _UNION)
        return len(others)

    def _integer(self, tree: Tree, result: Value) -> None:
        """Integer of a mask. The assignment of a value to itself marks where the integer is complete, for
        `integers`."""
        made = self._new("int")
        # Most integers are used where they are made, and need no switch to all lanes.
        if result.name not in self.wide:
            self._number(tree, not self.open, made)
        else:
            self._machine("SFPPUSHC")
            self._machine("SFPENCC", *ENABLE_ALL)
            self._number(tree, False, made)
            self._machine("SFPPOPC", 0)
        self._emit("assign", (made, made), result)

    def _number(self, tree: Tree, is_root: bool, made: Value) -> Value:
        """Value of a mask: 1 in the lanes of the tree, 0 in the other enabled ones."""
        # A disjunction is cheaper as the complement of a conjunction, so 0 is assigned instead of 1.
        flipped = isinstance(tree, Either) and sum(isinstance(part, Both) for part in tree.parts) < 2
        start, inside = (self._literal(int(flipped)), 1 - int(flipped))
        if not is_root:
            self._machine("SFPPUSHC")
        left = self._narrow(negate(tree) if flipped else tree, Room(True, True, is_root))
        self._emit("assign", (start, self._literal(inside)), made)
        for _ in range(left + (not is_root)):
            self._machine("SFPPOPC", 0)
        if is_root:
            self._machine("SFPENCC", *ENABLE_ALL)
        return made

    def _value(self, value: Operand | Difference) -> Operand:
        if not isinstance(value, Difference):
            return value
        if value.value is None:
            # Computed at the first test that needs it: the leaves of `<=` and `>` share one subtraction.
            value.value = self._difference(value)
        return value.value

    def _difference(self, of: Difference) -> Value:
        """Difference whose sign decides a comparison (docs/sfpi.md, comparisons)."""
        made = self._new("difference")
        other = self._literal(of.b) if isinstance(of.b, int) else of.b
        if of.kind == "float":
            return self._emit("sfpmad", (other, self._literal(_MINUS_ONE), of.a, Constant(I32, 0)), made)
        self._emit("sfpiadd_v", (other, of.a, Constant(I32, 6)), made)
        return made if of.kind == "integer" else self._borrow(of.a, other, made)

    def _borrow(self, a: Operand, b: Operand, difference: Value) -> Value:
        """Unsigned comparison by the borrow of a − b: where the upper bits differ, a is less just where b's is set
        (Hacker's Delight, section 2-12).
        """
        unlike = self._emit("sfpxor", (a, b), self._new("unlike"))
        self._machine("SFPPUSHC")
        self._machine("SFPSETCC", 0, MODES["lt"], operands=(unlike,))
        made = self._emit("assign", (difference, b), self._new("borrow"))
        self._machine("SFPPOPC", 0)
        return made

    def _literal(self, bits: int) -> Value:
        return self._emit("splat", (Constant(I32, sign_extend(bits, 32)),), self._new("literal"))

    def _new(self, name: str) -> Value:
        return Value(self.fresh(name), VECTOR)

    def _emit(self, name: str, operands: tuple[Operand, ...], result: Value) -> Value:
        self.made.append(Instruction("call", operands, (result,), callee=f"@{PREFIX}{name}", place=self.place))
        return result

    def _machine(self, name: str, *immediates: int, operands: tuple[Operand, ...] = ()) -> None:
        self.depth += (name == "SFPPUSHC") - (name == "SFPPOPC" and immediates == (0,))
        self.deepest = max(self.deepest, self.depth)
        self.made.append(make_instruction(name, operands, immediates, place=self.place))
