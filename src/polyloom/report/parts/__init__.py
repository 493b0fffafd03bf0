# SPDX-License-Identifier: Apache-2.0
"""Sections of a run's page, one file each: HTML from a target's `Report` and the run's data."""
