# SPDX-License-Identifier: Apache-2.0
"""Reports of a run: text, one HTML page, traces; made of a target's `Report` and the run's data (docs/report.md)."""
