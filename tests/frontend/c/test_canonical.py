# SPDX-License-Identifier: Apache-2.0
"""Every function of canonical.c, natively and as a nest: what C has several ways to write means what C says."""

from __future__ import annotations

import re

import pytest
from tests.frontend.c.helpers import HERE
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.frontend import c
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")
pytestmark = pytest.mark.usefixtures("shared_trees")

PROGRAMS = HERE / "canonical.c"
FUNCTIONS = re.findall(r"^(?:void|int) (\w+)\(", PROGRAMS.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function_equals_nest(name: str) -> None:
    nest, reference = c.load(str(PROGRAMS), Options(function=name))
    nest = check_with_least_sizes(nest)
    for sizes in ((4, 3, 5), (5, 2, 1)):
        parameters = dict(zip(nest.parameters, sizes, strict=False))
        inputs = {n: values - 2 for n, values in arguments(nest, parameters, sizes[0]).items()}
        assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))
