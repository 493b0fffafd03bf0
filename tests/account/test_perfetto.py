# SPDX-License-Identifier: Apache-2.0
"""Perfetto's packets, read back by a reader of protocol buffers that shares nothing with the writer."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from polyloom.report import perfetto
from polyloom.targets.trace import Arrow, Instant, Span, Trace

Message = dict[int, list[int | bytes]]
_TRACE = Trace(
    (
        Span("element (0, 0)", "mul", "mul = 0x40000000", 3, 2, (("iteration", "i=0 j=-1"), ("value", "2.0"))),
        Span("element (0, 0)", "mul", "mul = 0x40400000", 4, 2, (("iteration", "i=1 j=-1"), ("value", "3.0"))),
        Span("element (0, 0)", "add", "add = 0x00000005", 5, 1, (("source", "k.py:3"), ("value", "5"))),
    ),
    (Instant("element (0, 0)", "add", "barrier", 9),),
    (Arrow("p", ("element (0, 0)", "mul"), 3, ("element (0, 0)", "add"), 5),),
)


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def message(data: bytes) -> Message:
    """Fields by number (the wire types 0, 1 and 2)."""
    found, at = Message(), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
            found.setdefault(key >> 3, []).append(value)
        else:
            size, at = (8, at) if key & 7 == 1 else varint(data, at)
            found.setdefault(key >> 3, []).append(data[at : at + size])
            at += size
    return found


def part(of: Message, key: int, n: int = 0) -> Message:
    content = of[key][n]
    assert isinstance(content, bytes)
    return message(content)


def packets(data: bytes) -> Iterator[Message]:
    for packet in message(data)[1]:
        assert isinstance(packet, bytes)
        (packed,) = message(packet)[50]
        assert isinstance(packed, bytes)
        inner = message(zlib.decompress(packed))
        yield from (part(inner, 1, n) for n in range(len(inner[1])))


def test_tracks_names_times_and_flows_come_back() -> None:
    tracks, names, clock = dict[int, str](), dict[tuple[int, int], str](), dict[int, int]()
    seen = list[tuple[str, int, int, str]]()
    flows = list[tuple[int, list[int | bytes], list[int | bytes]]]()
    for packet in packets(perfetto.encode(_TRACE)):
        (sequence,) = packet[10]
        assert isinstance(sequence, int)
        if 60 in packet:
            described = part(packet, 60)
            number, text = described[1][0], described[2][0]
            assert isinstance(number, int) and isinstance(text, bytes)
            tracks[number] = text.decode()
            continue
        if 6 in packet:
            clock[sequence] = 0
            assert part(part(packet, 59), 11)[11] == [sequence], "the default track of the sequence"
            continue
        if 12 in packet:
            for n in range(len(part(packet, 12).get(2, []))):
                name = part(part(packet, 12), 2, n)
                number, text = name[1][0], name[2][0]
                assert isinstance(number, int) and isinstance(text, bytes)
                names[sequence, number] = text.decode()
        since = packet[8][0]
        assert isinstance(since, int)
        clock[sequence] += since
        event = part(packet, 11)
        kind, iid = event[9][0], event.get(10, [0])[0]
        assert isinstance(kind, int) and isinstance(iid, int)
        seen.append((tracks[sequence], clock[sequence], kind, names.get((sequence, iid), "")))
        flows.append((clock[sequence], event.get(47, []), event.get(48, [])))
    assert seen == [
        ("mul 1", 3, 1, "mul"),
        ("mul 1", 5, 2, ""),
        ("mul 2", 4, 1, "mul"),
        ("mul 2", 6, 2, ""),
        ("add", 5, 1, "add"),
        ("add", 6, 2, ""),
        ("add", 9, 3, "barrier"),
    ]
    one = (1).to_bytes(8, "little")
    assert [(at, a, b) for at, a, b in flows if a or b] == [(3, [one], []), (5, [], [one])]
    assert "element (0, 0)" in tracks.values()
