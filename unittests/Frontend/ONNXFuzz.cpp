// A libFuzzer target: bytes as an .onnx file, imported to the top dialect. What imports must verify, and what does not
// must say why. Mutations change the model and not its bytes: of a changed byte the parser makes an error nearly
// always.
#include "../FuzzMLIR.h"
#include "onnx-ml.pb.h"
#include "pto_mlir/Frontend/ONNX/Import.h"
#include "pto_mlir/Frontend/ONNX/SupportedOps.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <unistd.h>

namespace {

class Mutator {
public:
  Mutator(::onnx::ModelProto &model, unsigned seed) : model(model), random(seed) {}

  void mutate() {
    ::onnx::GraphProto *graph = graphAt(model.mutable_graph());
    if (!graph->node_size())
      return mutateTypes(*graph);
    switch (pick(8)) {
    case 0:
      return mutateTypes(*graph);
    case 1:
      return mutateList(*graph);
    case 2:
      return makeInitializer(*graph);
    case 3:
      return mutateInitializer(*graph);
    default:
      return mutateNode(*graph->mutable_node(pick(graph->node_size())));
    }
  }

private:
  size_t pick(size_t count) { return random() % count; }
  template <class List> auto *anyOf(List *list) { return list->empty() ? nullptr : list->Mutable(pick(list->size())); }

  int64_t number(int64_t number) {
    auto old = uint64_t(number); // wraps
    const int64_t others[] = {0,
                              1,
                              -1,
                              2,
                              3,
                              int64_t(old + 1),
                              int64_t(old - 1),
                              int64_t(-old),
                              1024,
                              100000,
                              INT32_MAX,
                              INT32_MIN,
                              int64_t(1) << 40,
                              INT64_MAX,
                              INT64_MIN};
    return others[pick(std::size(others))];
  }

  /// The graph, or one that a node of it holds.
  ::onnx::GraphProto *graphAt(::onnx::GraphProto *graph) {
    for (auto &node : *graph->mutable_node())
      for (auto &attribute : *node.mutable_attribute())
        if (attribute.has_g() && pick(2))
          return graphAt(attribute.mutable_g());
    return graph;
  }

  /// A name that the graph knows, or none.
  std::string name(const ::onnx::GraphProto &graph) {
    std::vector<std::string> names = {"", "unknown"};
    for (const auto &input : graph.input())
      names.push_back(input.name());
    for (const auto &initializer : graph.initializer())
      names.push_back(initializer.name());
    for (const auto &node : graph.node())
      names.insert(names.end(), node.output().begin(), node.output().end());
    return names[pick(names.size())];
  }

  void mutateTypes(::onnx::GraphProto &graph) {
    auto *info = anyOf(pick(4) ? graph.mutable_input() : graph.mutable_output());
    if (!info)
      return;
    auto *tensor = info->mutable_type()->mutable_tensor_type();
    if (!pick(4))
      return tensor->set_elem_type(pick(24));
    auto *shape = tensor->mutable_shape();
    switch (pick(4)) {
    case 0:
      shape->add_dim()->set_dim_value(1 + pick(4));
      break;
    case 1:
      if (shape->dim_size())
        shape->mutable_dim()->RemoveLast();
      break;
    default:
      if (auto *dim = anyOf(shape->mutable_dim()))
        pick(8) ? dim->set_dim_value(number(dim->dim_value())) : dim->set_dim_param("N");
    }
  }

  /// Nodes, inputs and outputs go, come twice, or change places.
  void mutateList(::onnx::GraphProto &graph) {
    auto change = [&](auto *list) {
      if (list->empty())
        return;
      size_t at = pick(list->size());
      switch (pick(3)) {
      case 0:
        return void(list->DeleteSubrange(at, 1));
      case 1: {
        auto copy = list->Get(at);
        *list->Add() = copy;
        return;
      }
      default:
        list->SwapElements(at, pick(list->size()));
      }
    };
    switch (pick(5)) {
    case 0:
      return change(graph.mutable_input());
    case 1:
      return change(graph.mutable_output());
    case 2:
      if (auto *opset = anyOf(model.mutable_opset_import()))
        opset->set_version(pick(4) ? pick(30) : number(opset->version()));
      return;
    default:
      return change(graph.mutable_node());
    }
  }

  /// An input becomes a constant of the same type, of small numbers.
  void makeInitializer(::onnx::GraphProto &graph) {
    if (graph.input().empty())
      return;
    const ::onnx::ValueInfoProto info = graph.input(pick(graph.input_size()));
    const auto &type = info.type().tensor_type();
    auto *tensor = graph.add_initializer();
    tensor->set_name(info.name());
    tensor->set_data_type(type.elem_type());
    int64_t elements = 1;
    for (const auto &dim : type.shape().dim()) {
      tensor->add_dims(dim.dim_value());
      elements =
          dim.dim_value() < 0 || dim.dim_value() > 1024 ? 0 : std::min<int64_t>(elements * dim.dim_value(), 4096);
    }
    static const size_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2, 1, 1, 1, 1, 1, 1};
    size_t size = size_t(tensor->data_type()) < std::size(sizes) ? sizes[tensor->data_type()] : 0;
    std::string raw(elements * size, '\0');
    for (size_t at = 0; at + size <= raw.size() && size; at += size)
      raw[at] = char(pick(5));
    tensor->set_raw_data(raw);
  }

