// CodeGenerator against the sample of the seed's system description, and the helpers of PTOCodegen.
#include "Kernels.h"

#include "pypto/codegen/cce/cce_codegen.h"
#include "pypto/codegen/code_generator.h"
#include "pypto/codegen/pto/pto_codegen.h"

#include <fstream>
#include <sstream>

namespace {

using namespace pypto;
using namespace pypto::ir;

TypePtr placed(int64_t rows, int64_t cols, int64_t address) {
  auto memref = std::make_shared<const MemRef>(MemorySpace::Vec, index(address), uint64_t(rows * cols * 4), 0);
  return std::make_shared<const TileType>(ConstantShape({rows, cols}), DataType::FP32, memref);
}

StmtPtr flag(const char *name, PipeType from, PipeType to) {
  auto value = [](PipeType pipe) { return EnumValue{EnumTraits<PipeType>::kKind, static_cast<uint8_t>(pipe)}; };
  return eval(op(name, {{"set_pipe", value(from)}, {"wait_pipe", value(to)}, {"event_id", int64_t(0)}}));
}

/// The seed's sample; its `output` is no parameter.
FunctionPtr simpleAdd() {
  VarPtr x = var("x", tensor({128, 64})), y = var("y", tensor({128, 64})), output = var("output", tensor({128, 64}));
  std::vector<StmtPtr> body;
  VarPtr tileX = let(body, "tile_x", load(x, 128, 64), placed(128, 64, 0));
  VarPtr tileY = let(body, "tile_y", load(y, 128, 64), placed(128, 64, 0x10000));
  body.push_back(flag("system.sync_src", PipeType::MTE2, PipeType::V));
  body.push_back(flag("system.sync_dst", PipeType::MTE2, PipeType::V));
  VarPtr tileZ =
      let(body, "tile_z", op("block.add", {{"", ExprPtr(tileX)}, {"", ExprPtr(tileY)}}), placed(128, 64, 0x20000));
  body.push_back(flag("system.sync_src", PipeType::V, PipeType::MTE3));
  body.push_back(flag("system.sync_dst", PipeType::V, PipeType::MTE3));
  VarPtr result =
      let(body, "result",
          op("block.store", {{"", ExprPtr(tileZ)}, {"", pair(0, 0)}, {"", pair(128, 64)}, {"", ExprPtr(output)}}));
  body.push_back(giveBack({result}));
  return function("simple_add", {x, y}, sequence(body));
}

// Seed 001, "Complete Example: Simple Add", with the declarations of "Phase 1: Prologue".
const char *kSimpleAdd = R"(__aicore__ __attribute__((always_inline)) void runSimpleAdd(__gm__ int64_t* args)
{
    // Unpack arguments
    __gm__ float* x = reinterpret_cast<__gm__ float*>(args[0]);
    __gm__ float* y = reinterpret_cast<__gm__ float*>(args[1]);
    __gm__ float* output = reinterpret_cast<__gm__ float*>(args[2]);

    // Global tensor declarations
    using xShapeDim5 = Shape<1, 1, 1, 128, 64>;
    using xStrideDim5 = Stride<1, 1, 1, 64, 1>;
    using xGlobalType = GlobalTensor<float, xShapeDim5, xStrideDim5>;
    xGlobalType xGlobal(x);

    using yShapeDim5 = Shape<1, 1, 1, 128, 64>;
    using yStrideDim5 = Stride<1, 1, 1, 64, 1>;
    using yGlobalType = GlobalTensor<float, yShapeDim5, yStrideDim5>;
    yGlobalType yGlobal(y);

    using outputShapeDim5 = Shape<1, 1, 1, 128, 64>;
    using outputStrideDim5 = Stride<1, 1, 1, 64, 1>;
    using outputGlobalType = GlobalTensor<float, outputShapeDim5, outputStrideDim5>;
    outputGlobalType outputGlobal(output);

    // Tile type definitions and allocations
    using tile_xType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
    tile_xType tile_x(128, 64);
    TASSIGN(tile_x, 0x0);

    using tile_yType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
    tile_yType tile_y(128, 64);
    TASSIGN(tile_y, 0x10000);

    using tile_zType = Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>;
    tile_zType tile_z(128, 64);
    TASSIGN(tile_z, 0x20000);

    // Function body
    TLOAD(tile_x, xGlobal);
    TLOAD(tile_y, yGlobal);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(tile_z, tile_x, tile_y);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(outputGlobal, tile_z);
}
)";

