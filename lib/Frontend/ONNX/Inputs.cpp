// The model's versions, its initializers, and the types and shapes of its inputs.
#include "Importer.h"
#include "Names.h"
#include "TensorDecoder.h"
#include <functional>
#include <llvm/ADT/StringExtras.h>

using namespace mlir;

namespace pto_mlir::onnx {

bool Importer::checkModel() {
  const ::onnx::ModelProto &model = file.model();
  if (!model.has_graph() || !model.has_ir_version() || model.ir_version() < 1) {
    report("is not an ONNX model");
    return false;
  }
  if (model.ir_version() > kMaxIRVersion)
    report("IR version " + Twine(model.ir_version()) + " is newer than " + Twine(kMaxIRVersion) +
           ", the newest supported one");
  for (const auto &import : model.opset_import())
    if (auto [it, isNew] = opsets.try_emplace(canonicalDomain(import.domain()), import.version());
        !isNew && it->second != import.version())
      report("imports opsets " + Twine(it->second) + " and " + Twine(import.version()) + " of domain '" +
             import.domain() + "'");
  auto it = opsets.find("");
  if (it != opsets.end() && it->second > kMaxOpset)
    report("opset " + Twine(it->second) + " is newer than " + Twine(kMaxOpset) + ", the newest supported one");
  else if (it != opsets.end() && it->second < kMinOpset)
    report("opset " + Twine(it->second) + " is older than " + Twine(kMinOpset) +
           ", the oldest supported one; onnx.version_converter can convert the model");
  else if (opsets.empty())
    report("is not an ONNX model: it imports no operator set");
  if (auto name = findNonUtf8Name(model.graph())) {
    report(*name + ": the name is not UTF-8 text; rename it in the ONNX file");
    return false;
  }
  if (model.graph().sparse_initializer_size())
    report("sparse initializers are not supported");
  return errors.empty();
}

bool Importer::importInitializers() {
  const auto &list = file.model().graph().initializer();
  for (int i = 0; i < list.size(); ++i) {
    if (list[i].name().empty())
      report("an initializer has no name");
    else if (tensors.contains(list[i].name()))
      report("initializer '" + list[i].name() + "' is defined twice");
    else
      importInitializer(list[i], file.rawData(i), file.isMapped(i));
  }
  return errors.empty() && importInputValues();
}

static bool isFixed(const ::onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value() && dim.dim_value() >= 0;
}

/// A shape as text: "[1, 3, ?, ?]".
static std::string shapeText(const ::onnx::TensorShapeProto &shape) {
  std::string text = "[";
  for (const auto &dim : shape.dim())
    text += (text.size() > 1 ? ", " : "") + (isFixed(dim) ? std::to_string(dim.dim_value()) : "?");
  return text + "]";
}

/// Whether extents are those of a shape of the same rank, as far as it fixes them.
template <typename Extents> static bool fits(const Extents &extents, const ::onnx::TensorShapeProto &shape) {
  return llvm::all_of(llvm::zip_equal(extents, shape.dim()), [](const auto &pair) {
    const auto &[extent, dim] = pair;
    return !isFixed(dim) || dim.dim_value() == extent;
  });
}

bool Importer::importInputValues() {
  const auto &list = file.model().graph().input();
  for (const auto &entry : options.inputValues) {
    const auto &[name, bytes] = entry;
    auto input = llvm::find_if(list, [&](const auto &info) { return info.name() == entry.first; });
    ::onnx::TensorProto tensor;
    if (input == list.end() || tensors.contains(name)) {
      report("--input_values: the model has no input '" + name + "'; there are " + inputNames());
    } else if (!tensor.ParseFromString(bytes) || tensor.data_type() != input->type().tensor_type().elem_type()) {
      report("--input_values: the value of input '" + name + "' is no tensor of its type");
    } else if (const auto &type = input->type().tensor_type();
               type.has_shape() && type.shape().dim_size() != tensor.dims_size()) {
      report("--input_values: input '" + name + "' has " + Twine(type.shape().dim_size()) +
             " dimensions in the model, its value " + Twine(tensor.dims_size()));
    } else if (type.has_shape() && !fits(tensor.dims(), type.shape())) {
      report("--input_values: input '" + name + "' has shape " + shapeText(type.shape()) +
             " in the model, its value [" +
             llvm::join(llvm::map_range(tensor.dims(), [](int64_t dim) { return std::to_string(dim); }), ", ") + "]");
    } else {
      tensor.set_name(name);
      importInitializer(tensor, tensor.raw_data(), /*isMapped=*/false);
    }
  }
  return errors.empty();
}

bool Importer::importInitializer(const ::onnx::TensorProto &tensor, StringRef raw, bool isMapped) {
  std::string reason;
  if (tensor.data_type() == ::onnx::TensorProto::STRING) {
    if (defineStrings(tensor.name(), tensor, reason))
      return true;
    report("initializer '" + tensor.name() + "': " + reason);
    return false;
  }
  std::optional<top::Weight> weight =
      decodeTensor(builder.getContext(), tensor, raw, isMapped ? file.owner() : nullptr, file, reason);
  if (!weight) {
    report("initializer '" + tensor.name() + "': " + reason);
    return false;
  }
  tensors[tensor.name()].weight = std::move(weight);
  return true;
}

std::optional<SmallVector<int64_t>> Importer::inputShape(const ::onnx::ValueInfoProto &input, const InputShape *given,
                                                         const StatePair *state) {
  const auto &tensor = input.type().tensor_type();
  auto fail = [&](const Twine &reason) {
    report("input '" + input.name() + "': " + reason);
    return std::nullopt;
  };
  if (!tensor.has_shape() && !given)
    return fail("the model gives no shape; pass one with --input_shapes");
  if (tensor.has_shape() && given && given->size() != static_cast<size_t>(tensor.shape().dim_size()))
    return fail("has " + Twine(tensor.shape().dim_size()) + " dimensions in the model, " + Twine(given->size()) +
                " are given");
  size_t rank = given ? given->size() : tensor.shape().dim_size();
  SmallVector<int64_t> shape;
  SmallVector<std::string> &names = dimNames.emplace_back();
  for (size_t i = 0; i < rank; ++i) {
    const ::onnx::TensorShapeProto::Dimension *dim = tensor.has_shape() ? &tensor.shape().dim(i) : nullptr;
    bool fixed = dim && isFixed(*dim);
    const auto *number = given ? std::get_if<int64_t>(&(*given)[i]) : nullptr;
    const auto *named = given ? std::get_if<std::string>(&(*given)[i]) : nullptr;
    if (named && fixed)
      return fail("dimension " + Twine(i) + " is " + Twine(dim->dim_value()) + " in the model, it cannot be '" +
                  *named + "'");
    if (named && !options.sizes.count(*named))
      return fail("dimension " + Twine(i) + " is given as '" + *named + "', of which --dynamic gives no sizes");
    names.push_back(named ? *named : dim && !fixed ? dim->dim_param() : "");
    if (state && static_cast<int64_t>(i) == state->axis &&
        (state->grows || (!fixed && !given && options.stateLength))) {
      shape.push_back(options.stateLength);
      continue;
    }
    if (auto sizes = options.sizes.find(names.back()); sizes != options.sizes.end()) {
      if (number && !llvm::is_contained(sizes->second, *number))
        return fail("dimension " + Twine(i) + " ('" + names.back() + "') is given as " + Twine(*number) +
                    ", --dynamic names other sizes; give its name instead of a number");
      shape.push_back(sizes->second.size() == 1 ? sizes->second.front() : ShapedType::kDynamic);
      continue;
    }
    if (!fixed && !given)
      return fail("shape " + shapeText(tensor.shape()) +
                  " is not fixed; pass one with --input_shapes, or sizes for its named dimensions with --dynamic");
    int64_t size = number ? *number : dim->dim_value();
    bool isEmpty = size == 0 && fixed; // the model says so
    if ((size < 1 && !isEmpty) || size > INT32_MAX)
      return fail("dimension " + Twine(i) + " is " + Twine(size) + ", it must be from 1 to " + Twine(INT32_MAX));
    if (fixed && size != dim->dim_value())
      return fail("dimension " + Twine(i) + " is " + Twine(dim->dim_value()) + " in the model, " + Twine(size) +
                  " is given");
    shape.push_back(size);
  }
  return shape;
}

bool Importer::checkOutputTypes() {
  for (const auto &output : file.model().graph().output()) {
    int declared = output.type().tensor_type().elem_type();
    Type element = elementType(builder.getContext(), declared);
    if (!element || !llvm::is_contained(outputs, output.name()))
      continue;
    if (Type made = type(output.name()).getElementType(); made != element) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      stream << "output '" << output.name() << "' has elements of type " << made << ", the model says "
             << dataTypeName(declared);
      report(stream.str());
    }
  }
  return errors.empty();
}

