# SPDX-License-Identifier: Apache-2.0
"""`polyloom dominators`: the answers for one small graph, and golden texts of what is said to graphs that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Call
from tests.conftest import Golden

GRAPH = '{"n": 7, "root": 1, "edges": [[1, 0], [0, 2], [2, 0], [0, 3], [1, 3], [3, 4], [4, 4], [5, 4], [3, 6]]}'
NESTED = '{"n": 6, "edges": [[0, 1], [1, 2], [2, 3], [3, 2], [4, 1], [3, 4], [4, 5]]}'

FAULTS = {
    "empty": "",
    "cut-off": '{"n": 3,\n "edges": [[0, 1]',
    "comma-missing": '{"n": 3,\n "edges": [[0 1]]}',
    "text-after": '{"n": 3, "edges": []}\n{}',
    "deep": "[" * 100_000,
    "no-object": "[[0, 1], [1, 2]]",
    "key-unknown": '{"n": 3, "edgs": [[0, 1]]}',
    "key-missing": '{"n": 3, "root": 0}',
    "key-twice": '{"n": 3, "edges": [],\n "n": 4}',
    "n-zero": '{"n": 0, "root": 0, "edges": []}',
    "n-negative": '{"n": -3, "root": 0, "edges": []}',
    "n-fraction": '{"n": 3.0, "edges": []}',
    "n-exponent": '{"n": 1e3, "edges": []}',
    "n-nan": '{"n": NaN, "edges": []}',
    "n-text": '{"n": "3", "edges": []}',
    "n-true": '{"n": true, "edges": []}',
    "root-outside": '{"n": 3, "root": 3, "edges": []}',
    "root-null": '{"n": 3, "root": null, "edges": []}',
    "edges-no-list": '{"n": 3, "edges": {"0": 1}}',
    "edge-no-pair": '{"n": 3, "edges": [[0, 1], 5]}',
    "edge-of-three": '{"n": 3, "edges": [[0, 1], [0, 1, 2]]}',
    "end-outside": '{\n  "n": 3,\n  "root": 0,\n  "edges": [\n    [0, 1],\n    [1, 7]\n  ]\n}',
    "end-negative": '{"n": 3, "edges": [[0, 1], [-1, 2]]}',
    "end-huge": '{"n": 3, "edges": [[0, 1], [1, 99999999999999999999]]}',
    "end-fraction": '{"n": 3, "edges": [[0, 1], [1, 2.5]]}',
    "end-true": '{"n": 3, "edges": [[0, true]]}',
    "end-list": '{"n": 3, "edges": [[[0], 1]]}',
    "long-line": json.dumps({"n": 100, "edges": [[0, 1]] * 90 + [[0, 100]]}),
}

OPTIONS = {
    "strategy-unknown": "g.json --strategy ballanced",
    "strategy-far": "g.json --strategy semi",
    "option-unknown": "g.json --frontier",
    "max-frontier-text": "g.json --frontiers --max-frontier 1e8",
    "max-frontier-negative": "g.json --frontiers --max-frontier -1",
    "max-frontier-exceeded": "g.json --frontiers --max-frontier 3",
    "graph-missing": "nowhere.json",
}


def test_text(call: Call, golden: Golden, scratch: Path) -> None:
    (scratch / "g.json").write_text(GRAPH)
    (scratch / "nested.json").write_text(NESTED)
    commands = ["g.json", "g.json --post", "g.json --frontiers", "nested.json --post --frontiers --strategy cached"]
    golden(
        "dominators",
        "\n".join(f"$ polyloom dominators {words}\n{call('dominators', *words.split())[1]}" for words in commands),
    )


@pytest.mark.parametrize("strategy", ["scratch", "cached", "balanced"])
def test_json(call: Call, scratch: Path, strategy: str) -> None:
    (scratch / "g.json").write_text(GRAPH)
    data = json.loads(call("dominators", "g.json", "--strategy", strategy, "--json")[1])
    assert data["idom"] == [1, -1, 0, 1, 3, -1, 3]
    assert data["seconds"] > 0 and sorted(data) == ["idom", "seconds"]
    assert json.loads(call("dominators", "g.json", "--frontiers", "--json")[1])["frontiers"] == [
        [0, 3],
        [],
        [0],
        [],
        [4],
        [],
        [],
    ]
    assert json.loads(call("dominators", "g.json", "--post", "--json")[1])["idom"] == [3, 3, 0, 6, -1, -1, 7]


@pytest.mark.parametrize("name", FAULTS)
def test_fault(call: Call, golden: Golden, scratch: Path, name: str) -> None:
    (scratch / "g.json").write_text(FAULTS[name])
    status, out, err = call("dominators", "g.json")
    assert (status, out) == (1, "")
    golden(f"graph-{name}", err)


@pytest.mark.parametrize("name", OPTIONS)
def test_option(call: Call, golden: Golden, scratch: Path, name: str) -> None:
    (scratch / "g.json").write_text(GRAPH)
    status, out, err = call("dominators", *OPTIONS[name].split())
    assert status in (1, 2) and not out
    golden(f"graph-{name}", f"$ polyloom dominators {OPTIONS[name]}\nexit {status}\n{err}")


@pytest.mark.parametrize("n", [10**12, 10**30, 10**5000 - 1], ids=["large", "huge", "beyond printing"])
def test_more_nodes_than_memory(call: Call, scratch: Path, n: int) -> None:
    """Not golden: the message tells how much memory there is."""
    digits = "9" * 5000 if n > 10**40 else str(n)
    (scratch / "g.json").write_text(f'{{"edges": [], "n": {digits}}}')
    status, out, err = call("dominators", "g.json")
    assert (status, out) == (1, "")
    assert err.startswith("error[PL0963]: n is ") and "GiB" in err and "g.json:1:20" in err


def test_not_utf8(call: Call, scratch: Path) -> None:
    (scratch / "g.json").write_bytes(b'{"n": 3, "\xe9": 1}')
    status, _, err = call("dominators", "g.json")
    assert status == 1 and err.startswith("error[PL0960]: 'g.json' is not text in UTF-8: byte 10 is 0xe9")


def test_the_order_of_keys_and_blanks_do_not_matter(call: Call, scratch: Path) -> None:
    (scratch / "g.json").write_text('\ufeff \n{"edges" : [ [0,\t1 ] , [ 1 , 5 ] ] , "n"\r\n: 3}', encoding="utf-8")
    status, _, err = call("dominators", "g.json")
    assert status == 1 and "edges[1][1] is 5" in err and "g.json:2:30" in err
