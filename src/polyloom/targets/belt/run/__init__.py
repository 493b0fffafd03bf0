# SPDX-License-Identifier: Apache-2.0
"""Execution of programs: model, timeline, trace, costs, counts."""
