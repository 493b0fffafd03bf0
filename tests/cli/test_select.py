# SPDX-License-Identifier: Apache-2.0
"""`polyloom select`: its answer as text and as JSON, and what bad input is told."""

from __future__ import annotations

import json

import pytest
from tests.cli.conftest import Call
from tests.conftest import Golden


def test_command(call: Call) -> None:
    status, out, _ = call("select", "c ? a : -b", "--isa", "rv64i_zicond", "--json")
    answer = json.loads(out)
    assert (status, answer["length"], answer["proved_minimal"], answer["isa"]) == (0, 3, True, "rv64i_zicond")
    assert answer["sequence"] == ["czero.eqz t0, a, c", "czero.nez t1, b, c", "sub rd, t0, t1"]
    assert (
        call("select", "x < y ? a : b", "--short-branches")[1].splitlines()[-1]
        == "2 instructions: shorter ones were not searched for"
    )
    assert call("select", "x == y ? a : b")[1].splitlines()[-1] == "6 instructions: none of up to 4 exists"
    assert call("select", "a")[1] == "    mv rd, a\n0 instructions: none shorter exists\n"


@pytest.mark.parametrize("name", ["select 'c ? a : -b' --isa rv64gc_zicnd", "select 'c ? a' --isa rv64gc"])
def test_command_line_errors(name: str, call: Call, golden: Golden) -> None:
    _, expression, rest = name.split("'")
    status, out, err = call("select", expression, *rest.split())
    golden(
        f"command-{expression.replace(' ', '').replace('?', '-').replace(':', '-')}",
        f"$ polyloom {name}\nexit {status}\n--- stdout\n{out}--- stderr\n{err}",
    )
