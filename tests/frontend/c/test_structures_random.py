# SPDX-License-Identifier: Apache-2.0
"""Random structures: fields of all kinds, nested by value and behind pointers, and variables of the file; what the
nest computes is what the function does.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.frontend import c
from polyloom.frontend.c.clang import cached_trees
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

SCALARS = ("int", "short", "unsigned char", "unsigned", "signed char")


class Writer:
    """Text of one function `f{number}` with its structures and variables."""

    def __init__(self, number: int, random: Random) -> None:
        self.number, self.random = number, random
        self.types, self.shapes = list[str](), list[str]()
        self.scalars, self.arrays = list[str](), list[str]()

    def structure(self, path: str, depth: int) -> str:
        """The name of a structure whose places begin with `path`."""
        name = f"struct t{self.number}_{len(self.types)}_{depth}"
        fields = list[str]()
        for k in range(self.random.randint(1, 4)):
            fields.append(self.field(f"f{k}", path, depth))
        self.types.append(f"{name} {{ {' '.join(fields)} }};")
        return name

    def field(self, name: str, path: str, depth: int) -> str:
        kind = self.random.choice(["scalar", "array", "pointer", "table", *["inner", "reference"] * (depth < 2)])
        of, place = self.random.choice(SCALARS), f"{path}{name}"
        if kind == "scalar":
            self.scalars.append(place)
            return f"{of} {name};"
        if kind == "array":
            self.arrays.append(f"{place}[i]")
            return f"{of} {name}[8];"
        if kind == "table":
            self.arrays.append(f"{place}[i][{self.random.randint(0, 2)}]")
            return f"{of} {name}[8][3];"
        if kind == "pointer":
            self.arrays.append(f"{place}[i]")
            self.shapes.append(f"{place}=8")
            return f"{self.random.choice(['', 'const '])}{of} *{name};"
        arrow = kind == "reference"
        return f"{self.structure(place + ('->' if arrow else '.'), depth + 1)} {'*' * arrow}{name};"

    def text(self) -> str:
        parameters, declared = ["int n"], list[str]()
        for k in range(self.random.randint(1, 2)):
            if self.random.random() < 0.6:
                parameters.append(f"{self.structure(f'p{k}->', 0)} *p{k}")
            else:
                declared.append(f"{self.structure(f'g{self.number}_{k}.', 0)} g{self.number}_{k};")
        declared.append(f"int h{self.number}; short k{self.number}[8];")
        self.scalars.append(f"h{self.number}")
        self.arrays.append(f"k{self.number}[i]")
        lines = [self.statement() for _ in range(3)]
        head = f"void f{self.number}({', '.join(parameters)}) {{\n  __builtin_assume(n <= 8);\n"
        loop = "".join(f"    {line}\n" for line in lines)
        return "\n".join([*self.types, *declared, f"{head}  for (int i = 0; i < n; i++) {{\n{loop}  }}\n}}\n"])

    def statement(self) -> str:
        constant = tuple(shape.partition("=")[0] for shape in self.shapes)
        stored = [place for place in (*self.scalars, *self.arrays) if not place.startswith(constant)]
        read = [*self.scalars, *self.arrays]
        value = " + ".join(self.random.choice(read) for _ in range(3))
        return f"{self.random.choice(stored)} = {value};"


def test_random_structures(tmp_path: Path) -> None:
    random = Random(12)
    writers = [Writer(number, random) for number in range(25)]
    path = tmp_path / "random.c"
    path.write_text("\n".join(writer.text() for writer in writers), encoding="utf-8")
    with cached_trees():
        for writer in writers:
            shapes = tuple(s for s in writer.shapes if used(path.read_text(encoding="utf-8"), writer.number, s))
            nest, reference = c.load(str(path), Options(f"f{writer.number}", shapes=shapes))
            nest = check_with_least_sizes(nest)
            sizes = dict.fromkeys(nest.parameters, 5)
            inputs = {n: v - v.dtype.type(1) for n, v in arguments(nest, sizes, writer.number).items()}
            assert_same(meaning(nest, sizes, inputs), reference(sizes, inputs))


def used(text: str, number: int, shape: str) -> bool:
    """Whether a function uses the array of a shape: `--shape` of another is an error."""
    body = text[text.index(f"void f{number}(") :].partition("\n}\n")[0]
    return f"{shape.partition('=')[0]}[" in body
