"""Runs a command that must exit with STATUS and use less than SECONDS of CPU time.

within.py SECONDS STATUS COMMAND [ARGUMENT ...]
"""

import resource
import subprocess
import sys
import time

seconds, status, *command = sys.argv[1:]
begin = time.monotonic()
done = subprocess.run(command)
wall = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = used.ru_utime + used.ru_stime
# A busy machine stretches the wall clock by at most a factor of twenty; waiting for a time limit would exceed it.
if cpu >= float(seconds) or wall >= 20 * float(seconds):
    sys.exit(f"took {cpu:.2f} s of processor time, {wall:.2f} s in all")
if done.returncode != int(status):
    sys.exit(f"ended with {done.returncode}, not {status}")
