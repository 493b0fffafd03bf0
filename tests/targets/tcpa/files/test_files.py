# SPDX-License-Identifier: Apache-2.0
"""Both configurations as files: round trips, and what every kind of damage is answered with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from struct import iter_unpack
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.targets.tcpa.files.generated import concretes, instructions, symbolics
from tests.targets.tcpa.files.paper import CONCRETE, SYMBOLIC

from polyloom.binary import CHECKED, cache_decoder, fletcher64
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.words import concrete_file, encoding, symbolic_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.isa import Instruction
from polyloom.targets.tcpa.words.symbolic import Symbolic

FILES: dict[str, tuple[Callable[[bytes], Any], bytes]] = {
    "symbolic": (symbolic_file.decode, symbolic_file.encode(SYMBOLIC)),
    "concrete": (concrete_file.decode, concrete_file.encode(CONCRETE)),
}
both = pytest.mark.parametrize("kind", FILES)


def repaired(data: bytes) -> bytes:
    """`data` with a checksum and a hash of the names that match; the section table says where these begin."""
    ends = [end for (end,) in iter_unpack("<I", data[32 : 32 + 4 * _sections(data)])]
    begin, end = (n + -n % 4 for n in ends[-2:])
    data = (
        data[:24] + fletcher64(data[begin:end]).to_bytes(8, "little") + data[32:] if begin <= end <= len(data) else data
    )
    return data[:8] + fletcher64(data[CHECKED:]).to_bytes(8, "little") + data[CHECKED:]


def _sections(data: bytes) -> int:
    return symbolic_file.KIND.sections if data.startswith(b"PLSC") else concrete_file.KIND.sections


def code_of(decode: Callable[[bytes], Any], data: bytes) -> str | None:
    """The code that `data` is refused with, None if it is accepted."""
    try:
        decode(data)
    except PolyloomError as error:
        assert error.exit_code == 1
        return error.diagnostics[0].code
    return None


@given(st.lists(st.integers(0, 2**32 - 1) | st.sampled_from((0, 2**32 - 1))))
def test_checksum(words: list[int]) -> None:
    """The native function against the definition."""
    first = second = 0
    for word in words:
        first += word
        second += first
    data = b"".join(word.to_bytes(4, "little") for word in words)
    assert fletcher64(data) == second % (2**32 - 1) << 32 | first % (2**32 - 1)
    with pytest.raises(ValueError, match="words"):
        fletcher64(data + b"1")


def test_what_is_remembered_was_checked() -> None:
    """Small files are decoded once; one that is refused is refused each time, and large ones are not kept."""
    seen: list[bytes] = []

    def decode(data: bytes) -> int:
        seen.append(data)
        if data.startswith(b"bad"):
            raise ValueError(data)
        return len(data)

    again = cache_decoder(decode)
    assert [again(b"good"), again(bytes([*b"good"]))] == [4, 4] and len(seen) == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            again(b"bad")
    large = bytes(1 << 17)
    assert again(large) == again(large) == len(large) and seen == [b"good", b"bad", b"bad", large, large]


@given(instructions())
def test_instructions_come_back(instruction: Instruction) -> None:
    assert encoding.decode(encoding.encode(instruction)) == instruction


@settings(max_examples=20)
@given(symbolics())
def test_symbolic_configurations_come_back(symbolic: Symbolic) -> None:
    data = symbolic_file.encode(symbolic)
    assert len(data) % 4 == 0
    assert symbolic_file.decode(data) == symbolic


@settings(max_examples=20)
@given(concretes())
def test_concrete_configurations_come_back(concrete: Concrete) -> None:
    data = concrete_file.encode(concrete)
    assert len(data) % 4 == 0
    assert concrete_file.decode(data) == concrete


@both
def test_files_are_laid_out_as_documented(kind: str, golden: Golden) -> None:
    """A change of this golden is a change of the format: docs/formats.md and the version number change with it."""
    data = FILES[kind][1]
    golden(f"{kind}_bytes", "\n".join(f"{n:4}: {data[n : n + 16].hex(' ', 4)}" for n in range(0, len(data), 16)))


@both
def test_a_prefix_is_truncated(kind: str) -> None:
    decode, data = FILES[kind]
    assert {code_of(decode, data[:n]) for n in range(len(data))} == {"PL0702"}


@both
def test_every_changed_bit_is_noticed(kind: str) -> None:
    decode, data = FILES[kind]
    for n in range(8 * len(data)):
        changed = bytearray(data)
        changed[n >> 3] ^= 1 << (n & 7)
        assert code_of(decode, bytes(changed)) is not None, f"bit {n & 7} of byte {n >> 3}"


@both
def test_other_versions_kinds_and_longer_files_are_refused(kind: str) -> None:
    decode, data = FILES[kind]
    other = next(FILES[k][1] for k in FILES if k != kind)
    assert code_of(decode, other) == "PL0701"
    assert code_of(decode, b"\x7fELF" + data[4:]) == "PL0701"
    version = int.from_bytes(data[4:8], "little")
    assert {
        code_of(decode, data[:4] + n.to_bytes(4, "little") + data[8:]) for n in (*range(1, version), version + 1, 99)
    } == {"PL0703"}
    assert code_of(decode, data[:4] + bytes(4) + data[8:]) == "PL0705"
    assert code_of(decode, repaired(data + bytes(4))) == "PL0705"
    assert code_of(decode, data[:-1] + b"\x01") == "PL0704"


@both
def test_names_are_protected_by_their_own_hash(kind: str) -> None:
    decode, data = FILES[kind]
    renamed = data.replace(b"bits", b"bats")
    only_checksum = renamed[:8] + fletcher64(renamed[CHECKED:]).to_bytes(8, "little") + renamed[CHECKED:]
    assert code_of(decode, only_checksum) == "PL0704"
    assert code_of(decode, repaired(renamed)) is None


@both
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_bytes_whatsoever_raise_anything_else(kind: str, seed: int) -> None:
    """Random damage with both sums repaired is refused as malformed, or is another file that is canonical."""
    decode, data = FILES[kind]
    random = Random(seed)
    for _ in range(20):
        changed = bytearray(data)
        for _ in range(random.choice((1, 1, 2, 5))):
            changed[random.randrange(CHECKED, len(data))] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
        assert code_of(decode, repaired(bytes(changed))) in (None, "PL0702", "PL0704", "PL0705")


@given(st.binary(max_size=200), st.sampled_from([b"", b"PLSC\1\0\0\0", b"PLCC\1\0\0\0"]), st.sampled_from(list(FILES)))
def test_arbitrary_bytes_are_refused(tail: bytes, head: bytes, kind: str) -> None:
    assert code_of(FILES[kind][0], head + tail) is not None


def test_a_value_that_does_not_fit_is_refused_by_name() -> None:
    (first, *rest) = CONCRETE.generators
    with pytest.raises(
        PolyloomError, match=r"a base address is 2147483648, but the file format holds -2147483648 to 2147483647"
    ) as error:
        concrete_file.encode(replace(CONCRETE, generators=(replace(first, base=2**31), *rest)))
    assert error.value.exit_code == 3


def test_the_names_are_not_counted() -> None:
    longer = replace(SYMBOLIC, kernel="a much longer name", node_names=("first", "second", "third", "fourth"))
    assert symbolic_file.size_without_names(symbolic_file.encode(longer)) == symbolic_file.size_without_names(
        FILES["symbolic"][1]
    )
    assert concrete_file.size_without_names(FILES["concrete"][1]) == len(FILES["concrete"][1]) - 24


@given(st.binary(max_size=80).map(lambda b: b * 4096), st.integers(0, 3))
@settings(max_examples=20)
def test_the_checksum_is_fletchers(block: bytes, more: int) -> None:
    """Word by word, beyond the blocks that are summed at once."""
    data = block[: len(block) // 4 * 4] + b"\xff" * 4 * more
    low = high = 0
    for at in range(0, len(data), 4):
        low = (low + int.from_bytes(data[at : at + 4], "little")) % 0xFFFFFFFF
        high = (high + low) % 0xFFFFFFFF
    assert fletcher64(data) == high << 32 | low
