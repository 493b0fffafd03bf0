# SPDX-License-Identifier: Apache-2.0
"""The belt machine as a target: functions in SSA form become belt programs, which the model runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from polyloom import files
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.ir.signature import RESULT, Signature
from polyloom.targets.belt import belt_file, model, view
from polyloom.targets.belt.compile import PASSES, specialize
from polyloom.targets.belt.conasm import print_conasm
from polyloom.targets.belt.conasm_read import read_conasm
from polyloom.targets.belt.genasm import print_genasm
from polyloom.targets.belt.genasm_read import read_genasm
from polyloom.targets.belt.import_ssa import import_function
from polyloom.targets.belt.machine import Machine, load, members
from polyloom.targets.belt.options import Options
from polyloom.targets.belt.place import Place, place
from polyloom.targets.belt.verify import verify
from polyloom.targets.forms import function
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Json, Kind, Target

_PROGRAM: Final = Kind(".belt", "belt program")
