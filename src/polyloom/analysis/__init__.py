# SPDX-License-Identifier: Apache-2.0
"""Questions about programs that hold for all parameter values."""
