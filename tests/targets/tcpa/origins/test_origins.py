# SPDX-License-Identifier: Apache-2.0
"""Every operation says where it comes from: through transforms, files, listings and reports."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.frontend.python.helpers import KERNELS
from tests.kernels.running import LANGUAGES
from tests.kernels.sizes import MINI

import polyloom as pl
from polyloom import frontend
from polyloom.diagnostics import PolyloomError, Source, Span
from polyloom.ir import pla_verify
from polyloom.targets.provenance import Provenance, provenance
from polyloom.targets.tcpa.words import concrete_file, symbolic_file

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

FIR = KERNELS / "fir.py"


@pytest.mark.parametrize(
    ("name", "language"),
    [pytest.param(name, LANGUAGES[1 - n % 2], marks=pytest.mark.long if n % 3 else ()) for n, name in enumerate(MINI)],
)
def test_every_equation_has_a_line(name: str, language: str) -> None:
    """Of the language that tests/kernels/test_kernels.py does not run: there it is every operation of the report."""
    plan = frontend.load(str(KERNELS / f"{name}.{language}")).plan
    found = [provenance(e.span, e.reason) for phase in plan.phases for e in phase.program.equations]
    assert all(p is not None and p.line and p.statement and p.column < p.end_column for p in found)
    assert any(p is not None and p.reason for p in found)
    assert any(p is not None and not p.reason for p in found)


def test_rule_refuses_an_equation_without_origin() -> None:
    program = frontend.load(str(FIR)).plan.phases[0].program
    first, *others = program.equations
    changed = replace(program, equations=(replace(first, span=None, reason=""), *others))
    pla_verify.check_origins(program)
    with pytest.raises(PolyloomError, match=f"nothing tells what the equation `{first.name}` is for"):
        pla_verify.check_origins(changed)


def test_place_in_a_text() -> None:
    source = Source("/somewhere/else/f.py", "x = 1\n    y = a +  b\n")
    assert provenance(Span(source, 14, 20)) == Provenance("f.py", 2, 9, 15, "y = a + b")
    assert provenance(None, "counts") == Provenance("", 0, 0, 0, "", "counts")
    assert provenance(None) is None


def test_bytes_do_not_depend_on_the_folder(tmp_path: Path) -> None:
    made: list[bytes] = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        shutil.copy(FIR, tmp_path / folder)
        made.append(pl.compile(str(tmp_path / folder / "fir.py"), on="tcpa").data)
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]


def test_files_keep_origins() -> None:
    compiled = pl.compile(str(FIR), on="tcpa")
    symbolic = symbolic_file.decode(compiled.data)
    assert len(symbolic.origins) == len(symbolic.nodes)
    instance = compiled.instantiate(N=12, T=3, pes=(2, 2))
    made_of = concrete_file.decode(instance.data).made_of
    assert made_of is not None
    assert (made_of.values, made_of.symbolic) == ((3, 12), compiled.data)
    short = symbolic_file.encode(replace(symbolic, origins=()))
    assert symbolic_file.decode(short).origins == ()
    assert symbolic_file.size_without_names(short) == symbolic_file.size_without_names(compiled.data)


def test_wrong_number_of_origins_is_refused() -> None:
    symbolic = symbolic_file.decode(pl.compile(str(FIR), on="tcpa").data)
    wrong = symbolic_file.encode(replace(symbolic, origins=(*symbolic.origins[1:], symbolic.origins[0])))
    symbolic_file.decode(wrong)
    with pytest.raises(PolyloomError, match="PL0706"):
        symbolic_file.encode(replace(symbolic, origins=(*symbolic.origins, symbolic.origins[0])))


def test_listings(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(KERNELS.parent.parent)
    compiled = pl.compile("examples/kernels/fir.py", on="tcpa")
    golden("fir.plsc", compiled.listing[: compiled.listing.index("candidate 0")])
    golden("fir.plcc", compiled.instantiate(N=12, T=3, pes=(1, 2)).listing)


def test_report_lists_operations_and_sources() -> None:
    result = pl.compile(str(FIR), on="tcpa").instantiate(N=12, T=3, pes=(2, 2)).run()
    (view,) = result.views
    assert view.sources == (("fir.py", FIR.read_text(encoding="utf-8")),)
    assert {o.provenance.line for o in view.operations if o.provenance} <= set(range(1, 20))
    assert view.reservation is not None
    assert all(o.provenance and o.text and o.slot in range(len(view.reservation.rows)) for o in view.operations)
