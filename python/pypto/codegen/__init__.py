"""Helpers of the code generators."""
