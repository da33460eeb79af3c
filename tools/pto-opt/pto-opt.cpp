// Runs any pass by its name: upstream's that the pipelines use, and ours.
#include "ImportONNX.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "pto_mlir/Pipelines/Registration.h"

int main(int argc, char **argv) {
  if (pto_mlir::wantsImport(argc, argv))
    return pto_mlir::runImport(argc, argv);
  mlir::DialectRegistry registry;
  pto_mlir::registerDialects(registry);
  pto_mlir::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "PTO-MLIR optimizer driver\n", registry));
}
