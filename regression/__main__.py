"""`python -m regression`: the regression command."""

import sys

from .command import main

sys.exit(main())
