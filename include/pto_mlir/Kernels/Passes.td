//===- Passes.td - linalg to kernels -----------------------------*- tablegen -*-===//
//
// The passes that form kernels from whole-net linalg: outlining, fusion of cube and
// vector kernels, tiling of vector kernels, building of cube kernels.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_KERNELS_PASSES
#define PTO_MLIR_KERNELS_PASSES

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "Cluster the linalg ops of @main into outlined kernels";
  let description = [{
    Groups the computation of `@main` into kernels, one function each in
    destination-passing style, and replaces each group by a `top.launch`.
    Before:

    ```mlir
    %0 = linalg.generic ... loc("add")
    %1 = linalg.generic ins(%0) ... loc("relu")
    ```

    After:

    ```mlir
    %e = tensor.empty() : tensor<4x8xf32>
    %1 = top.launch @k0_relu ins(%x, %y) outs(%e) {names = ["relu"], absorbed = ["add"], ...}
    ```

    The clustering rules are in docs/lowering.md, section 4. With `keep-all` every
    named value of a cluster becomes an output of its kernel.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::pto_mlir::top::TopDialect",
    "::pto_mlir::pto::PTODialect"
  ];
  let options = [
    Option<"keepAll", "keep-all", "bool", /*default=*/"false",
           "Store every named value of a cluster (debug)">
  ];
}

