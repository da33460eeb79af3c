// pto-run; implemented in the runtime library.
#include "pto_mlir/RuntimeTools/Mains.h"

int main(int argc, char **argv) { return pto_mlir::ptoRunMain(argc, argv); }
