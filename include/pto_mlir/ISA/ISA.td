//===- ISA.td - The instruction table --------------------------------------===//
//
// Opcodes: 0 never used, 0x01 scalar, 0x20 sync, 0x40 data movement, 0x60 cube, 0x70 fused and partial, 0x80 elementwise, 0xc0 reduction, 0xd0 expand, 0xf0 convert,
// 0x100 gather and sort.
//
//===----------------------------------------------------------------------===//

include "pto_mlir/ISA/ISABase.td"
include "pto_mlir/ISA/Archs.td"
include "pto_mlir/ISA/Costs.td"
include "pto_mlir/ISA/Scalar.td"
include "pto_mlir/ISA/Sync.td"
include "pto_mlir/ISA/DataMovement.td"
include "pto_mlir/ISA/Cube.td"
include "pto_mlir/ISA/Elementwise.td"
include "pto_mlir/ISA/Reduction.td"
include "pto_mlir/ISA/Expand.td"
include "pto_mlir/ISA/Gather.td"
include "pto_mlir/ISA/Convert.td"