TEST(CodeGenerator, RunsTheSeedsTenLines) {
  FunctionPtr func = simpleAdd();
  std::string path = ::testing::TempDir() + "generated_kernel.cpp";

  // Create generator
  codegen::CodeGenerator generator;

  // Generate C++ code
  std::string cpp_code = generator.Generate(func);

  // Write to file or compile
  std::ofstream out(path);
  out << cpp_code;
  out.close();

  std::stringstream written;
  written << std::ifstream(path).rdbuf();
  size_t head = written.str().find("__aicore__");
  ASSERT_NE(head, std::string::npos) << written.str();
  EXPECT_EQ(written.str().substr(head), kSimpleAdd);
  EXPECT_EQ(written.str().substr(0, head), "#include \"pto/pto-inst.hpp\"\n\nusing namespace pto;\n\n");
  EXPECT_EQ(func->params_.size(), 2u) << "the function is as it was";
}

TEST(CodeGenerator, HasTheNamesOfBothGenerations) {
  EXPECT_EQ(codegen::CceCodegen().Generate(simpleAdd()), codegen::CodeGenerator().Generate(simpleAdd()));
  backend::Backend a5("a5");
  auto files = codegen::CCECodegen(&a5).Generate(program({codegen::WithOutputParameters(simpleAdd())}));
  ASSERT_EQ(files.size(), 1u);
  EXPECT_NE(files.at("kernels/aiv/simple_add.cpp").find("runSimpleAdd"), std::string::npos);
  backend::Backend other("x7");
  std::string message = messageOf<ValueError>([&] { codegen::CodeGenerator({}, &other).Generate(simpleAdd()); });
  EXPECT_EQ(message.find("unknown processor x7: one of a3, a5"), 0u) << message;
}

TEST(CodeGenerator, LeavesOrchestratorsOut) {
  auto host = std::make_shared<const Function>("main", std::vector<VarPtr>(), std::vector<TypePtr>(), sequence({}),
                                               Span::unknown(), FunctionType::Orchestration);
  auto files = codegen::CCECodegen().Generate(program({host, codegen::WithOutputParameters(simpleAdd())}));
  EXPECT_EQ(files.size(), 1u);
  EXPECT_TRUE(files.contains("kernels/aiv/simple_add.cpp"));
}

/// A kernel whose product `emit` writes.
std::string generateWith(backend::BackendCodegenFunc emit) {
  backend::Backend backend;
  backend.RegisterOp("block.mul", std::move(emit));
  VarPtr a = var("a", tensor({32, 32}));
  std::vector<StmtPtr> body;
  ExprPtr t = let(body, "t", load(a));
  body.push_back(store(let(body, "u", op("block.mul", {{"", t}, {"", t}})), a));
  return codegen::PTOCodegen(&backend).Generate(program({function("f", {a}, sequence(body))}));
}

codegen::PTOCodegen &helpers(codegen::CodegenBase &base) { return dynamic_cast<codegen::PTOCodegen &>(base); }

