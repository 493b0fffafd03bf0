# SPDX-License-Identifier: Apache-2.0
"""Code of loops, conditions and assignments inside a work.

A loop with no loop inside keeps pointers to the elements that it goes along (strength reduction), and holds elements
that every iteration touches alike in registers (scalar replacement; Callahan, Carr and Kennedy 1990). A vectorized loop
goes by eight; what is left over is one more round under a mask. A condition that differs from lane to lane narrows the
mask (if-conversion; Allen, Kennedy, Porterfield and Warren 1983).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from polyloom.analysis.loop_ranges import constant_bounds
from polyloom.analysis.privatizable import privatizable
from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import (
    Apply,
    Assign,
    Cell,
    Expression,
    If,
    Loop,
    Nest,
    Node,
    accesses,
    assignments,
    cell,
    loops,
    subexpressions,
)
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition
from polyloom.targets.minion.map.simd.elements import Around
from polyloom.targets.minion.map.simd.lane_extremes import write_extreme
from polyloom.targets.minion.map.simd.parallel_machine import LANES
from polyloom.targets.minion.map.simd.short_division import Divisor
from polyloom.targets.minion.map.simd.unroll_and_load import Unrolling, serial_factor, unroll, unroll_factor
from polyloom.targets.minion.map.simd.values import Values

_ALL: int = (1 << LANES) - 1
_SPARE_VECTORS = 7
"""Vector registers that stay free for expressions, whatever is held."""
_FREE_VECTORS = 12
"""The same where locals may stay in memory: for the polynomial of an exponential, whose constants have no registers."""
_SPARE_INTEGERS = 3


class Control:
    """Writer of control flow into `values.text`. `vectors` are the loops that are vectorized, `path` the loops and
    conditions around; `is_alone`: one hart executes it.
    """

    def __init__(
        self,
        nest: Nest,
        values: Values,
        vectors: frozenset[str],
        path: tuple[Loop | If, ...],
        *,
        is_alone: bool = False,
    ) -> None:
        self.nest, self.values, self.text, self.vectors = nest, values, values.text, vectors
        self.path, self.is_alone = list(path), is_alone

    def block(self, nodes: Sequence[Node], around: Around) -> None:
        """Nodes in their order, each with its place of the source."""
        for node in nodes:
            match node:
                case Assign():
                    with self.text.at(node.span):
                        self.assign(node, around)
                case Loop():
                    with self.text.at(node.span):
                        self.loop(node, around)
                case If():
                    with self.text.at(node.span):
                        self.choice(node, around)

    def assign(self, node: Assign, around: Around) -> None:
        """Assignment; a target in a register is computed there, without a move."""
        into = around.locals.get(node.target.name) or around.held.get(cell(node.target))
        ends = [name for name in around.ends.get(node.name, ()) if name != node.target.name]
        self.values.dying = Counter(r.name for r in accesses(node.value) if r.name in ends)
        is_kept = into is not None or node.target.name in around.locals
        self.values.stored = None if is_kept else node.value
        found = self.values.value(node.value, around, into)
        if into is None and node.target.name in around.locals:
            self.define(node, around.live, found)
        elif into is None:
            self.values.store(node.target, around, found[0])
            self.values.drop(found)
        self.values.pending.clear()
        for name in around.ends.get(node.name, ()):
            if register := around.live[name]:
                self.text.vectors.give(register)
                around.live[name] = ""

    def define(self, node: Assign, live: dict[str, str], found: tuple[str, bool]) -> None:
        """Register of a local from its definition on: that of its value, unless others have that, too."""
        live[node.target.name] = found[0]
        if not found[1]:
            live[node.target.name] = self.text.vectors.take(node.span)
            self.text.add(f"for.pi {live[node.target.name]}, {found[0]}, {found[0]}")

    # Loops

    def loop(self, loop: Loop, around: Around) -> None:
        """Loop over all iterations."""
        with self.bounds(loop, around) as (low, high):
            known = constant_bounds(loop)
            self.iterations(loop, around, low, high, None if known is None else (known[1] - known[0]) // LANES)

    @contextmanager
    def bounds(self, loop: Loop, around: Around) -> Generator[tuple[str, str]]:
        """Registers of the first iteration and the one behind the last."""
        low, high = self.text.integers.take(loop.span), self.text.integers.take(loop.span)
        self.extreme(loop.lower, "bge", around, low)
        self.extreme(loop.upper, "ble", around, high)
        yield low, high
        self.text.integers.give(high, low)

    def extreme(self, ends: Sequence[Affine], keeps: str, around: Around, register: str) -> None:
        """Greatest (`bge`) or least (`ble`) of several affine forms."""
        first, *others = ends
        self.values.integer(first, around, register, "t1")
        for other in others:
            done = self.text.label("end")
            self.values.integer(other, around, "t0", "t1")
            self.text.add(f"{keeps} {register}, t0, {done}", f"mv {register}, t0", f"{done}:")

    def iterations(self, loop: Loop, around: Around, low: str, high: str, rounds: int | None = None) -> None:
        """Iterations from `low` up to `high`; `low` becomes the loop's register. `rounds`: how often whole vectors, if
        known.
        """
        self.path.append(loop)
        with self.locals(around) as inner:
            if loop.name in self.vectors:
                self.wide(loop, replace(inner, lane=loop.name), low, high, rounds)
            elif loop.step > 0:
                self.upwards(loop, inner, low, high)
            else:
                self.downwards(loop, inner, low, high)
        self.path.pop()

    @contextmanager
    def locals(self, around: Around) -> Generator[Around]:
        """Privatization (Wolfe 1996): a register for each local that the innermost loop of the path has to itself. In a
        body without branches it has one only from its definition to its last use (linear scan: Poletto, Sarkar 1999).
        """
        names = sorted(privatizable(self.nest, self.path) - around.locals.keys())
        body = self.path[-1].body
        straight = [node for node in body if isinstance(node, Assign)]
        if len(straight) == len(body):
            live = {**around.locals, **dict.fromkeys(names, "")}
            yield replace(around, locals=live, live=live, ends=final_uses(straight, names))
            return
        # Loops inside give registers to those that they have to themselves.
        names = [name for name in names if not self.is_inner(name)]
        inner, free = self.path[-1], len(self.text.vectors.free)
        is_vector = isinstance(inner, Loop) and inner.name in self.vectors
        shared = [[name] for name in names]
        if len(names) > free - _SPARE_VECTORS:
            shared = _disjoint_lifetimes(names, body)
        if self.is_alone and not is_vector and len(shared) >= free:
            # No other hart writes the memory of locals: there those stay that find no register.
            shared = shared[: max(0, free - _FREE_VECTORS)]
        taken = [self.text.vectors.take(inner.span) for _ in shared]
        own = {name: register for each, register in zip(shared, taken, strict=True) for name in each}
        yield replace(around, locals={**around.locals, **own})
        self.text.vectors.give(*reversed(taken))

    def is_inner(self, name: str) -> bool:
        """Whether loops inside of the innermost loop of the path alone access a local, and have it to themselves."""
        return all(
            isinstance(node, Loop) and name in privatizable(self.nest, [*self.path, node])
            for node in self.path[-1].body
            if any(r.name == name for a in assignments([node]) for r, _ in _accesses(a))
        )

    def upwards(self, loop: Loop, around: Around, low: str, high: str) -> None:
        """Loop that counts up; the test at the end saves a jump per iteration."""
        end, again = self.text.label("end"), self.text.label("loop")
        self.text.branch("blt", f"{low}, {high}", end)
        inside = replace(around, loops={**around.loops, loop.name: low})
        with self.ready(loop, inside) as (ready, moves):
            write_extreme(self, loop, ready, (low, high), moves)
            known = constant_bounds(loop)
            times = serial_factor(loop, ready, None if known is None else known[1] - known[0])
            # What is held is stored behind all iterations.
            done = self.text.label("done")
            if self.unroll_best(loop, ready, low, high, (times, 1), moves):
                self.text.branch("blt", f"{low}, {high}", done)
            self.text.add(f"{again}:")
            since = len(self.text.lines)
            self.block(loop.body, ready)
            self.text.add(f"addi {low}, {low}, 1", *moves(1))
            self.text.back("blt", "bge", f"{low}, {high}", again, since)
            self.text.add(f"{done}:")
        self.text.add(f"{end}:")

    def downwards(self, loop: Loop, around: Around, low: str, high: str) -> None:
        """Loop from the last iteration to the first: `high` counts."""
        end, again = self.text.label("end"), self.text.label("loop")
        self.text.branch("blt", f"{low}, {high}", end)
        self.text.add(f"addi {high}, {high}, -1")
        inside = replace(around, loops={**around.loops, loop.name: high})
        with self.ready(loop, inside) as (ready, moves):
            self.text.add(f"{again}:")
            since = len(self.text.lines)
            self.block(loop.body, ready)
            self.text.add(f"addi {high}, {high}, -1", *moves(-1))
            self.text.back("bge", "blt", f"{high}, {low}", again, since)
        self.text.add(f"{end}:")

    def wide(self, loop: Loop, around: Around, low: str, high: str, rounds: int | None) -> None:
        """Vector loop: eight iterations at a time, several times eight where the loop has no other inside; the rest
        together, under a mask.
        """
        end = self.text.label("end")
        self.text.branch("blt", f"{low}, {high}", end)
        inside = replace(around, loops={**around.loops, loop.name: low})
        with self.ready(loop, inside) as (ready, moves):
            times = unroll_factor(loop, ready, len(self.text.vectors.free), rounds)
            self.unroll_best(loop, ready, low, high, (times, LANES), moves)
            self.rounds(loop, low, high, LANES, moves, lambda: self.block(loop.body, ready))
            self.text.add(f"sub t0, {high}, {low}")
            skip = self.text.label("whole")
            self.text.branch("bgtz", "t0", skip)
            # mova.m.x writes all eight mask registers; the low byte is m0, the mask of all SIMD instructions (manual,
            # chapters 3 to 6).
            self.text.add("li t1, 1", "sll t1, t1, t0", "addi t1, t1, -1", "mova.m.x t1")
            self.block(loop.body, ready)
            self.text.add(f"li t1, {_ALL}", "mova.m.x t1", f"{skip}:")
        self.text.add(f"{end}:")

    def unroll_best(
        self,
        loop: Loop,
        around: Around,
        low: str,
        high: str,
        factor: tuple[int, int],
        moves: Callable[[int], list[str]],
    ) -> bool:
        """Rounds of several vectors, or iterations: as many as interleave, since those do not wait for each other's
        results, and of as many the most. False where registers suffice for none.
        """
        times, width = factor
        tried = list[tuple[int, Unrolling]]()
        counts = [n for n in (times, times // 2, 4, 3, 2) if 1 < n <= times]
        # Loads ahead come together, but keep registers that further rounds need.
        for each in dict.fromkeys(Unrolling(n, width, ahead) for ahead in (True, False) for n in counts):
            if tried and tried[0][0] >= each.times:
                continue
            before = self.state(around)
            if depth := self.unrolled_rounds(loop, around, low, high, each, moves):
                tried = sorted([*tried, (depth, each)], key=lambda found: -found[0])
            if depth == each.times or (depth and width == 1):
                return True
            self.restore(before, around)
        return bool(tried) and bool(self.unrolled_rounds(loop, around, low, high, tried[0][1], moves))

    def state(self, around: Around) -> tuple[int, int, list[str], list[str], dict[str, str]]:
        """What writing a loop changes."""
        text = self.text
        lengths = len(text.lines), len(self.values.calls)
        return *lengths, list(text.vectors.free), list(text.integers.free), dict(around.live)

    def restore(self, before: tuple[int, int, list[str], list[str], dict[str, str]], around: Around) -> None:
        """State of before: what was written since is dropped."""
        del self.text.lines[before[0] :]
        del self.values.calls[before[1] :]
        self.text.vectors.free[:], self.text.integers.free[:] = before[2], before[3]
        around.live.update(before[4])

    def unrolled_rounds(
        self,
        loop: Loop,
        around: Around,
        low: str,
        high: str,
        each: Unrolling,
        moves: Callable[[int], list[str]],
    ) -> int:
        """Rounds of several vectors, or iterations, if registers suffice, and how many of them interleave; else nothing
        is written, and 0.
        """
        before, depth = self.state(around), list[int]()
        try:
            self.rounds(
                loop, low, high, each.times * each.width, moves, lambda: depth.append(unroll(self, loop, around, each))
            )
        except PolyloomError as error:
            if error.diagnostics[0].code != "PL1352":
                raise
            self.restore(before, around)
            return 0
        return depth[0]

    def rounds(
        self, loop: Loop, low: str, high: str, width: int, moves: Callable[[int], list[str]], body: Callable[[], None]
    ) -> None:
        """Rounds of `width` iterations, as long as there are so many."""
        with self.text.at(loop.span):
            again, end = self.text.label("lanes"), self.text.label("rest")
            # The bound is moved once, so that a round costs one comparison.
            self.text.add(f"addi t0, {high}, {1 - width}")
            self.text.branch("blt", f"{low}, t0", end)
            self.text.add(f"{again}:")
            since = len(self.text.lines)
            body()
            self.text.add(f"addi {low}, {low}, {width}", *moves(width), f"addi t0, {high}, {1 - width}")
            self.text.back("blt", "bge", f"{low}, t0", again, since)
            self.text.add(f"{end}:")

    # What a loop without loops inside has ready

    @contextmanager
    def ready(self, loop: Loop, around: Around) -> Generator[tuple[Around, Callable[[int], list[str]]]]:
        """Pointers and held elements, and a function that moves pointers on by so many iterations; held elements are
        stored behind the loop. Only for a loop with no loop inside.
        """
        if any(loops(loop.body)):
            yield around, lambda step: []
            return
        held, written = self.held(loop, around)
        pointers = self.pointers(loop, around, held)

        def moves(step: int) -> list[str]:
            return [
                line
                for form, (register, _) in pointers.items()
                for line in _pointer_step(form, loop.name, step, register)
            ]

        around = replace(around, held={**around.held, **held}, pointers={**around.pointers, **pointers})
        divisors = self.divisors(loop, around)
        yield replace(around, divisors={**around.divisors, **divisors}), moves
        for each in reversed(divisors.values()):
            self.text.vectors.give(each.bad or "", each.reciprocal)
        for reference in written:
            self.values.store(reference, around, held[cell(reference)])
        self.text.integers.give(*reversed([register for register, _ in pointers.values()]))
        self.text.vectors.give(*reversed(held.values()))

    def held(self, loop: Loop, around: Around) -> tuple[dict[Cell, str], list[Reference]]:
        """Scalar replacement: registers of elements that are the same in all iterations and that nothing else in the
        loop may change; those that are written.
        """
        found: dict[Cell, str] = {}
        stored: dict[Cell, Reference] = {}
        everywhere = [(r, w) for a in assignments(loop.body) for r, w in _accesses(a)]
        # Only what every iteration executes may be loaded before the loop: an element under a condition may not exist.
        always = [(r, w) for node in loop.body if isinstance(node, Assign) for r, w in _accesses(node)]
        # A register whose element only some iterations write would not be stored behind the loop.
        sometimes = {cell(r) for r, w in everywhere if w} - {cell(r) for r, w in always if w}
        for reference, is_write in always:
            if cell(reference) in sometimes or not self.is_held(reference, loop, around, everywhere):
                continue
            if cell(reference) not in found:
                # Elements that find no register are loaded in each iteration, which is slower and never wrong.
                if len(self.text.vectors.free) <= _SPARE_VECTORS:
                    continue
                found[cell(reference)] = self.text.vectors.take(reference.span)
                self.values.load(reference, around, found[cell(reference)])
            if is_write:
                stored[cell(reference)] = reference
        return found, list(stored.values())

    def divisors(self, loop: Loop, around: Around) -> dict[Cell, Divisor]:
        """Reciprocals of what a loop divides by and does not change (loop-invariant code motion), as far as registers
        suffice.
        """
        written, found = {assign.target.name for assign in assignments(loop.body)}, dict[Cell, Divisor]()
        for by in (by for assign in assignments(loop.body) for by in _float_divisors(assign.value)):
            register = around.locals.get(by.name) or around.held.get(cell(by))
            if not register or by.name in written or cell(by) in found or cell(by) in around.divisors:
                continue
            if len(self.text.vectors.free) > _SPARE_VECTORS + 2:
                found[cell(by)] = self.values.set_divisor(register)
        return found

    def is_held(
        self, reference: Reference, loop: Loop, around: Around, everywhere: Sequence[tuple[Reference, bool]]
    ) -> bool:
        """Whether an element is invariant in the loop, and all accesses of its array are to it or none writes."""
        if reference.name in around.locals or cell(reference) in around.held:
            return False
        if any(loop.name in index.symbols for index in reference.index):
            return False
        same = [(r, w) for r, w in everywhere if r.name == reference.name]
        return all(cell(r) == cell(reference) for r, _ in same) or not any(w for _, w in same)

    def pointers(
        self, loop: Loop, around: Around, held: Mapping[Cell, str]
    ) -> dict[tuple[str, tuple[tuple[str, int], ...]], tuple[str, int]]:
        """Induction pointers, by array and by what of the address depends on loops: accesses that differ by a constant
        share one.
        """
        made: dict[tuple[str, tuple[tuple[str, int], ...]], tuple[str, int]] = {}
        for assign in assignments(loop.body):
            for reference, _ in _accesses(assign):
                if reference.name in around.locals or cell(reference) in held or cell(reference) in around.held:
                    continue
                form = self.values.memory.address(reference)
                name = reference.name, form.terms
                if name in made or name in around.pointers or len(self.text.integers.free) <= _SPARE_INTEGERS:
                    continue
                register = self.text.integers.take(reference.span)
                self.values.integer(form, around, register, "t1")
                made[name] = register, form.constant
        return made

    # Conditions

    def choice(self, node: If, around: Around) -> None:
        """Condition: by lanes where it depends on the vectorized loop, else by a branch."""
        symbols = {name for piece in node.condition.pieces for c in piece.constraints for name in c.symbols}
        if around.lane is not None and around.lane in symbols:
            self.masked(node, around)
        else:
            self.branched(node, around)

    def branched(self, node: If, around: Around) -> None:
        """Condition as branches, where all lanes agree."""
        holds, fails, end = (self.text.label(what) for what in ("then", "else", "end"))
        self.test(node.condition, around, holds)
        self.text.add(f"j {fails}", f"{holds}:")
        self.inside(node, node.body, around)
        self.text.add(*([f"j {end}"] if node.orelse else []), f"{fails}:")
        self.inside(node, node.orelse, around)
        self.text.add(*([f"{end}:"] if node.orelse else []))

    def test(self, condition: Condition, around: Around, holds: str) -> None:
        """Jump to `holds` where the condition does: a union of conjunctions of affine forms >= 0."""
        for piece in condition.pieces:
            other = self.text.label("or")
            for constraint in piece.constraints:
                self.values.integer(constraint, around, "t0", "t1")
                self.text.branch("bgez", "t0", other)
            self.text.add(f"j {holds}", f"{other}:")

    def inside(self, node: If, nodes: Sequence[Node], around: Around) -> None:
        self.path.append(node)
        self.block(nodes, around)
        self.path.pop()

    def masked(self, node: If, around: Around) -> None:
        """Condition under a mask: m1 are the lanes where it holds; both masks of before are kept in an integer
        register.
        """
        before, after = self.text.integers.take(node.span), self.text.integers.take(node.span)
        holds = self.text.vectors.take(node.span)
        self.lanes(node.condition, around, holds)
        # mova saves all mask registers at once, so that conditions nest to any depth.
        self.text.add(f"mova.x.m {before}", f"fsetm.pi m1, {holds}", f"mova.x.m {after}")
        self.text.vectors.give(holds)
        self.text.add("maskand m0, m0, m1")
        self.inside(node, node.body, around)
        if node.orelse:
            self.text.add(f"mova.m.x {after}", "masknot m1, m1", "maskand m0, m0, m1")
            self.inside(node, node.orelse, around)
        self.text.add(f"mova.m.x {before}")
        self.text.integers.give(after, before)

    def lanes(self, condition: Condition, around: Around, into: str) -> None:
        """Lanes that are not 0 where the condition holds."""
        form, fails = self.text.vectors.take(), self.text.vectors.take()
        self.text.add(f"fbcx.ps {into}, zero")
        for piece in condition.pieces:
            self.text.add(f"fbcx.ps {fails}, zero")
            for constraint in piece.constraints:
                self.values.affine_lanes(constraint, around, form)
                # The sign, spread over the lane, says that this form is negative: a constraint fails.
                self.text.add(f"fsrai.pi {form}, {form}, 31", f"for.pi {fails}, {fails}, {form}")
            self.text.add(f"fnot.pi {fails}, {fails}", f"for.pi {into}, {into}, {fails}")
        self.text.vectors.give(fails, form)


def final_uses(body: Sequence[Assign], names: Sequence[str]) -> dict[str, list[str]]:
    """Names whose last access a statement has, by the statement."""
    last = {name: assign.name for assign in body for name in {r.name for r, _ in _accesses(assign)} & {*names}}
    found: dict[str, list[str]] = {}
    for name in sorted(last):
        found.setdefault(last[name], []).append(name)
    return found


def _accesses(assign: Assign) -> Iterator[tuple[Reference, bool]]:
    yield from ((read, False) for read in accesses(assign.value))
    yield assign.target, True


def _float_divisors(value: Expression) -> Iterator[Reference]:
    """Elements by which an expression divides floats."""
    for part in subexpressions(value):
        match part:
            case Apply(operation="div", dtype="f32", operands=(_, Reference() as by)):
                yield by
            case _:
                pass


def _pointer_step(form: tuple[str, tuple[tuple[str, int], ...]], loop: str, step: int, register: str) -> list[str]:
    """Instructions that move a pointer on by iterations of a loop."""
    by = dict(form[1]).get(loop, 0) * step
    if not by:
        return []
    if -2048 <= by < 2048:
        return [f"addi {register}, {register}, {by}"]
    return [f"li t1, {by}", f"add {register}, {register}, t1"]


def _disjoint_lifetimes(names: Sequence[str], body: Sequence[Node]) -> list[list[str]]:
    """Locals that may share a register, since no node of a body needs two of them (left-edge algorithm: Hashimoto,
    Stevens 1971).
    """
    uses = {name: list[int]() for name in names}
    for number, node in enumerate(body):
        for name in {r.name for a in assignments([node]) for r, _ in _accesses(a)} & uses.keys():
            uses[name].append(number)
    found = list[list[str]]()
    for name in sorted(names, key=lambda name: uses[name][:1]):
        room = next((each for each in found if uses[each[-1]][-1:] < uses[name][:1]), None)
        if room is None:
            found.append([name])
        else:
            room.append(name)
    return found
