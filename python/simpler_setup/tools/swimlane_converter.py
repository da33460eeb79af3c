"""Reads chip_swimlane_records.json (pypto.runtime.records)."""

import json
from pathlib import Path


def read_perf_data(path) -> dict:
    """`chip_swimlane_level` and `tasks`, times in us. ValueError for other files."""
    try:
        data = json.loads(Path(path).read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: is no JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("tasks"), list) or "chip_swimlane_level" not in data:
        raise ValueError(f"{path}: has no chip_swimlane_level and tasks")
    return data
