# SPDX-License-Identifier: Apache-2.0
"""Files of plans of several phases."""
