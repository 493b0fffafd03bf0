# SPDX-License-Identifier: Apache-2.0
"""File format of concrete configurations (`.plcc`; docs/formats.md): the words that the array is loaded with.

Fields have the fixed width of the hardware word that they fill. A processor class, a wrapper configuration and a set of
iterations are stored once and referred to by number; the sets of the control signals come first among those, in order
of use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from struct import Struct

import numpy as np

from polyloom import binary, memory
from polyloom.binary import (
    Codec,
    FileKind,
    Reader,
    counted_list,
    fixed_integer,
    fixed_list,
    map_codec,
    pool_reference,
    record,
    section,
    text,
)
from polyloom.targets.tcpa.words import encoding
from polyloom.targets.tcpa.words.concrete import (
    ArrayLayout,
    Concrete,
    Connection,
    Controller,
    ConvexSet,
    Domain,
    ElementProgram,
    Generator,
    HalfSpace,
    MadeOf,
    Place,
)
from polyloom.targets.tcpa.words.sides import LOCATIONS, SIDES

KIND = FileKind(b"PLCC", "concrete configuration", version=5, sections=7)
_ELEMENT_BYTES = 64
"""What a configuration takes for an element once decoded, at most: numbers of class and wrapper, a few times."""
_HEADER = Struct(f"<16xQ8x{KIND.sections}I")
"""The hash of the machine, and where each section ends."""
# As many as the library for instantiation is built for at most (POLYLOOM_DIMENSIONS): digits are on its stack.
DIMENSIONS = 63
"""The most dimensions that a file holds."""


def u8(what: str, limit: int | None = None) -> Codec[int]:
    return fixed_integer(1, what, limit=limit)


def u16(what: str, limit: int | None = None) -> Codec[int]:
    return fixed_integer(2, what, limit=limit)


def u32(what: str, limit: int | None = None) -> Codec[int]:
    return fixed_integer(4, what, limit=limit)


def i32(what: str) -> Codec[int]:
    return fixed_integer(4, what, signed=True)


@dataclass(frozen=True, slots=True)
class _Head:
    initiation_interval: int
    rows: int
    columns: int
    extents: tuple[int, ...]


_head = record(
    _Head,
    initiation_interval=u32("the initiation interval"),
    rows=u16("rows"),
    columns=u16("columns"),
    extents=counted_list(u32("an extent of the tile"), u8("the number of dimensions", DIMENSIONS + 1)),
)


def _classes() -> Codec[tuple[ElementProgram, ...]]:
    """Codec of processor classes (docs/formats.md): programs by unit, then the depths of fd and id."""
    program = counted_list(encoding.instruction, u16("the number of instructions"))
    depths = counted_list(u32("a FIFO depth"), u8("the number of FIFOs"))
    element = record(
        ElementProgram,
        programs=counted_list(program, u8("the number of units")),
        feedback_depths=depths,
        input_depths=depths,
    )
    return counted_list(element, u16("the number of processor classes"))


def _port(what: str) -> Codec[tuple[int, int]]:
    """Location in bits 0 to 2, index above."""
    packed = u16(what)

    def write(out: bytearray, port: tuple[int, int]) -> None:
        packed.write(out, port[0] + 8 * port[1])

    def read(reader: Reader) -> tuple[int, int]:
        at, value = reader.position, packed.read(reader)
        if value % 8 >= len(LOCATIONS):
            raise binary.format_error(at, f"{what} is at location {value % 8}, but there are {len(LOCATIONS)}")
        return value % 8, value // 8

    return Codec(write, read)


def _wrappers() -> Codec[tuple[tuple[Connection, ...], ...]]:
    connection = record(Connection, sink=_port("a sink port"), source=_port("a source port"))
    return counted_list(counted_list(connection, u16("the number of connections")), u16("the number of wrappers"))


def _grid(what: str, limit: int, head: _Head) -> Codec[tuple[tuple[int, ...], ...]]:
    """Codec of a map over the region: numbers below `limit` row by row, each in one byte, or in two where one does not
    hold every such number; all at once, as there may be millions.
    """
    # Most regions have few classes; a byte per element halves the largest section.
    size = 1 if limit <= 256 else 2
    item = (u8 if size == 1 else u16)(what, limit)

    def write(out: bytearray, value: tuple[tuple[int, ...], ...]) -> None:
        words = np.array(value, np.int64).reshape(-1)
        # The slow path only finds the first faulty number, and raises its located error.
        if len(words) != head.rows * head.columns or words.min() < 0 or words.max() >= limit:
            fixed_list(fixed_list(item, head.columns), head.rows).write(out, value)
        out.extend(words.astype(f"<u{size}").tobytes())

    def read(reader: Reader) -> tuple[tuple[int, ...], ...]:
        at = reader.position
        words = np.frombuffer(reader.take(size * head.rows * head.columns), f"<u{size}").reshape(
            head.rows, head.columns
        )
        if words.max() >= limit:
            item.read(Reader(reader.data, at + size * int(np.argmax(words.reshape(-1) >= limit)), reader.end))
        return tuple(map(tuple, words.tolist()))

    return Codec(write, read)


def _domain(dimensions: int) -> Codec[Domain]:
    half_space = record(
        HalfSpace,
        coefficients=fixed_list(i32("a half-space's coefficient"), dimensions),
        constant=i32("a half-space's constant"),
    )
    bound = fixed_list(u32("a bound of a set"), dimensions)
    convex = record(
        ConvexSet, lower=bound, upper=bound, half_spaces=counted_list(half_space, u16("the number of half-spaces"))
    )
    return counted_list(convex, u16("the number of sets"))


def _controller(domain: Codec[Domain]) -> Codec[Controller]:
    """Codec of the global controller's words (docs/formats.md)."""
    flag = map_codec(u8("a corner", 2), int, bool)
    return record(
        Controller,
        south=flag,
        east=flag,
        start=u32("the controller's start"),
        row_delay=u32("the delay of a row"),
        column_delay=u32("the delay of a column"),
        steps=u32("the controller's steps"),
        signals=counted_list(domain, u16("the number of control signals")),
    )


