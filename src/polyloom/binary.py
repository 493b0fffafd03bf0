# SPDX-License-Identifier: Apache-2.0
"""Binary file codec: one description of a layout that both writes and reads it, and the container that all files share
(docs/formats.md, Container).

A `Codec` is a pair of inverse functions; records, lists and pools are built from smaller codecs, so no file has a
writer and a reader that could drift apart. Integers are little-endian of fixed width, or LEB128 (`natural`; `integer`
after zigzag). The container (docs/formats.md) is a header with a word-wise Fletcher-64 checksum, a table of sections,
and the sections; the last section holds names, which nothing but people needs. Every fault of a file is a
`PolyloomError` that says where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import iter_unpack
from typing import Any, Generic, TypeVar

from polyloom import files
from polyloom._native.instantiate import fletcher64 as _fletcher64
from polyloom._native.instantiate import pack as _pack
from polyloom.diagnostics import PolyloomError, infeasible, input_error

T = TypeVar("T")
CHECKED = 16
"""The checksum covers everything from this byte on."""
_FIXED = 32
"""Bytes of the header before the section table."""
# So that every number also fits a signed integer of 64 bits.
_NATURAL_BITS = 63
_KEPT = 64
_SMALL = 1 << 16
"""Files, and bytes of one, that `cache_decoder` keeps."""


def fletcher64(data: bytes) -> int:
    """Fletcher's checksum (Fletcher 1982) of the 32-bit little-endian words of `data`, sums modulo 2**32 - 1, the
    second one in the upper half.

    `len(data)` must be a multiple of 4.
    """
    return _fletcher64(data)


def cache_decoder(decode: Callable[[bytes], T], kept: int = _KEPT, small: int = _SMALL) -> Callable[[bytes], T]:
    """Decoder that keeps what it made of the `kept` files of at most `small` bytes that it was given last: bytes never
    change, and neither may the values.

    A file is checked when it is first decoded; one that is refused is not kept.
    """
    # `lru_cache` keeps no call that raised: a file that was refused is checked again.
    known = lru_cache(kept)(decode)

    def decode_cached(data: bytes) -> T:
        # Files are kept whole, as keys: large ones would hold their memory.
        return known(data) if len(data) <= small else decode(data)

    return decode_cached


def format_error(offset: int, message: str) -> PolyloomError:
    """Error PL0705: the file is whole but breaks its format at byte `offset`."""
    return input_error(
        "PL0705", f"malformed file: byte {offset}: {message}", help="create the file again with this version"
    )


@dataclass(slots=True)
class Reader:
    """Cursor over bytes [position, end) of a file."""

    data: bytes
    position: int
    end: int

    def take(self, size: int) -> bytes:
        """Next bytes; PL0705 where the section ends before."""
        if size > self.end - self.position:
            raise format_error(
                self.position, f"{size} bytes are needed, but the section ends after {self.end - self.position}"
            )
        self.position += size
        return self.data[self.position - size : self.position]


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """Codec: `read` returns what `write` appended; it raises `PolyloomError` (PL0705) on anything that `write` cannot
    have written."""

    write: Callable[[bytearray, T], None]
    read: Callable[[Reader], T]


def fixed_integer(size: int, what: str, *, signed: bool = False, limit: int | None = None) -> Codec[int]:
    """Integer of `size` bytes, below `limit` if given; `what` names it in errors."""
    low = -1 << (8 * size - 1) if signed else 0
    high = min(low + (1 << 8 * size), limit if limit is not None else 1 << 64)

    def write(out: bytearray, value: int) -> None:
        out.extend(_require_range(value, low, high, what).to_bytes(size, "little", signed=signed))

    def read(reader: Reader) -> int:
        at = reader.position
        return _require_limit(int.from_bytes(reader.take(size), "little", signed=signed), high, at, what)

    return Codec(write, read)


def leb128(value: int) -> bytes:
    """Natural number in LEB128 (DWARF 4, 2010, section 7.6), which is also the varint of protocol buffers: seven bits
    per byte, low ones first, bit 7 says that more follow."""
    # Most numbers of files and traces are one byte, and there are millions.
    if value < 128:
        return bytes((value,))
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)


def natural(what: str, limit: int = 1 << _NATURAL_BITS) -> Codec[int]:
    """Natural number 0 <= value < limit in LEB128."""

    def write(out: bytearray, value: int) -> None:
        out += leb128(value if 0 <= value < limit else _require_range(value, 0, limit, what))

    def read(reader: Reader) -> int:
        at, value = reader.position, 0
        # At most as many bytes as the limit needs: an endless row of continuation bits is refused.
        for shift in range(0, max((limit - 1).bit_length(), 1), 7):
            (byte,) = reader.take(1)
            value |= (byte & 127) << shift
            if byte < 128:
                return _require_limit(value, limit, at, what)
        raise format_error(at, f"{what} is too large, it must be below {limit}")

    return Codec(write, read)


def integer(what: str) -> Codec[int]:
    """Signed number in LEB128 as the natural 2v or, below zero, -2v - 1 (zigzag), so that small magnitudes are
    short."""
    return map_codec(
        natural(what), lambda v: 2 * v if v >= 0 else -2 * v - 1, lambda n: n >> 1 if n % 2 == 0 else -(n >> 1) - 1
    )


def mask(what: str, count: int) -> Codec[tuple[int, ...]]:
    """Bit set: ascending numbers below `count` as the natural with these bits set; writing sorts them."""

    def bits(numbers: tuple[int, ...]) -> int:
        value = 0
        for n in numbers:
            value |= 1 << n
        return value

    return map_codec(natural(what, 1 << count), bits, lambda value: tuple(n for n in range(count) if value >> n & 1))


def sparse(what: str, count: int) -> Codec[tuple[int, ...]]:
    """Sparse vector: `count` integers as the mask of those that are not 0, then these."""
    places, entry = mask(what, count), integer(what)

    def write(out: bytearray, value: tuple[int, ...]) -> None:
        nonzero = tuple(n for n, v in zip(range(count), value, strict=True) if v)
        places.write(out, nonzero)
        for n in nonzero:
            entry.write(out, value[n])

    def read(reader: Reader) -> tuple[int, ...]:
        entries = {n: entry.read(reader) for n in places.read(reader)}
        return tuple(entries.get(n, 0) for n in range(count))

    return Codec(write, read)


def _require_range(value: int, low: int, high: int, what: str) -> int:
    """Value in the range of a field; PL0706 (exit 3) for one that the format does not hold."""
    if low <= value < high:
        return value
    raise infeasible(
        "PL0706",
        f"{what} is {value}, but the file format holds {low} to {high - 1}",
        help="use smaller loop bounds or a smaller region",
    )


def _require_limit(value: int, high: int, offset: int, what: str) -> int:
    if value >= high:
        raise format_error(offset, f"{what} is {value}, but must be below {high}")
    return value


def map_codec(codec: Codec[T], to: Callable[[Any], T], back: Callable[[T], Any]) -> Codec[Any]:
    """Codec of mapped values: store `to(value)`; `back` is its inverse."""
    return Codec(lambda out, value: codec.write(out, to(value)), lambda reader: back(codec.read(reader)))


def optional(what: str) -> Codec[int | None]:
    """Optional number: None as 0, a number v >= 0 as v + 1."""
    return map_codec(natural(what), lambda v: 0 if v is None else v + 1, lambda n: n - 1 if n else None)


def fixed_list(item: Codec[T], count: int) -> Codec[tuple[T, ...]]:
    """List of exactly `count` items; the count is known to both sides and not stored."""

    def write(out: bytearray, value: tuple[T, ...]) -> None:
        for v, _ in zip(value, range(count), strict=True):
            item.write(out, v)

    return Codec(write, lambda reader: tuple(item.read(reader) for _ in range(count)))


def counted_list(item: Codec[T], count: Codec[int]) -> Codec[tuple[T, ...]]:
    """List with its length: the number of items, then the items, of at least one byte each."""

    def write(out: bytearray, value: tuple[T, ...]) -> None:
        count.write(out, len(value))
        fixed_list(item, len(value)).write(out, value)

    def read(reader: Reader) -> tuple[T, ...]:
        at, number = reader.position, count.read(reader)
        # Before the list is made: a count of millions in a short file must not take memory.
        if number > reader.end - reader.position:
            raise format_error(
                at, f"{number} items are announced, but the section ends after {reader.end - reader.position} bytes"
            )
        return fixed_list(item, number).read(reader)

    return Codec(write, read)


def record(make: Callable[..., T], /, **fields: Codec[Any]) -> Codec[T]:
    """Record: the attributes of a value, one after the other; `make` is called with them by name."""

    def write(out: bytearray, value: T) -> None:
        for name, codec in fields.items():
            codec.write(out, getattr(value, name))

    return Codec(write, lambda reader: make(**{name: codec.read(reader) for name, codec in fields.items()}))


def pool_reference(pool: list[T], what: str, index: Callable[[str, int], Codec[int]]) -> Codec[T]:
    """Reference into a pool: a value by its place in `pool`; writing appends a new value, reading needs the whole
    pool."""
    places: dict[T, int] = {}
    for place, value in enumerate(pool):
        # The first of equal values: a pool has each value once.
        places.setdefault(value, place)

    def write(out: bytearray, value: T) -> None:
        if value not in places:
            places[value] = len(pool)
            pool.append(value)
        index(what, len(pool)).write(out, places[value])

    return Codec(write, lambda reader: pool[index(what, len(pool)).read(reader)])


def _read_text(reader: Reader) -> str:
    """Text as UTF-8 behind its length in bytes; PL0705."""
    length = natural("length of a name").read(reader)
    at = reader.position
    try:
        return reader.take(length).decode()
    except UnicodeDecodeError as error:
        raise format_error(at, "a name is not UTF-8 text") from error


def _write_text(out: bytearray, value: str) -> None:
    encoded = value.encode()
    natural("length of a name").write(out, len(encoded))
    out.extend(encoded)


text: Codec[str] = Codec(_write_text, _read_text)


def _read_source_name(reader: Reader) -> str:
    name = _read_text(reader)
    if not files.is_recorded_name(name):
        raise PolyloomError(files.stray_name_diagnostic(name))
    return name


source_name: Codec[str] = Codec(_write_text, _read_source_name)
"""The name of a source, as `files.recorded_name` makes it. Errors: PL0707 for one that leads elsewhere."""


def section(codec: Codec[T], value: T) -> bytes:
    """Bytes that `codec` writes for `value`."""
    out = bytearray()
    codec.write(out, value)
    return bytes(out)


@dataclass(frozen=True, slots=True)
class FileKind:
    """Kind of file: its first four bytes, its name in messages, its version, its number of sections."""

    magic: bytes
    name: str
    version: int
    sections: int


def pack(kind: FileKind, stamp: int, sections: Sequence[bytes]) -> bytes:
    """Container of these sections, names last; `stamp` is a 64-bit value of the header (the machine's hash)."""
    start = _FIXED + 4 * kind.sections
    for content in sections:
        # Ends of sections are 32-bit numbers in the table.
        start = _require_range(start + len(content), 0, 1 << 32, "length of the file")
        start += -start % 4
    return _pack(kind.magic, kind.version, stamp, sections)


def unpack(kind: FileKind, data: bytes) -> tuple[int, tuple[Reader, ...]]:
    """Stamp of a container and one reader per section. Errors: PL0701 another kind, PL0702 truncated, PL0703 another
    version, PL0704 altered, PL0705."""
    # A file shorter than its magic is truncated, not of another kind.
    if data[:4] != kind.magic[: len(data)]:
        raise input_error(
            "PL0701",
            f"not a {kind.name}: the file begins with {data[:4]!r}, not {kind.magic!r}",
            help=f"give a {kind.name} file",
        )
    header = _FIXED + 4 * kind.sections
    if len(data) < header:
        raise _truncation_error(kind, len(data), f"its header alone has {header}")
    version = int.from_bytes(data[4:8], "little")
    # Before the checksum: another version may compute it otherwise. Version 0 was never written, so it is damage.
    if version not in (0, kind.version):
        raise input_error(
            "PL0703",
            f"this {kind.name} has format version {version}; this program reads version {kind.version}",
            help="create the file again with this version"
            if version < kind.version
            else "update polyloom, or create the file again with this version",
        )
    ends = [end for (end,) in iter_unpack("<I", data[_FIXED:header])]
    # Sections are aligned to 4 bytes, so that checksums count whole words.
    starts = [header, *(end + -end % 4 for end in ends)]
    if len(data) < starts[-1]:
        raise _truncation_error(kind, len(data), f"its section table asks for {starts[-1]}")
    _check_sums(kind, data, data[starts[-2] : starts[-1]])
    if (
        version != kind.version
        or len(data) != starts[-1]
        or any(end < start for start, end in zip(starts, ends, strict=False))
    ):
        raise format_error(4, "the version, the section table and the length of the file do not agree")
    readers = tuple(Reader(data, start, end) for start, end in zip(starts, ends, strict=False))
    return int.from_bytes(data[CHECKED : CHECKED + 8], "little"), readers


def _truncation_error(kind: FileKind, length: int, needs: str) -> PolyloomError:
    return input_error(
        "PL0702", f"this {kind.name} is truncated: it has {length} bytes, {needs}", help="copy or create the file again"
    )


def _check_sums(kind: FileKind, data: bytes, names: bytes) -> None:
    """Check both checksums; PL0704. Names have a sum of their own, so that the message can say that only they are
    wrong."""
    checked = data[CHECKED:]
    if len(checked) % 4 or fletcher64(checked) != int.from_bytes(data[8:CHECKED], "little"):
        raise input_error(
            "PL0704", f"this {kind.name} was altered: its checksum does not match", help="copy or create the file again"
        )
    if len(names) % 4 or fletcher64(names) != int.from_bytes(data[CHECKED + 8 : _FIXED], "little"):
        raise input_error(
            "PL0704",
            f"a name in this {kind.name} was altered: the hash of its names does not match",
            help="create the file again",
        )


def check_canonical(data: bytes, again: bytes) -> None:
    """Raise PL0705 unless `again`, the encoding of what was decoded, is `data`."""
    if again != data:
        offset = next(
            # The checksum before it differs in any case: the first byte behind it is where the cause lies.
            (n for n, (a, b) in enumerate(zip(data, again, strict=False)) if n >= CHECKED and a != b),
            min(len(data), len(again)),
        )
        raise format_error(offset, "not written in the one way that the format allows")


def size_without_names(data: bytes, kind: FileKind) -> int:
    """Size of a file in bytes, before its names section."""
    return unpack(kind, data)[1][-1].position
