# SPDX-License-Identifier: Apache-2.0
"""A slow twin of the packed instructions, written from the facts alone: one instruction, by mnemonic and the values of
its fields, on plain lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from tests.targets.minion.packed import floats
from tests.targets.minion.packed.floats import Flags

WORD: Final = 0xFFFFFFFF
DOUBLE: Final = 0xFFFFFFFFFFFFFFFF
LANES: Final = range(8)
ILLEGAL, LOAD_FAULT, STORE_FAULT, EMULATED = 2, 5, 7, 30
"""Causes of traps; an access that has to be aligned and is not is a fault."""
EMULATED_NAMES: Final = ["fdiv.ps", "fsqrt.ps", "fsin.ps", "frsq.ps", "fdiv.pi", "fdivu.pi", "frem.pi", "fremu.pi"]
_FORMATS: Final = ("f10", "f11", "un24", "un16", "un10", "un8", "un2", "sn16", "sn8")
GRAPHICS: Final = ("bitmixb", *(f"fcvt.ps.{f}" for f in _FORMATS), *(f"fcvt.{f}.ps" for f in _FORMATS))


class Trap(Exception):
    def __init__(self, cause: int) -> None:
        super().__init__(cause)
        self.cause = cause


@dataclass
class State:
    """Registers, and memory from `base` on."""

    f: list[list[int]]
    m: list[int]
    x: list[int]
    flags: Flags = field(default_factory=Flags)
    frm: int = 0
    progress: int = 0
    memory: bytearray = field(default_factory=bytearray)
    base: int = 0
    graphics: bool = True

    def load(self, address: int, size: int, aligned: bool = False) -> int:
        at = self.place(address, size, LOAD_FAULT, aligned)
        return int.from_bytes(self.memory[at : at + size], "little")

    def store(self, address: int, size: int, value: int, aligned: bool = False) -> None:
        at = self.place(address, size, STORE_FAULT, aligned)
        self.memory[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def place(self, address: int, size: int, fault: int, aligned: bool) -> int:
        at = (address & DOUBLE) - self.base
        if not 0 <= at <= len(self.memory) - size or (aligned and address % size):
            raise Trap(fault)
        return at


def signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def _clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


INTEGER: Final[Mapping[str, Callable[[int, int], int]]] = {
    "fadd.pi": lambda a, b: a + b,
    "faddi.pi": lambda a, b: a + b,
    "fsub.pi": lambda a, b: a - b,
    "fmul.pi": lambda a, b: a * b,
    "fmulh.pi": lambda a, b: signed(a) * signed(b) >> 32,
    "fmulhu.pi": lambda a, b: a * b >> 32,
    "fmin.pi": lambda a, b: min(signed(a), signed(b)),
    "fmax.pi": lambda a, b: max(signed(a), signed(b)),
    "fminu.pi": min,
    "fmaxu.pi": max,
    "fand.pi": lambda a, b: a & b,
    "fandi.pi": lambda a, b: a & b,
    "for.pi": lambda a, b: a | b,
    "fxor.pi": lambda a, b: a ^ b,
    "fsll.pi": lambda a, b: a << b if b < 32 else 0,
    "fslli.pi": lambda a, b: a << b,
    "fsrl.pi": lambda a, b: a >> b if b < 32 else 0,
    "fsrli.pi": lambda a, b: a >> b,
    "fsra.pi": lambda a, b: signed(a) >> min(b, 31),
    "fsrai.pi": lambda a, b: signed(a) >> b,
    "fle.pi": lambda a, b: -(signed(a) <= signed(b)),
    "flt.pi": lambda a, b: -(signed(a) < signed(b)),
    "feq.pi": lambda a, b: -(a == b),
    "fltu.pi": lambda a, b: -(a < b),
    "fnot.pi": lambda a, _: ~a,
    "fsat8.pi": lambda a, _: _clamp(signed(a), -128, 127) & 255,
    "fsatu8.pi": lambda a, _: _clamp(signed(a), 0, 255),
    "fsgnj.ps": lambda a, b: a & ~floats.SIGN | b & floats.SIGN,
    "fsgnjn.ps": lambda a, b: a & ~floats.SIGN | ~b & floats.SIGN,
    "fsgnjx.ps": lambda a, b: a ^ b & floats.SIGN,
    "fclass.ps": lambda a, _: _class(a),
    "fcvt.ps.f10": lambda a, _: _from_small(a, 5),
    "fcvt.ps.f11": lambda a, _: _from_small(a, 6),
    "fcvt.f10.ps": lambda a, _: _to_small(a, 5),
    "fcvt.f11.ps": lambda a, _: _to_small(a, 6),
    **{f"fcvt.un{n}.ps": lambda a, _, n=n: _to_norm(a, n, False) for n in (24, 16, 10, 8, 2)},
    **{f"fcvt.sn{n}.ps": lambda a, _, n=n: _to_norm(a, n, True) for n in (16, 8)},
}
"""Functions of lanes without flags."""
COMPARISONS: Final = {"fle": "le", "flt": "lt", "feq": "eq"}
ROUNDED: Final = {"fadd.ps": floats.add, "fsub.ps": floats.sub, "fmul.ps": floats.mul}
FUSED: Final = {"fmadd.ps": (0, 0), "fmsub.ps": (0, 1), "fnmsub.ps": (1, 0), "fnmadd.ps": (1, 1)}
"""Whether the product and the addend change their signs."""
MASKS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "maskand": lambda a, b: a & b,
    "maskor": lambda a, b: a | b,
    "maskxor": lambda a, b: a ^ b,
    "masknot": lambda a, _: ~a,
}
ATOMIC: Final[Mapping[str, Callable[[int, int, int], int]]] = {
    "add": lambda a, b, n: a + b,
    "swap": lambda a, b, n: b,
    "and": lambda a, b, n: a & b,
    "or": lambda a, b, n: a | b,
    "xor": lambda a, b, n: a ^ b,
    "min": lambda a, b, n: min(signed(a, n), signed(b, n)),
    "max": lambda a, b, n: max(signed(a, n), signed(b, n)),
    "minu": lambda a, b, n: min(a, b),
    "maxu": lambda a, b, n: max(a, b),
}
_NARROW: Final = {"w": 4, "h": 2, "b": 1, "d": 8}


def _class(a: int) -> int:
    if floats.is_nan(a):
        return 1 << (8 if floats.is_signaling(a) else 9)
    rank = 0 if floats.is_inf(a) else 1 if a & floats.INF else 2 if a & 0x7FFFFF else 3
    return 1 << (rank if a & floats.SIGN else 7 - rank)


def _from_small(a: int, bits: int) -> int:
    exponent, rest = a >> bits & 31, a & (1 << bits) - 1
    if exponent == 31:
        return floats.NAN if rest else floats.INF
    return exponent + 112 << 23 | rest << 23 - bits if exponent else 0


def _to_small(a: int, bits: int) -> int:
    infinite = 31 << bits
    if a & floats.SIGN or not a & floats.INF:
        return 0
    if floats.is_nan(a):
        return infinite | 1 << bits - 1
    if floats.is_inf(a):
        return infinite
    v = floats.value(a)
    if v >= 2**16:
        return infinite - 1
    if v < Fraction(1, 2**14):
        return int(v * 2 ** (14 + bits))
    exponent = (a >> 23) - 127
    return exponent + 15 << bits | int((v / Fraction(2) ** exponent - 1) * 2**bits)


def _from_norm(a: int, bits: int, has_sign: bool, mode: int) -> int:
    top = (1 << bits - has_sign) - 1
    number = max(signed(a, bits), -top) if has_sign else a & top
    return floats.rounded(Fraction(number, top), mode, Flags()) if number else 0


def _to_norm(a: int, bits: int, has_sign: bool) -> int:
    top = (1 << bits - has_sign) - 1
    if floats.is_nan(a):
        return top
    if not a & floats.INF:
        return 0
    v = (-1 if a & floats.SIGN else 1) * Fraction(2) if floats.is_inf(a) else floats.value(a)
    v = min(max(v, Fraction(-1 if has_sign else 0)), Fraction(1))
    return floats.integral(v * top, floats.RMM) & (1 << bits) - 1


def execute(s: State, name: str, v: Mapping[str, int], word: int = 0) -> None:
    """Changes the state as the instruction does, `v` being its fields by name. Trap where it traps."""
    if name in EMULATED_NAMES:
        raise Trap(EMULATED)
    if name in GRAPHICS and not s.graphics:
        raise Trap(ILLEGAL)
    for family in (_memory, _atomics, _masks, _moves, _floats):
        if family(s, name, v):
            return
    second = _second(s, name, v)
    function = INTEGER[name]
    a = s.f[v["fs1"]]
    _put(s, v["fd"], [function(a[e], second[e]) for e in LANES])


def _second(s: State, name: str, v: Mapping[str, int]) -> list[int]:
    number = v.get("v10", v.get("sh5"))
    return list(s.f[v["fs2"]]) if "fs2" in v else [(number or 0) & WORD] * 8


def _on(s: State, e: int) -> bool:
    return bool(s.m[0] >> e & 1)


def _put(s: State, to: int, lanes: list[int]) -> None:
    for e in LANES:
        if _on(s, e):
            s.f[to][e] = lanes[e] & WORD


def _set_x(s: State, to: int, value: int) -> None:
    if to:
        s.x[to] = value & DOUBLE


def _mode(s: State, v: Mapping[str, int]) -> int:
    mode = v.get("rm", 7)
    mode = s.frm if mode == 7 else mode
    if mode > floats.RMM:
        raise Trap(ILLEGAL)
    return mode


def _floats(s: State, name: str, v: Mapping[str, int]) -> bool:
    stem, _, kind = name.partition(".")
    one: Callable[[int], int] | None = None
    if name in ROUNDED:
        mode, a, b = _mode(s, v), list(s.f[v["fs1"]]), list(s.f[v["fs2"]])
        _put(s, v["fd"], [ROUNDED[name](a[e], b[e], mode, s.flags) if _on(s, e) else 0 for e in LANES])
    elif name in FUSED:
        mode, (product, addend) = _mode(s, v), FUSED[name]
        a, b, c = (list(s.f[v[each]]) for each in ("fs1", "fs2", "fs3"))
        a = [p if floats.is_nan(p) or not product else p ^ floats.SIGN for p in a]
        c = [p if floats.is_nan(p) or not addend else p ^ floats.SIGN for p in c]
        _put(s, v["fd"], [floats.fma(a[e], b[e], c[e], mode, s.flags) if _on(s, e) else 0 for e in LANES])
    elif name in ("fmin.ps", "fmax.ps"):
        a, b = (list(s.f[v[each]]) for each in ("fs1", "fs2"))
        made = [
            floats.extreme(floats.flushed(a[e], s.flags), floats.flushed(b[e], s.flags), stem == "fmax", s.flags)
            if _on(s, e)
            else 0
            for e in LANES
        ]
        _put(s, v["fd"], made)
    elif kind == "ps" and stem.rstrip("m") in COMPARISONS:
        a, b, how = s.f[v["fs1"]], s.f[v["fs2"]], COMPARISONS[stem.rstrip("m")]
        holds = [_on(s, e) and floats.compare(a[e], b[e], how, s.flags) for e in LANES]
        if stem.endswith("m"):
            _put_mask(s, v["md"], holds)
        else:
            _put(s, v["fd"], [-each for each in holds])
    elif name in ("fltm.pi", "fsetm.pi"):
        a = s.f[v["fs1"]]
        holds = [signed(a[e]) < signed(s.f[v["fs2"]][e]) if stem == "fltm" else a[e] != 0 for e in LANES]
        _put_mask(s, v["md"], holds)
    elif name in ("fcvt.pw.ps", "fcvt.pwu.ps"):
        mode = _mode(s, v)
        one = lambda a: floats.to_integer(a, mode, stem == "fcvt" and name == "fcvt.pw.ps", s.flags)  # noqa: E731
    elif name in ("fcvt.ps.pw", "fcvt.ps.pwu"):
        mode, has_sign = _mode(s, v), name == "fcvt.ps.pw"
        one = lambda a: _from_integer(signed(a) if has_sign else a, mode, s.flags)  # noqa: E731
    elif name == "fround.ps":
        mode = _mode(s, v)
        one = lambda a: floats.round_to_integral(a, mode, s.flags)  # noqa: E731
    elif name == "ffrc.ps":
        one = lambda a: floats.fraction(a, s.flags)  # noqa: E731
    elif name in ("fexp.ps", "flog.ps", "frcp.ps"):
        one = lambda a: floats.transcendental(a, stem[1:], s.flags)  # noqa: E731
    elif name == "fcvt.ps.f16":
        one = lambda a: floats.from_half(a & 0xFFFF, s.flags)  # noqa: E731
    elif name == "fcvt.f16.ps":
        mode = _mode(s, v)
        one = lambda a: floats.to_half(a, mode, s.flags)  # noqa: E731
    elif name.startswith("fcvt.ps.un"):
        mode, bits = _mode(s, v), int(name[10:])
        one = lambda a: _from_norm(a, bits, False, mode)  # noqa: E731
    elif name.startswith("fcvt.ps.sn"):
        bits = int(name[10:])
        one = lambda a: _from_norm(a, bits, True, floats.RNE)  # noqa: E731
    else:
        return False
    if one is not None:
        a = list(s.f[v["fs1"]])
        _put(s, v["fd"], [one(a[e]) if _on(s, e) else 0 for e in LANES])
    return True


def _from_integer(number: int, mode: int, flags: Flags) -> int:
    return floats.rounded(Fraction(number), mode, flags) if number else 0


def _put_mask(s: State, to: int, holds: list[bool]) -> None:
    for e in LANES:
        if _on(s, e):
            s.m[to] = s.m[to] & ~(1 << e) | holds[e] << e
    # The mask may be m0 itself, whose old value decides.


def _masks(s: State, name: str, v: Mapping[str, int]) -> bool:
    if name in MASKS:
        s.m[v["md"]] = MASKS[name](s.m[v["ms1"]], s.m[v.get("ms2", 0)]) & 255
    elif name == "mov.m.x":
        s.m[v["md"]] = (s.x[v["rs1"]] | v["v8"]) & 255
    elif name == "mova.m.x":
        s.m[:] = list((s.x[v["rs1"]]).to_bytes(8, "little"))
    elif name == "mova.x.m":
        _set_x(s, v["rd"], int.from_bytes(bytes(s.m), "little"))
    elif name in ("maskpopc", "maskpopcz"):
        ones = s.m[v["ms1"]].bit_count()
        _set_x(s, v["rd"], 8 - ones if name.endswith("z") else ones)
    else:
        return False
    return True


def _moves(s: State, name: str, v: Mapping[str, int]) -> bool:
    a = list(s.f[v["fs1"]]) if "fs1" in v else []
    if name == "fbcx.ps":
        _put(s, v["fd"], [s.x[v["rs1"]]] * 8)
    elif name == "fbci.pi":
        _put(s, v["fd"], [signed(v["v20"], 20)] * 8)
    elif name == "fbci.ps":
        last = v["v20"] & 15
        low = last << 8 | last << 4 | (last + (last >= 8))
        _put(s, v["fd"], [v["v20"] << 12 | low] * 8)
    elif name == "fcmov.ps":
        b, c = list(s.f[v["fs2"]]), list(s.f[v["fs3"]])
        _put(s, v["fd"], [b[e] if a[e] else c[e] for e in LANES])
    elif name == "fcmovm.ps":
        b = list(s.f[v["fs2"]])
        s.f[v["fd"]] = [a[e] if _on(s, e) else b[e] for e in LANES]
    elif name == "fswizz.ps":
        _put(s, v["fd"], [a[e & 4 | v["v8"] >> 2 * (e & 3) & 3] for e in LANES])
    elif name == "fpackrepb.pi":
        four = [int.from_bytes(bytes(p & 255 for p in a[k : k + 4]), "little") for k in (0, 4)]
        _put(s, v["fd"], four * 4)
    elif name == "fpackreph.pi":
        pairs = [a[k] & 0xFFFF | (a[k + 1] & 0xFFFF) << 16 for k in (0, 2, 4, 6)]
        _put(s, v["fd"], pairs * 2)
    elif name in ("fmvz.x.ps", "fmvs.x.ps"):
        _set_x(s, v["rd"], signed(a[v["v3"]]) if name[3] == "s" else a[v["v3"]])
    elif name == "packb":
        _set_x(s, v["rd"], s.x[v["rs1"]] & 255 | (s.x[v["rs2"]] & 255) << 8)
    elif name == "bitmixb":
        _set_x(s, v["rd"], _mixed(s.x[v["rs1"]], s.x[v["rs2"]]))
    else:
        return False
    return True


def _mixed(select: int, bytes_: int) -> int:
    """Bit n is the next one of two bytes: from the second on where bit n of `select` is set, else from the first on."""
    sources = [bytes_ & 0xFFFF, bytes_ >> 8 & 0xFFFF]
    made = 0
    for n in range(16):
        which = select >> n & 1
        made |= (sources[which] & 1) << n
        sources[which] >>= 1
    return made


def _memory(s: State, name: str, v: Mapping[str, int]) -> bool:
    stem = name.split(".")[0]
    if stem in ("flq2", "flw", "fsq2", "fsw"):
        base = s.x[v["rs1"]] + v.get("i12", v.get("s12", 0))
        lanes = [e for e in LANES if _on(s, e) or stem.endswith("q2")]
        if stem.startswith("fl"):
            made = {e: s.load(base + 4 * e, 4) for e in lanes}
            for e, value in made.items():
                s.f[v["fd"]][e] = value
        else:
            for e in lanes:
                s.store(base + 4 * e, 4, s.f[v["fs2"]][e])
    elif name == "fbc.ps":
        if s.m[0]:
            _put(s, v["fd"], [s.load(s.x[v["rs1"]] + v["i12"], 4)] * 8)
    elif stem in ("flwl", "flwg", "fswl", "fswg"):
        _whole_shared(s, stem, v)
    elif stem.startswith(("fg32", "fsc32")):
        _near(s, stem, v)
    elif stem.startswith(("fgw", "fgh", "fgb", "fscw", "fsch", "fscb")):
        _by_index(s, stem, v)
    elif name in ("sbl", "sbg", "shl", "shg"):
        s.store(s.x[v["rs1"]], _NARROW[name[1]], s.x[v["rs2"]], aligned=True)
    else:
        return False
    return True


def _whole_shared(s: State, stem: str, v: Mapping[str, int]) -> None:
    base = s.x[v["rs1"]]
    loads = stem.startswith("fl")
    if s.m[0] and base % 32:
        raise Trap(LOAD_FAULT if loads else STORE_FAULT)
    for e in LANES:
        if _on(s, e) and loads:
            s.f[v["fd"]][e] = s.load(base + 4 * e, 4)
        elif _on(s, e):
            s.store(base + 4 * e, 4, s.f[v["fv3"]][e])


def _near(s: State, stem: str, v: Mapping[str, int]) -> None:
    size = _NARROW[stem[-1]]
    bits = {4: 3, 2: 4, 1: 5}[size]
    base, indices = s.x[v["rs2"]], s.x[v["rs1"]]
    for e in LANES:
        if not _on(s, e):
            continue
        index = (base % 32 // size + (indices >> bits * e)) % (32 // size)
        address = base // 32 * 32 + size * index
        if stem.startswith("fg"):
            s.f[v["fd"]][e] = signed(s.load(address, size), 8 * size) & WORD
        else:
            s.store(address, size, s.f[v["fv3"]][e])


def _by_index(s: State, stem: str, v: Mapping[str, int]) -> None:
    loads, aligned = stem.startswith("fg"), stem[-1] in "lg" and len(stem) > (3 if stem.startswith("fg") else 4)
    size = _NARROW[stem[2] if loads else stem[3]]
    for e in range(s.progress, 8):
        if not _on(s, e):
            continue
        address = s.x[v["rs2"]] + signed(s.f[v["fs1"]][e])
        try:
            if loads:
                s.f[v["fd"]][e] = signed(s.load(address, size, aligned), 8 * size) & WORD
            else:
                s.store(address, size, s.f[v["fv3"]][e], aligned)
        except Trap:
            s.progress = e
            raise
    s.progress = 0


def _atomics(s: State, name: str, v: Mapping[str, int]) -> bool:
    stem, _, kind = name.partition(".")
    if stem.startswith("famo"):
        _lane_atomics(s, stem[4:-1], kind, v)
    elif stem.startswith("amo"):
        size = _NARROW[kind]
        address, bits = s.x[v["rs1"]], 8 * size
        s.place(address, size, STORE_FAULT, aligned=True)
        old = s.load(address, size)
        new = s.x[v["rs2"]] & (1 << bits) - 1
        if stem[3:-1] == "cmpswap":
            new = new if old == s.x[31] & (1 << bits) - 1 else old
        else:
            new = ATOMIC[stem[3:-1]](old, new, bits)
        s.store(address, size, new, aligned=True)
        _set_x(s, v["rd"], signed(old, bits))
    else:
        return False
    return True


def _lane_atomics(s: State, operation: str, kind: str, v: Mapping[str, int]) -> None:
    for e in range(s.progress, 8):
        if not _on(s, e):
            continue
        address = s.x[v["rs2"]] + signed(s.f[v["fs1"]][e])
        try:
            s.place(address, 4, STORE_FAULT, aligned=True)
        except Trap:
            s.progress = e
            raise
        old = s.load(address, 4)
        given = s.f[v["fd"]][e]
        if kind == "ps":
            signals = floats.is_signaling(old) or floats.is_signaling(given)
            new = floats.NAN if signals else floats.extreme(old, given, operation == "max", Flags())
        else:
            new = ATOMIC[operation](old, given, 32)
        s.store(address, 4, new)
        s.f[v["fd"]][e] = old
    s.progress = 0
