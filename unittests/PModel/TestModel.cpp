#include "TestModel.h"
#include "pto_mlir/ByteCode/Serialize.h"
#include "pto_mlir/ByteCode/Text.h"

#include "pto_mlir/ISA/Codec.h"
#include "pto_mlir/PModel/Builder.h"
#include "pto_mlir/PModel/Program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <unistd.h>

namespace pto_mlir::testing {

using namespace pto_mlir::pmodel;
using isa::Value;

namespace {

constexpr unsigned regCore = 0, regStep = 1, regRow = 2, regOffset = 3, regRows = 4;

class StreamWriter {
public:
  explicit StreamWriter(isa::Pipe pipe) { stream.pipe = static_cast<uint8_t>(pipe); }

  template <class Insn> StreamWriter &operator<<(const Insn &insn) {
    isa::encode(insn, stream.words);
    ++stream.numCommands;
    return *this;
  }

  /// A loop over the rows of this core: row = block * 2 + sub-block, in steps of the number of cores. regOffset holds
  /// the byte offset of the row. No number of rows: it is the launch's scalar 0.
  StreamWriter &loopOverRows(std::optional<unsigned> rows, unsigned rowBytes) {
    isa::Get get;
    get.dst = regRows, get.what = isa::scalarArgument(0);
    if (!rows)
      *this << get;
    get.dst = regCore, get.what = isa::Query(0);
    *this << get;
    isa::Mul mul;
    mul.dst = regCore, mul.lhs = Value::reg(regCore), mul.rhs = Value(2);
    *this << mul;
    get.dst = regRow, get.what = isa::Query(2);
    *this << get;
    isa::Add add;
    add.dst = regCore, add.lhs = Value::reg(regCore), add.rhs = Value::reg(regRow);
    *this << add;
    get.dst = regStep, get.what = isa::Query(1);
    *this << get;
    mul.dst = regStep, mul.lhs = Value::reg(regStep);
    *this << mul;
    isa::Loop loop;
    loop.iv = regRow, loop.lb = Value::reg(regCore), loop.ub = rows ? Value(*rows) : Value::reg(regRows),
    loop.step = Value::reg(regStep);
    *this << loop;
    mul.dst = regOffset, mul.lhs = Value::reg(regRow), mul.rhs = Value(rowBytes);
    return *this << mul;
  }

  template <class Flag> StreamWriter &flag(isa::Pipe src, isa::Pipe dst) {
    Flag insn;
    insn.src = src, insn.dst = dst, insn.id = Value(0);
    return *this << insn;
  }

