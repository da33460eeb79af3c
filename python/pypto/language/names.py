"""What `pl.NAME` is inside a kernel. The parser reads calls; where Python makes one, it is of values of the IR."""

import functools
import sys

from pypto.language.forms import FORMS, evaluate
from pypto.pypto_core.ir import MaskPattern, op_aliases, op_names

# Names of the language that are no operations of the table.
SPECIAL = frozenset(
    """range parallel unroll pipeline while_ cond yield_ at cluster spmd split_aiv split scope manual_scope submit
    spmd_submit no_dep dump_tag func_attr static_print static_assert const min max pow logical_xor""".split()
)


class Name:
    """An operation ("pl.add", "tile.add") or a form of the language ("pl.range"), which is for kernels only."""

    __slots__ = ("full",)

    def __init__(self, full):
        self.full = full

    def __call__(self, *arguments, **keywords):
        if self.full.removeprefix("pl.") not in SPECIAL:
            from pypto.language.calls import call

            return call(self.full, arguments, keywords)
        if self.full in FORMS:
            return evaluate(self.full, arguments, keywords)
        shown = self.full if self.full.startswith("pl.") else f"pl.{self.full}"
        raise RuntimeError(f"{shown} is only for kernels: it is parsed, never called")

    def __repr__(self):
        return self.full


_name = functools.cache(Name)  # one object for each


class Namespace:
    """pl.tile, pl.tensor, ..: operations by name."""

    def __init__(self, prefix, members):
        self._prefix = prefix
        self._members = frozenset(members)

    def __getattr__(self, name):
        if name == "MaskPattern":
            return MaskPattern
        if name not in self._members:
            raise AttributeError(f"pl.{self._prefix} has no operation {name}")
        return _name(f"{self._prefix}.{name}")

    def __dir__(self):
        return sorted(self._members)


def _members():
    members = {}
    for name in [*op_names(), *op_aliases()]:
        space, base = name.split(".", 1)
        members.setdefault(space, set()).add(base)
    members["tile"].add("sum")  # of the seeds: its axis chooses the operation
    members["block"] = members["tile"]
    members["tensor"].add("paged_gather")  # statements of the language (parser/composed.py)
    members["prefetch"] = {"make_context", "async_prefetch", "session", "wait"}  # the parser's own
    return members


_spaces = _members()
OPERATIONS = frozenset(_spaces["tile"] | _spaces["tensor"] | _spaces.pop("pl"))
NAMESPACES = {space: Namespace(space, names) for space, names in _spaces.items()}


def replacement(name):
    """What Python has put in place of an operation into its module (`pypto.language.op.tensor_ops`); else None."""
    space, _, base = name.rpartition(".")
    module = sys.modules.get(f"pypto.language.op.{'unified' if space == 'pl' else space}_ops")
    held = vars(module).get(base) if module else None
    return None if isinstance(held, Name) else held


def lookup(name):
    """The value of pl.NAME for operations and forms of the language, else None."""
    if name in NAMESPACES:
        return NAMESPACES[name]
    return _name(f"pl.{name}") if name in SPECIAL or name in OPERATIONS else None
