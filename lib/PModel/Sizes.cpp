// Sizes that are known at run time (docs/sizes.md): their verification, the values of symbols, shapes.
#include "VerifySizes.h"

#include "pto_mlir/PModel/Program.h"
#include "pto_mlir/PModel/Sizes.h"

#include <algorithm>
#include <set>

namespace pto_mlir::pmodel {

using bytecode::Size;
using bytecode::SizeTerm;

namespace {

constexpr size_t maxSymbols = 16;
constexpr uint64_t maxExtent = INT32_MAX;

Status verifySymbols(const std::vector<SymbolDesc> &symbols) {
  if (symbols.size() > maxSymbols)
    return Failure{"has " + std::to_string(symbols.size()) + " symbols, at most " + std::to_string(maxSymbols) +
                   " are supported"};
  std::set<std::string> names;
  for (const SymbolDesc &symbol : symbols) {
    if (symbol.name.empty() || !names.insert(symbol.name).second)
      return Failure{"two symbols are named '" + symbol.name + "', or one has no name"};
    bool good = symbol.multiple >= 1 && symbol.least >= 1 && symbol.least <= symbol.greatest &&
                symbol.greatest <= maxExtent && symbol.least % symbol.multiple == 0 &&
                symbol.greatest % symbol.multiple == 0;
    if (!good)
      return Failure{"symbol '" + symbol.name + "' has no range of multiples: " + std::to_string(symbol.least) +
                     " to " + std::to_string(symbol.greatest) + " by " + std::to_string(symbol.multiple)};
  }
  return {};
}

Status verifyTensorSizes(const TensorDesc &tensor, const VariantDesc &variant) {
  std::string who = "tensor '" + tensor.name + "': ";
  if (tensor.sizes.empty())
    return {};
  if (tensor.sizes.size() != tensor.shape.size())
    return Failure{who + "has sizes of " + std::to_string(tensor.sizes.size()) + " dimensions, but " +
                   std::to_string(tensor.shape.size()) + " dimensions"};
  std::vector<int64_t> greatest = greatestValues(variant);
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    const Size &size = tensor.sizes[i];
    // With such coefficients the greatest values of the symbols give the greatest extent.
    bool grows = std::all_of(size.terms.begin(), size.terms.end(), [](const SizeTerm &t) { return t.coefficient > 0; });
    auto value = bytecode::evaluate(size, greatest);
    if (!grows || !value || uint64_t(*value) != tensor.shape[i])
      return Failure{who + "dimension " + std::to_string(i) + " is " + std::to_string(tensor.shape[i]) +
                     ", not the greatest value of its size"};
  }
  return {};
}

} // namespace

std::vector<std::string> symbolNames(const VariantDesc &variant) {
  std::vector<std::string> names(variant.symbols.size());
  std::transform(variant.symbols.begin(), variant.symbols.end(), names.begin(),
                 [](const SymbolDesc &symbol) { return symbol.name; });
  return names;
}

std::vector<int64_t> greatestValues(const VariantDesc &variant) {
  std::vector<int64_t> values(variant.symbols.size());
  std::transform(variant.symbols.begin(), variant.symbols.end(), values.begin(),
                 [](const SymbolDesc &symbol) { return static_cast<int64_t>(symbol.greatest); });
  return values;
}

std::vector<std::vector<int64_t>> greatestScalars(const ModelDesc &model) {
  std::vector<std::vector<int64_t>> scalars(model.kernels.size());
  for (const NetDesc &net : model.nets)
    for (const VariantDesc &variant : net.variants) {
      auto program = decodeProgram(variant.program.code);
      if (variant.symbols.empty() || !program)
        continue;
      for (const VMInstruction &insn : *program) {
        if (!isLaunch(insn))
          continue;
        std::vector<int64_t> &greatest = scalars[variant.program.kernels[insn.kernel]];
        greatest.resize(std::max(greatest.size(), insn.scalars.size()));
        for (size_t i = 0; i < insn.scalars.size(); ++i)
          greatest[i] = std::max(greatest[i], bytecode::evaluate(insn.scalars[i], greatestValues(variant)).value_or(0));
      }
    }
  return scalars;
}

