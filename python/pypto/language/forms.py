"""Forms of the language that Python evaluates outside of kernels: what was said, by name. A loop counts as Python's."""

_TASK = {"allow_early_resolve": False, "name_hint": "", "deps": None, "no_dep_args": None, "dumps": None}
# Arguments by place, and keywords with what they are where nothing is said.
_SCOPES = {
    "pl.at": (("level", "role"), {"level": None, "role": None, "optimizations": None, "windowize": None, **_TASK}),
    "pl.spmd": (("core_num",), {"core_num": None, "sync_start": False, "optimizations": None, **_TASK}),
    "pl.cluster": ((), {"name_hint": ""}),
    "pl.scope": ((), {"name_hint": "", "mode": None}),
    "pl.manual_scope": ((), {"name_hint": ""}),
}
_CARRY = {"init_values": None, "attrs": None}
_LOOPS = {
    "pl.range": _CARRY,
    "pl.parallel": _CARRY,
    "pl.unroll": {"attrs": None},
    "pl.pipeline": {"stage": None, **_CARRY},
}
FORMS = frozenset([*_SCOPES, *_LOOPS, "pl.split_aiv"])


class Scope:
    """What the arguments of a scope say. It cannot be entered: a kernel is parsed, never executed."""

    def __init__(self, name, said):
        self._name = name
        self.__dict__.update(said)

    def __enter__(self):
        raise RuntimeError(f"{self._name} is only for kernels: it is parsed, never called")

    def __exit__(self, *_):
        return False


def _refuse(name, keywords, known):
    for keyword in keywords:
        if keyword not in known:
            raise TypeError(f"{name} does not accept {keyword!r}; it takes {', '.join(known) or 'no keywords'}")


def evaluate(name, arguments, keywords):
    """`pl.range(4)` and its like; TypeError for arguments that the form does not have."""
    if name == "pl.split_aiv":
        _refuse(name, keywords, ("mode", "name_hint"))
        if list(arguments) != [2]:
            raise ValueError(f"{name}: its count must be the integer 2, the vector cores of a cube core")
        return iter(range(2))
    if name in _LOOPS:
        _refuse(name, keywords, _LOOPS[name])
        turns = range(*arguments)
        carried = keywords.get("init_values")
        return iter(turns) if carried is None else ((turn, carried) for turn in turns)
    places, known = _SCOPES[name]
    if len(arguments) > len(places):
        raise TypeError(f"{name} takes {len(places)} arguments by place, not {len(arguments)}")
    _refuse(name, keywords, known)
    return Scope(name, {**known, **dict(zip(places, arguments, strict=False)), **keywords})
