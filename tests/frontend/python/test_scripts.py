# SPDX-License-Identifier: Apache-2.0
"""What scripts do with the Python interface: other processes, threads, errors told apart by code, arguments that mean
nothing."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from examples.kernels.trisolv import trisolv
from tests.frontend.python.helpers import ROOT

import polyloom as pl
from polyloom import Compiled, PolyloomError
from polyloom.frontend.python import load_kernel
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.phases import phase_file, stages

BITS = ROOT / "examples/bits.pla"


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.fixture(scope="module")
def bits() -> Compiled:
    return pl.compile(BITS, on="tcpa:paper:1x3")


@pytest.fixture(scope="module")
def solver() -> Compiled:
    return pl.compile(trisolv)


def test_all_that_a_run_is_made_of_is_pickled(bits: Compiled, solver: Compiled) -> None:
    for compiled in (bits, solver):
        instance = compiled.instantiate(N=9, pes=(1, 2))
        result = instance.run()
        for value in (compiled, instance, result):
            assert repr(again(value)) == repr(value)
        assert again(result).report() == result.report()
        assert again(instance).run().verified


def test_kernels_are_pickled_as_functions_or_as_files() -> None:
    assert again(trisolv) is trisolv
    loaded = load_kernel(str(ROOT / "examples/kernels/trisolv.py"))
    assert again(loaded).source == loaded.source == trisolv.source


def test_other_processes_and_threads_instantiate(solver: Compiled) -> None:
    sizes = [{"N": n} for n in (3, 8, 13)]
    expected = [solver.instantiate(values).data for values in sizes]
    with ThreadPoolExecutor(3) as pool:
        assert [i.data for i in pool.map(solver.instantiate, sizes)] == expected
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        found = list(pool.map(solver.instantiate, sizes))
        with pytest.raises(PolyloomError) as caught:
            pool.submit(solver.instantiate, {"N": -1}).result()
    assert [i.data for i in found] == expected and all(i.run().verified for i in found)
    assert (caught.value.code, caught.value.exit_code) == ("PL0230", 1)


def test_instantiating_again_decodes_nothing(bits: Compiled, solver: Compiled, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes do not change: neither the symbolic file nor the one that was made is read in Python again, nor is one
    written twice."""
    expected = [compiled.instantiate(N=12).data for compiled in (bits, solver)]
    for module, name in (
        (symbolic_file, "decode"),
        (concrete_file, "decode"),
        (phase_file, "decode"),
        (phase_file, "encode"),
        (stages, "decode"),
    ):
        monkeypatch.setattr(module, name, None)
    assert [compiled.instantiate(N=12).data for compiled in (bits, solver)] == expected
    assert solver.instantiate(N=13).data != expected[1]
    with pytest.raises(PolyloomError, match="PL0230"):
        solver.instantiate(N=-1)


def test_a_pickled_error_is_the_error() -> None:
    with pytest.raises(PolyloomError) as caught:
        pl.compile("none.pla")
    assert again(caught.value).diagnostics == caught.value.diagnostics
    assert str(again(caught.value)) == str(caught.value)


def meaningless(compiled: Any, compiler: Any, load: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "PL0805", lambda: compiled.instantiate(N=4, pes=4)
    yield "PL0805", lambda: compiled.instantiate(N=4, pes=(1, 2, 3))
    yield "PL0805", lambda: compiled.instantiate(N=4, pes=(1.0, 2))
    yield "PL0505", lambda: compiled.instantiate(N=4, pes=(0, 2))
    yield "PL0505", lambda: compiled.instantiate(N=4, pes=(1, 1 << 16))
    yield "PL0230", lambda: compiled.instantiate(4)
    yield "PL0230", lambda: compiled.instantiate()
    yield "PL0230", lambda: compiled.instantiate(N="4")
    yield "PL0815", lambda: compiled.instantiate(N=4, candidate="best")
    yield "PL0815", lambda: compiled.instantiate(N=4, candidate={1: 99})
    yield "PL0818", lambda: compiled.instantiate(N=4, candidate={"one": 0})
    yield "PL0231", lambda: compiled.instantiate(N=4).run(4)
    yield "PL0804", lambda: compiled.instantiate(N=4).run(seed=-1)
    yield "PL0804", lambda: compiled.instantiate(N=4).run(seed=None)
    yield "PL0808", lambda: compiled.save("no/such/folder/bits.plsc")
    yield "PL0807", lambda: load("none.plsc")
    yield "PL0807", lambda: load(None)
    yield "PL0807", lambda: compiler(BITS, mapping=4)
    yield "PL0805", lambda: compiler(BITS, on=4)
    yield "PL0810", lambda: compiler(len)


def test_arguments_without_a_meaning(bits: Compiled) -> None:
    for code, action in meaningless(bits, pl.compile, pl.load):
        with pytest.raises(PolyloomError) as caught:
            action()
        assert caught.value.code == code and caught.value.diagnostics[0].help


def test_regions_of_any_integers(bits: Compiled, tmp_path: Path) -> None:
    wanted = bits.instantiate(N=16, pes=(1, 3)).data
    assert bits.instantiate({"N": np.int64(16)}, pes=np.array([1, 3])).data == wanted  # pyright: ignore[reportArgumentType]
    bits.save(tmp_path / "bits.plsc")
    loaded = pl.load(tmp_path / "bits.plsc")
    assert isinstance(loaded, Compiled) and loaded.instantiate(N=16, pes=(1, 3)).data == wanted