  StreamDesc stream;
};

isa::Tile rowTile(unsigned slot, unsigned cols) {
  isa::Tile tile;
  tile.address = Value(slot * 4096);
  tile.rows = 1;
  tile.cols = (cols + 7) / 8 * 8;
  tile.validRows = Value(1);
  tile.validCols = Value(cols);
  return tile;
}

isa::View rowView(unsigned argument, unsigned cols) {
  isa::View view;
  view.arg = argument;
  view.rank = 2;
  view.offset = Value::reg(regOffset);
  view.sizes[0] = Value(1), view.strides[0] = Value(cols);
  view.sizes[1] = Value(cols), view.strides[1] = Value(1);
  return view;
}

/// Loads `inputs` arguments into UB, computes into slot 3 and stores to the last argument.
template <class Compute>
KernelDesc rowKernel(const std::string &name, std::optional<unsigned> rows, unsigned cols, unsigned blocks,
                     unsigned inputs, Compute compute) {
  using isa::Pipe;
  StreamWriter load(Pipe::MTE2), vector(Pipe::V), store(Pipe::MTE3);
  load.loopOverRows(rows, cols * 4).flag<isa::WaitFlag>(Pipe::MTE3, Pipe::MTE2);
  for (unsigned i = 0; i < inputs; ++i) {
    isa::TLoad tload;
    tload.dst = rowTile(i, cols), tload.src = rowView(i, cols), tload.space = isa::Memory::UB;
    load << tload;
  }
  load.flag<isa::SetFlag>(Pipe::MTE2, Pipe::V) << isa::End();
  load.flag<isa::WaitFlag>(Pipe::MTE3, Pipe::MTE2); // consumes the last token

  vector.loopOverRows(rows, cols * 4).flag<isa::WaitFlag>(Pipe::MTE2, Pipe::V) << compute;
  vector.flag<isa::SetFlag>(Pipe::V, Pipe::MTE3) << isa::End();

  isa::TStore tstore;
  tstore.dst = rowView(inputs, cols), tstore.src = rowTile(3, cols), tstore.space = isa::Memory::UB;
  store.flag<isa::SetFlag>(Pipe::MTE3, Pipe::MTE2).loopOverRows(rows, cols * 4).flag<isa::WaitFlag>(Pipe::V, Pipe::MTE3)
      << tstore;
  store.flag<isa::SetFlag>(Pipe::MTE3, Pipe::MTE2) << isa::End();

  KernelDesc kernel;
  kernel.name = name;
  kernel.streams = {load.stream, vector.stream, store.stream};
  kernel.numArgs = inputs + 1;
  kernel.numScalars = rows ? 0 : 1;
  kernel.blocks = blocks;
  kernel.localMemory = {{"UB", 4 * 4096}};
  kernel.numEvents = 3;
  kernel.sourceOps = {name};
  return kernel;
}

} // namespace

KernelDesc reluKernel(const std::string &name, std::optional<unsigned> rows, unsigned cols, unsigned blocks) {
  isa::TRelu relu;
  relu.dst = rowTile(3, cols), relu.src = rowTile(0, cols);
  return rowKernel(name, rows, cols, blocks, 1, relu);
}

KernelDesc addKernel(const std::string &name, std::optional<unsigned> rows, unsigned cols, unsigned blocks) {
  isa::TAdd add;
  add.dst = rowTile(3, cols), add.src0 = rowTile(0, cols), add.src1 = rowTile(1, cols);
  return rowKernel(name, rows, cols, blocks, 2, add);
}

ModelDesc biasReluModel(unsigned rows, unsigned cols, const std::vector<float> &bias, unsigned blocks) {
  ModelDesc model;
  model.producer = "pto-mlir test";
  model.processor = "a3";
  model.numCore = blocks;
  model.kernels = {addKernel("k0_sum", rows, cols, blocks), reluKernel("k1_y", rows, cols, blocks)};
  model.weights = {{"bias", ElementType::F32, {rows, cols}, bias.data(), bias.size() * 4}};

  TensorDesc tensor;
  tensor.name = "x";
  tensor.shape = {rows, cols};
  VariantDesc variant;
  variant.inputs = {tensor};
  tensor.name = "y";
  variant.outputs = {tensor};
  uint64_t bytes = uint64_t(rows) * cols * 4;
  variant.workspaceBytes = bytes;
  EntrySlots slots(variant);
  ProgramWriter writer;
  writer.alloc(slots.firstFree(), bytes);
  writer.callDevice(0, {{slots.input(0), 0, bytes}, {slots.weights(), 0, bytes}, {slots.firstFree(), 0, bytes}});
  writer.callDevice(1, {{slots.firstFree(), 0, bytes}, {slots.output(0), 0, bytes}});
  writer.wait();
  writer.free(slots.firstFree());
  writer.ret();
  variant.program = {"main", writer.take(), slots.firstFree() + 1, {}, {0, 1}, "a3"};
  DebugTensorDesc sum;
  sum.name = "sum";
  sum.shape = {rows, cols};
  sum.permutation = {1, 0};
  sum.onnxShape = {1, cols, rows};
  variant.debugTensors = {sum};
  variant.absorbed = {"folded"};
  model.nets = {{"bias_relu", {variant}, "F32", ""}};
  return model;
}

ModelDesc sizedModel(unsigned least, unsigned greatest, unsigned multiple, unsigned cols,
                     const std::vector<float> &bias, unsigned blocks) {
  ModelDesc model = biasReluModel(greatest, cols, bias, blocks);
  model.kernels = {addKernel("k0_sum", std::nullopt, cols, blocks), reluKernel("k1_y", std::nullopt, cols, blocks)};
  VariantDesc &variant = model.nets[0].variants[0];
  variant.debugTensors.clear();
  variant.symbols = {{"rows", least, greatest, multiple}};
  const bytecode::Size rows{{{1, {0}}}}, width{{{int64_t(cols), {}}}};
  variant.inputs[0].sizes = variant.outputs[0].sizes = {rows, width};
  uint64_t bytes = uint64_t(greatest) * cols * 4;
  EntrySlots slots(variant);
  ProgramWriter writer;
  writer.alloc(slots.firstFree(), bytes);
  writer.callDevice(0, {{slots.input(0), 0, bytes}, {slots.weights(), 0, bytes}, {slots.firstFree(), 0, bytes}},
                    {rows});
  writer.callDevice(1, {{slots.firstFree(), 0, bytes}, {slots.output(0), 0, bytes}}, {rows});
  writer.wait();
  writer.ret();
  variant.program.code = writer.take();
  return model;
}

ModelDesc accumulatorModel(unsigned rows, unsigned cols, const std::vector<float> &begin) {
  ModelDesc model = biasReluModel(rows, cols, begin);
  model.weights[0].name = "begin";
  uint64_t bytes = uint64_t(rows) * cols * 4, room = (bytes + 511) / 512 * 512;
  StateTensorDesc total, last;
  total.name = "total", total.output = "new_total", total.shape = {rows, cols};
  total.offset = kStateHeaderBytes, total.places = 2;
  last.name = "last", last.shape = {rows, cols}, last.offset = total.offset + 2 * room, last.initial = "begin";
  model.states = {{"memory", last.offset + room, {total, last}}};
  VariantDesc &variant = model.nets[0].variants[0];
  variant.workspaceBytes = 0;
  variant.debugTensors.clear();
  variant.state = {0, 1, 3};
  EntrySlots slots(variant);
  ProgramWriter writer;
  VMArgument second{slots.state(), total.offset + room, bytes};
  writer.callDevice(0, {{slots.input(0), 0, bytes}, {slots.state(), total.offset, bytes}, second});
  writer.callDevice(1, {{slots.input(0), 0, bytes}, {slots.state(), last.offset, bytes}});
  writer.callDevice(1, {second, {slots.output(0), 0, bytes}});
  writer.ret();
  variant.program.code = writer.take();
  variant.program.numSlots = slots.firstFree();
  model.nets[0].name = "accumulator";
  return model;
}

pmodel::HostProgramDesc twiceProgram(const std::string &net, const std::string &type, const std::string &target) {
  auto module = bytecode::assemble(".vm 1\n.target \"" + target + "\"\n.const 0 = kernel @device." + net + " (" + type +
                                   ") -> (" + type + ")\n.func @main(" + type + ") -> (" + type + ") slots(" + type +
                                   ") {\n  aload_0\n  invokestatic 0\n  invokestatic 0\n  return\n}\n");
  EXPECT_TRUE(module);
  return {"twice", bytecode::serialize(*module), {"in"}, {"out"}};
}

std::string temporaryPath(const std::string &name) {
  return ::testing::TempDir() + "pto_" + std::to_string(getpid()) + "_" + name;
}

std::vector<char> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

void writeFile(const std::string &path, const std::vector<char> &bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
}

} // namespace pto_mlir::testing
