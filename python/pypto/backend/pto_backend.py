"""Errors of the back end."""


class PartialCodegenError(RuntimeError):
    """A part of the program could not be compiled: an output that nothing writes."""
