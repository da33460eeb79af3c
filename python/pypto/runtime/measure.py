"""`benchmark`: the device's time of a compiled program's runs."""

import json
import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pypto.runtime import records


@dataclass
class BenchmarkStats:
    """Microseconds on the device of each measured run (`device_wall_us`), their least, median, mean and greatest."""

    rounds: int
    warmup: int
    device_wall_us: list[float] = field(default_factory=list)

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
    platform other than the compiled one, and for several ranks."""
    if rounds < 1 or warmup < 0:
        raise ValueError(f"benchmark: expects at least one round and no negative warmup, not {rounds} and {warmup}")
    if config is not None and config.platform.removesuffix("sim") != compiled.platform.removesuffix("sim"):
        raise ValueError(f"benchmark: {compiled.name} was compiled for {compiled.platform}, not {config.platform}")
    stats = BenchmarkStats(rounds, warmup)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "dfx_outputs" / "merged_swimlane.json"
        with records.recorded(compiled, records.Wanted(1), folder):
            for turn in range(warmup + rounds):
                compiled(*args)
                if turn >= warmup:
                    events = records.blocks(json.loads(trace.read_text())["traceEvents"])
                    stats.device_wall_us.append(max((each["ts"] + each["dur"] for each in events), default=0.0))
    return stats
