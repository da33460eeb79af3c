// The calls of pto_orchestration_api.h that the C++ of an orchestrator makes, by generation.
#ifndef PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATIONAPI_H
#define PTO_MLIR_LIB_FRONTEND_PYPTO_ORCHESTRATIONAPI_H

#include "pto_mlir/ISA/Table.h"
#include "pypto/codegen/code_emitter.h"
#include "pypto/codegen/orchestration/orchestration_codegen.h"

#include <memory>

namespace pto_mlir::pypto_frontend {

/// An argument of a task: the direction of a tensor, or a number.
struct TaskArgument {
  std::string name;
  std::optional<pypto::ir::ParamDirection> direction; ///< none: a number
  pypto::DataType dtype;
  bool isTracked = true; ///< whether tasks are ordered by what they do with the tensor
};

/// A variable that is a task, or an array of `elements` tasks.
struct TaskName {
  std::string name;
  int64_t elements = 0; ///< 0: one task
};

/// What a launch says beside its arguments.
struct TaskLaunch {
  std::string blocks;    ///< their number; empty: one block, which asks for none
  bool together = false; ///< whether all blocks begin at once
  std::vector<TaskName> after;
  /// It runs only if this element compares so with the number; no tensor: always.
  struct {
    std::string tensor, comparison; ///< "GT"
    std::vector<std::string> indices;
    int64_t target = 0;
  } predicate;
  std::string task; ///< the variable that becomes the task; empty: none
  bool saysNothing() const { return blocks.empty() && after.empty() && predicate.tensor.empty() && task.empty(); }
};

/// A parameter of the orchestrator, or a tensor that it returns.
struct EntryArgument {
  std::string name;
  pypto::DataType dtype;
  std::vector<std::string> shape;
  bool isTensor = true;
};

/// A variable of extents that each run says.
struct EntryExtent {
  std::string name;
  std::string value; ///< in terms of the tensors that a parameter is, where these know their extents
};

class OrchestrationApi {
public:
  static std::unique_ptr<OrchestrationApi> make(pypto::codegen::OrchestrationApi api, const isa::ArchInfo &arch,
                                                pypto::codegen::CodeEmitter &out);
  explicit OrchestrationApi(pypto::codegen::CodeEmitter &out) : out(out) {}
  virtual ~OrchestrationApi() = default;

  /// Up to the first statement of the entry point; `ext_NAME` are its tensors, NAME its numbers and extents.
  void begin(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &extents);
  /// Behind its last statement.
  void end();
  /// Declares the tensor NAME.
  virtual void create(const std::string &name, const std::vector<std::string> &shape, pypto::DataType dtype) = 0;
  /// Submits kernel `id`, called `kernel`, as task `number`.
  virtual void submit(int number, int id, const std::string &kernel, pypto::ir::CoreType core,
                      const std::vector<TaskArgument> &arguments, const TaskLaunch &launch) = 0;
  /// Submits kernels `cube` and `vector`, called `group`, as one task, with two vector cores.
  virtual void submitBoth(int number, int cube, int vector, const std::string &group,
                          const std::vector<TaskArgument> &arguments, const TaskLaunch &launch) = 0;
  /// Submits kernel `id` of both vector cores as one task.
  virtual void submitLanes(int number, int id, const std::string &kernel, const std::vector<TaskArgument> &arguments,
                           const TaskLaunch &launch) {
    submit(number, id, kernel, pypto::ir::CoreType::VECTOR, arguments, launch);
  }
  /// Declares a task that is none yet.
  virtual void declareTask(const TaskName &task) = 0;
  /// Submits a task without work, which becomes `launch.task`.
  virtual void submitNothing(int number, const TaskLaunch &launch) = 0;
  virtual void openScope(bool isManual) = 0;
  void closeScope();
  /// An element of `tensor`, which waits for the tasks that write it.
  virtual std::string read(const std::string &tensor, pypto::DataType dtype, const std::string &indices) const = 0;
  /// `{4, 8}` as an array NAME of extents, or offsets.
  void array(const std::string &name, const std::vector<std::string> &values);
  /// Ends the run with `reason` where `condition` is false.
  void expect(const std::string &condition, const std::string &reason);
  /// Whether tensors that are parameters know their extents; else these are arguments behind all others.
  virtual bool tensorsHaveExtents() const = 0;

protected:
  virtual void beginFile(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &extents) = 0;
  virtual void beginEntry(const std::vector<EntryArgument> &arguments, const std::vector<EntryExtent> &extents) = 0;
  virtual const char *extentType() const = 0;

  pypto::codegen::CodeEmitter &out;
};

/// "FLOAT32": the DataType of pto_orchestration_api.h. ValueError for a type that it lacks.
std::string_view orchestrationType(pypto::DataType dtype);
/// The type of a number of an orchestrator: "float", "int32_t".
std::string_view numberType(pypto::DataType dtype);

} // namespace pto_mlir::pypto_frontend

#endif
