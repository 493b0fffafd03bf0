# SPDX-License-Identifier: Apache-2.0
"""How a run is shown: text, one HTML page, traces; made of a target's `Report` and the run's data."""
