# SPDX-License-Identifier: Apache-2.0
"""`polyloom schedule`: a modulo schedule of the loop in a JSON file (Rau 1994), with what keeps its initiation interval
from being smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Final

from polyloom.cli import arguments as shared
from polyloom.cli.answer import Answer, table
from polyloom.cli.arguments import Parser, Request
from polyloom.cli.entry import diagnostic_object
from polyloom.cli.loop_json import Label, Loop, node_span, read_loop
from polyloom.diagnostics import INFEASIBLE, USAGE, Diagnostic, PolyloomError, nearest
from polyloom.modulo.bounds import circuit_members
from polyloom.modulo.problem import Problem, Solution, is_possible
from polyloom.modulo.solve import EFFORT, EXACT, SOLVERS, Solver, solve

_ROWS: Final = 64
"""A longer reservation table is left out of the text."""


def arguments(parser: Parser) -> None:
    shared.file_operand(parser, "a loop (.json): resources, nodes and edges, see docs/schedule.md")
    names = ", ".join(f"{s.name} ({s.about})" for s in SOLVERS.values())
    parser.add_argument("--solver", metavar="NAME", default=EXACT.name, help=f"one of {names}; {EXACT.name} without it")
    parser.add_argument(
        "--effort", metavar="N", default=str(int(EFFORT)), help=f"deterministic work, about seconds ({EFFORT:.0f})"
    )


def execute(options: Request) -> Answer:
    """Modulo schedule of the loop in a file; an infeasible loop has an answer, too."""
    solver = _solver(options.solver)
    if (effort := shared.integer(options.effort, "--effort")) < 0:
        raise shared.usage_error(f"--effort is {effort}", "write a number from 0 on")
    loop = read_loop(options.file)
    # The solver's time alone: reading and checking the file is not what is compared.
    begin = perf_counter()
    try:
        solution = solve(loop.problem, solver, effort=effort)
    except PolyloomError as error:
        # An infeasible loop is an answer with a reason; other errors are errors.
        if error.exit_code != INFEASIBLE:
            raise
        return _infeasible_answer(loop, solver, error.diagnostics[0])
    return Answer(
        _schedule_data(loop, solution, perf_counter() - begin),
        "" if options.json else _schedule_text(options.file, loop, solution),
    )


def _solver(name: str) -> Solver:
    if name not in SOLVERS:
        raise PolyloomError(
            Diagnostic("PL0984", f"there is no solver '{name}'", USAGE, help=nearest(name, SOLVERS, "solver"))
        )
    return SOLVERS[name]


def _infeasible_answer(loop: Loop, solver: Solver, diagnostic: Diagnostic) -> Answer:
    """Answer for an infeasible loop: `feasible` is null where the solver gave up; the circuit or the node is named."""
    data: dict[str, object] = {"feasible": None if diagnostic.code == "PL0989" else False, "solver": solver.name}
    if diagnostic.code == "PL0985":
        data["circuit"] = list(circuit_members(loop.problem))
    if diagnostic.code == "PL0986":
        node = next(
            n for n, o in enumerate(loop.problem.operations) if not any(is_possible(loop.problem, c) for c in o.choices)
        )
        data["node"] = loop.problem.operations[node].name
        diagnostic = replace(diagnostic, span=node_span(loop, node))
    return Answer(
        data | {"errors": [diagnostic_object(diagnostic)]},
        diagnostics=(diagnostic,),
    )


def _schedule_data(loop: Loop, solution: Solution, seconds: float) -> dict[str, object]:
    names = [o.name for o in loop.problem.operations]
    schedule = solution.schedule
    return {
        "feasible": True,
        "initiation_interval": schedule.interval,
        "minimum_initiation_interval": solution.minimum,
        "resource_bound": solution.resource.value,
        "recurrence_bound": solution.recurrence.value,
        "proved_minimal": solution.proved,
        "bound_by": solution.bound_by,
        "solver": solution.solver,
        "start": dict(zip(names, schedule.start, strict=True)),
        "resource": dict(zip(names, _resource_labels(loop, solution), strict=True)),
        "length": schedule.length,
        "stages": schedule.stages,
        "seconds": seconds,
    }


def _resource_labels(loop: Loop, solution: Solution) -> Iterator[Label]:
    return (labels[k] for labels, k in zip(loop.labels, solution.schedule.choice, strict=True))


def _schedule_text(file: str, loop: Loop, solution: Solution) -> str:
    schedule, problem = solution.schedule, loop.problem
    proof = "minimal" if solution.proved else f"not proved minimal, at least {solution.minimum}"
    lines = [
        f"{file}: {len(problem.operations)} nodes, {len(problem.dependences)} edges",
        "",
        f"initiation interval  {schedule.interval} ({proof})",
        f"bound by             {solution.bound_by}",
        f"bounds               resources {solution.resource.value}, circuits {solution.recurrence.value}",
        f"one iteration        {schedule.length} cycles in {schedule.stages} stage{'s' if schedule.stages > 1 else ''}",
        f"solver               {solution.solver}",
    ]
    limited = [n for n, r in enumerate(problem.resources) if r.limit is not None]
    # Resources without a limit constrain nothing, and have no rows.
    if limited and schedule.interval <= _ROWS:
        lines += ["", table(_reservation_table(problem, solution, limited))]
    return "\n".join([*lines, "", table(_start_table(loop, solution))])


def _reservation_table(problem: Problem, solution: Solution, limited: list[int]) -> list[dict[str, object]]:
    """Modulo reservation table (Rau 1994): who holds which resource in which row; in brackets the stage, and how often
    where it is more than once.
    """
    schedule = solution.schedule
    cells: dict[tuple[int, int], list[str]] = {}
    for operation, start, k in zip(problem.operations, schedule.start, schedule.choice, strict=True):
        stage = start // schedule.interval
        name = operation.name + (f" ({stage})" if stage else "")
        for use in operation.choices[k].uses:
            for row in range(schedule.interval):
                # Of the cycles start, start + 1, ..., those that are `row` modulo the interval.
                times = -(-(use.busy - (row - start) % schedule.interval) // schedule.interval)
                if times > 0 and use.resource in limited:
                    cells.setdefault((row, use.resource), []).append(name + (f" x{times}" if times > 1 else ""))
    titles = {r: f"{problem.resources[r].name}/{problem.resources[r].limit}" for r in limited}
    return [
        {"row": row, **{titles[r]: ", ".join(cells.get((row, r), [])) for r in limited}}
        for row in range(schedule.interval)
    ]


def _start_table(loop: Loop, solution: Solution) -> list[dict[str, object]]:
    schedule = solution.schedule
    rows = zip(loop.problem.operations, schedule.start, schedule.latency, _resource_labels(loop, solution), strict=True)
    return [
        {
            "node": operation.name,
            "start": start,
            "row": start % schedule.interval,
            "stage": start // schedule.interval,
            "result": start + latency,
            "resource": " + ".join(label) if isinstance(label, list) else label,
        }
        for operation, start, latency, label in sorted(rows, key=lambda row: row[1])
    ]
