# SPDX-License-Identifier: Apache-2.0
"""Folds of counts into the account of cycles: by source line, and over time."""