bool Importer::inputTypes(SmallVectorImpl<Type> &types) {
  for (const auto &input : file.model().graph().input())
    if (!tensors.contains(input.name()))
      inputs.push_back(&input);
  // Shapes may be given without those of states, which the model's and --state_length say.
  bool areShared = options.inputShapes.size() + states.size() == inputs.size();
  if (!options.inputShapes.empty() && options.inputShapes.size() != inputs.size() && !areShared) {
    report("has " + Twine(inputs.size()) + " inputs, but " + Twine(options.inputShapes.size()) +
           " input shapes are given");
    return false;
  }
  size_t given = 0;
  for (const auto *input : inputs) {
    if (input->name().empty()) {
      report("an input has no name");
      continue;
    }
    if (!input->type().has_tensor_type()) {
      report("input '" + input->name() + "': only tensors are supported: " + kNoSequences);
      continue;
    }
    int dataType = input->type().tensor_type().elem_type();
    Type element = elementType(builder.getContext(), dataType);
    if (!element) {
      report("input '" + input->name() + "': element type " + dataTypeName(dataType) + " is not supported");
      continue;
    }
    const StatePair *state = stateOf(input->name());
    const InputShape *own = nullptr;
    if (!options.inputShapes.empty() && (!state || options.inputShapes.size() == inputs.size()))
      own = &options.inputShapes[given++];
    if (std::optional<SmallVector<int64_t>> shape = inputShape(*input, own, state)) {
      auto type = RankedTensorType::get(*shape, element);
      if (isStatic(type) && !top::tensorBytes(type))
        report("input '" + input->name() + "': is too large");
      types.push_back(type);
    }
  }
  return errors.empty();
}