def AssignSizes : Pass<"assign-sizes", "::mlir::ModuleOp"> {
  let summary = "Find the extents of kernels that are known at run time";
  let description = [{
    Follows the sizes of `@main`'s inputs (`top.sizes`, functions of `top.symbols`) through reshapes and kernels. A kernel
    that reads such a tensor gets the extents of its arguments as functions of one scalar (`pto.sizes`), its launches the
    scalar. Types keep the greatest extents. A size must be the outermost one of each tensor; an op without a rule is an
    error (docs/sizes.md).

    ```mlir
    %1 = top.launch @k0 ins(%x) outs(%e) -> tensor<512x384xf32>
    // with %x of ()[s0] -> (s0, 384) becomes
    %1 = top.launch @k0_sized ins(%x) outs(%e) {scalars = affine_map<()[s0] -> (s0)>} -> tensor<512x384xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::func::FuncDialect", "::pto_mlir::pto::PTODialect", "::pto_mlir::top::TopDialect"
  ];
}

def JoinKernels : Pass<"join-kernels", "::mlir::ModuleOp"> {
  let summary = "Fuse a cube kernel and the vector kernels that consume its tiles or make its left operand";
  let description = [{
    Fuses a vector kernel that is the only user of a matrix product, and can process
    it in the cube kernel's tiles, where an estimate predicts a gain
    (docs/rationale-mixed-kernels.md). Before:

    ```mlir
    %h = top.launch @k0_wide ins(%x, %w, %b) outs(%e0) -> tensor<128x1536xf16>
    %y = top.launch @k1_gelu ins(%h) outs(%e1) -> tensor<128x1536xf16>
    ```

    After:

    ```mlir
    %s, %y = top.launch @k0_wide_k1_gelu ins(%x, %w, %b) outs(%slots, %e1) -> tensor<3072x64xf16>, tensor<128x1536xf16>
    ```

    The function `@k0_wide_k1_gelu` is the cube kernel with the attribute
    `pto.handover`, which names functions that process one tile
    (`@k0_wide_k1_gelu.panel`): vector kernels with the attribute `pto.panel`.
    `build-cube-kernels` combines them. Without `num-cores` nothing is fused.

    A convolution that uses img2col is fused likewise, unless `images` is false:
    its tiles are runs of outputs.

    A vector kernel whose result is the left operand of one product, row by row, is
    fused as well, unless `images` is false: the kernel gets `pto.feed`, which names functions that make the
    rows of one block (`@k0_norm_k1_wide.feed`).
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks per launch; 0: unknown at compile time">,
    Option<"images", "images", "bool", /*default=*/"true",
           "Also fuse convolutions that use img2col, and left operands">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::pto_mlir::pto::PTODialect", "::pto_mlir::top::TopDialect"
  ];
}

def TileVectorKernels : Pass<"tile-vector-kernels", "::mlir::ModuleOp"> {
  let summary = "Tile the vector kernels so that each tile fits in UB";
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks (of two vector cores) per launch; 0: unknown at compile time. Results do not depend on it">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::pto_mlir::pto::PTODialect"
  ];
}

def SplitRecurrences : Pass<"split-recurrences", "::mlir::ModuleOp"> {
  let summary = "Make the vector kernels of a recurrence's steps";
  let description = [{
    Beside a kernel of one `top.recurrent`, makes functions of the elementwise work of a step on some rows of the batch: vector
    kernels with `pto.panel`, which are lowered as all others. The kernel names them in `pto.recurrence`; `build-recurrent-kernels` puts
    them together with the products.

    ```mlir
    func.func private @k0(..) attributes {pto.kernel_kind = #pto.kernel_kind<cube>, pto.recurrence = {panels = [@k0.panel, @k0.panel_0], rows = array<i64: 4>}}
    func.func private @k0.panel(..) attributes {pto.kernel_kind = #pto.kernel_kind<vector>, pto.panel}
    ```
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks per launch; 0: unknown at compile time. Results do not depend on it">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect", "::pto_mlir::pto::PTODialect"
  ];
}

def BuildRecurrentKernels : Pass<"build-recurrent-kernels", "::mlir::ModuleOp"> {
  let summary = "Build a kernel with a loop over the steps for each recurrence";
  let description = [{
    Replaces the body of a kernel of one `top.recurrent` by a loop over its steps, in a function for the cube core, which multiplies the state
    with the weights, and one for the vector cores, which carry out the panels that `split-recurrences` made (@k, @k.vector). Products go
    through outputs in front of the kernel's own. docs/rationale-recurrent-kernels.md has the reasons.
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks per launch; 0: unknown at compile time. Results do not depend on it">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::pto_mlir::pto::PTODialect", "::pto_mlir::top::TopDialect"
  ];
}

def BuildCubeKernels : Pass<"build-cube-kernels", "::mlir::ModuleOp"> {
  let summary = "Build the pto body of each cube kernel and pack its weights";
  let description = [{
    A kernel of kind `cube` contains one contraction on tensors: a matmul, a
    batched matmul or a convolution (with the padding of its input), an init of
    0 or a broadcast bias, and at most max(x, 0) and a cast. Its body becomes
    pto ops: views, tiles in L1, L0A, L0B and L0C, tload, textract or timg2col,
    tmatmul, tstore. Its tensor arguments become pointers.

    Filters of products with img2col are packed at compile time (see
    Kernels/CubeWeights.h): the launches of the kernel read new `top.weight`s.

    With `windows`, each convolution @k that uses img2col gets a twin @k.windows
    that computes the same from one product per tap of the window.

    ```mlir
    func.func private @k(%a: tensor<16x32xf32>, %b: tensor<32x8xf32>, %o: tensor<16x8xf32>) -> tensor<16x8xf32>
    // becomes
    func.func private @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %o: !pto.ptr<f32>)
    ```
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks per launch; 0: unknown at compile time, 1: no distribution">,
    Option<"windows", "windows", "bool", /*default=*/"false",
           "Also build each convolution without img2col">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::scf::SCFDialect", "::pto_mlir::pto::PTODialect",
    "::pto_mlir::top::TopDialect"
  ];
}

def BuildAttentionKernels : Pass<"build-attention-kernels", "::mlir::ModuleOp"> {
  let summary = "Build the pto functions of each attention kernel";
  let description = [{
    A kernel that form-kernels made of one `top.attention` becomes two functions, @k for the cube cores and @k.vector for
    the vector cores: products of tiles of keys on the one, an online softmax in f32 on the other. Scores, weights and
    sums of a tile go from core to core through rings of slots in global memory, which the launch gets as outputs that
    nobody reads.

    ```mlir
    func.func private @k(%q: tensor<1x12x128x64xf16>, %k: .., %v: .., %o: ..) -> tensor<1x12x128x64xf16>
    // becomes
    func.func private @k(%q: !pto.ptr<f16>, %k: .., %v: .., %scores: !pto.ptr<f32>, %weights: !pto.ptr<f16>, %sums: !pto.ptr<f32>, %o: ..)
    func.func private @k.vector(..)
    ```
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks per launch; 0: unknown at compile time, 1: no distribution. Results do not depend on it">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::pto_mlir::pto::PTODialect", "::pto_mlir::top::TopDialect"
  ];
}

def BuildTemplateKernels : Pass<"build-template-kernels", "::mlir::ModuleOp"> {
  let summary = "Build the pto body of each kernel whose op has a tile template";
  let description = [{
    A kernel that form-kernels made of an op that linalg does not express (top-k, gathers and scatters of elements at
    computed places: see Kernels/Templates.h) becomes pto ops: views, tiles in UB, and what the op's template emits. Its
    tensor arguments become pointers. Pieces are shared among the vector cores of the launch.

    ```mlir
    func.func private @k(%x: tensor<8x100xf32>, %v: tensor<8x5xf32>, %i: tensor<8x5xi32>) -> (tensor<8x5xf32>, tensor<8x5xi32>)
    // becomes
    func.func private @k(%x: !pto.ptr<f32>, %v: !pto.ptr<f32>, %i: !pto.ptr<i32>)
    ```
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks per launch; 0: unknown at compile time, 1: no distribution. Results do not depend on it">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::scf::SCFDialect", "::pto_mlir::pto::PTODialect",
    "::pto_mlir::top::TopDialect"
  ];
}

def PlaceConcats : Pass<"place-concats", "::mlir::ModuleOp"> {
  let summary = "Have the operands of concatenations written, and columns read, where they are";
  let description = [{
    A launch whose kernel only concatenates (`top.concat_axis`) goes where the kernels that write and read its operands
    can do so inside of the result: rows of an operand are then as far apart as those of the result, and the views of
    these kernels step by that. `tensor.concat` stays in `@main` and says for `plan-global-memory` that the operands are
    in the result's memory. A concatenation of neighbours inside of a larger one (each layer of a dense block reads all
    before it) is in place there. An operand keeps its copy when it is an input, a weight, an output or in two places,
    when a kernel has its rows in a run that cannot be moved row by row, or when rows would not begin at multiples of 32 bytes.

    Then the other way round: a launch that only copies columns (`top.columns`) goes where the kernels that read them can do so inside of
    the tensor that they are columns of, maybe inside of a concatenation; a `tensor.extract_slice` stays.

    ```mlir
    %c = top.launch @k2 ins(%a, %b : tensor<56x64xf16>, tensor<56x32xf16>) outs(%e) {top.concat_axis = 1 : i64}
    // becomes, and the kernel that writes %b steps by 96 elements
    %c = tensor.concat dim(1) %a, %b : (tensor<56x64xf16>, tensor<56x32xf16>) -> tensor<56x96xf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def NoteSlices : Pass<"note-slices", "::mlir::ModuleOp"> {
  let summary = "Say beside the arguments of a kernel which of them are slices of one tensor";
  let description = [{
    Two inputs of a launch may be views of one tensor, and then share lines of L2: what one of them brings there, the other
    finds. The estimate (`pto::estimateCycles`) takes arguments to be apart unless they have `pto.slice_of`: the number of
    the first argument in the same memory, and the byte in it at which this one begins. Where the launches of a kernel
    differ, its arguments get nothing. Runs where the kernels are pto ops, before `remark-costs` and `pto-estimate`.

    ```mlir
    func.func private @k(%a: !pto.ptr<f16> {pto.slice_of = array<i64: 0, 0>}, %b: !pto.ptr<f16> {pto.slice_of = array<i64: 0, 401408>}, %out: !pto.ptr<f16>)
    ```
  }];
}

def RemarkCosts : Pass<"remark-costs", "::mlir::ModuleOp"> {
  let summary = "Say which kernels are slow beside what their bytes take, and which tensors take many launches";
  let description = [{
    Changes nothing. A launch of a kernel gets a remark when its estimate (`pto::estimateCycles`) exceeds 1.4 times the
    least that the bytes of its arguments and their product take (`cost::lowerBound`); one that makes a tensor of the model, when three or
    more launches in a row work for it alone. Runs where the kernels are pto ops, for `model_deploy --verbose`.
  }];
  let options = [
    Option<"numCores", "num-cores", "int64_t", /*default=*/"0",
           "Blocks per launch; 0: those of a chip">
  ];
}

#endif // PTO_MLIR_KERNELS_PASSES
