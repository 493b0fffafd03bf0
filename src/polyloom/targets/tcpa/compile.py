# SPDX-License-Identifier: Apache-2.0
"""Symbolic mapping on one page (the paper, section 5): a program and a machine give a symbolic configuration.

    equations -> products for divisions by powers of two -> several iterations in one where units stand idle
      -> direct reads of what is handed on too slowly -> relays where registers are short -> reduced dependence graph
      -> fewer moves where these bound the interval
      -> additions on multipliers where these are free
      -> copies for late readers of a value that has too many
      -> copies where an instruction has too few destinations
      -> allocations x scan orders -> modulo schedules -> the candidates worth keeping -> registers and routes -> tables

Nothing here depends on a parameter's value; every answer of a solver has been checked again by the room that asked for
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from polyloom.diagnostics import INFEASIBLE, PolyloomError, input_error
from polyloom.ir.pla import Program
from polyloom.ir.pla_text import digest
from polyloom.ir.rdg import Graph
from polyloom.passes import Pass, Watch, run_passes
from polyloom.targets.subject import Progress, silent
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map import lifetimes, pass_forms, symbolic_tables, user_mapping
from polyloom.targets.tcpa.map.allocate import list_allocations, list_scan_orders
from polyloom.targets.tcpa.map.candidates import Triple, rank_candidates
from polyloom.targets.tcpa.map.dependence_graph import build_graph, limit_destinations
from polyloom.targets.tcpa.map.move_elimination import eliminate_moves
from polyloom.targets.tcpa.map.pass_forms import Choices, Mapped
from polyloom.targets.tcpa.map.register_demand import check_demand, check_outputs
from polyloom.targets.tcpa.map.registers import bind_registers, feedback_demand
from polyloom.targets.tcpa.map.relay import insert_relays, insert_relays_if_short
from polyloom.targets.tcpa.map.rewrites.direct_reads import read_directly
from polyloom.targets.tcpa.map.rewrites.fanout import split_fanout
from polyloom.targets.tcpa.map.rewrites.streams import narrower_allocations
from polyloom.targets.tcpa.map.rewrites.strength_reduction import reduce_divisions
from polyloom.targets.tcpa.map.rewrites.unroll_choice import unroll_where_idle
from polyloom.targets.tcpa.map.schedule import Scheduled, check_operations, list_schedules, recheck_schedule
from polyloom.targets.tcpa.map.unit_balancing import balance_units
from polyloom.targets.tcpa.map.user_mapping import UserMapping, parse_mapping
from polyloom.targets.tcpa.words.limits import extract_limits
from polyloom.targets.tcpa.words.provenance_table import collect_origins
from polyloom.targets.tcpa.words.symbolic import Candidate, Symbolic

__all__ = ["CANDIDATES", "UserMapping", "compile_program", "parse_mapping"]

# The interference graphs and the dependence graph compare equations pair by pair.
EQUATIONS = 1000
"""Equations of one program: the time grows with the square of their number."""
CANDIDATES = 8
"""How many candidates a symbolic configuration stores at most."""


def compile_program(
    program: Program,
    machine: Machine,
    *,
    mapping: UserMapping | None = None,
    progress: Progress | None = None,
    candidates: int = CANDIDATES,
    watch: Watch | None = None,
) -> Symbolic:
    """Symbolic compilation (the array paper, sections 5 and 5.7): map `program` onto `machine`; `progress` is told each
    step and the fraction done, `candidates` limits how many are stored.

    Errors PL0309 (too many equations), PL0401 (missing operation), PL0402 (no scan order), PL0403 to PL0406
    (registers), PL0453 (no schedule), PL046x (routes).
    """
    tell = progress or silent
    changed: set[str] = set()
    longest = list[float]()
    usual = _usual_rewrites(machine, mapping, longest.append)

    def run_mapping(rewrites: _Rewrites) -> Symbolic:
        return run_passes(program, _passes(machine, mapping, candidates, tell, rewrites, changed), watch)

    try:
        symbolic = run_mapping(usual)
    except PolyloomError as error:
        if error.exit_code != INFEASIBLE:
            raise
        others = _fallback_rewrites(usual, machine, mapping, changed)
        symbolic = _try_attempts([partial(run_mapping, rewrites) for rewrites in others], error)
    else:
        if longest and min(s.initiation_interval for s in symbolic.schedules) > longest[-1]:
            symbolic = run_mapping(replace(usual, unroll=_keep_program))
    # The digest is of the user's program, not of the one with relays: it ties a stored file to its source.
    return replace(symbolic, program=digest(program))


def _usual_rewrites(machine: Machine, mapping: UserMapping | None, tell: Callable[[float], None]) -> _Rewrites:
    """All rewrites; of a user's mapping, which names the equations that there are, those that keep them. `tell` hears
    up to which interval unrolling is worth it."""
    balance = partial(balance_units, machine=machine)
    if mapping is not None:
        return _Rewrites(balance=balance)
    return _Rewrites(
        divisions=partial(reduce_divisions, machine=machine),
        unroll=partial(unroll_where_idle, machine=machine, tell=tell),
        reads=partial(read_directly, machine=machine),
        relays=partial(insert_relays_if_short, machine=machine),
        moves=partial(eliminate_moves, machine=machine),
        balance=balance,
        fanout=partial(split_fanout, machine=machine),
    )


def _fallback_rewrites(
    usual: _Rewrites, machine: Machine, mapping: UserMapping | None, changed: set[str]
) -> list[_Rewrites]:
    """Attempts for a program that does not fit with the usual rewrites, of which some `changed` it."""
    others: list[_Rewrites] = []
    # Copies of a body, and elements that come from banks, need registers and channels of their own.
    if changed & {"unroll", "reads"}:
        usual = replace(usual, unroll=_keep_program, reads=_keep_program)
        others.append(usual)
    # FIFOs for late readers may be more than there are.
    if "fanout" in changed:
        usual = replace(usual, fanout=_keep_graph)
        others.append(usual)
    # Each equation that writes an output takes an output register.
    if "moves" in changed:
        others.append(replace(usual, moves=_keep_graph))
    # A shorter interval keeps more values at a time than registers hold, perhaps.
    if "balance" in changed:
        others.append(_Rewrites(relays=usual.relays))
    # Operations that exclude each other share the registers of a distance only if they read at the same time.
    if mapping is None and "relays" not in changed:
        others.append(_Rewrites(relays=partial(insert_relays, machine=machine)))
    return others


def _try_attempts(attempts: Iterable[Callable[[], Symbolic]], error: PolyloomError) -> Symbolic:
    """Result of the first attempt that fits; `error`, which is that of an earlier one, if none does."""
    for attempt in attempts:
        try:
            return attempt()
        except PolyloomError as other:
            # A wrong input stays wrong in the next attempt, and an internal error must not be hidden by one.
            if other.exit_code != INFEASIBLE:
                raise
    raise error


def _keep_program(program: Program) -> Program:
    return program


def _keep_graph(graph: Graph) -> Graph:
    return graph


@dataclass(frozen=True, slots=True)
class _Rewrites:
    """Rewrites of a program and its graph that the machine asks for; each gives back what it got, where it does
    nothing."""

    divisions: Callable[[Program], Program] = _keep_program
    unroll: Callable[[Program], Program] = _keep_program
    reads: Callable[[Program], Program] = _keep_program
    relays: Callable[[Program], Program] = _keep_program
    moves: Callable[[Graph], Graph] = _keep_graph
    balance: Callable[[Graph], Graph] = _keep_graph
    fanout: Callable[[Graph], Graph] = _keep_graph


def _passes(
    machine: Machine,
    mapping: UserMapping | None,
    candidates: int,
    tell: Progress,
    rewrites: _Rewrites,
    changed: set[str],
) -> tuple[Pass[Any, Any], ...]:
    """All passes; `changed` gets the names of the rewrites that did something."""

    def record_rewrite(name: str) -> Callable[[Any], Any]:
        def rewrite(given: Any) -> Any:
            made = getattr(rewrites, name)(given)
            changed.update([name] if made is not given else [])
            return made

        return rewrite

    return (
        Pass("equations", partial(_checked_equations, machine=machine), pass_forms.EQUATIONS),
        Pass("divisions", record_rewrite("divisions"), pass_forms.EQUATIONS),
        Pass("unroll", record_rewrite("unroll"), pass_forms.EQUATIONS),
        Pass("reads", record_rewrite("reads"), pass_forms.EQUATIONS),
        Pass("relays", record_rewrite("relays"), pass_forms.EQUATIONS),
        Pass("graph", partial(_graph, machine=machine, tell=tell), pass_forms.GRAPH),
        Pass("moves", record_rewrite("moves"), pass_forms.GRAPH),
        Pass("balance", record_rewrite("balance"), pass_forms.GRAPH),
        Pass("fanout", record_rewrite("fanout"), pass_forms.GRAPH),
        Pass("copies", partial(_limit_destinations, machine=machine), pass_forms.GRAPH),
        Pass("schedules", partial(_schedules, machine=machine, given=mapping, tell=tell), pass_forms.SCHEDULES),
        Pass("candidates", partial(_candidates, machine=machine, limit=candidates, tell=tell), pass_forms.CANDIDATES),
        Pass("tables", partial(_assemble, machine=machine), pass_forms.SYMBOLIC),
    )


PASSES: Final = (
    *("equations", "divisions", "unroll", "reads", "relays", "graph", "moves", "balance", "fanout", "copies"),
    *("schedules", "candidates", "tables"),
)
"""The names of all passes, in their order."""


def _checked_equations(program: Program, machine: Machine) -> Program:
    """Equations that need no more outputs than there are, are not too many, and whose operations units execute."""
    # Before rewrites, which ask for units; and behind them, which write equations of their own.
    check_outputs(program, machine)
    _check_size(program)
    check_operations(program, machine)
    return program


def _graph(program: Program, machine: Machine, tell: Progress) -> Graph:
    """Reduced dependence graph of the program (the array paper, section 4), after the checks that need no schedule."""
    # Errors that the equations alone decide come before anything is solved.
    tell("dependences", 0.0)
    graph = build_graph(_checked_equations(program, machine))
    check_demand(graph, machine)
    return graph


def _check_size(program: Program) -> None:
    """PL0309, at the first equation that is too many."""
    count = len(program.equations)
    if count > EQUATIONS:
        most = f"of which {EQUATIONS} at most are scheduled together"
        message = f"`{program.name}` has {count} equations, {most}; number {EQUATIONS + 1} stands here"
        parts = f"split the program into several of at most {EQUATIONS} equations"
        help = f"{parts}, which pass values in arrays and are run one after another"
        raise input_error("PL0309", message, span=program.equations[EQUATIONS].span, help=help)


def _limit_destinations(graph: Graph, machine: Machine) -> Graph:
    """Copy insertion, where an instruction has too few destinations (a PST has one ⟨dest⟩; the array paper, section
    5.5).
    """
    return limit_destinations(graph, machine.destinations)


def _schedules(graph: Graph, machine: Machine, given: UserMapping | None, tell: Progress) -> Choices:
    """Symbolic modulo scheduling for all scan orders (the array paper, sections 5.1 and 5.2)."""
    tell("schedules", 0.1)
    # Section 5.1 and 5.2: which dimensions are mapped, and in which orders a tile may be scanned, are independent
    # choices.
    spaces, scans = list_allocations(len(graph.program.dimensions)), list_scan_orders(graph)
    fixed = None
    if given is not None:
        spaces = user_mapping.restrict_allocations(given, graph, spaces)
        scans = user_mapping.restrict_orders(given, graph, scans)
        fixed = user_mapping.read_schedule(given, graph, machine, scans)
    # A schedule depends on the innermost dimension alone (`schedule.py`), so that there are few problems for many scan
    # orders.
    if fixed is not None:
        return Choices(graph, machine, spaces, scans, (fixed,))
    innermost = frozenset(o.order[0] for o in scans)
    found = list_schedules(graph, machine, innermost)
    have = machine.feedback_registers
    if have is not None and all(feedback_demand(graph, s.schedule) > have for s in found):
        graph, found = _shorten_lifetimes(graph, machine, found)
    return Choices(graph, machine, spaces, scans, found)


def _shorten_lifetimes(
    graph: Graph, machine: Machine, found: tuple[Scheduled, ...]
) -> tuple[Graph, tuple[Scheduled, ...]]:
    """The fastest schedule with copies that take the place of feedback registers, if there is room for them."""
    fastest = found[-1]
    made = lifetimes.insert_copies(graph, machine, fastest.schedule)
    return (graph, found) if made is None else (made[0], (recheck_schedule(made[0], machine, fastest, made[1]),))


def _candidates(of: Choices, machine: Machine, limit: int, tell: Progress) -> Mapped:
    """Candidate selection: those worth keeping of the ones that fit the machine; where none does, the error of the most
    useful one.
    """
    tell("scan orders", 0.4)
    found: dict[Triple, Candidate] = {}
    errors: list[PolyloomError] = []

    def fits(t: Triple) -> bool:
        tell("registers and routes", 0.6 + 0.4 * min(1.0, len(found) / limit))
        try:
            found[t] = bind_registers(
                of.graph, machine, t.allocation, t.order, of.schedules[t.schedule].schedule, t.schedule
            )
        except PolyloomError as error:
            # Only "does not fit" is an answer here; anything else is a mistake of ours or of the user.
            if error.exit_code != INFEASIBLE:
                raise
            errors.append(error)
        return t in found

    kept = rank_candidates(of.graph, machine.hop_delay, of.spaces, of.scans, of.schedules, limit, fits)
    if not kept:
        # `rank_candidates` asks for the most useful triple first: its error is the one to act on.
        raise errors[0]
    # Large regions have no channels for many streams; a slower allocation that needs fewer serves them.
    spaces = narrower_allocations(of.graph.program, machine, [t.allocation for t in kept], of.spaces)
    if spaces and len(kept) < limit:
        kept += rank_candidates(of.graph, machine.hop_delay, spaces, of.scans, of.schedules, 1, fits)
    return Mapped(of.graph, machine, of.schedules, tuple(found[t] for t in kept))


def _assemble(of: Mapped, machine: Machine) -> Symbolic:
    """Symbolic configuration from candidates, schedules and tables (the array paper, section 5.7)."""
    graph, candidates, scheduled = of.graph, of.candidates, of.schedules
    # Schedules that no candidate uses are not written; candidates are renumbered accordingly.
    used = sorted({c.schedule for c in candidates})
    tables = symbolic_tables.build_tables(graph)
    return Symbolic(
        kernel=graph.program.name,
        machine=machine.name,
        machine_hash=machine_file.fingerprint(machine),
        limits=extract_limits(machine),
        parameters=graph.program.parameters,
        dimensions=graph.program.dimensions,
        assumptions=tables.assumptions,
        extents=tables.extents,
        arrays=tables.arrays,
        constraints=tables.constraints,
        conditions=tables.conditions,
        nodes=tables.nodes,
        uses=tables.uses,
        inputs=tables.inputs,
        outputs=tables.outputs,
        schedules=tuple(scheduled[n].schedule for n in used),
        candidates=tuple(replace(c, schedule=used.index(c.schedule)) for c in candidates),
        node_names=tuple(e.name for e in graph.equations),
        bottlenecks=tuple(scheduled[n].bottleneck for n in used),
        origins=collect_origins(graph.equations),
    )
