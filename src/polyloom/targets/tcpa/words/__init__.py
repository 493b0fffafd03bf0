# SPDX-License-Identifier: Apache-2.0
"""Words of the array: instructions, symbolic and concrete configurations, their files, listings and sets of
iterations."""