def _generators(head: _Head, arrays: int, domain: Codec[Domain]) -> Codec[tuple[Generator, ...]]:
    """Codec of address generators, one row of fixed size each, so that `generator_table` can read them as a NumPy
    table.
    """
    # u16 and i32 fields without padding: a row has a fixed size for each number of dimensions.
    generator = record(
        Generator,
        side=map_codec(u16("a side", len(SIDES)), SIDES.index, SIDES.__getitem__),
        register=u16("the register of a bank's route"),
        position=u16("a generator's position", max(head.rows, head.columns)),
        channel=u16("a generator's channel"),
        links=u16("the links of a bank's route", max(head.rows, head.columns)),
        array=u16("a generator's array", arrays),
        base=i32("a base address"),
        coefficients=fixed_list(i32("an address coefficient"), len(head.extents)),
        delay=u32("a generator's delay"),
        domain=domain,
    )
    return counted_list(generator, u32("the number of generators"))


def _write_array(out: bytearray, array: ArrayLayout) -> None:
    encoding.array_head.write(out, (array.dtype, array.is_output, len(array.shape)))
    size = u32("an array's extent or stride")
    for value in (*array.shape, *array.strides):
        size.write(out, value)


def _read_array(reader: Reader) -> ArrayLayout:
    dtype, is_output, rank = encoding.array_head.read(reader)
    sizes = fixed_list(u32("an array's extent or stride"), rank)
    return ArrayLayout("", dtype, sizes.read(reader), sizes.read(reader), is_output)


_unplaced: Codec[tuple[ArrayLayout, ...]] = counted_list(Codec(_write_array, _read_array), u16("the number of arrays"))


@dataclass(frozen=True, slots=True)
class _Placed:
    array: int
    place: Place


