# SPDX-License-Identifier: Apache-2.0
"""Execution on the model of the chip, and what is said of a run: events, findings, figures, reports, costs."""
