// Prologue, tensors and tasks of the two generations of pto_orchestration_api.h.
#include "OrchestrationApi.h"

#include "pypto/core/error.h"

namespace pto_mlir::pypto_frontend {

namespace ir = pypto::ir;
using pypto::DataType;
using pypto::codegen::CodeEmitter;

std::string_view orchestrationType(DataType dtype) {
  static constexpr std::pair<DataType, std::string_view> kTypes[] = {
      {DataType::FP32, "FLOAT32"},  {DataType::FP16, "FLOAT16"},  {DataType::BF16, "BFLOAT16"},
      {DataType::INT8, "INT8"},     {DataType::INT16, "INT16"},   {DataType::INT32, "INT32"},
      {DataType::INT64, "INT64"},   {DataType::UINT8, "UINT8"},   {DataType::UINT16, "UINT16"},
      {DataType::UINT32, "UINT32"}, {DataType::UINT64, "UINT64"}, {DataType::BOOL, "BOOL"}};
  for (auto [type, name] : kTypes)
    if (type == dtype)
      return name;
  throw pypto::ValueError("the orchestration API has no tensors of " + std::string(dtype.Name()));
}

// Numbers of 16-bit floats are f32 in a task.
std::string_view numberType(DataType dtype) {
  return dtype == DataType::TASK_ID ? "PTO2TaskId" : dtype.IsFloat() ? "float" : dtype.ToCTypeString();
}

namespace {

std::string upper(std::string text) {
  for (char &c : text)
    c = c >= 'a' && c <= 'z' ? char(c - 32) : c;
  return text;
}

std::string joined(const std::vector<std::string> &values) {
  std::string text;
  for (const std::string &value : values)
    text += (text.empty() ? "" : ", ") + value;
  return "{" + text + "}";
}

std::string rankOf(const std::vector<std::string> &shape) { return std::to_string(shape.size()); }

/// "input", "output", "inout".
std::string verb(ir::ParamDirection direction) {
  return direction == ir::ParamDirection::In ? "input" : direction == ir::ParamDirection::Out ? "output" : "inout";
}

class MarchApi final : public OrchestrationApi {
public:
  using OrchestrationApi::OrchestrationApi;

  void create(const std::string &name, const std::vector<std::string> &shape, DataType dtype) override {
    array(name + "_shapes", shape);
    out.EmitLine("Tensor " + name + " = make_tensor(" + name + "_shapes, " + rankOf(shape) +
                 ", DataType::" + std::string(orchestrationType(dtype)) + ");");
  }

  void submit(int number, int id, const std::string &kernel, ir::CoreType core,
              const std::vector<TaskArgument> &arguments, const TaskLaunch &launch) override {
    if (!launch.saysNothing())
      refuse(launch.blocks.empty() ? "tasks as values" : "launches of several blocks");
    std::string params = "params_t" + std::to_string(number);
    out.EmitLine("// Task " + std::to_string(number) + ": " + kernel);
    out.EmitLine("PTOParam " + params + "[] = {");
    out.IncreaseIndent();
    for (const TaskArgument &argument : arguments)
      out.EmitLine(argument.direction ? "make_" + verb(*argument.direction) + "_param(" + argument.name + "),"
                                      : "make_scalar_param(" + word(argument) + "),");
    out.DecreaseIndent();
    out.EmitLine("};");
    out.EmitLine("pto2_rt_submit_task(rt, " + std::to_string(id) + ", " +
                 (core == ir::CoreType::CUBE ? "PTO2_WORKER_CUBE" : "PTO2_WORKER_VECTOR") + ", " + params + ", " +
                 std::to_string(arguments.size()) + ");");
  }

  void submitBoth(int, int, int, const std::string &, const std::vector<TaskArgument> &, const TaskLaunch &) override {
    refuse("tasks of both kinds of core");
  }
  void declareTask(const TaskName &) override { refuse("tasks as values"); }
  void submitNothing(int, const TaskLaunch &) override { refuse("tasks as values"); }

  void openScope(bool isManual) override {
    if (isManual)
      refuse("manual scopes");
    out.EmitLine("PTO2_SCOPE(rt) {");
    out.IncreaseIndent();
  }

  std::string read(const std::string &tensor, DataType dtype, const std::string &indices) const override {
    return "pto2_rt_read<" + std::string(numberType(dtype)) + ">(rt, " + tensor + ", " + indices + ")";
  }

protected:
  const char *extentType() const override { return "uint64_t"; }

