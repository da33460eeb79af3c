"""Readers of the records of a run."""