std::optional<uint32_t> symbolOf(const Size &size) {
  if (size.terms.size() != 1 || size.terms[0].symbols.size() != 1 || size.terms[0].coefficient < 1)
    return std::nullopt;
  return size.terms[0].symbols[0];
}

Status verifySizes(const VariantDesc &variant) {
  if (Status status = verifySymbols(variant.symbols); !status)
    return status;
  std::set<uint32_t> known;
  for (const auto *tensors : {&variant.inputs, &variant.outputs})
    for (const TensorDesc &tensor : *tensors) {
      if (Status status = verifyTensorSizes(tensor, variant); !status)
        return status;
      if (tensors == &variant.inputs)
        for (const Size &size : tensor.sizes)
          if (auto symbol = symbolOf(size))
            known.insert(*symbol);
    }
  if (known.size() != variant.symbols.size())
    return Failure{"no extent of an input is a multiple of each of its symbols"};
  return {};
}

Status verifyScalar(const Size &scalar, const VariantDesc &variant) {
  Size magnitude = scalar;
  for (SizeTerm &term : magnitude.terms) {
    if (term.coefficient == INT64_MIN)
      return Failure{"a scalar that does not fit 64 bits"};
    term.coefficient = std::abs(term.coefficient);
  }
  if (!bytecode::evaluate(magnitude, greatestValues(variant)))
    return Failure{"a scalar that does not fit 64 bits or names no symbol"};
  return {};
}

Result<std::vector<int64_t>> solveSymbols(const VariantDesc &variant,
                                          const std::vector<std::vector<uint64_t>> &inputShapes) {
  std::vector<int64_t> values(variant.symbols.size(), 0);
  std::vector<std::string> from(values.size());
  auto dimension = [&](size_t input, size_t i) {
    return "dimension " + std::to_string(i) + " of input '" + variant.inputs[input].name + "'";
  };
  for (size_t input = 0; input < variant.inputs.size(); ++input)
    for (size_t i = 0; i < variant.inputs[input].sizes.size(); ++i) {
      const Size &size = variant.inputs[input].sizes[i];
      auto symbol = symbolOf(size);
      if (!symbol || values[*symbol])
        continue;
      const SymbolDesc &desc = variant.symbols[*symbol];
      uint64_t extent = inputShapes[input][i], factor = size.terms[0].coefficient, value = extent / factor;
      bool inRange = value >= desc.least && value <= desc.greatest;
      if (extent % factor || value % desc.multiple || !inRange)
        return Failure{dimension(input, i) + " is " + std::to_string(extent) + ", it must be " +
                       (factor == 1 ? "" : std::to_string(factor) + " times ") + "'" + desc.name + "', " +
                       std::to_string(desc.least) + " to " + std::to_string(desc.greatest) +
                       (desc.multiple == 1 ? "" : " in multiples of " + std::to_string(desc.multiple))};
      values[*symbol] = static_cast<int64_t>(value);
      from[*symbol] = dimension(input, i);
    }
  std::vector<std::string> names = symbolNames(variant);
  for (size_t input = 0; input < variant.inputs.size(); ++input)
    for (size_t i = 0; i < variant.inputs[input].sizes.size(); ++i) {
      const Size &size = variant.inputs[input].sizes[i];
      uint64_t expected = uint64_t(*bytecode::evaluate(size, values));
      if (expected == inputShapes[input][i])
        continue;
      std::string message = dimension(input, i) + " is " + std::to_string(inputShapes[input][i]) + ", expects ";
      if (auto symbol = symbolOf(size))
        return Failure{message + std::to_string(expected) + ": " + from[*symbol] + " has '" + names[*symbol] +
                       "' = " + std::to_string(values[*symbol])};
      return Failure{message + std::to_string(expected) +
                     (size.isConstant() ? "" : " = " + bytecode::sizeText(size, names))};
    }
  return values;
}

std::vector<uint64_t> shapeFor(const TensorDesc &tensor, std::span<const int64_t> symbols) {
  std::vector<uint64_t> shape = tensor.shape;
  for (size_t i = 0; i < tensor.sizes.size(); ++i)
    shape[i] = uint64_t(*bytecode::evaluate(tensor.sizes[i], symbols));
  return shape;
}

} // namespace pto_mlir::pmodel
