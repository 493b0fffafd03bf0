# SPDX-License-Identifier: Apache-2.0
"""Rewrites of a program or its graph before it is scheduled, which change no bit of a result."""
