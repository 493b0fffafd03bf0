# SPDX-License-Identifier: Apache-2.0
"""Phases that do not fit become several ones."""
