# SPDX-License-Identifier: Apache-2.0
"""Partition of a thread's module (LLVM IR, before optimization) into vector functions and the rest.

A vector function takes and returns scalars, and computes with vectors: with what it calls, it is compiled by the passes
of vector kernels. Functions that take vectors become part of it. The rest is clang's (outlining; LLVM Language
Reference Manual, "Function Attributes").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_DEFINE: Final = re.compile(r'^define (?P<head>[^\n]*?)@(?P<name>"[^"]*"|[-\w.$]+)\((?P<rest>[^\n]*)\{\n', re.MULTILINE)
_CALLED: Final = re.compile(r'\b(?:call|invoke)\b[^@\n]*@("[^"]*"|[-\w.$]+)\(')
_MENTIONED: Final = re.compile(r'@("[^"]*"|[-\w.$]+)')
_ATTRIBUTES: Final = re.compile(r"^attributes (#\d+) = \{ (.*) \}$", re.MULTILINE)
_LINKAGE: Final = re.compile(r"^(?:internal|private|linkonce_odr|linkonce|weak_odr|weak)\s+")
_COMDAT: Final = re.compile(r" comdat(?:\(\$[^)]*\))?")
_VECTOR_TYPE: Final = re.compile(r'ptr addrspace\([12]\)|%"?(?:class|struct)\.sfpi::|%struct\.__sfpi')
_WORD: Final = "__sfpi_word"
_PREFIX: Final = "__sfpi_"
_CLASSES: Final = "4sfpi"
"""The namespace of vectors in a mangled name (Itanium C++ ABI, section 5.1)."""
_INLINED: Final = "alwaysinline"
_PUSHED: Final = re.compile(
    r"^(\s*)(?:tail |notail |musttail )?call void @__sfpi_word\(i32 noundef (?:signext |zeroext )?([^)]*)\)[^\n]*$",
    re.MULTILINE,
)
_CONSTRUCTORS: Final = re.compile(r"^@llvm\.(?:global_ctors|used|compiler\.used)[^\n]*\n", re.MULTILINE)
"""Lists of functions, some of which a module may leave out."""
_STORE: Final = "store volatile i32 {word}, ptr inttoptr (i32 -1835008 to ptr), align 4"
_INLINE: Final = 'call void asm sideeffect ".ttinsn $0", "i"(i32 {word})'


@dataclass(frozen=True, slots=True)
class Definition:
    """A function's definition in the module: where its text is, and what it calls and mentions."""

    name: str
    start: int
    end: int
    head: str
    rest: str
    called: frozenset[str]
    mentioned: frozenset[str]

    @property
    def takes_vectors(self) -> bool:
        """Whether the function takes or returns vectors, which no register of a core holds."""
        return _CLASSES in self.name or bool(_VECTOR_TYPE.search(self.head) or _VECTOR_TYPE.search(self.rest))


@dataclass(frozen=True, slots=True)
class Partition:
    """Two modules: `vectors`, in which all but the functions of `names` is to be inlined, and `rest`, which calls
    them."""

    names: tuple[str, ...]
    vectors: str
    rest: str


def partition_module(module: str) -> Partition:
    """Partition of a module that is not optimized yet."""
    found = {each.name: each for each in _definitions(module)}
    vector = _transitive_callers(found, lambda name: name.startswith(_PREFIX) and name != _WORD)
    # A function that only passes vectors' work on, such as a loop over faces, is clang's.
    direct = {name for name in vector if _computes(found, name, set())}
    roots = tuple(name for name in sorted(vector) if name in direct and not found[name].takes_vectors)
    # A function that only other vector functions call becomes a part of them.
    needed = tuple(name for name in roots if _has_scalar_caller(found, name, set(roots)))
    return Partition(needed, _vector_module(module, found, needed), _scalar_module(module, found, needed))


def _definitions(module: str) -> Iterator[Definition]:
    for match in _DEFINE.finditer(module):
        end = module.index("\n}\n", match.end()) + 3
        body = module[match.end() : end]
        called = frozenset(name.strip('"') for name in _CALLED.findall(body))
        mentioned = frozenset(name.strip('"') for name in _MENTIONED.findall(body))
        yield Definition(match["name"].strip('"'), match.start(), end, match["head"], match["rest"], called, mentioned)


def _transitive_callers(found: Mapping[str, Definition], wanted: Callable[[str], bool]) -> set[str]:
    """Functions from which something wanted is reached (reachability in the call graph)."""
    callers: dict[str, set[str]] = {}
    for each in found.values():
        for name in each.mentioned:
            callers.setdefault(name, set()).add(each.name)
    work = [name for name in callers if wanted(name)]
    reached: set[str] = set()
    while work:
        for caller in callers.get(work.pop(), ()):
            if caller not in reached:
                reached.add(caller)
                work.append(caller)
    return reached


