# SPDX-License-Identifier: Apache-2.0
"""Schedules of a function's blocks of open code: rounds, spills, modes."""
