# SPDX-License-Identifier: Apache-2.0
"""`polyloom schedule`: answers for small loops, and golden texts of what is said to files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.conftest import Call
from tests.conftest import Golden

from polyloom.cli import main

LOOP = """{"resources": {"mul": {"limit": 2}, "mem": {"limit": 1}, "any": {"limit": null}},
 "nodes": [{"name": "a", "resource": "mul", "latency": 3, "busy": 1},
           {"name": "b", "resource": ["mul", "mem"]},
           {"name": "c", "resource": [{"hold": ["mem", {"resource": "mul", "busy": 3}], "latency": 2},
                                      {"resource": "any", "latency": 9}]},
           {"name": "d", "resource": {"resource": "any", "busy": 40}, "latency": 0},
           {"name": "e"}],
 "edges": [{"from": "a", "to": "b", "delay": -1}, {"from": "b", "to": "a", "distance": 1, "latency": 2},
           {"from": "b", "to": "c"},
           {"from": "c", "to": "d", "delay": 2}, {"from": "c", "to": "d"}, {"from": "a", "to": "a", "distance": 3},
           {"from": "d", "to": "e"}]}
"""


def loop(
    nodes: str = '[{"name": "a", "resource": "u"}]', edges: str = "[]", resources: str = '{"u": {"limit": 1}}'
) -> str:
    return f'{{"resources": {resources},\n "nodes": {nodes},\n "edges": {edges}}}'


FAULTS = {
    "empty": "",
    "cut-off": '{"nodes": [{"name": "a"}],\n "edges": [',
    "comma-missing": '{"nodes": [{"name": "a"}]\n "edges": []}',
    "no-object": "[]",
    "key-unknown": '{"nodes": [{"name": "a"}], "edgs": []}',
    "key-missing": '{"edges": []}',
    "key-twice": loop(resources='{"u": {"limit": 1}, "v": {"limit": 2},\n "u": {"limit": 2}}'),
    "no-nodes": loop("[]"),
    "nodes-no-list": loop("{}"),
    "node-key-unknown": loop('[{"name": "a", "ressource": "u"}]'),
    "node-without-name": loop('[{"name": "a"},\n  {"latency": 1}]'),
    "node-name-empty": loop('[{"name": ""}]'),
    "node-name-number": loop('[{"name": 1}]'),
    "node-twice": loop('[{"name": "a"}, {"name": "b"},\n  {"name": "a"}]'),
    "latency-negative": loop('[{"name": "a", "latency": -1}]'),
    "latency-fraction": loop('[{"name": "a", "latency": 1.0}]'),
    "latency-huge": loop('[{"name": "a", "latency": 1000001}]'),
    "busy-true": loop('[{"name": "a", "resource": "u", "busy": true}]'),
    "busy-text": loop('[{"name": "a", "resource": "u", "busy": "2"}]'),
    "resource-unknown": loop(
        '[{"name": "a", "resource": "mull"}]', resources='{"mul": {"limit": 1}, "mem": {"limit": 1}}'
    ),
    "resource-of-none": '{"nodes": [{"name": "a", "resource": "u"}]}',
    "resource-null": loop('[{"name": "a", "resource": null}]'),
    "choice-of-none": loop('[{"name": "a", "resource": []}]'),
    "choice-both": loop('[{"name": "a", "resource": [{"resource": "u", "hold": ["u"]}]}]'),
    "choice-key-missing": loop('[{"name": "a", "resource": [{"latency": 2}]}]'),
    "hold-unknown": loop('[{"name": "a", "resource": [{"hold": ["u", "v"]}]}]'),
    "resources-no-object": loop(resources='["u"]'),
    "limit-missing": loop(resources='{"u": {}}'),
    "limit-negative": loop(resources='{"u": {"limit": -1}}'),
    "limit-fraction": loop(resources='{"u": {"limit": 1.5}}'),
    "limit-key-unknown": loop(resources='{"u": {"limits": 1}}'),
    "edge-key-unknown": loop(edges='[{"from": "a", "to": "a", "dist": 1}]'),
    "edge-without-to": loop(edges='[{"from": "a"}]'),
    "edge-to-nobody": loop('[{"name": "load"}]', '[{"from": "load",\n   "to": "laod"}]'),
    "edge-no-object": loop(edges='[["a", "a"]]'),
    "distance-negative": loop(edges='[{"from": "a", "to": "a", "distance": -1}]'),
    "distance-fraction": loop(edges='[{"from": "a", "to": "a", "distance": 0.5}]'),
    "delay-exponent": loop(edges='[{"from": "a", "to": "a", "delay": 1e2}]'),
    "delay-huge": loop(edges=f'[{{"from": "a", "to": "a", "delay": -1{"0" * 5000}}}]'),
    "edge-latency-negative": loop(edges='[{"from": "a", "to": "a", "latency": -2}]'),
}
INFEASIBLE = {
    "circuit": loop(
        '[{"name": "a"}, {"name": "b"}, {"name": "c"}]',
        '[{"from": "a", "to": "b"}, {"from": "b", "to": "a", "delay": -1}, {"from": "b", "to": "b"}]',
    ),
    "circuit-of-three": loop(
        '[{"name": "x"}, {"name": "y"}, {"name": "z"}]',
        '[{"from": "x", "to": "y"}, {"from": "y", "to": "z"}, {"from": "z", "to": "x"}]',
    ),
    "limit-zero": loop(
        '[{"name": "a", "resource": "u"},\n  {"name": "b", "resource": ["v", {"hold": ["u", "v"]}]}]',
        resources='{"u": {"limit": 1}, "v": {"limit": 0}}',
    ),
    "hold-too-many": loop('[{"name": "a", "resource": {"hold": ["u", "u"]}}]'),
    "deadlines": loop(
        '[{"name": "a", "resource": "u"}, {"name": "b", "resource": "u"}]',
        '[{"from": "a", "to": "b", "delay": -1}, {"from": "b", "to": "a", "delay": -1}]',
    ),
}
OPTIONS = {
    "solver-unknown": "loop.json --solver iterate",
    "effort-text": "loop.json --effort much",
    "effort-negative": "loop.json --effort -1",
    "file-missing": "nowhere.json",
    "option-unknown": "loop.json --solve exact",
}


def test_text(call: Call, golden: Golden, scratch: Path) -> None:
    (scratch / "loop.json").write_text(LOOP)
    shown = [
        f"$ polyloom schedule {words}\n{call('schedule', *words.split())[1]}"
        for words in ("loop.json", "loop.json --solver torus")
    ]
    golden("schedule", "\n".join(shown))


def test_json(call: Call, golden: Golden, scratch: Path) -> None:
    (scratch / "loop.json").write_text(LOOP)
    status, out, err = call("schedule", "loop.json", "--json")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    assert answer.pop("seconds") >= 0
    golden("schedule-json", json.dumps(answer, indent=2))
    assert judge(json.loads(LOOP), answer) == []
    again = json.loads(call("schedule", "loop.json", "--json", "--effort", "0")[1])
    assert {**again, "seconds": None} == {**answer, "seconds": None}


@pytest.mark.parametrize("solver", ["torus", "iterative", "exact"])
def test_every_solver_obeys_the_format(solver: str, call: Call, scratch: Path) -> None:
    (scratch / "loop.json").write_text(LOOP)
    answer = json.loads(call("schedule", "loop.json", "--json", "--solver", solver)[1])
    assert answer["solver"] == solver
    assert judge(json.loads(LOOP), answer) == []


def test_only_nodes_are_needed(call: Call, scratch: Path) -> None:
    (scratch / "loop.json").write_text('{"nodes": [{"name": "a"}, {"name": "ä b", "latency": 0}]}')
    answer = json.loads(call("schedule", "loop.json", "--json")[1])
    assert (answer["initiation_interval"], answer["length"], answer["stages"]) == (1, 1, 1)
    assert answer["start"] == {"a": 0, "ä b": 0}
    assert answer["resource"] == {"a": None, "ä b": None}


def test_busy_for_longer_than_the_interval(call: Call, golden: Golden, scratch: Path) -> None:
    nodes = '[{"name": "a", "resource": "u", "busy": 7}, {"name": "b", "resource": {"hold": ["u", "u"]}}]'
    (scratch / "loop.json").write_text(loop(nodes, resources='{"u": {"limit": 3}}'))
    golden("schedule-busy", call("schedule", "loop.json")[1])


def test_numbers_may_be_large(call: Call, scratch: Path) -> None:
    nodes = ", ".join(f'{{"name": "n{v}", "resource": "u", "busy": 1000000, "latency": 1000000}}' for v in range(8))
    edge = (
        '{"from": "n0", "to": "n7", "delay": 1000000}, {"from": "n7", "to": "n0", "distance": 1000000, "delay": '
        "1000000}"
    )
    (scratch / "loop.json").write_text(loop(f"[{nodes}]", f"[{edge}]", '{"u": {"limit": 2}}'))
    answer = json.loads(call("schedule", "loop.json", "--json")[1])
    assert (answer["initiation_interval"], answer["proved_minimal"]) == (4_000_000, True)
    (scratch / "loop.json").write_text(loop(f"[{nodes}]", resources='{"u": {"limit": 1000000}}'))
    assert json.loads(call("schedule", "loop.json", "--json")[1])["initiation_interval"] == 8
    assert " x125000" in call("schedule", "loop.json")[1]


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault: str, call: Call, golden: Golden, scratch: Path) -> None:
    (scratch / "loop.json").write_text(FAULTS[fault])
    status, out, err = call("schedule", "loop.json")
    assert (status, out) == (1, "")
    golden(f"schedule-{fault}", err)


@pytest.mark.parametrize("case", INFEASIBLE)
def test_what_has_no_schedule(case: str, call: Call, golden: Golden, scratch: Path) -> None:
    (scratch / "loop.json").write_text(INFEASIBLE[case])
    status, out, err = call("schedule", "loop.json", "--json")
    answer = json.loads(out)
    assert (status, answer["feasible"]) == (3, False)
    golden(f"schedule-{case}", f"{json.dumps(answer, indent=2)}\n\n{err}")
    assert call("schedule", "loop.json")[1].strip() == ""


def test_a_solver_that_gives_up_does_not_say_infeasible(call: Call, scratch: Path) -> None:
    (scratch / "loop.json").write_text(INFEASIBLE["deadlines"])
    status, out, _ = call("schedule", "loop.json", "--json", "--solver", "torus")
    assert (status, json.loads(out)["feasible"]) == (3, None)


@pytest.mark.parametrize("case", OPTIONS)
def test_options(case: str, call: Call, golden: Golden, scratch: Path) -> None:
    (scratch / "loop.json").write_text(LOOP)
    status, out, err = call("schedule", *OPTIONS[case].split())
    assert out == ""
    golden(f"schedule-{case}", f"exit {status}\n{err}")


VALUES = st.sampled_from(
    [
        "1",
        "-1",
        "1.5",
        "null",
        "true",
        '"a"',
        '"u"',
        "[]",
        "{}",
        '["u"]',
        '{"hold": ["u"]}',
        '{"limit": 1}',
        '[{"name": "a"}]',
        "9" * 30,
    ]
)
KEYS = st.sampled_from(
    [
        "resources",
        "nodes",
        "edges",
        "name",
        "resource",
        "latency",
        "busy",
        "from",
        "to",
        "delay",
        "distance",
        "limit",
        "hold",
    ]
)


@settings(max_examples=150)
@given(st.lists(st.tuples(KEYS, VALUES), max_size=4), st.sampled_from(["top", "node", "edge", "resource", "choice"]))
def test_no_file_ends_in_an_internal_error(pairs: list[tuple[str, str]], place: str) -> None:
    inner = "{" + ", ".join(f'"{key}": {value}' for key, value in pairs) + "}"
    text = {
        "top": inner,
        "node": loop(f"[{inner}]"),
        "edge": loop(edges=f"[{inner}]"),
        "resource": loop(resources=f'{{"u": {inner}}}'),
        "choice": loop(f'[{{"name": "a", "resource": [{inner}]}}]'),
    }[place]
    assert _status(text) in (0, 1, 3)


def _status(text: str) -> int:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "loop.json")
        path.write_text(text)
        return main(["schedule", str(path), "--json"])


def judge(loop: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    """What is wrong with an answer, by the words of docs/schedule.md alone."""
    wrong: list[str] = []
    interval, start = answer["initiation_interval"], answer["start"]
    nodes = {node["name"]: node for node in loop["nodes"]}
    chosen = {name: _entry(node, answer["resource"][name]) for name, node in nodes.items()}
    for edge in loop.get("edges", []):
        latency = edge.get("latency", chosen[edge["from"]]["latency"])
        if start[edge["to"]] + edge.get("distance", 0) * interval < start[edge["from"]] + latency + edge.get(
            "delay", 0
        ):
            wrong.append(f"edge {edge}")
    held: dict[tuple[str, int], int] = {}
    for name, entry in chosen.items():
        for resource, busy in entry["uses"]:
            for k in range(busy):
                cell = resource, (start[name] + k) % interval
                held[cell] = held.get(cell, 0) + 1
    limits = {name: described["limit"] for name, described in loop.get("resources", {}).items()}
    wrong += [f"cell {cell}" for cell, times in held.items() if limits[cell[0]] is not None and times > limits[cell[0]]]
    if set(start) != set(nodes) or min(start.values()) not in range(interval):
        wrong.append("starts")
    if answer["length"] != max(start[name] + entry["latency"] for name, entry in chosen.items()):
        wrong.append("length")
    if answer["stages"] != 1 + max(s // interval for s in start.values()):
        wrong.append("stages")
    if (
        not max(answer["resource_bound"], answer["recurrence_bound"])
        <= answer["minimum_initiation_interval"]
        <= interval
    ):
        wrong.append("bounds")
    if answer["proved_minimal"] != (answer["minimum_initiation_interval"] == interval):
        wrong.append("proof")
    return wrong


def _entry(node: dict[str, Any], answer: str | list[str] | None) -> dict[str, Any]:
    """Latency and uses of the choice that an answer names."""
    entries: Any = node.get("resource")
    if entries is None:
        assert answer is None
        return {"latency": node.get("latency", 1), "uses": []}
    listed = cast("list[Any]", entries if isinstance(entries, list) else [entries])
    for entry in listed:
        described: dict[str, Any] = {"resource": entry} if isinstance(entry, str) else entry
        busy, latency = described.get("busy", node.get("busy", 1)), described.get("latency", node.get("latency", 1))
        if "hold" not in described and described["resource"] == answer:
            return {"latency": latency, "uses": [(answer, busy)]}
        if "hold" in described:
            held: list[Any] = described["hold"]
            uses = [(h, busy) if isinstance(h, str) else (h["resource"], h.get("busy", busy)) for h in held]
            if [resource for resource, _ in uses] == answer:
                return {"latency": latency, "uses": uses}
    raise AssertionError(f"no choice is called {answer}")
