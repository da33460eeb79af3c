// pto-compile; implemented in the compiler library.
#include "pto_mlir/Tools/Mains.h"

int main(int argc, char **argv) { return pto_mlir::ptoCompileMain(argc, argv); }
