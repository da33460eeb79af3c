"""What watches passes. No pass works on this IR: it is lowered at once, so there is nothing to watch."""

from pypto.pypto_core.passes import PassInstrument


def make_roundtrip_instrument() -> PassInstrument:
    """An instrument that compares a program with its printed text after each pass."""
    return PassInstrument("roundtrip")