_places = counted_list(
    record(
        _Placed,
        array=u16("a placed array"),
        place=record(Place, bank=u16("an array's bank"), base=u32("an array's base")),
    ),
    u16("the number of placed arrays"),
)


def _write_arrays(out: bytearray, arrays: tuple[ArrayLayout, ...]) -> None:
    _unplaced.write(out, arrays)
    _places.write(out, tuple(_Placed(n, a.place) for n, a in enumerate(arrays) if a.place))


def _read_arrays(reader: Reader) -> tuple[ArrayLayout, ...]:
    arrays, at = _unplaced.read(reader), reader.position
    places = {p.array: p.place for p in _places.read(reader)}
    # `dict` keeps the last of two places of one array; the canonical form then differs, and the file is refused for
    # that.
    if any(n >= len(arrays) for n in places):
        raise binary.format_error(at, "an array is placed that does not exist")
    return tuple(replace(a, place=places.get(n)) for n, a in enumerate(arrays))


_arrays = Codec(_write_arrays, _read_arrays)
"""Without their names; the places follow all arrays."""


_blob: Codec[bytes] = Codec(
    lambda out, value: (u32("the size of a symbolic file").write(out, len(value)), out.extend(value))[0],
    lambda reader: reader.take(u32("the size of a symbolic file").read(reader)),
)
_known: Codec[MadeOf] = record(
    MadeOf,
    candidate=u32("a candidate"),
    values=counted_list(u32("the value of a parameter"), u8("the number of parameters")),
    symbolic=_blob,
)


def _write_origin(out: bytearray, value: MadeOf | None) -> None:
    out.append(value is not None)
    if value is not None:
        _known.write(out, value)


_made_of: Codec[MadeOf | None] = Codec(
    _write_origin, lambda reader: _known.read(reader) if u8("a flag", 2).read(reader) else None
)


def append_origin(data: bytes, made_of: MadeOf) -> bytes:
    """File `data`, which was just made and does not say of what, with what it was made of."""
    header = _HEADER.size
    ends = _HEADER.unpack_from(data)[1:]
    # Sections begin at multiples of 4 bytes (docs/formats.md), which the library's reader needs for aligned words.
    starts = (header, *(end + -end % 4 for end in ends))
    sections = [data[start:end] for start, end in zip(starts, ends, strict=False)]
    # The last byte of the last section is the flag "made of nothing", which the origin replaces: no other section is
    # encoded again.
    sections[-1] = sections[-1][:-1] + section(_made_of, made_of)
    return binary.pack(KIND, _HEADER.unpack_from(data)[0], sections)


def strip_origin(data: bytes) -> bytes:
    """File `data` without what it was made of: as the library makes it. Errors: those of `decode`."""
    return encode(replace(decode(data), made_of=None))


def encode(concrete: Concrete) -> bytes:
    """File of a concrete configuration. Errors: PL0706 (exit 3) when a value does not fit its field."""
    head = _make_head(concrete)
    domains: list[Domain] = []
    domain = pool_reference(domains, "the number of a domain", lambda what, _: u32(what))
    # Encoded for its effect on the pool: the signals' sets get the first numbers, as the format demands.
    section(_controller(domain), concrete.controller)
    return pack_generators(
        concrete, domains, section(_generators(head, len(concrete.arrays), domain), concrete.generators)
    )


def _make_head(concrete: Concrete) -> _Head:
    return _Head(concrete.initiation_interval, concrete.rows, concrete.columns, concrete.extents)


