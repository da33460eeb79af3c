// Run by CMake: exits 0 if this machine supports the x86-64-v3 level of the simulator.
#include "HostLevel.h"

int main() { return pto_mlir::cmodel::hostRunsX8664V3() ? 0 : 1; }
