"""Programs as files of their own, whose lines errors name."""

import importlib.util
import linecache
import sys


def imported(monkeypatch, path, text):
    """The module of a file with this text, until the test ends."""
    path.write_text(text)
    linecache.clearcache()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module
