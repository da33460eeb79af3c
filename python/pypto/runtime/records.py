"""Records of a run: which core ran which task when, in the timing mode's time (`RunConfig.enable_chip_swimlane`), and
the arguments of each task (`enable_dump_args`, pypto.runtime.dumps)."""

import contextlib
import json
import os
import tempfile
import time
from pathlib import Path

from pypto.ir import errors

_CORES = {"CUBE": "aic", "VECTOR": "aiv", "AI_CPU": "aicpu"}


def default_folder(name):
    """Where files of a program go that nobody gave a folder: build_output/NAME_TIME, or under $PYPTO_PROG_BUILD_DIR."""
    return Path(os.environ.get("PYPTO_PROG_BUILD_DIR", "build_output")) / f"{name}_{time.strftime('%Y%m%d_%H%M%S')}"


@contextlib.contextmanager
def recorded(compiled, level, folder, dumps=0):
    """Inside, each run of a CompiledProgram is recorded under `folder`, or beside its files: when tasks ran at `level`,
    their arguments at `dumps` (0: not)."""
    held = compiled.recording
    compiled.recording = (level, dumps, folder or compiled.output_dir) if level or dumps else None
    try:
        yield
    finally:
        compiled.recording = held


def run(compiled, memory):
    """Runs once and writes what is recorded into dfx_outputs. ValueError for several ranks."""
    level, dumps, folder = compiled.recording
    if getattr(compiled, "ranks", 1) > 1:
        raise ValueError(f"runs are recorded on one device, and {compiled.name} runs on {compiled.ranks} ranks")
    folder = Path(folder or default_folder(compiled.program_name)) / "dfx_outputs"
    folder.mkdir(parents=True, exist_ok=True)
    if dumps:
        from pypto.runtime import dumps as dumper

        # What is timed as well runs on memory of its own: the run itself is that which is dumped.
        copies = {name: data.copy() for name, data in memory.items()} if level else {}
        dumper.run(compiled, memory, dumps, folder)
        memory = copies
    if level:
        timed(compiled, memory, level, folder)


def timed(compiled, memory, level, folder):
    """Runs once in timing mode and writes chip_swimlane_records.json, name_map_NAME.json and, for Perfetto,
    merged_swimlane.json."""
    from pto_mlir import runtime

    trace = folder / "merged_swimlane.json"
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "k.pmodel"
        file.write_bytes(compiled.pmodel)
        session = runtime.InferenceSession(file, mode="timing", trace=True)
    errors.of_run(compiled.program, session.run_in_place, memory)
    session.write_trace(trace)
    events = json.loads(trace.read_text())["traceEvents"]
    names = list(dict.fromkeys([*compiled.kernel_names, *_names(events)]))
    records = {"chip_swimlane_level": level, "tasks": tasks(events, names)}
    (folder / "chip_swimlane_records.json").write_text(json.dumps(records, indent=1) + "\n")
    numbered = {"callable_id_to_name": {str(i): name for i, name in enumerate(names)}}
    (folder / f"name_map_{compiled.program_name}.json").write_text(json.dumps(numbered, indent=1) + "\n")


def blocks(events):
    """What ran on cores, of the events of a trace."""
    return [each for each in events if each["ph"] == "X" and each["pid"] == 2 and "task" in each.get("args", {})]


def _names(events):
    return [each["args"].get("kernel", each["name"]) for each in blocks(events)]


def _number(task):
    """The number of a task, `RING:LOCAL` or `LOCAL` in a trace."""
    ring, _, local = task.rpartition(":")
    return int(ring or 0) << 32 | int(local)


def tasks(events, names):
    """A record for each task of a trace that ran on cores, by its number: from the start of its first block to the end
    of its last one, on the core of the block that took longest; `fanout`: the tasks that waited for it."""
    cores = {
        each["tid"]: each["args"]["name"].rpartition(" ")[0]
        for each in events
        if each["ph"] == "M" and each["pid"] == 2 and each["name"] == "thread_name"
    }
    ran, fanout = {}, {}
    for each in blocks(events):
        ran.setdefault(_number(each["args"]["task"]), []).append(each)
    for each in events:
        if each["ph"] == "f":
            fanout.setdefault(_number(each["args"]["from"]), set()).add(_number(each["args"]["to"]))
    return [_record(task, ran[task], sorted(fanout.get(task, ())), cores, names) for task in sorted(ran)]


def _record(task, parts, fanout, cores, names):
    longest = max(parts, key=lambda each: (each["dur"], -each["tid"]))
    name = longest["args"].get("kernel", longest["name"])
    start = min(each["ts"] for each in parts)
    end = max(round(each["ts"] + each["dur"], 3) for each in parts)  # whole ns, as a trace has them
    return {
        "task_id": task,
        "name": name,
        "func_id": names.index(name),
        "core_id": longest["tid"],
        "core_type": _CORES.get(cores[longest["tid"]], cores[longest["tid"]].lower()),
        "ring_id": task >> 32,
        "blocks": len(parts),
        "submitted_us": longest["args"]["submitted_us"],
        "ready_us": longest["args"]["ready_us"],
        "dispatch_time_us": start,
        "start_time_us": start,
        "end_time_us": end,
        "finish_time_us": end,
        "duration_us": round(end - start, 3),
        "fanout": fanout,
        "fanout_count": len(fanout),
    }
