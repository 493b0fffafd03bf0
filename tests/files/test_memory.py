# SPDX-License-Identifier: Apache-2.0
"""Memory is bounded before it is allocated: small files and short commands that declare far more than there is end in
an error.

Every case runs in a process of its own with two gigabytes of address space, where an allocation that is not bounded
fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.forked import Forks, forked
from tests.targets.tcpa.model.configurations import BITS, DATA

from polyloom import memory
from polyloom.codes import CODES
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete

LIMIT = 2 << 30
HUGE = (1 << 32) - 1


def _array(words: int, written: bool = True) -> Concrete:
    """Whose output has `words` words."""
    array = replace(BITS.arrays[1], shape=(words,))
    generators = BITS.generators if written else tuple(g for g in BITS.generators if not BITS.arrays[g.array].is_output)
    return _hashed(replace(BITS, arrays=(BITS.arrays[0], array), generators=generators))


def _hashed(concrete: Concrete) -> Concrete:
    return replace(concrete, machine="paper", machine_hash=machine_file.fingerprint(machine_file.load("paper")))


def _controller(**changes: int) -> Concrete:
    return _hashed(replace(BITS, controller=replace(BITS.controller, **changes)))


def _wide() -> Concrete:
    """A row of elements, with routes that lead far into it."""
    columns, deep = 20000, replace(BITS.generators[0], side="west", position=0, links=19999)
    routes = tuple(replace(deep, channel=n, register=n % 8) for n in range(5000))
    return _hashed(
        replace(
            BITS,
            columns=columns,
            element_class=((-1,) * columns,),
            wrapper=((0,) * columns,),
            wrappers=((),),
            generators=routes,
        )
    )


FILES: dict[str, Callable[[], Concrete]] = {
    "an output of 1.5 billion words": lambda: _array(1_500_000_000),
    "an output that nothing writes": lambda: _array(1_500_000_000, written=False),
    "an input of a far stride": lambda: _hashed(
        replace(BITS, arrays=(replace(BITS.arrays[0], shape=(2,), strides=(HUGE,)), BITS.arrays[1]))
    ),
    "a ring of signals": lambda: _controller(steps=HUGE, row_delay=HUGE, column_delay=HUGE),
    "routes of 20,000 links": _wide,
}


Polyloom = Callable[..., tuple[int, str]]


@pytest.fixture
def polyloom(forks: Forks) -> Polyloom:
    """The exit code of a command with little memory, and what it prints."""

    def run(folder: Path, *words: str) -> tuple[int, str]:
        printed, status = forked(forks, words, folder, LIMIT)
        return status, printed

    return run


@pytest.mark.parametrize("name", FILES)
def test_a_small_file_that_declares_much(name: str, polyloom: Polyloom, tmp_path: Path, golden: Golden) -> None:
    data = concrete_file.encode(FILES[name]())
    (tmp_path / "small.plcc").write_bytes(data)
    np.save(tmp_path / "in.npy", np.zeros(2 if "stride" in name else (), np.int32))
    status, errors = polyloom(tmp_path, "simulate", "small.plcc", "--in", "in=in.npy")
    assert (status, errors.startswith("error[PL06")) == (1, True), errors
    golden(f"memory_{name.replace(' ', '_')}", errors)
    status, errors = polyloom(tmp_path, "verify", "small.plcc")
    assert status == 1, errors
    assert polyloom(tmp_path, "show", "small.plcc")[0] == 0


def test_a_few_hundred_bytes_are_refused_on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there would be memory enough."""
    data = concrete_file.encode(_array(1_500_000_000))
    assert len(data) < 600
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 50)
    found = verify_concrete.verify(data, machine_file.load("paper"))
    assert [d.code for d in found] == ["PL0628"]
    assert "PL0628" in CODES


def test_an_output_that_nothing_writes_is_a_finding() -> None:
    machine: Machine = machine_file.load("paper")
    small = _array(18, written=False)
    assert "PL0650" in {d.code for d in verify_concrete.verify(concrete_file.encode(small), machine)}
    assert "PL0650" not in {d.code for d in verify_concrete.verify(DATA, machine)}
    nothing = replace(small, arrays=(small.arrays[0], replace(small.arrays[1], shape=(0,))))
    assert "PL0650" not in {d.code for d in verify_concrete.verify(concrete_file.encode(nothing), machine)}


COMMANDS = {
    "run of huge bounds": "run matmul.pla N=2000000000 M=2000000000 K=2000000000",
    "run of a bound beyond all": "run bits.pla N=1000000000000",
    "a region beyond all": "run bits.pla N=4 --on tcpa:999999x999999",
    "instantiate on too many elements": "instantiate bits.plsc N=100 --pes 100000x100000 -o new.plcc",
    "instantiate on the most elements": "instantiate matmul.plsc N=1000000 M=1000000 K=3 --pes 65535x65535 -o new.plcc",
    "a graph of a trillion nodes": "dominators graph.json",
    "a file of zeros without end": "show /dev/zero",
    "an array that is no file": "simulate bits.plcc --in in=/dev/zero",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from polyloom import api
    from polyloom.cli.examples import folder as examples

    made = tmp_path_factory.mktemp("memory")
    for name in ("bits", "matmul"):
        (made / f"{name}.pla").write_text((examples() / f"{name}.pla").read_text())
        api.compile(str(examples() / f"{name}.pla"), on="tcpa:paper" if name == "bits" else "tcpa:ideal").save(
            made / f"{name}.plsc"
        )
    (made / "bits.plcc").write_bytes(concrete_file.encode(_hashed(BITS)))
    (made / "graph.json").write_text(json.dumps({"n": 10**12, "edges": [[0, 1]]}))
    return made


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_asks_for_much(name: str, polyloom: Polyloom, folder: Path) -> None:
    status, errors = polyloom(folder, *COMMANDS[name].split())
    assert status in (1, 2, 3), (status, errors)
    assert errors.startswith("error[PL")
    assert "Traceback" not in errors


def test_the_mechanism_names_both_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 30)
    memory.require_memory(1 << 30, "this", "do less")
    with pytest.raises(PolyloomError, match=r"this needs 3 GiB of memory; there are 1 GiB"):
        memory.require_memory(3 << 30, "this", "do less")
    with pytest.raises(PolyloomError, match="far more than a machine can have"):
        memory.require_memory(1 << 90, "this", "do less")