  void beginFile(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &extents) override {
    for (size_t i = 0; i < arguments.size(); ++i)
      out.EmitLine("#define ARG_" + std::string(arguments[i].isTensor ? "PTR_" : "") + upper(arguments[i].name) + " " +
                   std::to_string(i));
    for (size_t i = 0; i < extents.size(); ++i)
      out.EmitLine("#define ARG_EXTENT_" + extents[i].name + " " + std::to_string(arguments.size() + i));
    out.EmitBlock("\n// Helper to encode float as uint64_t for scalar params\n"
                  "static uint64_t float_to_u64(float f) {\n"
                  "    union {\n        float f32;\n        uint64_t u64;\n    } conv;\n"
                  "    conv.u64 = 0;  // Clear upper bits\n    conv.f32 = f;\n    return conv.u64;\n}\n");
  }

  void beginEntry(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &extents) override {
    out.EmitBlock("PTO2OrchestrationConfig aicpu_orchestration_config(uint64_t* args, int arg_count) {\n"
                  "    (void)args;\n    (void)arg_count;\n"
                  "    return PTO2OrchestrationConfig{\n        .expected_arg_count = " +
                  std::to_string(arguments.size() + extents.size()) +
                  ",\n    };\n}\n\n__attribute__((visibility(\"default\")))\n"
                  "void aicpu_orchestration_entry(PTO2Runtime* rt, uint64_t* args, int arg_count) {\n");
    out.IncreaseIndent();
    out.EmitLine("(void)arg_count;");
    out.EmitLine("(void)float_to_u64;");
    for (const EntryArgument &argument : arguments)
      if (argument.isTensor)
        out.EmitLine("void* arg_" + argument.name +
                     "_ptr = reinterpret_cast<void*>(static_cast<uintptr_t>(args[ARG_PTR_" + upper(argument.name) +
                     "]));");
      else
        out.EmitLine(std::string(numberType(argument.dtype)) + " " + argument.name + " = from_u64<" +
                     std::string(numberType(argument.dtype)) + ">(args[ARG_" + upper(argument.name) + "]);");
    for (const EntryExtent &extent : extents)
      out.EmitLine("int64_t " + extent.name + " = from_u64<int64_t>(args[ARG_EXTENT_" + extent.name + "]);");
    for (const EntryArgument &argument : arguments)
      if (argument.isTensor) {
        array(argument.name + "_shapes", argument.shape);
        out.EmitLine("Tensor ext_" + argument.name + " = make_tensor_external(arg_" + argument.name + "_ptr, " +
                     argument.name + "_shapes, " + rankOf(argument.shape) +
                     ", DataType::" + std::string(orchestrationType(argument.dtype)) + ");");
      }
  }

  bool tensorsHaveExtents() const override { return false; }

private:
  [[noreturn]] static void refuse(const std::string &what) {
    throw pypto::ValueError(what + " came after the orchestration API of March 2026; choose today's back end");
  }
  static std::string word(const TaskArgument &argument) {
    return argument.dtype.IsFloat() ? "float_to_u64(" + argument.name + ")"
                                    : "static_cast<uint64_t>(" + argument.name + ")";
  }
};

class TodayApi final : public OrchestrationApi {
public:
  TodayApi(const isa::ArchInfo &arch, CodeEmitter &out)
      : OrchestrationApi(out), setBlocks(arch.rules == isa::Arch::a5 ? "set_core_num" : "set_block_num") {}

  void create(const std::string &name, const std::vector<std::string> &shape, DataType dtype) override {
    array(name + "_shapes", shape);
    out.EmitLine("TensorCreateInfo " + name + "_info(" + name + "_shapes, " + rankOf(shape) +
                 ", DataType::" + std::string(orchestrationType(dtype)) + ");");
    out.EmitLine("Tensor " + name + " = alloc_tensors(" + name + "_info).get_ref(0);");
  }

  void submit(int number, int id, const std::string &kernel, ir::CoreType core,
              const std::vector<TaskArgument> &arguments, const TaskLaunch &launch) override {
    std::string params = declareArguments(number, kernel, arguments, launch);
    submitted(number,
              std::string(core == ir::CoreType::CUBE ? "rt_submit_aic_task(" : "rt_submit_aiv_task(") +
                  std::to_string(id) + ", " + params + ")",
              launch);
  }

