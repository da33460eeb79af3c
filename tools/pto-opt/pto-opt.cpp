// Runs any pass by its name: upstream's that the pipelines use, and ours.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "pto_mlir/Pipelines/Registration.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pto_mlir::registerDialects(registry);
  pto_mlir::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "PTO-MLIR optimizer driver\n", registry));
}
