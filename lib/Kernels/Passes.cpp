//===- Passes.cpp - registration of the kernel passes ---------------------===//

#include "pto_mlir/Kernels/Passes.h"

namespace pto_mlir {
// The generated group registration names every declared pass, so it stays in
// this file and only the single-pass functions below are used.
namespace {
#define GEN_PASS_REGISTRATION
#include "pto_mlir/Kernels/Passes.h.inc"
} // namespace

// One line per pass that is implemented in this folder.
void registerKernelPasses() {
  registerBuildAttentionKernels();
  registerBuildCubeKernels();
  registerBuildRecurrentKernels();
  registerBuildTemplateKernels();
  registerFormKernels();
  registerAssignSizes();
  registerJoinKernels();
  registerPlaceConcats();
  registerNoteSlices();
  registerRemarkCosts();
  registerSplitRecurrences();
  registerTileVectorKernels();
}
} // namespace pto_mlir
