"""Errors that a user can cause: one clear line, exit code 1, no traceback."""


class UserError(Exception):
    """A problem with what the user gave; its text is the one line that is shown."""


class NotForThisCPU(UserError):
    """A module that MLIR's execution engine does not compile for this machine."""
