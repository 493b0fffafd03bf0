# SPDX-License-Identifier: Apache-2.0
"""The solver's module does without pandas, a second of each command, until somebody asks for series of variables."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
from polyloom.modulo.cp_sat import cp_model, solver
model = cp_model.CpModel()
x, y = model.new_int_var(0, 3, "x"), model.new_bool_var("y")
model.add(x > 1).only_enforce_if(y)
model.maximize(2 * y - x)
search = solver(1.0)
assert search.solve(model) == cp_model.OPTIMAL
assert "pandas" not in sys.modules
import pandas
series = model.new_bool_var_series("b", pandas.Index([1, 2]))
assert isinstance(series, pandas.Series) and cp_model.pd.Index is pandas.Index
"""


def test_pandas_is_imported_for_series_alone() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
