"""The instruction table executed row by row on the simulator and compared with numpy."""