  void submitBoth(int number, int cube, int vector, const std::string &group,
                  const std::vector<TaskArgument> &arguments, const TaskLaunch &launch) override {
    submitMixed(number, std::to_string(cube), vector, group, arguments, launch);
  }

  void submitLanes(int number, int id, const std::string &kernel, const std::vector<TaskArgument> &arguments,
                   const TaskLaunch &launch) override {
    submitMixed(number, "INVALID_KERNEL_ID", id, kernel, arguments, launch);
  }

  void declareTask(const TaskName &task) override {
    std::string type = task.elements ? "std::array<PTO2TaskId, " + std::to_string(task.elements) + ">" : "PTO2TaskId";
    out.EmitLine(type + " " + task.name + " = " + (task.elements ? "{}" : "PTO2TaskId::invalid()") + ";");
  }

  void submitNothing(int number, const TaskLaunch &launch) override {
    std::string params = declareArguments(number, "dependency-only dummy task", {}, launch);
    submitted(number, "rt_submit_dummy_task(" + params + ")", launch);
  }

  void openScope(bool isManual) override {
    out.EmitLine(isManual ? "PTO2_SCOPE(PTO2ScopeMode::MANUAL) {" : "PTO2_SCOPE() {");
    out.IncreaseIndent();
  }

  std::string read(const std::string &tensor, DataType dtype, const std::string &indices) const override {
    return "get_tensor_data<" + std::string(numberType(dtype)) + ">(" + tensor + ", " + indices + ")";
  }

protected:
  const char *extentType() const override { return "uint32_t"; }

  /// The arguments of a task as a variable; its name.
  std::string declareArguments(int number, const std::string &name, const std::vector<TaskArgument> &arguments,
                               const TaskLaunch &launch) {
    std::string params = "params_t" + std::to_string(number);
    out.EmitLine("// Task " + std::to_string(number) + ": " + name);
    out.EmitLine("CoreTaskArgs " + params + ";");
    for (const TaskArgument &argument : arguments) {
      std::string value = argument.direction ? argument.name
                                             : "to_u64(static_cast<" + std::string(numberType(argument.dtype)) + ">(" +
                                                   argument.name + "))";
      std::string how = !argument.direction ? "scalar" : argument.isTracked ? verb(*argument.direction) : "no_dep";
      out.EmitLine(params + ".add_" + how + "(" + value + ");");
    }
    declareDependencies(params, launch.after);
    if (!launch.blocks.empty())
      out.EmitLine(params + ".launch_spec." + setBlocks + "(" + launch.blocks + ");");
    if (launch.together)
      out.EmitLine(params + ".launch_spec.set_require_sync_start(true);");
    declarePredicate(params, launch);
    return params;
  }

  void beginFile(const std::vector<EntryArgument> &, const std::vector<EntryExtent> &) override {}
  bool tensorsHaveExtents() const override { return true; }

  void beginEntry(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &extents) override {
    out.EmitBlock("PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs& orch_args) {\n"
                  "    (void)orch_args;\n    return PTO2OrchestrationConfig{\n        .expected_arg_count = " +
                  std::to_string(arguments.size()) +
                  ",\n    };\n}\n\n__attribute__((visibility(\"default\")))\n"
                  "void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {\n");
    out.IncreaseIndent();
    int tensors = 0, numbers = 0;
    for (const EntryArgument &argument : arguments)
      if (argument.isTensor)
        out.EmitLine("Tensor ext_" + argument.name + " = orch_args.tensor(" + std::to_string(tensors++) + ").ref();");
      else
        out.EmitLine(std::string(numberType(argument.dtype)) + " " + argument.name + " = from_u64<" +
                     std::string(numberType(argument.dtype)) + ">(orch_args.scalar(" + std::to_string(numbers++) +
                     "));");
    for (const EntryExtent &extent : extents)
      out.EmitLine("int64_t " + extent.name + " = " + extent.value + ";");
  }

private:
  /// A task of the cube core, unless it is none, and both vector cores.
  void submitMixed(int number, const std::string &cube, int vector, const std::string &name,
                   const std::vector<TaskArgument> &arguments, const TaskLaunch &launch) {
    std::string params = declareArguments(number, name, arguments, launch),
                kernels = "kernels_t" + std::to_string(number), both = std::to_string(vector);
    out.EmitLine("MixedKernels " + kernels + " = {" + cube + ", " + both + ", " + both + "};");
    submitted(number, "rt_submit_task(" + kernels + ", " + params + ")", launch);
  }

