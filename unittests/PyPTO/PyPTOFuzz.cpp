// A libFuzzer target: the input as stored IR. What is read prints, compares, hashes and is stored again as it was read.
#include "pypto/core/error.h"
#include "pypto/ir/printer.h"
#include "pypto/ir/serialize.h"
#include "pypto/ir/structural.h"

#include <cstdlib>

using namespace pypto;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ir::NodePtr node;
  try {
    node = ir::deserialize(std::string_view(reinterpret_cast<const char *>(data), size));
  } catch (const ValueError &) {
    return 0;
  }
  (void)ir::python_print(node);
  std::string bytes = ir::serialize(node);
  ir::NodePtr again = ir::deserialize(bytes);
  // Free variables of two readings are different objects.
  if (!ir::structural_equal(node, again, true) || ir::structural_hash(node, true) != ir::structural_hash(again, true))
    std::abort();
  if (ir::serialize(again) != bytes)
    std::abort();
  return 0;
}