def pack_generators(concrete: Concrete, domains: Iterable[Domain], generators: bytes) -> bytes:
    """File with a section of generators that is already written, whose domains follow those of the signals in this
    order.
    """
    head, classes, wrappers = _make_head(concrete), concrete.classes, concrete.wrappers
    pool: list[Domain] = []
    domain = pool_reference(pool, "the number of a domain", lambda what, _: u32(what))
    controller = section(_controller(domain), concrete.controller)
    for used in domains:
        section(domain, used)
    # -1, an element without a program, is 0 in the file, whose numbers have no sign.
    shifted = tuple(tuple(c + 1 for c in row) for row in concrete.element_class)
    maps = section(_grid("a class", len(classes) + 1, head), shifted) + section(
        _grid("a wrapper", len(wrappers), head), concrete.wrapper
    )
    return binary.pack(
        KIND,
        concrete.machine_hash,
        (
            section(_head, head) + controller + section(_arrays, concrete.arrays),
            section(_classes(), classes),
            section(_wrappers(), wrappers),
            maps,
            section(counted_list(_domain(len(head.extents)), u32("the number of domains")), tuple(pool)),
            generators,
            b"".join(
                section(text, name)
                for name in (concrete.kernel, concrete.machine, concrete.program, *(a.name for a in concrete.arrays))
            )
            + section(_made_of, concrete.made_of),
        ),
    )


def decode(data: bytes) -> Concrete:
    """Configuration in `data`, which is exactly what `encode` makes of it. Errors: PL0701 to PL0705 (exit 1)."""
    return _decoded(data)


def _decode_canonical(data: bytes) -> Concrete:
    concrete = parse(data)
    # Exactly one file for each configuration: whoever changes a byte is found out even where the value would be the
    # same.
    binary.check_canonical(data, encode(concrete))
    return concrete


_decoded = binary.cache_decoder(_decode_canonical, 8, 1 << 18)
"""A run, its facts, its report and its listing decode the same file one after another."""


def parse(data: bytes) -> Concrete:
    """Decoder without the canonical check, for what the library has just made. Errors: as for `decode`, but for a file
    that is not written in the one way.
    """
    concrete, pool, reader = decode_without_generators(data)
    domain = pool_reference(pool, "the number of a domain", u32)
    return replace(concrete, generators=_generators(_make_head(concrete), len(concrete.arrays), domain).read(reader))


def decode_without_generators(data: bytes) -> tuple[Concrete, list[Domain], Reader]:
    """Everything but the generators, the pool of domains, and a reader where the generators begin."""
    stamp, (first, class_reader, wrapper_reader, maps, domain_reader, generator_reader, names) = binary.unpack(
        KIND, data
    )
    head = _head.read(first)
    if not head.rows or not head.columns:
        raise binary.format_error(first.position, "the region has no element")
    # An element takes a byte or two in each map of the file, and many times that in memory.
    memory.require_memory(
        head.rows * head.columns * _ELEMENT_BYTES,
        f"a configuration of {head.rows}x{head.columns} elements",
        "use a smaller region",
    )
    pool = list(counted_list(_domain(len(head.extents)), u32("the number of domains")).read(domain_reader))
    controller = _controller(pool_reference(pool, "the number of a domain", u32)).read(first)
    arrays = _arrays.read(first)
    classes, wrappers = _classes().read(class_reader), _wrappers().read(wrapper_reader)
    element_class = _grid("a class", len(classes) + 1, head).read(maps)
    wrapper = _grid("a wrapper", len(wrappers), head).read(maps)
    kernel, machine, program = text.read(names), text.read(names), text.read(names)
    concrete = Concrete(
        kernel=kernel,
        machine=machine,
        program=program,
        machine_hash=stamp,
        initiation_interval=head.initiation_interval,
        rows=head.rows,
        columns=head.columns,
        extents=head.extents,
        controller=controller,
        classes=classes,
        element_class=tuple(tuple(c - 1 for c in row) for row in element_class),
        wrappers=wrappers,
        wrapper=wrapper,
        generators=(),
        arrays=tuple(replace(array, name=text.read(names)) for array in arrays),
        made_of=_made_of.read(names),
    )
    return concrete, pool, generator_reader


def size_without_names(data: bytes) -> int:
    """Bytes of the file before its names. Errors: PL0701 to PL0705."""
    return binary.size_without_names(data, KIND)
