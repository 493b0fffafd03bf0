# SPDX-License-Identifier: Apache-2.0
"""Runs that come to a stop, and how that is explained: chains of harts, in words and as JSON."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Golden
from tests.targets.minion.hazards.programs import Step, credit, line, op, run, source, take, wait

from polyloom.targets.minion.run import deadlock_report, findings
from polyloom.targets.minion.words.locate import Locator

Program = list[list[Step]]
WFI = ".word 0x10500073"


def send(peer: int, count: int = 32) -> Step:
    return op("tensor_send", peer=peer, count=count)


def receive(peer: int, count: int = 32) -> Step:
    return op("tensor_recv", peer=peer, count=count, funct=8)


def join(barrier: int, participants: int) -> Step:
    return line(f"li t0, {(participants - 1) << 5 | barrier}\ncsrrw t1, 0x820, t0")


DEADLOCKS: dict[str, Program] = {
    "two that send first": [[send(1), receive(1), wait(9)], [], [send(0), receive(0), wait(9)]],
    "counts": [[send(1, 32), wait(9)], [], [receive(0, 16), wait(9)]],
    "a credit that nobody gives": [[take(), credit(1)], [], [credit(0), take(), take(), credit(0)]],
    "no credit at all": [[take()]],
    "a ring of receives": [
        [receive(1), wait(9)], [], [receive(2), wait(9)], [], [receive(0), wait(9)],
    ],
    "a receive and a credit": [
        [credit(1), receive(1), wait(9), credit(1)], [], [take(), take(), send(0)],
    ],
    "a peer that was not started": [[send(5), wait(9)]],
    "a peer that has ended": [[send(1), wait(9)], [], []],
    "a barrier with too few": [[join(3, 3), take()], [], [join(3, 3), take()], [], [line(WFI)]],
}  # fmt: skip


@pytest.mark.parametrize("name", DEADLOCKS)
def test_words(name: str, golden: Golden) -> None:
    """Without time, because cycles change with its parameters."""
    outcome = run(DEADLOCKS[name], "report", functional=True)
    assert outcome.stop == "deadlock"
    locator = Locator.of(source(DEADLOCKS[name]))
    golden(name.replace(" ", "_"), findings.deadlock(outcome, locator).render())


@pytest.mark.parametrize("name", DEADLOCKS)
def test_without_time(name: str) -> None:
    """The same harts wait for the same reasons."""
    timed, functional = (run(DEADLOCKS[name], "report", functional) for functional in (False, True))
    assert functional.stop == "deadlock"
    assert [_reason(row) for row in functional.waits] == [_reason(row) for row in timed.waits]


def _reason(row: Any) -> tuple[Any, ...]:
    return row["hart"], row["pc"], row["text"], row["note"], row["releasers"]


def test_cycles_are_told() -> None:
    outcome = run(DEADLOCKS["no credit at all"], "report")
    told = findings.deadlock(outcome, Locator.of(source(DEADLOCKS["no credit at all"])))
    assert " since cycle " in told.notes[0] and " after cycle " in told.message


def test_json() -> None:
    outcome = run(DEADLOCKS["two that send first"], "report")
    rows: list[Any] = deadlock_report.as_json(outcome.waits, Locator.of(source(DEADLOCKS["two that send first"])))
    assert [(row["minion"], row["operation"]) for row in rows] == [(0, False), (1, False), (0, True), (1, True)]
    assert rows[2] == {
        "hart": 0,
        "minion": 0,
        "operation": True,
        "kind": "transfer",
        "text": "sends 32 registers to minion 1",
        "note": "minion 1 sends to minion 0 as well: one of the two has to receive first",
        "since": rows[2]["since"],
        "pc": rows[2]["pc"],
        "symbol": "hart0",
        "file": "k.s",
        "line": rows[2]["line"],
        "releasers": [2],
        "gave": [],
        "in_chain": True,
    }


def test_a_count_that_differs_is_a_hazard_too() -> None:
    outcome = run(DEADLOCKS["counts"], "error")
    assert (outcome.stop, [found["kind"] for found in outcome.findings]) == ("hazard", ["count_mismatch"])


def test_harts_that_sleep_count_as_ended() -> None:
    assert run([[line(WFI)], [], []], "report").stop == "passed"
