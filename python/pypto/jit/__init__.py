"""`@pl.jit`: functions that are specialised by what they are called with, compiled in this process and run."""
