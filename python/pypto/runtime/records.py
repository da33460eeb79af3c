"""Records of a run in the timing mode: which core ran which task when (`RunConfig.enable_chip_swimlane`), what waits
for what (`enable_dep_gen`), cycles or bytes of kernels (`enable_pmu`), tasks in flight (`enable_scope_stats`); and the
arguments of each task (`enable_dump_args`, pypto.runtime.dumps)."""

import contextlib
import csv
import json
import os
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path

from pypto.ir import errors

_CORES = {"CUBE": "aic", "VECTOR": "aiv", "AI_CPU": "aicpu"}


def default_folder(name):
    """Where files of a program go that nobody gave a folder: build_output/NAME_TIME, or under $PYPTO_PROG_BUILD_DIR;
    one that is not there yet."""
    folder = Path(os.environ.get("PYPTO_PROG_BUILD_DIR", "build_output"))
    stem, made = f"{name}_{time.strftime('%Y%m%d_%H%M%S')}", 0
    while (folder / f"{stem}{f'_{made}' if made else ''}").exists():
        made += 1
    return folder / f"{stem}{f'_{made}' if made else ''}"


@dataclass(frozen=True)
class Wanted:
    """What of a run is recorded: the fields of that name of a RunConfig or CallConfig."""

    enable_chip_swimlane: int = 0
    enable_dump_args: int = 0
    enable_pmu: int = 0
    enable_dep_gen: bool = False
    enable_scope_stats: bool = False

    @classmethod
    def from_run_config(cls, config):
        return cls(**{each.name: getattr(config, each.name, each.default) for each in fields(cls)})

    def any(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))

    def timed(self) -> bool:
        """Whether any of it needs the timing mode."""
        return any(getattr(self, each.name) for each in fields(self) if each.name != "enable_dump_args")


@contextlib.contextmanager
def recorded(compiled, wanted, folder):
    """Inside, each run of a CompiledProgram is recorded under `folder`, or beside its files."""
    held = compiled.recording
    compiled.recording = (wanted, folder or compiled.folder) if wanted.any() else None
    try:
        yield
    finally:
        compiled.recording = held


def run(compiled, memory):
    """Runs once and writes what is recorded into dfx_outputs."""
    wanted, folder = compiled.recording
    folder = Path(folder or default_folder(compiled.program_name)) / "dfx_outputs"
    folder.mkdir(parents=True, exist_ok=True)
    if wanted.enable_dump_args:
        from pypto.runtime import dumps as dumper

        # What is timed as well runs on memory of its own: the run itself is that which is dumped.
        copies = {name: data.copy() for name, data in memory.items()} if wanted.timed() else {}
        write = dumper.run_ranks if getattr(compiled, "ranks", 1) > 1 else dumper.run
        write(compiled, memory, wanted.enable_dump_args, folder)
        memory = copies
    if wanted.timed():
        timed(compiled, memory, wanted, folder)


def timed(compiled, memory, wanted, folder):
    """Runs once in timing mode and writes what is wanted of it."""
    from pto_mlir import runtime

    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "k.pmodel"
        file.write_bytes(compiled.pmodel)
        session = runtime.InferenceSession(file, mode="timing", trace=True)
        errors.of_run(compiled.program, session.run_in_place, memory)
        trace = Path(scratch) / "merged_swimlane.json"
        session.write_trace(trace)
        text = trace.read_text()
    events = json.loads(text)["traceEvents"]
    names = list(dict.fromkeys([*compiled.kernel_names, *_names(events)]))
    made = tasks(events, names)
    if wanted.enable_chip_swimlane:
        (folder / "merged_swimlane.json").write_text(text)
    if wanted.enable_pmu:
        counters(session.profile_kernels(), wanted.enable_pmu, folder / "pmu.csv")
    if not _is_of_ranks(events):
        return _write(compiled, wanted, made, names, folder)
    for (rank, dispatch), part in dispatches(compiled, made).items():
        inside = folder / f"rank{rank}" / f"d{dispatch}"
        inside.mkdir(parents=True, exist_ok=True)
        _write(compiled, wanted, part, names, inside)
        if wanted.enable_chip_swimlane:
            numbers = {each["task_id"] for each in part}
            shown = [each for each in events if each["ph"] == "M" or _task_of(each) in numbers]
            name = f"merged_swimlane_{compiled.program_name}.json"
            (inside / name).write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": shown}) + "\n")
    return None


