"""Targets of the compiler."""
