# SPDX-License-Identifier: Apache-2.0
"""Trace file in Perfetto's own format: packets of protocol buffers with interned strings, compressed in blocks.

Each group is a track, each lane one below it; a cycle is a microsecond, as in the JSON. A string is written once, where
it is first used, and referred to by number. Sources: protos/perfetto/trace/trace_packet.proto, track_event.proto,
track_descriptor.proto, interned_data.proto and debug_annotation.proto of Perfetto (field numbers), and the encoding of
protocol buffers.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from polyloom.targets.trace import Instant, Span, Trace, assign_sub_lanes

_CYCLE: Final = 1000
"""Nanoseconds of a cycle."""
_SEQUENCE: Final = 1
_BEGIN, _END, _INSTANT = 1, 2, 3
_CLEARED, _NEEDS = 1, 2
"""Flags of a sequence: interned strings are forgotten, and are needed."""
_BLOCK: Final = 1 << 20
"""Bytes of packets that are compressed together."""
_VARINT, _FIXED64, _BYTES = 0, 1, 2


def _varint(number: int) -> bytes:
    """Base 128, the low digits first; the top bit of a byte says that there are more."""
    if number < 128:
        return bytes((number,))
    made = bytearray()
    while number >= 128:
        made.append(number & 127 | 128)
        number >>= 7
    made.append(number)
    return bytes(made)


def _number(key: int, value: int) -> bytes:
    return _varint(key << 3 | _VARINT) + _varint(value)


def _fixed(key: int, value: int) -> bytes:
    return _varint(key << 3 | _FIXED64) + value.to_bytes(8, "little")


def _part(key: int, content: bytes) -> bytes:
    return _varint(key << 3 | _BYTES) + _varint(len(content)) + content


def _text(key: int, content: str) -> bytes:
    return _part(key, content.encode("utf-8", "replace"))


@dataclass(slots=True)
class _Interned:
    """Interned strings of one kind, numbered from 1. Mutable: strings are numbered as they are met."""

    key: int
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    fresh: list[bytes] = field(default_factory=list[bytes])

    def number(self, content: str) -> int:
        found = self.numbers.get(content)
        if found is None:
            found = self.numbers[content] = len(self.numbers) + 1
            self.fresh.append(_part(self.key, _number(1, found) + _text(2, content)))
        return found


@dataclass(slots=True)
class _Writer:
    """Packets of a trace. Mutable: tracks and strings are numbered as they are met."""

    names: _Interned = field(default_factory=lambda: _Interned(2))
    keys: _Interned = field(default_factory=lambda: _Interned(3))
    values: _Interned = field(default_factory=lambda: _Interned(29))
    tracks: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    described: list[bytes] = field(default_factory=list[bytes])

    def track(self, group: str, lane: str = "") -> int:
        """Number of a lane's track, or of its group's; both are described before they are used."""
        found = self.tracks.get((group, lane))
        if found is not None:
            return found
        parent = self.track(group) if lane else 0
        found = self.tracks[group, lane] = len(self.tracks) + 1
        above = _number(5, parent) if parent else b""
        self.described.append(_packet(_part(60, _number(1, found) + _text(2, lane or group) + above)))
        return found

    def event(self, kind: int, at: int, track: int, content: bytes = b"") -> bytes:
        """Packet of an event, with the strings that are new in it, behind descriptions of new tracks."""
        fresh = b"".join(part for each in (self.names, self.keys, self.values) for part in each.fresh)
        for each in (self.names, self.keys, self.values):
            each.fresh.clear()
        event = _part(11, _number(9, kind) + _number(11, track) + content)
        before = b"".join(self.described)
        self.described.clear()
        return before + _packet(_number(8, at * _CYCLE) + event + (_part(12, fresh) if fresh else b""))

    def told(self, name: str, arguments: Sequence[tuple[str, str]]) -> bytes:
        """Name and annotations of an event, by their numbers."""
        notes = (_part(4, _number(1, self.keys.number(k)) + _number(17, self.values.number(v))) for k, v in arguments)
        return _number(10, self.names.number(name)) + b"".join(notes)


def _packet(content: bytes, flags: int = _NEEDS) -> bytes:
    return _part(1, _number(10, _SEQUENCE) + _number(13, flags) + content)


def encode(trace: Trace) -> bytes:
    """The whole file."""
    return b"".join(_compress(_packets(trace)))


def _packets(trace: Trace) -> Iterator[bytes]:
    writer = _Writer()
    yield _packet(b"", _CLEARED | _NEEDS)
    spans = assign_sub_lanes(trace.spans)
    deep = dict[tuple[str, str], int]()
    for span, number in spans:
        deep[span.group, span.lane] = max(deep.get((span.group, span.lane), 0), number)
    leaving, arriving = _flows(trace)
    events = list[tuple[int, int, int, Span | Instant]]()
    for span, number in spans:
        lane = f"{span.lane} {number}" if deep[span.group, span.lane] > 1 else span.lane
        track = writer.track(span.group, lane)
        events.append((span.start, 1, track, span))
        events.append((span.start + max(span.cycles, 1), 0, track, span))
    events += [(each.at, 1, writer.track(each.group, each.lane), each) for each in trace.instants]
    # What ends comes before what begins: spans of a track follow each other without a gap.
    for at, begins, track, each in sorted(events, key=lambda event: event[:3]):
        if not begins:
            yield writer.event(_END, at, track)
            continue
        content = writer.told(each.name, each.arguments)
        if isinstance(each, Instant):
            yield writer.event(_INSTANT, at, track, content)
            continue
        place = each.group, each.lane, each.start
        flows = b"".join(_fixed(47, n) for n in leaving.get(place, ()))
        flows += b"".join(_fixed(48, n) for n in arriving.get(place, ()))
        yield writer.event(_BEGIN, at, track, content + flows)


Ends = dict[tuple[str, str, int], list[int]]


def _flows(trace: Trace) -> tuple[Ends, Ends]:
    """Flows by the span that they leave and the one at which they end, numbered from 1."""
    leaving, arriving = Ends(), Ends()
    for number, arrow in enumerate(trace.arrows, 1):
        leaving.setdefault((*arrow.source, arrow.start), []).append(number)
        arriving.setdefault((*arrow.target, arrow.end), []).append(number)
    return leaving, arriving


def _compress(packets: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks of packets, each deflated in one packet (`compressed_packets`): events repeat what is around them."""
    block, size = list[bytes](), 0
    for packet in packets:
        block.append(packet)
        size += len(packet)
        if size >= _BLOCK:
            yield _part(1, _part(50, zlib.compress(b"".join(block), 6)))
            block, size = [], 0
    if block:
        yield _part(1, _part(50, zlib.compress(b"".join(block), 6)))