// Records the possible combined shapes of the inputs; dimensions with the same name have the same size.
void Importer::setInputShapes(ArrayRef<Value> values) {
  SmallVector<StringRef> names;
  for (const SmallVector<std::string> &ofInput : dimNames)
    for (StringRef name : ofInput)
      if (options.sizes.count(name.str()) && !llvm::is_contained(names, name))
        names.push_back(name);
  for (const auto &entry : options.sizes)
    if (!llvm::is_contained(names, entry.first))
      report("no input has a dimension '" + entry.first + "', of which --dynamic gives sizes");
  std::vector<Shapes> choices;
  llvm::StringMap<int64_t> chosen;
  std::function<void(size_t)> choose = [&](size_t i) {
    if (choices.size() > kVersionNodes)
      return;
    if (i < names.size()) {
      for (int64_t size : options.sizes.at(names[i].str())) {
        chosen[names[i]] = size;
        choose(i + 1);
      }
      return;
    }
    Shapes &shapes = choices.emplace_back();
    for (auto [ofInput, value] : llvm::zip_equal(dimNames, values)) {
      shapes.push_back(cast<RankedTensorType>(value.getType()).getShape().vec());
      for (auto [d, size] : llvm::enumerate(shapes.back()))
        if (ShapedType::isDynamic(size))
          size = chosen[ofInput[d]];
    }
  };
  if (!names.empty())
    choose(0);
  setShapes(values, std::move(choices));
}

} // namespace pto_mlir::onnx