  void submitted(int number, const std::string &call, const TaskLaunch &launch) {
    if (launch.task.empty())
      return out.EmitLine(call + ";");
    std::string outputs = "task_" + std::to_string(number) + "_outs";
    out.EmitLine("TaskOutputTensors " + outputs + " = " + call + ";");
    out.EmitLine(launch.task + " = " + outputs + ".task_id();");
  }

  void declareDependencies(const std::string &params, const std::vector<TaskName> &after) {
    if (after.empty())
      return;
    int64_t most = 0;
    for (const TaskName &task : after)
      most += task.elements ? task.elements : 1;
    std::string deps = params + "_deps", count = deps + "_count";
    out.EmitLine("PTO2TaskId " + deps + "[" + std::to_string(most) + "];");
    out.EmitLine("uint32_t " + count + " = 0;");
    for (const TaskName &task : after)
      if (task.elements)
        out.EmitLine("for (PTO2TaskId each : " + task.name + ") if (each.is_valid()) " + deps + "[" + count +
                     "++] = each;");
      else
        out.EmitLine("if (" + task.name + ".is_valid()) " + deps + "[" + count + "++] = " + task.name + ";");
    out.EmitLine(params + ".set_dependencies(" + deps + ", " + count + ");");
  }

  void declarePredicate(const std::string &params, const TaskLaunch &launch) {
    const auto &only = launch.predicate;
    if (only.tensor.empty())
      return;
    std::string name = params + "_pred";
    out.EmitLine("CoreTaskPredicate " + name + ";");
    out.EmitLine(name + ".operand.tensor = &" + only.tensor + ";");
    out.EmitLine(name + ".operand.ndims = " + std::to_string(only.indices.size()) + ";");
    for (size_t i = 0; i < only.indices.size(); ++i)
      out.EmitLine(name + ".operand.indices[" + std::to_string(i) + "] = static_cast<uint32_t>(" + only.indices[i] +
                   ");");
    out.EmitLine(name + ".op = PredicateOp::" + only.comparison + ";");
    out.EmitLine(name + ".target = " + std::to_string(only.target) + ";");
    out.EmitLine(params + ".set_predicate(" + name + ");");
  }

  std::string setBlocks; ///< the call that says how many blocks a task has
};

} // namespace

std::unique_ptr<OrchestrationApi> OrchestrationApi::make(pypto::codegen::OrchestrationApi api,
                                                         const isa::ArchInfo &arch, CodeEmitter &out) {
  if (api == pypto::codegen::OrchestrationApi::Today)
    return std::make_unique<TodayApi>(arch, out);
  return std::make_unique<MarchApi>(out);
}

void OrchestrationApi::begin(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &extents) {
  out.EmitBlock("#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\n"
                "#include \"pto_orchestration_api.h\"\n\n");
  beginFile(arguments, extents);
  out.EmitBlock("\nextern \"C\" {\n\n__attribute__((visibility(\"default\")))\n");
  beginEntry(arguments, extents);
  openScope(/*isManual=*/false);
}

void OrchestrationApi::end() {
  closeScope();
  closeScope();
  out.EmitBlock("\n}  // extern \"C\"\n");
}

void OrchestrationApi::closeScope() {
  out.DecreaseIndent();
  out.EmitLine("}");
}

void OrchestrationApi::array(const std::string &name, const std::vector<std::string> &values) {
  std::vector<std::string> elements;
  elements.reserve(values.size());
  for (const std::string &value : values) // a computed number is signed
    elements.push_back(value.find_first_not_of("0123456789") == std::string::npos
                           ? value
                           : "static_cast<" + std::string(extentType()) + ">(" + value + ")");
  out.EmitLine(std::string(extentType()) + " " + name + "[" + std::to_string(values.size()) +
               "] = " + joined(elements) + ";");
}

void OrchestrationApi::expect(const std::string &condition, const std::string &reason) {
  out.EmitLine("pto_orchestration::expect(" + condition + ",");
  out.EmitLine("                          \"" + reason + "\");");
}

} // namespace pto_mlir::pypto_frontend