  void mutateTensor(::onnx::TensorProto &tensor) {
    switch (pick(6)) {
    case 0:
      return tensor.set_data_type(pick(24));
    case 1:
      if (tensor.dims_size())
        tensor.set_dims(pick(tensor.dims_size()), number(0));
      return;
    case 2:
      return pick(2) ? tensor.add_dims(1 + pick(3)) : tensor.clear_dims();
    case 3:
      if (tensor.int64_data_size())
        return tensor.set_int64_data(pick(tensor.int64_data_size()), number(0));
      if (!tensor.raw_data().empty())
        tensor.mutable_raw_data()->resize(pick(2 * tensor.raw_data().size()));
      return;
    case 4:
      tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
      tensor.clear_external_data();
      for (const char *key : {"location", "offset", "length"}) {
        auto *entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(key[0] == 'l' && key[1] == 'o' ? "model.onnx" : std::to_string(number(16)));
      }
      return;
    default:
      if (size_t size = tensor.raw_data().size())
        (*tensor.mutable_raw_data())[pick(size)] = char(random());
    }
  }

  void mutateInitializer(::onnx::GraphProto &graph) {
    if (auto *tensor = anyOf(graph.mutable_initializer()))
      mutateTensor(*tensor);
    else
      makeInitializer(graph);
  }

  void mutateAttribute(::onnx::AttributeProto &attribute) {
    switch (pick(8)) {
    case 0:
      return attribute.set_type(::onnx::AttributeProto::AttributeType(pick(15)));
    case 1:
      return attribute.add_ints(number(1));
    case 2:
      if (attribute.ints_size())
        attribute.mutable_ints()->RemoveLast();
      return;
    default:
      break;
    }
    if (attribute.has_t())
      return mutateTensor(*attribute.mutable_t());
    if (attribute.ints_size())
      return attribute.set_ints(pick(attribute.ints_size()), number(attribute.ints(0)));
    if (attribute.has_s()) {
      static const char *const words[] = {"SAME_UPPER", "VALID", "nearest", "linear",    "cubic",  "reflect",
                                          "edge",       "wrap",  "sum",     "Tanh",      "CRD",    "bidirectional",
                                          "asymmetric", "",      "\xff",    "ij,jk->ik", "...i->i"};
      return attribute.set_s(words[pick(std::size(words))]);
    }
    if (attribute.has_f()) {
      static const float values[] = {0, -1, 1e38f, 1e-40f, INFINITY, NAN};
      return attribute.set_f(values[pick(std::size(values))]);
    }
    attribute.set_i(number(attribute.i()));
  }

  void mutateNode(::onnx::NodeProto &node) {
    static const std::vector<pto_mlir::onnx::SupportedOp> ops = pto_mlir::onnx::supportedOps();
    const ::onnx::GraphProto &graph = model.graph();
    switch (pick(6)) {
    case 0:
      return node.set_op_type(ops[pick(ops.size())].name);
    case 1:
      if (node.input_size())
        node.set_input(pick(node.input_size()), name(graph));
      return;
    case 2:
      if (pick(2) || !node.input_size())
        return node.add_input(name(graph));
      return node.mutable_input()->RemoveLast();
    case 3:
      if (!pick(4) && node.attribute_size())
        return node.mutable_attribute()->RemoveLast();
      if (!pick(4))
        return node.add_output("extra");
      [[fallthrough]];
    default:
      if (auto *attribute = anyOf(node.mutable_attribute()))
        mutateAttribute(*attribute);
      else if (node.input_size())
        node.set_input(pick(node.input_size()), name(graph));
    }
  }

  ::onnx::ModelProto &model;
  std::mt19937 random;
};

/// The file of this process, in memory where the system has such a folder; gone at its end.
class ModelPath {
public:
  ModelPath() {
    namespace fs = std::filesystem;
    fs::path root = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    folder = root / ("onnx-fuzz-" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  ~ModelPath() { std::filesystem::remove_all(folder); }
  std::string write(const uint8_t *data, size_t size) {
    std::string path = folder / "model.onnx";
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char *>(data), std::streamsize(size));
    return path;
  }

private:
  std::filesystem::path folder;
};

[[noreturn]] void stop(const char *what) {
  std::fprintf(stderr, "%s\n", what);
  __builtin_trap(); // libFuzzer keeps the input
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned seed) {
  std::mt19937 random(seed);
  ::onnx::ModelProto model;
  if (random() % 16 == 0 || !model.ParseFromArray(data, int(size)))
    return LLVMFuzzerMutate(data, size, limit);
  Mutator mutator(model, random());
  for (unsigned i = 0, count = 1 + random() % 3; i < count; ++i)
    mutator.mutate();
  std::string bytes = model.SerializePartialAsString();
  if (bytes.empty() || bytes.size() > limit)
    return LLVMFuzzerMutate(data, size, limit);
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static ModelPath file;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  pto_mlir::onnx::ImportOptions options;
  options.maxExtent = 4;
  std::vector<std::string> errors;
  auto module = pto_mlir::onnx::importONNX(file.write(data, size), options, context, errors);
  if (bool(module) != errors.empty())
    stop(module ? "imports with errors" : "fails without a reason");
  if (module && mlir::failed(mlir::verify(*module)))
    stop("imports a module that does not verify");
  return 0;
}
