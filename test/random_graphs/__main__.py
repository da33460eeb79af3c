"""python test/random_graphs: see command.py."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

if __name__ == "__main__":
    from random_graphs.command import main

    sys.exit(main())
