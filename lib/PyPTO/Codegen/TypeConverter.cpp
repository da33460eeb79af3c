// Types and instruction names of pto-isa's C++.
#include "pypto/codegen/isa_mapper.h"
#include "pypto/codegen/type_converter.h"
#include "pypto/core/error.h"
#include "pypto/ir/op_registry.h"

namespace pypto::codegen {
namespace {

constexpr size_t kRank = 5; // of a GlobalTensor

std::string five(const char *name, const std::vector<int64_t> &values) {
  std::string text = std::string(name) + "<";
  for (size_t i = 0; i < kRank; ++i) {
    size_t before = kRank - values.size();
    text += (i ? ", " : "") + std::to_string(i < before ? 1 : values[i - before]);
  }
  return text + ">";
}

void checkRank(const std::vector<int64_t> &dims) {
  CHECK(!dims.empty() && dims.size() <= kRank) << "a shape needs 1 to 5 extents, not " << dims.size();
}

} // namespace

std::string TypeConverter::ConvertDataType(const DataType &dtype) const { return std::string(dtype.ToCTypeString()); }

std::string TypeConverter::ConvertMemorySpace(ir::MemorySpace space) const {
  return space == ir::MemorySpace::DDR ? "__gm__" : "";
}

std::string TypeConverter::ConvertPipeType(ir::PipeType pipe) const {
  return "PIPE_" + std::string(ir::ValueName(pipe));
}

std::string TypeConverter::ConvertEventId(int event_id) const {
  CHECK(event_id >= 0 && event_id <= 7) << "Event ID must be in range [0, 7], got " << event_id;
  return "EVENT_ID" + std::to_string(event_id);
}

std::string TypeConverter::GenerateShapeType(const std::vector<int64_t> &dims) const {
  checkRank(dims);
  return five("Shape", dims);
}

std::string TypeConverter::GenerateStrideType(const std::vector<int64_t> &shape) const {
  checkRank(shape);
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * shape[i + 1];
  return five("Stride", strides);
}

void ISAMapper::InitializeMappings() {
  for (const ir::OpRow &row : ir::AllOps()) {
    std::string name(row.pto);
    if (row.name.starts_with("tile.")) {
      if (name.empty() || name[0] != 't' || name == "treshape")
        continue; // not one instruction
      for (char &c : name)
        c = c == '.' ? '_' : c >= 'a' && c <= 'z' ? char(c - 32) : c;
    } else if (row.name.starts_with("system.bar_")) {
      name = "pipe_barrier";
    } else if (name != "set_flag" && name != "wait_flag") {
      continue;
    }
    mappings_.emplace(row.name, ISAMapping{std::move(name)});
  }
}

std::optional<ISAMapping> ISAMapper::GetMapping(const std::string &op_name, const ir::Attrs &attrs) const {
  if (op_name == "block.sum" || op_name == "tile.sum") {
    const int64_t *axis = ir::FindAttr<int64_t>(attrs, "axis");
    CHECK(axis && (*axis == 0 || *axis == 1)) << op_name << " needs a constant axis, 0 or 1";
    return mappings_.at(*axis == 0 ? "tile.col_sum" : "tile.row_sum");
  }
  const ir::OpRow *row = ir::FindOp(op_name);
  auto found = row ? mappings_.find(std::string(row->name)) : mappings_.end();
  return found == mappings_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace pypto::codegen
