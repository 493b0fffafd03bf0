# SPDX-License-Identifier: Apache-2.0
"""What happens when a program runs: model, timeline, trace, costs, counts."""
