# SPDX-License-Identifier: Apache-2.0
"""Work of a phase of a plan: code for given sizes, and its results in the machine's arithmetic.

Products and SIMD loops give this one type, so that phases of both kinds follow one another in a program, a barrier
between them. What a phase writes is visible to all minions when its code ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from polyloom.analysis.contraction import Contraction, Matrix
from polyloom.analysis.matrices import View, matrix_view
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.ssa import Place
from polyloom.targets.minion.map.frame import Mode, Part, Team
from polyloom.targets.minion.map.product.operand import Kind
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.words.layout import Placed
from polyloom.targets.minion.words.resident import Home
from polyloom.targets.target import Json

Arrays = dict[str, NDArray[Any]]
Shape = tuple[int, ...]
Bounds = Callable[[Mapping[str, int], Arrays, Arrays, Shape], NDArray[Any]]


def overwrites_factor(phase: Phase, factors: Iterable[str]) -> bool:
    """Anti dependence of a phase on itself: whether its result lies where one of the factors does, which the tensor
    unit still loads when it has stored the first tiles.
    """
    places = dict(phase.inputs)
    return bool({places[name] for name in factors} & {name for _, name in phase.outputs})


@dataclass(frozen=True, slots=True)
class Later:
    """Accesses behind a phase: arrays of the program that later phases touch, those that they write, and those that one
    of them writes before another one touches them.
    """

    touched: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Setting:
    """Setting of a phase in a program: `arrays` are those of its equations by their names there; labels begin with
    `prefix`; from `scratch` on is memory for what the phase itself makes, which nothing has read; `scratchpad` are the
    bytes of each shire's. What the last phase wrote nobody but the host reads. `later`: what phases behind do.
    `shire_rows`: rows of each array that a shire has to itself, 0 where rows are not distributed; `near`: the program's
    arrays that nobody accesses but the harts of one shire, or each shire at its own rows.
    """

    values: Mapping[str, int]
    arrays: Mapping[str, Placed]
    team: Team
    prefix: str
    scratch: int
    options: Options
    scratchpad: int = 0
    is_last: bool = False
    later: Later = field(default_factory=lambda: Later())
    shire_rows: int = 0
    near: frozenset[str] = frozenset()

    @property
    def owned_rows(self) -> int:
        """Rows of all shires together."""
        return self.shire_rows * self.team.shires

    def view(self, matrix: Matrix) -> View:
        """Strided view of a factor of a product, or of its result, in memory."""
        placed = self.arrays[matrix.array]
        found = matrix_view(matrix, placed.address, placed.shape, placed.steps(), placed.dtype.itemsize)
        # Whether a matrix has such a view does not depend on sizes (has_matrix_views).
        assert found is not None, "the form was checked"
        return found


@dataclass(frozen=True, slots=True)
class Made:
    """Generated code of a phase. `macs` are useful multiply-adds, `peak` how many a minion does per cycle at most (0:
    not of interest), `scratch` the bytes that the phase takes there, `home` where arrays are that are not in DRAM,
    `phases` how many it is. `staged`: its second harts give and take credits. `buffer`: bytes of its shire's scratchpad
    that each minion has to itself, from the start by its number, 0 where minions load what others store there, None
    where nobody stores anything.
    """

    parts: tuple[Part, ...]
    facts: Mapping[str, Json] = field(default_factory=dict[str, Json])
    macs: int = 0
    peak: int = 0
    scratch: int = 0
    home: Home | None = None
    phases: int = 1
    staged: bool = False
    buffer: int | None = None


@dataclass(frozen=True, slots=True)
class Multiplied:
    """Product of a work: what it multiplies, under which `--fp`, and the place of its result."""

    found: Contraction
    kind: Kind
    fp: str
    place: Place


@dataclass(frozen=True, slots=True)
class Work:
    """Work of a phase. `what` is `product`, `convolution`, `matrix-vector`, `simd` or `serial`; `harts` and `mode` are
    what the code asks of the team.

    `results`: values of the parameters, the inputs by the program's names, and what outputs hold before, to what they
    hold after. Where they are not `exact`, they are those of double precision. `helpers`: whether second harts help at
    these sizes. `bounds`: how far elements of a result may be from `results`, by the parameters, its inputs, the bounds
    of their errors, and its shape. `product`: what may become one loop with the product that reads its result.
    `is_discrete`: results are integers, which the source has, too. `cycles`: prediction for a team. `own_rows`: arrays
    of the program that shires access at their own rows only, where rows are distributed.
    """

    what: str
    # What a work asks for; the team of the program has the most that any phase asks for.
    harts: int
    mode: Mode
    code: Callable[[Setting], Made]
    results: Callable[[Mapping[str, int], Arrays, Arrays], Arrays]
    bounds: Bounds | None = None
    helpers: Callable[[Setting], bool] | None = None
    exact: bool = True
    product: Multiplied | None = None
    is_discrete: bool = False
    cycles: Callable[[Setting], int] | None = None
    own_rows: Callable[[Setting], frozenset[str]] | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """A plan, and what becomes of its phases; `off_tensor` are sentences: why products do not go to the tensor unit."""

    plan: Plan
    works: tuple[Work, ...]
    # Told in the summary, because such a product takes longer than the tensor unit would.
    off_tensor: tuple[str, ...] = ()
