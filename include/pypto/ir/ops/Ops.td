//===- Ops.td - The table of PyPTO's operations -------------------------------===//

include "pypto/ir/ops/Comm.td"
include "pypto/ir/ops/Elementwise.td"
include "pypto/ir/ops/Gather.td"
include "pypto/ir/ops/Matrix.td"
include "pypto/ir/ops/Movement.td"
include "pypto/ir/ops/Reduction.td"
include "pypto/ir/ops/System.td"
