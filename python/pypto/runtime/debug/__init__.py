"""Running the files of `ir.compile` again, edited or not."""

from pypto.runtime.debug.replay import replay
from pypto.runtime.debug.run_script_writer import write_run_script

__all__ = ["replay", "write_run_script"]