def _is_of_ranks(events):
    return any(each["name"] == "process_name" and each["args"]["name"] == "ranks" for each in events)


def _task_of(event):
    task = event.get("args", {}).get("task")
    return None if task is None else _number(task)


def dispatches(compiled, made):
    """The tasks of each call of the host level, by (rank, number of the call on it): a task for each launch. What they
    hand on to tasks of other calls is left out."""
    from pypto.runtime import dumps

    found = {}
    for launch, task in zip(dumps.launches_of(compiled)["launches"], made, strict=True):
        found.setdefault((launch["rank"], launch["dispatch"]), []).append(task)
    for part in found.values():
        numbers = {each["task_id"] for each in part}
        for each in part:
            each["fanout"] = [number for number in each["fanout"] if number in numbers]
            each["fanout_count"] = len(each["fanout"])
    return found


def _write(compiled, wanted, made, names, folder):
    """What is wanted of these tasks. Of several ranks the swimlane comes with the dependencies."""
    if wanted.enable_chip_swimlane:
        _swimlane(compiled, wanted.enable_chip_swimlane, made, names, folder)
    if wanted.enable_dep_gen or (wanted.enable_chip_swimlane and getattr(compiled, "ranks", 1) > 1):
        edges = [{"pred": each["task_id"], "succ": succ} for each in made for succ in each["fanout"]]
        shown = [{"task_id": each["task_id"], "name": each["name"]} for each in made]
        (folder / "deps.json").write_text(json.dumps({"tasks": shown, "edges": edges}, indent=1) + "\n")
    if wanted.enable_scope_stats:
        (folder / "scope_stats").mkdir(exist_ok=True)
        lines = [json.dumps(each) + "\n" for each in rings(made)]
        (folder / "scope_stats" / "scope_stats.jsonl").write_text("".join(lines))


def _swimlane(compiled, level, made, names, folder):
    """chip_swimlane_records.json and name_map_NAME.json."""
    records = {"chip_swimlane_level": level, "tasks": made}
    (folder / "chip_swimlane_records.json").write_text(json.dumps(records, indent=1) + "\n")
    numbered = {"callable_id_to_name": {str(i): name for i, name in enumerate(names)}}
    (folder / f"name_map_{compiled.program_name}.json").write_text(json.dumps(numbered, indent=1) + "\n")


def counters(kernels, event, file):
    """pmu.csv: a row for each kernel, over its launches; event 2 has the cycles that each engine was busy and stalled
    (sums over the cores), 4 the bytes that it read and wrote."""
    with open(file, "w", newline="") as out:
        writer = csv.writer(out)
        engines = list(kernels[0]["busy"]) if event == 2 and kernels else []
        heads = [f"{each} {what}" for each in engines for what in ("busy", "stalled")]
        writer.writerow(["kernel", "launches", *(heads if event == 2 else ["gm_bytes_read", "gm_bytes_written"])])
        for each in kernels:
            cycles = [round(each[what][engine], 1) for engine in engines for what in ("busy", "stalled")]
            row = cycles if event == 2 else [each["gm_bytes_read"], each["gm_bytes_written"]]
            writer.writerow([each["name"], each["launches"], *row])


def rings(made):
    """Of each ring of tasks (a scope's depth): how many it had, and how many at most from submission to their end."""
    found = []
    for ring in sorted({each["ring_id"] for each in made}):
        mine = [each for each in made if each["ring_id"] == ring]
        # What ends makes room for what is submitted at the same time.
        moments = [(each["submitted_us"], 1) for each in mine] + [(each["end_time_us"], -1) for each in mine]
        inside = peak = 0
        for _, step in sorted(moments):
            inside += step
            peak = max(peak, inside)
        found.append({"ring": ring, "tasks": len(mine), "task_window_peak": peak})
    return found


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
        each["tid"]: each["args"]["name"].partition(" ")[0]
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
