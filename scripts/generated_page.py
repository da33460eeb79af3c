"""The command line of the scripts that write a page of docs/ from what the project says elsewhere."""

import argparse
from collections.abc import Callable
from pathlib import Path


def main(page: Path, text: Callable[[], str]) -> int:
    """Writes the page; with --check nothing is written, and 1 says that it is not what `text` gives."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        return 0 if page.exists() and page.read_text() == text() else 1
    page.write_text(text())
    return 0
