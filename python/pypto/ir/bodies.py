"""Bodies: one statement, or several in SeqStmts."""

from pypto.pypto_core import ir


def sequence(stmts, span):
    """The body of these statements."""
    return stmts[0] if len(stmts) == 1 else ir.SeqStmts(stmts, span)


def statements_in_order(body):
    """The statements of a body, without those that they hold."""
    return body.stmts if isinstance(body, ir.SeqStmts) else [body]
