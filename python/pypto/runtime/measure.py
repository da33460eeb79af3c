"""`benchmark`: the device's time of a compiled program's runs."""

import json
import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pypto.runtime import records


@dataclass
class BenchmarkStats:
    """Microseconds on the device of each measured run (`device_wall_us`), their least, median, mean and greatest; of
    several ranks those of the slowest one. `dispatches`: (rank, call of the host level on it) -> of each run when it
    began, when it ended, and how long its tasks took together."""

    rounds: int
    warmup: int
    device_wall_us: list[float] = field(default_factory=list)
    dispatches: dict = field(default_factory=dict)
    fallback_flattened: bool = False

    def per_dispatch(self, what="device") -> dict:
        """(rank, slot) -> times of each run: "device" and "host" from the first task's begin to the last one's end,
        "effective" while tasks ran. ValueError for another name."""
        times = {"device": _wall, "host": _wall, "effective": lambda span: span[2]}
        if what not in times:
            raise ValueError(f"per_dispatch: expects one of {', '.join(times)}, not {what!r}")
        return {key: [times[what](span) for span in spans] for key, spans in self.dispatches.items()}

    def per_rank(self, what="device") -> dict:
        """rank -> times of each run, summed over its calls; as per_dispatch."""
        found = {}
        for (rank, _), series in self.per_dispatch(what).items():
            found[rank] = [a + b for a, b in zip(found[rank], series, strict=True)] if rank in found else series
        return found

    def per_round(self, what="device") -> list:
        """Of each run the time of the slowest rank, or, for "union", from the first begin to the last end."""
        if what == "union":
            rounds = zip(*self.dispatches.values(), strict=True)
            return [max(span[1] for span in spans) - min(span[0] for span in spans) for spans in rounds]
        return [max(times) for times in zip(*self.per_rank(what).values(), strict=True)]

    def format_mean_tree(self, *, pid, slot=0) -> str:
        """The mean times of one call of the host level as text."""
        lines = [f"pid={pid} slot={slot}"]
        for what in ("host", "device", "effective"):
            lines.append(f"  {what}: {statistics.fmean(self.per_dispatch(what)[pid, slot]):.3f} us")
        return "\n".join(lines)

    @property
    def device_us_min(self) -> float:
        return min(self.device_wall_us)

    @property
    def device_us_max(self) -> float:
        return max(self.device_wall_us)

    @property
    def device_us_median(self) -> float:
        return statistics.median(self.device_wall_us)

    @property
    def device_us_mean(self) -> float:
        return statistics.fmean(self.device_wall_us)

    @property
    def all_zero_device(self) -> bool:
        """Whether no run took any time on the device."""
        return not any(self.device_wall_us)


def benchmark(compiled, args, *, rounds=10, warmup=3, config=None) -> BenchmarkStats:
    """Runs a CompiledProgram `warmup` and then `rounds` times on these arguments, outputs in place, in timing mode: the
    time of a run is the end of its last task on the simulated chip. ValueError for counts below 0 or no round, for a
    platform other than the compiled one."""
    if rounds < 1 or warmup < 0:
        raise ValueError(f"benchmark: expects at least one round and no negative warmup, not {rounds} and {warmup}")
    if config is not None and config.platform.removesuffix("sim") != compiled.platform.removesuffix("sim"):
        raise ValueError(f"benchmark: {compiled.name} was compiled for {compiled.platform}, not {config.platform}")
    stats = BenchmarkStats(rounds, warmup)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "dfx_outputs"
        with records.recorded(compiled, records.Wanted(1), folder):
            for turn in range(warmup + rounds):
                compiled(*args)
                if turn >= warmup:
                    _note(stats, written)
    return stats


def _note(stats, folder):
    """Adds the records of a run."""
    parts = {}
    for file in sorted(folder.glob("rank*/d*/chip_swimlane_records.json")):
        key = int(file.parts[-3].removeprefix("rank")), int(file.parts[-2].removeprefix("d"))
        tasks = json.loads(file.read_text())["tasks"]
        begin, end = min(each["start_time_us"] for each in tasks), max(each["end_time_us"] for each in tasks)
        parts[key] = begin, end, sum(each["duration_us"] for each in tasks)
    for key, span in parts.items():
        stats.dispatches.setdefault(key, []).append(span)
    if parts:
        stats.device_wall_us.append(max(times[-1] for times in stats.per_rank("device").values()))
        return
    events = records.blocks(json.loads((folder / "merged_swimlane.json").read_text())["traceEvents"])
    stats.device_wall_us.append(max((each["ts"] + each["dur"] for each in events), default=0.0))


def _wall(span):
    return span[1] - span[0]
