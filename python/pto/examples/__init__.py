"""Programs that show the whole stack; each runs with `python -m pto.examples.NAME`."""
