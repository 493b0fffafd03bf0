# SPDX-License-Identifier: Apache-2.0
"""The catalogue of diagnostic codes: what `polyloom explain CODE` prints and docs/errors.md lists.

Each entry is (title, explanation with faulty text and its repair). A room adds the codes that it raises, in its own section.
"""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    # PL01xx: syntax of the equation language (frontend)
    # PL02xx: meaning of a program (frontend, analysis)
    # PL03xx: machine descriptions
    # PL04xx: mapping: allocation, schedule, registers, routes
    "PL0450": (
        "malformed scheduling problem",
        "The description of the loop to be scheduled contradicts itself: an operation without a latency for each of its units, a latency\n"
        "below 1, a negative distance, or a constraint on an operation that does not exist. Give every allowed unit one latency of at\n"
        "least 1, and count distances in iterations from the producer to the later consumer.",
    ),
    "PL0451": (
        "no unit for an operation",
        "None of the machine's units executes the operation. Add the operation to a unit of the machine, or write the loop without it.",
    ),
    "PL0452": (
        "operations wait for each other",
        "A chain of dependences leads from an operation back to itself within one iteration, so no schedule exists at any initiation\n"
        "interval. In `A -> B = C -> A` the sign `->` is a dependence and `=` joins operations that must be ready in the same cycle.\n"
        "Let one of the values come from an earlier iteration.",
    ),
    "PL0453": (
        "no schedule",
        "No initiation interval up to the given limit has a schedule. The notes name the units and the recurrence that bound it from\n"
        "below. Allow a larger interval or choose a machine with more units. When no interval at all has a schedule, operations that\n"
        "write one variable, and so must be ready in the same cycle, compete for one unit: give them units of their own.",
    ),
    "PL0455": (
        "faulty schedule",
        "Internal: the independent check found a constraint that the scheduler's answer violates. Please report it with the program.",
    ),
    "PL0460": (
        "too few output registers for propagation",
        "Every value that is sent to a neighbouring element leaves by an output register of its own. Choose a machine with as many as\n"
        "the message asks for, or propagate fewer values.",
    ),
    "PL0461": (
        "too few input registers for propagation",
        "Every value that arrives from a neighbouring element needs an input register of its own. Choose a machine with as many as the\n"
        "message asks for, or propagate fewer values.",
    ),
    "PL0462": (
        "too few channels",
        "More values must pass one side of an element than it has channels. The notes count the values side by side; a value to a diagonal\n"
        "neighbour passes two sides. Choose a machine with more channels, or propagate fewer values.",
    ),
    "PL0463": (
        "adjacency has no path",
        "The machine's adjacency list does not connect the ports that a propagation channel needs. The help names the fewest pairs\n"
        "(source port, sink port) that make shortest paths possible: add them to `adjacency`.",
    ),
    "PL0464": (
        "routing gave up",
        "The search for propagation channels ended without an answer. A shorter adjacency list, or none, makes it easier.",
    ),
    "PL0465": (
        "faulty route",
        "Internal: the independent check found that the routes do not do what was asked. Please report it with the program.",
    ),
    "PL0470": (
        "faulty register allocation",
        "Internal: the independent check found two values in one register at the same time. Please report it with the program.",
    ),
    # PL05xx: instantiation: parameters, regions, capacities
    # PL06xx: model and verification: faults
    # PL07xx: files
    # PL08xx: command line and Python interface
}
