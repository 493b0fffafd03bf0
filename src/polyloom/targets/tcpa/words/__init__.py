# SPDX-License-Identifier: Apache-2.0
"""The words of the array: instructions, symbolic and concrete configurations, their files, listings and sets of
iterations."""