TEST(PTOCodegenHelpers, EmitAnOperationAsText) {
  std::string made = generateWith([](const CallPtr &call, codegen::CodegenBase &base) {
    codegen::PTOCodegen &to = helpers(base);
    std::string a = to.GetExprAsCode(call->args_[0]), type = to.GetExprTypeAnnotation(call->args_[0]);
    std::string to2 = to.GetCurrentResultTarget();
    EXPECT_EQ(to.GetCurrentResultTarget(), to2) << "the same each time";
    EXPECT_EQ(to.GetCurrentResultTileBufTypeString(), type);
    to.Emit("// squared, and doubled");
    to.Emit("pto.tmul ins(" + a + " : " + type + ", " + a + " : " + type + ") outs(" + to2 + " : " + type + ")");
    std::string two = to.GetOrEmitFloatConstant(2.0);
    EXPECT_EQ(to.GetOrEmitFloatConstant(2.0), two);
    to.Emit("pto.tmuls ins(" + to2 + ", " + two + " : " + type + ", f32) outs(" + to2 + " : " + type + ")");
    return "";
  });
  EXPECT_NE(made.find("%cst = arith.constant 2.000000e+00 : f32"), std::string::npos) << made;
  EXPECT_NE(made.find("pto.tmul ins(%0 : !pto.tile_buf<loc=vec"), std::string::npos) << made;
  EXPECT_NE(made.find(", %cst : f32) outs(%1 : "), std::string::npos) << made;
}

TEST(PTOCodegenHelpers, NameResultsConstantsAndViews) {
  std::string made = generateWith([](const CallPtr &call, codegen::CodegenBase &base) {
    codegen::PTOCodegen &to = helpers(base);
    std::string temp = to.NewTemp(), c32 = to.GetIndexConstant(32), own = to.GetNewTemp();
    EXPECT_NE(temp, own);
    EXPECT_EQ(to.GetIndexConstant(32), c32);
    std::string type = to.GetExprTypeAnnotation(call->args_[0]);
    to.Emit(temp + " = arith.addi " + c32 + ", " + c32 + " : index");
    to.Emit(own + " = pto.alloc_tile : " + type);
    to.Emit("pto.tmov ins(" + to.GetExprAsCode(call->args_[0]) + " : " + type + ") outs(" + own + " : " + type + ")");
    return own;
  });
  EXPECT_NE(made.find("arith.addi %c32, %c32 : index"), std::string::npos) << made;
  EXPECT_NE(made.find("pto.tmov ins(%0 : "), std::string::npos) << made;
}

TEST(PTOCodegenHelpers, SayWhatIsWrongWithALine) {
  auto message = [](const std::string &line) {
    return messageOf<ValueError>([&] {
      generateWith([&](const CallPtr &, codegen::CodegenBase &base) {
        base.Emit(line);
        return base.GetCurrentResultTarget();
      });
    });
  };
  EXPECT_EQ(message("pto.tmul ins(%9 : f32)"), "nothing is named %9 in: pto.tmul ins(%9 : f32)");
  EXPECT_NE(message("pto.nothing").find("in: pto.nothing"), std::string::npos) << message("pto.nothing");
  EXPECT_EQ(message("pto.barrier <PIPE_V>\npto.barrier <PIPE_V>"),
            "a line is one op: pto.barrier <PIPE_V>\npto.barrier <PIPE_V>");
  EXPECT_EQ(message("arith.constant 1 : index"), "the op gives 1 values, 0 are named: arith.constant 1 : index");
  EXPECT_EQ(messageOf<ValueError>([] { codegen::PTOCodegen().NewTemp(); }),
            "NewTemp is for operations that a back end emits; register one with Backend::RegisterOp");
}

TEST(Backend, RegistersAnOperationOnce) {
  backend::Backend backend;
  auto none = [](const CallPtr &, codegen::CodegenBase &) { return std::string(); };
  backend.RegisterOp("block.mul", none).RegisterOp("my.op", none);
  EXPECT_NE(backend.FindOp("tile.mul"), nullptr);
  EXPECT_NE(backend.FindOp("my.op"), nullptr);
  EXPECT_EQ(backend.FindOp("tile.add"), nullptr);
  EXPECT_EQ(messageOf<ValueError>([&] { backend.RegisterOp("tile.mul", none); }),
            "operation tile.mul is registered already");
}

} // namespace
