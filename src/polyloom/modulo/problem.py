# SPDX-License-Identifier: Apache-2.0
"""The modulo-scheduling problem and its answer (Rau, "Iterative modulo scheduling", 1994).

An operation starts once per initiation interval (II): at `start + II * n` for iteration n. Row r of the reservation
table stands for the cycles that are r modulo II. An operation that holds a resource for `busy` cycles from its start
on holds it in rows (start + k) mod II for 0 <= k < busy, counted once for each k: more than II cycles count a row
repeatedly. Operations, resources and choices are named by their index.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from polyloom.diagnostics import infeasible, input_error

LARGEST = 1_000_000
"""No number of a problem is greater: the rows of a table are counted one by one."""


@dataclass(frozen=True, slots=True)
class Resource:
    """At most `limit` operations hold it in a row; None: any number."""

    name: str
    limit: int | None = 1


@dataclass(frozen=True, slots=True)
class Use:
    """A resource is held for `busy` cycles (at least 0) from the start on."""

    resource: int
    busy: int = 1


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to execute an operation: what it holds at once, and its latency (at least 0).

    With `most`, the solver chooses the latency, between `latency` and `most`: a load that states when its value
    arrives.
    """

    uses: tuple[Use, ...] = ()
    latency: int = 1
    most: int | None = None

    @property
    def longest(self) -> int:
        return self.latency if self.most is None else self.most


@dataclass(frozen=True, slots=True)
class Operation:
    """Executed in one of the ways of `choices`."""

    name: str
    choices: tuple[Choice, ...] = (Choice(),)


@dataclass(frozen=True, slots=True)
class Dependence:
    """`start(sink) + II * distance >= start(source) + latency(source) + delay`; distance (in iterations) at least 0.

    A `latency` replaces the source's. With `to_result`, the sink's result waits instead of its start: `start(sink) +
    latency(sink)` stands on the left. So a load may be issued before the store whose value it will read.
    """

    source: int
    sink: int
    distance: int = 0
    delay: int = 0
    latency: int | None = None
    to_result: bool = False


@dataclass(frozen=True, slots=True)
class Hold:
    """`operation` holds one of a capacity's places for `busy` cycles; None: for its latency, the chosen one if there
    is a range.
    """

    operation: int
    busy: int | None = None


@dataclass(frozen=True, slots=True)
class Capacity:
    """The sum of ceil(busy / II) over `holds` is at most `limit`: places that are held from pass to pass, whatever
    the row.
    """

    name: str
    limit: int
    holds: tuple[Hold, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Operations to schedule."""

    operations: tuple[Operation, ...]
    resources: tuple[Resource, ...] = ()
    dependences: tuple[Dependence, ...] = ()
    capacities: tuple[Capacity, ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """When, how and with which latency each operation runs. The least start is 0."""

    interval: int
    start: tuple[int, ...]
    choice: tuple[int, ...]
    latency: tuple[int, ...]

    @property
    def length(self) -> int:
        """Schedule length: cycles from the first start to the last result of an iteration."""
        return max(s + latency for s, latency in zip(self.start, self.latency, strict=True))

    @property
    def stages(self) -> int:
        """Stage count: iterations that are under way at once (Rau 1994)."""
        # Counted by starts, not by results: an operation that has started is in the pipeline, and needs no stage to
        # finish in.
        return 1 + max(self.start) // self.interval


@dataclass(frozen=True, slots=True)
class LowerBound:
    """No initiation interval below `value` has a schedule; `reason` names what binds, `members` are its operations."""

    value: int
    reason: str
    members: tuple[int, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Solution:
    """A checked schedule, and what is known about smaller intervals.

    `minimum` is the proved lower bound, `resource` and `recurrence` are the bounds that need no search. `bound_by`
    says in the problem's names what keeps the initiation interval from being smaller.
    """

    schedule: Schedule
    minimum: int
    resource: LowerBound
    recurrence: LowerBound
    bound_by: str
    solver: str

    @property
    def proved(self) -> bool:
        """No smaller initiation interval that the caller admits has a schedule."""
        return self.minimum >= self.schedule.interval


def validate(problem: Problem) -> None:
    """Refuse a malformed problem (PL0450, exit 1) and an operation that nothing can execute (PL0986, exit 3)."""
    if not problem.operations:
        raise input_error("PL0450", "there is no operation to schedule", help="give at least one operation")
    for operation in problem.operations:
        _validate_operation(problem, operation)
    for d in problem.dependences:
        _validate_dependence(problem, d)
    for capacity in problem.capacities:
        if any(h.operation not in range(len(problem.operations)) for h in capacity.holds):
            raise input_error("PL0450", f"the capacity {capacity.name} names an operation that does not exist")
        if any(not 0 <= (h.busy or 0) <= LARGEST for h in capacity.holds):
            raise input_error(
                "PL0450", f"the capacity {capacity.name} is held for less than 0 or more than {LARGEST} cycles"
            )


def _validate_operation(problem: Problem, operation: Operation) -> None:
    uses = [use for choice in operation.choices for use in choice.uses]
    if not operation.choices:
        raise input_error(
            "PL0450", f"operation {operation.name} has no choice", help="a choice without resources is one, too"
        )
    if any(u.resource not in range(len(problem.resources)) for u in uses):
        raise input_error("PL0450", f"operation {operation.name} names a resource that does not exist")
    if any(not 0 <= u.busy <= LARGEST for u in uses):
        raise input_error(
            "PL0450", f"operation {operation.name} holds a resource for less than 0 or more than {LARGEST} cycles"
        )
    # Latency 0 chains operations in one cycle.
    if any(not 0 <= c.latency <= c.longest <= LARGEST for c in operation.choices):
        raise input_error("PL0450", f"operation {operation.name} has a latency below 0 or above {LARGEST}")
    if not any(is_possible(problem, c) for c in operation.choices):
        help = "raise the limit of one of its resources, or give it another choice"
        raise infeasible("PL0986", f"nothing can execute {operation.name}: {_shortage(problem, operation)}", help=help)


def _validate_dependence(problem: Problem, d: Dependence) -> None:
    if not {d.source, d.sink} <= set(range(len(problem.operations))):
        raise input_error("PL0450", "a dependence names an operation that does not exist")
    if not 0 <= d.distance <= LARGEST:
        # A negative distance would let an iteration wait for a later one.
        help = "order the iterations so that every value is produced before its use"
        raise input_error("PL0450", f"a dependence has a distance below 0 or above {LARGEST}", help=help)
    if abs(d.delay) > LARGEST or not 0 <= (d.latency or 0) <= LARGEST:
        raise input_error("PL0450", f"a dependence has a latency below 0, or a delay or latency beyond {LARGEST}")


def is_possible(problem: Problem, choice: Choice) -> bool:
    """Whether some interval has room for the choice: in the row of its start it holds every resource at once."""
    held = [u.resource for u in choice.uses if u.busy]
    return all(held.count(r) <= limit for r in set(held) if (limit := problem.resources[r].limit) is not None)


def _shortage(problem: Problem, operation: Operation) -> str:
    held = dict.fromkeys(u.resource for c in operation.choices for u in c.uses)
    limits = ((problem.resources[r].name, problem.resources[r].limit) for r in held)
    return "the limits are " + ", ".join(f"{name}: {limit}" for name, limit in limits if limit is not None)
