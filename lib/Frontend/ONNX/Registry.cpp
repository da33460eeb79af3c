#include "Registry.h"

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

} // namespace pto_mlir::onnx
