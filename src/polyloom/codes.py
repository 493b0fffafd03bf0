# SPDX-License-Identifier: Apache-2.0
"""The catalogue of diagnostic codes: what `polyloom explain CODE` prints and docs/errors.md lists.

Each entry is (title, explanation with faulty text and its repair). A room adds the codes that it raises, in its own section.
"""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {
    # PL01xx: syntax of the equation language (frontend)
    # PL02xx: meaning of a program (frontend, analysis)
    # PL03xx: machine descriptions
    # PL04xx: mapping: allocation, schedule, registers, routes
    # PL05xx: instantiation: parameters, regions, capacities
    # PL06xx: model and verification: faults
    # PL07xx: files
    # PL08xx: command line and Python interface
}
