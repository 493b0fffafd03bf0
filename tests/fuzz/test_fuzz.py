# SPDX-License-Identifier: Apache-2.0
"""A short run of every fuzzer, every input that a longer one (`make fuzz`) ever found fault with, and that faults are
found at all."""

from __future__ import annotations

import os
from math import inf
from pathlib import Path
from random import Random

import pytest
from tests.fuzz import damage, fuzzing, isolated, readers
from tests.fuzz.fuzzing import Fuzzer, Native

from polyloom.binary import unpack
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.words import concrete_file

SECONDS = 5
INPUTS = 200
REASON = fuzzing.missing()


@pytest.mark.skipif(REASON is not None, reason=str(REASON))
@pytest.mark.parametrize("target", fuzzing.NATIVES, ids=lambda t: t.name)
def test_no_input_crashes_native_code_or_leaves_its_buffers(target: Native, tmp_path: Path) -> None:
    # Counted in inputs: a busy machine would try too few within some seconds.
    done = target.run(target.build(quickly=True), tmp_path / "corpus", 60 * SECONDS, most=INPUTS)
    assert done.returncode == 0, done.stderr[-4000:]
    assert fuzzing.runs(done.stderr) >= INPUTS


@pytest.mark.parametrize("reader", readers.READERS, ids=lambda r: r.name)
def test_no_input_of_a_reader_ends_in_an_internal_error(reader: readers.Reader) -> None:
    # Counted in inputs, too: a faster machine would try others.
    done = reader.fuzz(inf, 7, reader.inputs)
    assert done.finding is None, f"{done.finding.data!r}\n{done.finding.what}"
    assert done.tried == reader.inputs


def test_a_number_of_inputs_is_the_same_whatever_the_time() -> None:
    def fails_at_the_fifth(data: bytes) -> None:
        with Path("tried").open("ab") as file:
            file.write(data)
        assert Path("tried").stat().st_size < 5 * len(data), Path("tried").read_bytes()

    found = [isolated.hunt(inf, 3, lambda random: random.randbytes(8), fails_at_the_fifth, most) for most in (4, 5, 9)]
    assert [each.tried for each in found] == [4, 4, 4]
    assert found[0].finding is None
    assert all(each.finding is not None and len(each.finding.data) == 8 for each in found[1:])


def _failing(data: bytes) -> None:
    if data > b"\x80":
        raise readers.Fault("too large")


def test_an_exception_is_a_finding() -> None:
    done = isolated.hunt(5, 1, lambda random: random.randbytes(1), _failing)
    assert done.finding is not None
    assert done.finding.data > b"\x80"
    assert "too large" in done.finding.what


def test_a_crash_is_a_finding() -> None:
    done = isolated.hunt(5, 1, lambda random: b"crash", lambda data: os.abort())
    assert done.finding == isolated.Finding(b"crash", "the process ended with SIGABRT")


def test_memory_without_a_limit_is_a_finding() -> None:
    def hungry(data: bytes) -> None:
        del data
        bytes(2 * isolated.MEMORY)

    done = isolated.hunt(5, 1, lambda random: b"much", hungry)
    assert done.finding is not None
    assert "MemoryError" in done.finding.what


def test_a_step_without_an_end_is_stopped() -> None:
    def endless() -> None:
        while True:
            pass

    def attempt(data: bytes) -> None:
        del data
        assert not isolated.limited(0.1, endless)
        assert isolated.limited(5.0, lambda: None)

    assert isolated.hunt(0.5, 1, lambda random: b"", attempt).finding is None


def test_the_first_finding_ends_all() -> None:
    tried: list[tuple[str, float]] = []

    def fuzzer(name: str, share: float, found: str | None) -> Fuzzer:
        def fuzz(seconds: float, seed: int) -> str | None:
            tried.append((name, seconds))
            return found and f"{found} {seed}"

        return Fuzzer(name, share, fuzz)

    chosen = [fuzzer("a", 1, None), fuzzer("b", 3, "a fault"), fuzzer("c", 1, None)]
    assert fuzzing.fuzz_all(10, 5, chosen) == "b: a fault 5"
    assert tried == [("a", 2.0), ("b", 6.0)]
    assert fuzzing.fuzz_all(10, 5, chosen[:1]) is None


def test_damage_gets_past_the_checksums() -> None:
    """Most changed bytes of a configuration reach its sections."""
    random, data, past = Random(1), readers.concrete()[0], 0
    for _ in range(200):
        changed = damage.repaired(data[:40] + random.randbytes(1) + data[41:])
        try:
            unpack(concrete_file.KIND, changed)
            past += 1
        except PolyloomError as error:
            assert error.code != "PL0704"
    assert past


def test_other_values_are_other_files() -> None:
    random, data = Random(1), readers.symbolic()[0]
    assert len({damage.of_values(data, random) for _ in range(60)}) > 30
