# SPDX-License-Identifier: Apache-2.0
"""Trace file in Perfetto's own format: packets of protocol buffers with interned strings, compressed in blocks.

Each group is a track, each lane one below it; a cycle is a microsecond, as in the JSON. A string of a track is written
once, where it is first used, and referred to by number. Sources of field numbers: trace_packet.proto,
track_event.proto, track_descriptor.proto, interned_data.proto, debug_annotation.proto and clock_snapshot.proto of
Perfetto; and the encoding of protocol buffers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from struct import pack
from typing import Final

from polyloom.binary import leb128
from polyloom.targets.trace import Instant, Span, Trace, assign_sub_lanes

_CYCLE: Final = 1000
"""Nanoseconds of a cycle."""
_BOOT, _CLOCK = 6, 64
"""Clocks: that of the trace, and one of the sequence (clock_snapshot.proto)."""
_BEGIN, _END, _INSTANT = 1, 2, 3
_CLEARED, _NEEDS = 1, 2
"""Flags of a sequence: interned strings are forgotten, and are needed."""
_BLOCK: Final = 1 << 20
"""Bytes of packets that are compressed together."""
_VARINT, _FIXED64, _BYTES = 0, 1, 2
_VALUE: Final = "value"
"""Argument that differs from event to event, which is no interned string."""
_ITERATION: Final = "iteration"
_INDEX: Final = re.compile(r"(\w+)=(-?\d+)")


def _number(key: int, value: int) -> bytes:
    return leb128(key << 3 | _VARINT) + leb128(value)


def _fixed_number(key: int, value: int) -> bytes:
    return leb128(key << 3 | _FIXED64) + value.to_bytes(8, "little")


def _part(key: int, content: bytes) -> bytes:
    return leb128(key << 3 | _BYTES) + leb128(len(content)) + content


def _text(key: int, content: str) -> bytes:
    return _part(key, content.encode("utf-8", "replace"))


@dataclass(slots=True)
class _StringTable:
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
class _Sequence:
    """Packets of one track, with a clock and interned strings of their own: neighbours are then almost equal. Mutable:
    strings are numbered as they are met, times count from the packet before.
    """

    track: int
    names: _StringTable = field(default_factory=lambda: _StringTable(2))
    keys: _StringTable = field(default_factory=lambda: _StringTable(3))
    values: _StringTable = field(default_factory=lambda: _StringTable(29))
    now: int = 0

    def open(self) -> bytes:
        """First packet: an incremental clock whose unit is a cycle, beside the clock of the trace, from 0 on, and what
        the packets behind it need not say."""
        own = _number(1, _CLOCK) + _number(2, 0) + _number(3, 1) + _number(4, _CYCLE)
        clocks = _part(1, _number(1, _BOOT) + _number(2, 0)) + _part(1, own)
        defaults = _number(58, _CLOCK) + _part(11, _number(11, self.track))
        return self._packet(_part(6, clocks) + _part(59, defaults), _CLEARED | _NEEDS)

    def event(self, kind: int, at: int, content: bytes = b"") -> bytes:
        """Packet of an event, with the strings that are new in it."""
        fresh = b"".join(part for each in (self.names, self.keys, self.values) for part in each.fresh)
        for each in (self.names, self.keys, self.values):
            each.fresh.clear()
        since, self.now = at - self.now, at
        event = _part(11, _number(9, kind) + content)
        return self._packet(_number(8, since) + event + (_part(12, fresh) if fresh else b""), _NEEDS)

    def _packet(self, content: bytes, flags: int) -> bytes:
        return _part(1, _number(10, self.track) + _number(13, flags) + content)

    def _note(self, key: str, value: bytes) -> bytes:
        return _part(4, _number(1, self.keys.number(key)) + value)

    def event_content(self, name: str, arguments: Sequence[tuple[str, str]]) -> bytes:
        """Name and annotations of an event, by their numbers: values as numbers, iterations index by index. The bits of
        a result behind a name are left out where its value says the same.
        """
        told = dict(arguments)
        value = _value(told.pop(_VALUE, ""))
        short = name.split(" = ")[0] if value else name
        notes = [self._note(_VALUE, value)] if value else []
        for key, text in told.items():
            indices = _INDEX.findall(text) if key == _ITERATION else []
            notes += [self._note(index, _integer(int(number))) for index, number in indices]
            notes += [] if indices else [self._note(key, _number(17, self.values.number(text)))]
        return _number(10, self.names.number(short)) + b"".join(notes)


def _integer(number: int) -> bytes:
    return _number(4, number & (1 << 64) - 1)


def _value(text: str) -> bytes:
    """Value of an annotation: a number in as few bytes as it takes, any other text as it is."""
    if not text:
        return b""
    try:
        return _integer(int(text))
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return _text(6, text)
    # NaN has bits that its text does not tell; infinities and zeros are numbers like others.
    return _text(6, text) if number != number else leb128(5 << 3 | _FIXED64) + pack("<d", number)


def encode(trace: Trace) -> bytes:
    """The whole file."""
    return b"".join(_compress(_packets(trace)))


def _packets(trace: Trace) -> Iterator[bytes]:
    spans = assign_sub_lanes(trace.spans)
    deep = dict[tuple[str, str], int]()
    for span, number in spans:
        deep[span.group, span.lane] = max(deep.get((span.group, span.lane), 0), number)
    by_track = dict[tuple[str, str], list[tuple[int, int, Span | Instant]]]()
    for span, number in spans:
        lane = f"{span.lane} {number}" if deep[span.group, span.lane] > 1 else span.lane
        own = by_track.setdefault((span.group, lane), [])
        # What ends comes before what begins: spans of a track follow each other without a gap.
        own += [(span.start, 1, span), (span.start + max(span.cycles, 1), 0, span)]
    for each in trace.instants:
        by_track.setdefault((each.group, each.lane), []).append((each.at, 1, each))
    flows = _flows(trace)
    groups = dict[str, int]()
    for number, ((group, lane), events) in enumerate(by_track.items(), 1):
        if group not in groups:
            groups[group] = len(by_track) + len(groups) + 1
            yield _describe(groups[group], group)
        yield _describe(number, lane, groups[group])
        yield from _track(_Sequence(number), sorted(events, key=lambda event: event[:2]), flows)


def _describe(track: int, name: str, parent: int = 0) -> bytes:
    """Packet that names a track, and the one above it."""
    above = _number(5, parent) if parent else b""
    return _part(1, _number(10, track) + _part(60, _number(1, track) + _text(2, name) + above))


def _track(
    sequence: _Sequence, events: Iterable[tuple[int, int, Span | Instant]], flows: tuple[Ends, Ends]
) -> Iterator[bytes]:
    leaving, arriving = flows
    yield sequence.open()
    for at, begins, each in events:
        if not begins:
            yield sequence.event(_END, at)
            continue
        content = sequence.event_content(each.name, each.arguments)
        if isinstance(each, Instant):
            yield sequence.event(_INSTANT, at, content)
            continue
        place = each.group, each.lane, each.start
        ends = b"".join(_fixed_number(47, n) for n in leaving.get(place, ()))
        ends += b"".join(_fixed_number(48, n) for n in arriving.get(place, ()))
        yield sequence.event(_BEGIN, at, content + ends)


Ends = dict[tuple[str, str, int], list[int]]


def _flows(trace: Trace) -> tuple[Ends, Ends]:
    """Flows by the span that they leave and the one at which they end. A number is taken again once its flow has ended,
    the lowest first: in a loop the same numbers come back, which leaves little to write.
    """
    leaving, arriving = Ends(), Ends()
    under_way, free, most, now = list[tuple[int, int]](), list[int](), 0, -1
    for arrow in sorted(trace.arrows, key=lambda a: (a.start, a.source, a.end, a.target)):
        if arrow.start > now:
            now = arrow.start
            # Not in the cycle in which a flow ends: events of one cycle have no order.
            while under_way and under_way[0][0] < now:
                heappush(free, heappop(under_way)[1])
        if free:
            number = heappop(free)
        else:
            number = most = most + 1
        heappush(under_way, (arrow.end, number))
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
