# SPDX-License-Identifier: Apache-2.0
"""Lifetime reduction at the same interval: operations move within their slack, loads state longer delays.

A solver places everything as early as it can. What is made long before it is used lies on the belt meanwhile, so each
operation in turn takes the time within its slack at which the values that it reads and makes live shortest, until
nothing changes (the idea of stage scheduling: A. Eichenberger and E. Davidson, 1995; of lifetime-sensitive scheduling:
R. Huff, 1993). Then a load's value is kept in its station until its first reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.modulo.problem import Dependence, Schedule, Use
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.schedule.graph import LOADS, Graph, is_invariant
from polyloom.targets.belt.map.schedule.problem import Setting, gap
from polyloom.targets.belt.map.schedule.prologue_passes import entry_values, frame_values

# Moves may undo one another: after so many sweeps it is enough.
SWEEPS: Final = 6
# Large against a bundle of lifetime: saving a read from a spill outweighs shorter lives elsewhere.
_LOST: Final = 16
"""What a read that comes too late counts, in bundles of lifetime."""
_WINDOW: Final = 64
"""Bundles that an operation moves at most at once."""


@dataclass(slots=True)
class _LifetimeReducer:
    """Moves of a schedule's operations, mutable: starts, choices and rows in use."""

    machine: Machine
    graph: Graph
    setting: Setting
    schedule: Schedule
    survives: int = 0
    start: list[int] = field(default_factory=list[int])
    choice: list[int] = field(default_factory=list[int])
    used: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    into: list[list[tuple[int, int]]] = field(default_factory=list[list[tuple[int, int]]])
    out: list[list[tuple[int, int]]] = field(default_factory=list[list[tuple[int, int]]])
    pinned: dict[int, int] = field(default_factory=dict[int, int])
    readers: dict[int, list[tuple[int, int]]] = field(default_factory=dict[int, list[tuple[int, int]]])

    def run(self) -> Schedule:
        """Sweep over all operations until nothing moves, at most `SWEEPS` times."""
        interval = self.schedule.interval
        drops = sum(len(node.results) for node in self.graph.nodes)
        # How many bundles a value stays on the belt, at the pass's rate of drops.
        self.survives = (self.machine.belt - 1) * interval // max(1, drops)
        self.start, self.choice = list(self.schedule.start), list(self.schedule.choice)
        problem = self.setting.problem
        self.into = [[] for _ in problem.operations]
        self.out = [[] for _ in problem.operations]
        for d in problem.dependences:
            weight = (self.schedule.latency[d.source] if d.latency is None else d.latency) + d.delay
            # Towards a load's drop: its delay is free time for the other side.
            weight -= self.schedule.latency[d.sink] if d.to_result else 0
            if d.source != d.sink:
                self.into[d.sink].append((d.source, weight - interval * d.distance))
                self.out[d.source].append((d.sink, weight - interval * d.distance))
        for n, node in enumerate(self.graph.nodes):
            for read in node.reads:
                extra = gap(self.machine, self.graph.nodes[read.node], node)
                self.readers.setdefault(read.node, []).append((n, interval * read.distance - extra))
        for n in range(len(self.graph.nodes)):
            self._reserve(n, 1)
        self._pin()
        for sweep in range(SWEEPS):
            # Forth and back by turns: consumers move before producers, then producers before consumers.
            order = sorted(range(len(self.graph.nodes)), key=lambda n: (self.start[n], n), reverse=sweep % 2 == 0)
            if not sum(self._improve_time(n) for n in order):
                break
        return self._extend_loads()

    def _pin(self) -> None:
        """Pin what the entry belt or a frame has for iterations before 0: it is read there as long as its drop, or its
        spill, stays in its stage."""
        interval = self.schedule.interval
        for n, result in entry_values(self.graph):
            if (n, result) in self.graph.steady:
                continue
            end = self.start[n] + max(1, self.schedule.latency[n]) - 1
            self.pinned[n] = self.start[n] + interval - 1 - end % interval
        for n, node in enumerate(self.graph.nodes):
            if node.name == "spill" and frame_values(self.graph, n):
                self.pinned[n] = self.start[n] + interval - 1 - self.start[n] % interval

    def _reserve(self, n: int, times: int) -> None:
        for use in self.setting.problem.operations[n].choices[self.choice[n]].uses:
            for k in range(use.busy):
                key = (use.resource, (self.start[n] + k) % self.schedule.interval)
                self.used[key] = self.used.get(key, 0) + times

    def _free_choice(self, n: int, at: int) -> int | None:
        """Choice of slots for which there is room, or None."""
        for k, choice in enumerate(self.setting.problem.operations[n].choices):
            if all(
                self.used.get((u.resource, (at + j) % self.schedule.interval), 0)
                < (self.setting.problem.resources[u.resource].limit or 0)
                for u in choice.uses
                for j in range(u.busy)
            ):
                return k
        return None

    def _lifetime(self, n: int) -> int:
        """Lifetime: bundles for which the node's results lie on the belt, with a penalty for reads beyond its end."""
        reads = self.readers.get(n)
        if not reads:
            return 0
        times = [self.start[u] + extra for u, extra in reads]
        ready = self.start[n] + self.schedule.latency[n]
        # Of an invariant the copy that dropped last is read: its life is less than one pass.
        if is_invariant(self.graph.nodes[n]):
            times = [ready + (t - ready) % self.schedule.interval for t in times]
        count = len(self.graph.nodes[n].results)
        # A load waits in its station, not on the belt, up to the longest delay.
        if self.graph.nodes[n].name in LOADS:
            ready = max(ready, min(min(times), self.start[n] + self.machine.load[1]))
        beyond = sum(t - ready > self.survives for t in times)
        return count * (max(times) - ready) + _LOST * beyond

    def _move_cost(self, n: int) -> int:
        """Cost of what the time of n decides. A constant or a fill that only n reads comes along with it."""
        values = {n, *(r.node for r in self.graph.nodes[n].reads if not self._follows_reader(r.node))}
        return sum(self._lifetime(v) for v in values)

    def _follows_reader(self, n: int) -> bool:
        return not self.graph.nodes[n].operands and not self.graph.nodes[n].first and len(self.readers.get(n, ())) == 1

    def _improve_time(self, n: int) -> bool:
        """Whether the node found a better time within its slack."""
        now = self.start[n]
        # Slack between placed neighbours, cut to a window: an operation with few neighbours would try every bundle.
        low = max((self.start[s] + w for s, w in self.into[n]), default=0)
        high = min((self.start[s] - w for s, w in self.out[n]), default=now)
        low, high = max(low, now - _WINDOW), min(high, now + _WINDOW)
        if n in self.pinned:
            high = min(high, self.pinned[n])
        if low >= high:
            return False
        # Out of its rows, so that it may as well take its own place again.
        self._reserve(n, -1)
        old = self.choice[n]
        # Of equal times, what has no operands takes the latest one; others stay.
        turn = -1 if not self.graph.nodes[n].operands else 0
        best = (self._move_cost(n), turn * now, now, old)
        for at in range(low, high + 1):
            if at == now or (k := self._free_choice(n, at)) is None:
                continue
            self.start[n] = at
            found = (self._move_cost(n), turn * at, at, k)
            if found[:2] < best[:2]:
                best = found
        _, _, self.start[n], self.choice[n] = best
        self._reserve(n, 1)
        return self.start[n] != now

    def _extend_loads(self) -> Schedule:
        """Schedule with stages counted from the earliest operation, and with loads that drop at their first reader."""
        count, interval = len(self.graph.nodes), self.schedule.interval
        begin = self.start[self.setting.begin]
        # By whole passes: rows stay as they are, and stages count from 0.
        shift = min(self.start[:count]) // interval * interval - begin
        starts = [t - begin - shift for t in self.start]
        starts[self.setting.begin] = 0
        self.start = starts
        latency = list(self.schedule.latency)
        loads = [n for n in range(count) if self.graph.nodes[n].name in LOADS]
        longest = {n: self._longest_delay(n) for n in loads}
        places = sum(-(-latency[n] // interval) for n in loads)
        # Stations are limited: the loads that gain most get them first.
        for n in sorted(loads, key=lambda n: latency[n] - longest[n]):
            room = (self.machine.stations - places) * interval + -(-latency[n] // interval) * interval
            chosen = max(latency[n], min(longest[n], room))
            places += -(-chosen // interval) - -(-latency[n] // interval)
            latency[n] = chosen
        return Schedule(interval, tuple(starts), tuple(self.choice), tuple(latency))

    def _longest_delay(self, n: int) -> int:
        """Longest delay with which every reader, and every store that must wait, still finds the load done."""
        room = [
            self.start[d.sink]
            + self.schedule.interval * d.distance
            - d.delay
            - self.start[n]
            + (self.schedule.latency[d.sink] if d.to_result else 0)
            for d in self.setting.problem.dependences
            if d.source == n and d.latency is None and d.sink != n
        ]
        return min([self.machine.load[1], *room]) if room else self.schedule.latency[n]


def reduce_lifetimes(machine: Machine, graph: Graph, setting: Setting, schedule: Schedule) -> Schedule:
    """Schedule with the same interval whose values live shorter; checked by the caller."""
    return _LifetimeReducer(machine, graph, setting, schedule).run()


def insert_into_schedule(machine: Machine, graph: Graph, setting: Setting, schedule: Schedule) -> Schedule | None:
    """Schedule with what was appended to the graph in slots that it leaves free: a spill soon after what it reads, a
    fill or constant as late as its readers allow. None where there is no room; checked by the caller."""
    problem, interval = setting.problem, schedule.interval
    old, count = len(schedule.start) - 1, len(graph.nodes)
    used: dict[tuple[int, int], int] = {}
    start = {n: schedule.start[n] for n in range(old)}
    start[setting.begin] = schedule.start[-1]
    choice = {n: schedule.choice[n] for n in range(old)} | {setting.begin: 0}
    latency = {n: schedule.latency[n] for n in range(old)} | {setting.begin: 0}

    def key(use: Use, at: int, k: int) -> tuple[int, int]:
        return use.resource, (at + k) % interval

    def hold(n: int) -> None:
        for use in problem.operations[n].choices[choice[n]].uses:
            for k in range(use.busy):
                used[key(use, start[n], k)] = used.get(key(use, start[n], k), 0) + 1

    for n in range(old):
        hold(n)
    for n in range(old, count):
        latency[n] = problem.operations[n].choices[0].latency
        into = [d for d in problem.dependences if d.sink == n and d.source in start]
        out = [d for d in problem.dependences if d.source == n and d.sink in start]
        low = max(start[d.source] + _dependence_weight(d, latency) - interval * d.distance for d in into)
        high = min(
            (start[d.sink] - _dependence_weight(d, latency) + interval * d.distance for d in out),
            default=low + interval,
        )
        spills = graph.nodes[n].name == "spill"
        # A spill early and a fill late: between them the value needs no position.
        times = range(low, min(high, low + interval) + 1) if spills else range(high, max(low, high - interval) - 1, -1)
        found = next(
            (
                (at, c)
                for at in times
                for c, option in enumerate(problem.operations[n].choices)
                if all(
                    used.get(key(u, at, k), 0) < (problem.resources[u.resource].limit or 0)
                    for u in option.uses
                    for k in range(u.busy)
                )
            ),
            None,
        )
        if found is None:
            return None
        start[n], choice[n] = found
        hold(n)
    order = range(len(problem.operations))
    return Schedule(
        interval, tuple(start[n] for n in order), tuple(choice[n] for n in order), tuple(latency[n] for n in order)
    )


def _dependence_weight(d: Dependence, latency: Mapping[int, int]) -> int:
    return (latency[d.source] if d.latency is None else d.latency) + d.delay - (latency[d.sink] if d.to_result else 0)
