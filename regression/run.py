"""The regression command from any folder: `python regression/run.py ...` is `python -m regression ...` in the
repository's root.

    PYTHONPATH=build/python .venv/bin/python regression/run.py --models cls,rec --modes F32,F16 --jobs 2
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    # Python put this folder there; the package's parent belongs there.
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    runpy.run_module("regression", run_name="__main__", alter_sys=True)
