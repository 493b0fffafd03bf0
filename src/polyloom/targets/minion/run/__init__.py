# SPDX-License-Identifier: Apache-2.0
"""The model of the chip, and what is told of a run: events, findings, figures, reports, costs."""
