# SPDX-License-Identifier: Apache-2.0
"""Generated loops to schedule, from a seed: sparse graphs, and graphs whose circuits are as tight as their resources.

Sparse: operations of an ordinary mix in program order, each reading one or two results, most of them recent ones; a few
values go round the loop. Tight: some interval T is drawn; every limited resource is held in all, or nearly all, of its
T rows, and a good part of the operations lies on circuits of latency T times distance, so that the bounds ResMII and
RecMII (Rau 1994) meet. Whether T has a schedule is not known beforehand.
"""

from __future__ import annotations

from random import Random
from typing import Final

from polyloom.modulo.problem import Choice, Dependence, Operation, Problem, Resource, Use

LEAST, MOST = 10, 120
"""Operations of a graph."""
_ALU, _MUL, _MEM, _DIV = range(4)
_MIX: Final = ((_ALU, 10), (_MUL, 4), (_MEM, 6), (_DIV, 1))
_LATENCIES: Final = {_ALU: (0, 1, 1, 2), _MUL: (3, 4, 5), _MEM: (2, 3, 4), _DIV: (8, 12)}


def sparse(seed: int, count: int | None = None, edges: int = 0) -> Problem:
    """At least so many dependences."""
    random = Random(f"sparse {seed}")
    count = random.randint(LEAST, MOST) if count is None else count
    limits = (random.randint(2, 4), random.randint(1, 2), random.randint(1, 2), 1)
    resources = tuple(Resource(name, limit) for name, limit in zip(("alu", "mul", "mem", "div"), limits, strict=True))
    kinds = [random.choices([k for k, _ in _MIX], [w for _, w in _MIX])[0] for _ in range(count)]
    operations = tuple(Operation(f"n{v}", _choices(random, kind)) for v, kind in enumerate(kinds))
    dependences: list[Dependence] = []
    for v in range(1, count):
        for _ in range(random.choice((1, 1, 2))):
            # Distances in the text are exponential: most operands are recent results.
            dependences.append(Dependence(max(0, v - 1 - int(random.expovariate(0.2))), v))
    for _ in range(random.randint(0, 1 + count // 15)):
        sink = random.randrange(count)
        dependences.append(Dependence(min(count - 1, sink + int(random.expovariate(0.2))), sink, random.randint(1, 3)))
    distinct = dict.fromkeys(dependences)
    while len(distinct) < edges:
        sink = random.randrange(1, count)
        distinct[Dependence(random.randrange(sink), sink)] = None
    return Problem(operations, resources, tuple(distinct))


def _choices(random: Random, kind: int) -> tuple[Choice, ...]:
    latency = random.choice(_LATENCIES[kind])
    if kind == _DIV:
        return (Choice((Use(_DIV, latency),), latency),)
    own = Choice((Use(kind),), latency)
    # Some additions can be done by the multiplier, as slowly as a product.
    return (own, Choice((Use(_MUL),), 3)) if kind == _ALU and random.random() < 0.15 else (own,)


def tight(seed: int) -> Problem:
    """From a third to all of the operations lie on circuits; in half of the graphs circuits share operations."""
    random = Random(f"tight {seed}")
    limits = (random.randint(1, 3), random.randint(1, 2), random.randint(1, 2))
    resources = tuple(Resource(name, limit) for name, limit in zip(("alu", "mul", "mem"), limits, strict=True))
    interval = random.randint(-(-LEAST // sum(limits)) + 1, max(4, MOST // sum(limits)))
    kinds: list[int] = []
    for kind, limit in enumerate(limits):
        # Full, or up to two free rows: a resource that is nearly full is what makes scheduling hard.
        kinds += [kind] * (limit * interval - random.choice((0, 0, 0, 1, 2)))
    random.shuffle(kinds)
    latencies = [random.choice(_LATENCIES[kind]) for kind in kinds]
    operations = tuple(
        Operation(f"n{v}", (Choice((Use(kind),), latency),))
        for v, (kind, latency) in enumerate(zip(kinds, latencies, strict=True))
    )
    dependences: list[Dependence] = []
    free = list(range(len(kinds)))
    shared = random.random() < 0.5
    left = random.uniform(0.0, 0.7) * len(kinds)
    while len(free) > max(left, 1):
        size = min(len(free), random.randint(2, 7))
        circuit, free = free[:size], free[size - 1 if shared and random.random() < 0.5 else size :]
        dependences += _circuit(random, circuit, latencies, interval)
    for v in range(1, len(kinds)):
        if v in free or random.random() < 0.5:
            dependences.append(Dependence(max(0, v - 1 - int(random.expovariate(0.2))), v))
    return Problem(operations, resources, tuple(dict.fromkeys(dependences)))


def _circuit(random: Random, members: list[int], latencies: list[int], interval: int) -> list[Dependence]:
    """A circuit whose latency is the interval times its distance, mostly: delays make up for the rest."""
    total = sum(latencies[v] for v in members)
    distance = max(1, -(-total // interval))
    rest = distance * interval - total
    delays = [0] * len(members)
    for _ in range(rest if random.random() < 0.7 else 0):
        delays[random.randrange(len(members))] += 1
    ends = zip(members, [*members[1:], members[0]], strict=True)
    return [Dependence(a, b, distance if n == len(members) - 1 else 0, delays[n]) for n, (a, b) in enumerate(ends)]
