# SPDX-License-Identifier: MIT
"""`python -m parafield` is the command parafield."""

from .command import main

main()