def _computes(found: Mapping[str, Definition], name: str, seen: set[str]) -> bool:
    """Whether a function has vector operations, itself or by the functions of vectors that it calls."""
    if name in seen:
        return False
    seen.add(name)
    # What takes vectors is inlined, so its operations count as the caller's.
    for called in found[name].called:
        if called.startswith(_PREFIX) and called != _WORD:
            return True
        if called in found and found[called].takes_vectors and _computes(found, called, seen):
            return True
    return False


def _has_scalar_caller(found: Mapping[str, Definition], name: str, roots: set[str]) -> bool:
    """Whether a function is called from outside of vector functions, or nobody knows from where."""
    within = set[str]()
    work = [root for root in roots if root != name]
    while work:
        each = work.pop()
        for called in found[each].mentioned & found.keys():
            if called not in within:
                within.add(called)
                work.append(called)
    callers = [each.name for each in found.values() if name in each.mentioned and each.name != name]
    return not callers or any(caller not in within and caller not in roots for caller in callers)


def _vector_module(module: str, found: Mapping[str, Definition], roots: tuple[str, ...]) -> str:
    """Module of vector functions: each is kept, and everything else is inlined into them."""
    parts: list[str] = []
    at = 0
    for each in found.values():
        parts.append(module[at : each.start])
        text = module[each.start : each.end]
        if each.name in roots:
            text = _with_linkage("", each, text)
        elif _reaches(found, roots, each.name):
            text = _with_linkage("internal ", each, text)
        else:
            text = ""
        parts.append(text)
        at = each.end
    # The import reads the functions whose addresses this array keeps.
    kept = ", ".join(f"ptr @{_quote(name)}" for name in roots)
    parts.append(module[at:] + f"\n@__polyloom_kept = constant [{len(roots)} x ptr] [{kept}]\n")
    return _CONSTRUCTORS.sub("", _force_inlining("".join(parts)))


def _with_linkage(linkage: str, each: Definition, text: str) -> str:
    """Text of a definition with another linkage, and in no group that a linker merges."""
    head = f"define {linkage}{_LINKAGE.sub('', each.head)}"
    return _COMDAT.sub("", head + text[len("define " + each.head) :], count=1)


def _reaches(found: Mapping[str, Definition], roots: tuple[str, ...], name: str) -> bool:
    seen, work = set(roots), list(roots)
    while work:
        for called in found[work.pop()].mentioned & found.keys():
            if called == name:
                return True
            if called not in seen:
                seen.add(called)
                work.append(called)
    return False


def _force_inlining(module: str) -> str:
    """Attributes of all functions: inlined everywhere; `noinline` and `optnone` would forbid it."""

    def change(match: re.Match[str]) -> str:
        words = [word for word in match[2].split(" ") if word not in ("noinline", "optnone", _INLINED)]
        return f"attributes {match[1]} = {{ {_INLINED} {' '.join(words)} }}"

    return _ATTRIBUTES.sub(change, module)


def _scalar_module(module: str, found: Mapping[str, Definition], roots: tuple[str, ...]) -> str:
    """Module of the rest: vector functions are declared."""
    parts: list[str] = []
    at = 0
    for each in found.values():
        if each.name not in roots:
            continue
        parts.append(module[at : each.start])
        parts.append(_declaration(each))
        at = each.end
    return "".join([*parts, module[at:]])


def _declaration(each: Definition) -> str:
    """Declaration of a function: its definition without linkage, names of parameters and body."""
    types = each.rest[: each.rest.rindex(")")]
    types = re.sub(r"\s%[-\w.$]+", "", types)
    head = _LINKAGE.sub("", each.head).replace("dso_local ", "")
    return f"declare {head}@{_quote(each.name)}({types})\n"


def _quote(name: str) -> str:
    return name if re.fullmatch(r"[-\w.$]+", name) else f'"{name}"'


def insert_words(module: str) -> str:
    """Optimized module of the rest in which words are instructions of the core, or stores where they are computed."""

    def push(match: re.Match[str]) -> str:
        # A word from 0xC0000000 on would look like an instruction of 32 bits when it is rotated.
        word = match[2]
        bits = int(word) & 0xFFFFFFFF if re.fullmatch(r"-?\d+", word) else None
        constant = bits is not None and bits < 0xC0000000
        return match[1] + (_INLINE if constant else _STORE).format(word=word)

    return _PUSHED.sub(push, module)
