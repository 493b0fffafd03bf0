# SPDX-License-Identifier: Apache-2.0
"""Accumulations over several loops as nested accumulations: every row by itself, then the results of the rows.

    s = s op e[i, j]        row[i, j] = (j first ? identity : row[i, j-1]) op e[i, j],
                            s[i] = (i first ? s before : s[i-1]) op row[i, j last]

In the source's order the first element of a row follows the last one of the row before, which is not at a constant
distance. Where `op` is associative and commutative the order does not matter (integers; f32 only if the user allows
another rounding), and in the nested form all distances are constant. A chain is rewritten if nothing but its last value
is used elsewhere; that it is one chain for each iteration of the loops outside, and that rows have no gaps, is decided
by isl.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import islpy as isl

from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Apply, Expression
from polyloom.ir.operations import FLOATS
from polyloom.ir.recurrence import Final, Immediate, Piece, Produced, Recurrence, System
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine, Condition
from polyloom.sets.isl import affine_map, affines, stride_error, to_set, translate
from polyloom.sets.normal_form import conjunction
from polyloom.transform.accumulation import Accumulation, identity_element, recognise
from polyloom.transform.pieces import Part, Pieces, affine_pieces, with_loop_names


def nest_reductions(system: System, reassociate: bool) -> System:
    """Reductions of several loops as nested reductions (Redon, Feautrier 1994: "Scheduling reductions"): `system` with
    nested accumulations where distances would not be constant; each added equation has its reason.
    """
    for name in [e.name for e in system.equations]:
        equation = system[name]
        accumulation = recognise(equation) if equation.dtype not in FLOATS or reassociate else None
        chain = _chain(system, equation, accumulation) if accumulation is not None else None
        system = _rewritten(system, chain) if chain is not None else system
    return system


@dataclass(frozen=True, slots=True)
class _Level:
    """Rows along the last of k loops: `points` of these loops, and those that are `first` and `last` in their row."""

    points: isl.Set
    first: isl.Set
    last: isl.Set
    step: int


@dataclass(frozen=True, slots=True)
class _Chain:
    """A chain for each iteration of the first `outer` of `loops`, which are the equation's loops in another order:
    `loops[n]` is its loop number `order[n]`. `levels[m]` belongs to `loops[outer + m]`, `names[m]` is its equation's;
    `start` are the instances that read what was there before.
    `pieces` knows the equation by these loops."""

    equation: Recurrence
    accumulation: Accumulation
    pieces: Pieces
    order: tuple[int, ...]
    outer: int
    levels: tuple[_Level, ...]
    names: tuple[str, ...]
    start: isl.Set

    @property
    def loops(self) -> tuple[str, ...]:
        return self.pieces.loops[self.equation.name]

    def reorder(self, index: tuple[Affine, ...]) -> tuple[Affine, ...]:
        return tuple(index[n] for n in self.order)

    def level_loops(self, level: int) -> tuple[str, ...]:
        return self.loops[: self.outer + level + 1]

    def extended_pieces(self) -> Pieces:
        """`pieces` with the loops of the new equations."""
        return replace(
            self.pieces, loops={**self.pieces.loops, **{name: self.level_loops(m) for m, name in enumerate(self.names)}}
        )


def _chain(system: System, equation: Recurrence, accumulation: Accumulation) -> _Chain | None:
    """The chain of `equation` if it has to be rewritten and can be."""
    own = [p for p in accumulation.before if isinstance(p.origin, Produced) and p.origin.statement == equation.name]
    distances = [[a - Affine.symbol(loop) for a, loop in zip(p.origin.index, equation.loops, strict=True)] for p in own]
    moving = [any(d[n] != Affine() for d in distances) for n in range(len(equation.loops))]
    # Loops along which the chain does not move come first: there is one chain for each of their iterations.
    order = tuple(sorted(range(len(moving)), key=lambda n: moving[n]))
    outer, loops = len(moving) - sum(moving), tuple(equation.loops[n] for n in order)
    # Symbols of the accumulated element: it must be one element for each chain.
    element = {s for a in accumulation.accumulator.index for s in a.symbols}
    # One moving loop, or constant distances, are uniform already. Where the accumulated element moves with an inner
    # loop there is no single chain to cut into rows.
    if sum(moving) < 2 or element.intersection(loops[outer + 1 :]) or all(a.is_constant for d in distances for a in d):
        return None
    plain = Pieces.from_statements([e.statement for e in system.equations], system.parameters, system.assumptions)
    pieces = replace(plain, loops={**plain.loops, equation.name: loops})
    points = pieces.set(equation.domain, equation.name)
    levels = tuple(_level(points, equation, loops, k) for k in range(outer, len(loops)))
    start = _union([pieces.set(p.domain, equation.name) for p in accumulation.before if p not in own], points)
    taken = system.labels
    names = (
        equation.name,
        *(fresh_name(dotted_name(equation.name, m), taken, dotted_name) for m in range(1, len(levels))),
    )  # the outermost rows keep the name
    chain = _Chain(equation, accumulation, pieces, order, outer, levels, names, start)
    # From each instance to the one that it continues.
    back = [_successor_relation(p, equation.name, chain) for p in own]
    # Every instance but the last of its chain is continued by another one.
    inner = _union([b.range() for b in back], points)
    # Partial sums have other values in the nested form: nobody else may look at them.
    return chain if _is_chain(chain, back) and _used(system, chain).is_disjoint(inner) else None


def _level(points: isl.Set, equation: Recurrence, loops: tuple[str, ...], k: int) -> _Level:
    step = next(direction for _, loop, direction in equation.statement.order if loop == loops[k])
    here = points.project_out(isl.dim_type.set, k + 1, len(loops) - k - 1)
    # A point without one before it along the loop is the first of its row.
    along = [0] * k + [step]
    return _Level(
        here, here.subtract(translate(here, along)), here.subtract(translate(here, [-a for a in along])), step
    )


def _successor_relation(piece: Piece, reader: str, chain: _Chain) -> isl.Map:
    """From the points of `piece` to the instances of the chain that they read."""
    index = chain.reorder(piece.origin.index)
    there = isl.Map.from_multi_aff(affine_map(index, chain.pieces.loops[reader], chain.pieces.params))
    return there.intersect_domain(chain.pieces.set(piece.domain, reader))


def _union(sets: Sequence[isl.Set], like: isl.Set) -> isl.Set:
    made = isl.Set.empty(like.get_space())
    for points in sets:
        made = made.union(points)
    return made


def _is_chain(chain: _Chain, back: Sequence[isl.Map]) -> bool:
    """Each instance has at most one successor, the iterations of the outer loops one start each, and rows have no gaps.

    What reads one predecessor, is read by at most one successor and cannot go round in circles is a set of paths, as
    many as starts.
    """
    together = back[0]
    for relation in back[1:]:
        together = together.union(relation)
    rows = all(
        _determined_by_prefix(end, k)
        for k, level in enumerate(chain.levels, chain.outer)
        for end in (level.first, level.last)
    )
    return together.is_injective() and _determined_by_prefix(chain.start, chain.outer) and rows


def _determined_by_prefix(points: isl.Set, k: int) -> bool:
    """Whether the first k coordinates determine the point."""
    return _prefix(points, k).is_injective()


def _prefix(points: isl.Set, k: int) -> isl.Map:
    """`points -> the first k coordinates`."""
    identity = isl.Map.identity(points.get_space().map_from_set()).intersect_domain(points)
    return identity.project_out(isl.dim_type.out, k, points.dim(isl.dim_type.set) - k)


def _used(system: System, chain: _Chain) -> isl.Set:
    """The instances of the chain whose values others need, or the outputs."""
    name = chain.equation.name
    found = [chain.pieces.set(f.domain, name) for f in system.finals if f.statement == name]
    # The chain's own reads go from link to link and do not count.
    for other in (e for e in system.equations if e.name != name):
        for piece in (
            p for read in other.reads for p in read if isinstance(p.origin, Produced) and p.origin.statement == name
        ):
            found.append(with_loop_names(_successor_relation(piece, other.name, chain).range(), chain.loops))
    return _union(found, chain.levels[-1].points)


def _rewritten(system: System, chain: _Chain) -> System:
    try:
        equations, reasons = _nested_equations(chain)
        finals = [made for final in system.finals for made in _finals(final, chain)]
    # The source's order stays: it may still be uniform in some space, and if not, that error tells more.
    except PolyloomError:  # a row's end or a piece is not affine
        return system
    replaced = [
        made for e in system.equations for made in (equations if e is chain.equation else [_with_row_results(e, chain)])
    ]
    return replace(system, equations=tuple(replaced), finals=tuple(finals), reasons=(*system.reasons, *reasons))


def _nested_equations(chain: _Chain) -> tuple[list[Recurrence], list[tuple[str, str]]]:
    found: list[Recurrence] = []
    reasons: list[tuple[str, str]] = []
    accumulation, pieces = chain.accumulation, chain.extended_pieces()
    # Innermost rows first: rows of an outer level read their results.
    for m in reversed(range(len(chain.levels))):
        innermost = m == len(chain.levels) - 1
        term = accumulation.term if innermost else accumulation.accumulator
        reads = accumulation.reads if innermost else (pieces.join_parts(_row_ends(chain, m + 1), chain.names[m]),)
        before = pieces.join_parts(_predecessors(chain, m), chain.names[m])
        reasons += [_reason(chain, m)] if m else []
        joined = Apply(
            accumulation.combine if m else accumulation.join,
            accumulation.dtype,
            (accumulation.accumulator, term),
            chain.equation.span,
        )
        found.append(_equation(chain, m, chain.names[m], joined, (before, *reads)))
    return found, reasons


def _reason(chain: _Chain, m: int) -> tuple[str, str]:
    row, loop = chain.names[m], chain.loops[chain.outer + m]
    sentence = (
        f"accumulates `{chain.accumulation.accumulator.name}` over {loop} by itself, because the end of one row is at "
        "no constant distance "
        f"from the beginning of the next, and the order of {chain.accumulation.combine} does not matter"
    )
    return row, sentence


def _equation(chain: _Chain, m: int, name: str, value: Expression, reads: tuple[tuple[Piece, ...], ...]) -> Recurrence:
    statement, loops = chain.equation.statement, chain.level_loops(m)
    order = tuple(step for step in statement.order if step[1] in ("", *loops))
    assign = replace(statement.assign, name=name, value=value)
    made = replace(
        statement, assign=assign, loops=loops, domain=chain.pieces.condition(chain.levels[m].points), order=order
    )
    return Recurrence(made, chain.equation.dtype, reads)


def _predecessors(chain: _Chain, m: int) -> list[Part]:
    """What row m has accumulated so far: the row's own result, and at its first point the identity, or what was there
    before."""
    level, here = chain.levels[m], tuple(map(Affine.symbol, chain.level_loops(m)))
    own = (level.points.subtract(level.first), Produced(chain.names[m], (*here[:-1], here[-1] - level.step)))
    identity = Immediate(identity_element(chain.accumulation.combine, chain.accumulation.dtype))
    return [own, (level.first, identity)] if m else [own, *_entry(chain)]


def _entry(chain: _Chain) -> Iterator[Part]:
    """The origins of the start instances, at the first point of the outermost row."""
    first, loops, params = chain.levels[0].first, chain.level_loops(0), chain.pieces.params
    for where, start in _functions(_prefix(chain.start, chain.outer).reverse(), chain.loops[: chain.outer], chain):
        at = dict(zip(chain.loops, start, strict=True))
        for piece in chain.accumulation.before:
            if not (isinstance(piece.origin, Produced) and piece.origin.statement == chain.equation.name):
                there = conjunction(where, Condition(tuple(p.substitute(at) for p in piece.domain.pieces)))
                yield (
                    to_set(there, loops, params).intersect(first),
                    replace(piece.origin, index=tuple(a.substitute(at) for a in piece.origin.index)),
                )


def _row_ends(chain: _Chain, m: int) -> list[Part]:
    """Last points of rows: the result of each row of level m, for the loops around it."""
    loops = chain.level_loops(m - 1)
    found = _functions(_prefix(chain.levels[m].last, len(loops)).reverse(), loops, chain)
    return [(to_set(where, loops, chain.pieces.params), Produced(chain.names[m], end)) for where, end in found]


def _finals(final: Final, chain: _Chain) -> Iterator[Final]:
    if final.statement != chain.equation.name:
        yield final
        return
    loops = chain.level_loops(0)
    for where, point in _functions(
        _prefix(chain.pieces.set(final.domain, final.statement), len(loops)).reverse(), loops, chain
    ):
        at = dict(zip(chain.loops, point, strict=True))
        yield Final(final.name, tuple(a.substitute(at) for a in final.index), final.statement, where)


def _with_row_results(equation: Recurrence, chain: _Chain) -> Recurrence:
    """Who read the last instance of a chain reads the last result of its outermost rows."""
    count = len(chain.level_loops(0))

    def redirect(piece: Piece) -> Piece:
        if isinstance(piece.origin, Produced) and piece.origin.statement == chain.equation.name:
            return replace(piece, origin=replace(piece.origin, index=chain.reorder(piece.origin.index)[:count]))
        return piece

    return replace(equation, reads=tuple(tuple(map(redirect, read)) for read in equation.reads))


def _functions(relation: isl.Map, loops: tuple[str, ...], chain: _Chain) -> list[tuple[Condition, tuple[Affine, ...]]]:
    """A single-valued relation of points of `loops` as affine functions; raises PL0201 where they need a quotient."""
    found: list[tuple[Condition, tuple[Affine, ...]]] = []
    for where, values in affine_pieces(relation):
        index = affines(values, loops)
        if index is None:
            # A row whose end needs a quotient has no place at a constant distance.
            raise stride_error(str(values))
        found.append((chain.pieces.condition(with_loop_names(where, loops)), index))
    return found
