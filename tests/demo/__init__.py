# SPDX-License-Identifier: Apache-2.0
"""The demo of Pintle on real machines, for a newcomer; `./dev demo` runs it."""
