# SPDX-License-Identifier: Apache-2.0
"""Diagnostic codes of the belt machine: members and words PL1000 to PL1049, model to PL1079, from C to the form that is
scheduled to PL1109, specializer to PL1139."""

from __future__ import annotations

from polyloom.targets.belt import codes_import, codes_model, codes_specializer, codes_words

CODES: dict[str, tuple[str, str]] = {
    **codes_words.CODES,
    **codes_model.CODES,
    **codes_import.CODES,
    **codes_specializer.CODES,
}
