# SPDX-License-Identifier: Apache-2.0
"""Codes of diagnostics from PL1110 on, in the form of `polyloom.codes.CODES`."""

from __future__ import annotations

CODES: dict[str, tuple[str, str]] = {}
