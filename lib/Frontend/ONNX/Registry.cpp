#include "Registry.h"

#include "pto_mlir/Frontend/ONNX/SupportedOps.h"

namespace pto_mlir::onnx {

#define PTO_ONNX_FAMILY(Name) void register##Name(Registry &);
#include "Families.def"

Registry::Registry() {
#define PTO_ONNX_FAMILY(Name) register##Name(*this);
#include "Families.def"
}

const Registry &Registry::get() {
  static const Registry registry;
  return registry;
}

const OpEntry *Registry::find(llvm::StringRef op, int64_t opset, bool &known) const {
  auto it = entries.find(op);
  known = it != entries.end();
  if (known)
    for (const OpEntry &entry : it->second)
      if (opset >= entry.from && opset <= entry.to)
        return &entry;
  return nullptr;
}

std::vector<SupportedOp> supportedOps() {
  std::vector<SupportedOp> ops;
  for (const auto &entry : Registry::get().all())
    for (const OpEntry &importer : entry.second)
      ops.push_back({entry.first().str(), importer.from, importer.to});
  llvm::sort(ops, [](const SupportedOp &a, const SupportedOp &b) {
    return std::tie(a.name, a.firstOpset) < std::tie(b.name, b.firstOpset);
  });
  return ops;
}

} // namespace pto_mlir::onnx
