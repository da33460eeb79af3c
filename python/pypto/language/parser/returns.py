"""Returns inside branches, as one at the end: each arm that returns binds the results instead."""

import ast


def _ends(stmts):
    """Whether every way through the statements returns a value."""
    last = stmts[-1] if stmts else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    return isinstance(last, ast.Return) and last.value is not None


def _split(stmts):
    """The statements with what follows a branch that returns moved into its other arm; as given where there is none."""
    for at, stmt in enumerate(stmts):
        if not isinstance(stmt, ast.If):
            continue
        rest = stmts[at + 1 :]
        then, other = _split(stmt.body), _split(stmt.orelse)
        if _ends(then) and not _ends(other):
            other = _split([*stmt.orelse, *rest])
        elif _ends(other) and not _ends(then):
            then = _split([*stmt.body, *rest])
        elif not _ends(then):
            continue
        return [*stmts[:at], ast.copy_location(ast.If(stmt.test, then, other), stmt)]
    return stmts


def _returns(stmts):
    """The returns of statements and of those inside them."""
    for stmt in stmts:
        if isinstance(stmt, ast.Return):
            yield stmt
        for part in ("body", "orelse", "finalbody"):
            yield from _returns(getattr(stmt, part, ()))


def _values(node):
    return list(node.value.elts) if isinstance(node.value, ast.Tuple) else [node.value]


def _bind(stmts, names):
    """The statements with assignments to `names` for returns."""
    *before, last = stmts
    if isinstance(last, ast.If):
        made = ast.If(last.test, _bind(last.body, names), _bind(last.orelse, names))
        return [*before, ast.copy_location(made, last)]
    if len(names) == 1:
        target = ast.Name(names[0], ast.Store())
    else:
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
    return [*before, ast.fix_missing_locations(ast.copy_location(ast.Assign([target], last.value), last))]


def joined_returns(node):
    """The body of a function with one return at its end. Where not every way returns as many values it is the body as
    it is, and the parser says what is wrong with its returns."""
    stmts = _split(node.body)
    returns = list(_returns(stmts))
    counts = {len(_values(each)) if each.value is not None else 0 for each in returns}
    if stmts is node.body or not _ends(stmts) or len(counts) != 1:
        return node.body
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    names = [f"result{number}" for number in range(counts.pop())]
    while used & set(names):
        names = [f"{name}_" for name in names]
    values = [ast.Name(name, ast.Load()) for name in names]
    last = ast.Return(values[0] if len(values) == 1 else ast.Tuple(values, ast.Load()))
    return [*_bind(stmts, names), ast.fix_missing_locations(ast.copy_location(last, returns[-1]))]
