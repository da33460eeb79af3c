// The C++ of an orchestrator: what submits the kernels of a program as tasks (pto_orchestration_api.h).
#ifndef PYPTO_CODEGEN_ORCHESTRATION_ORCHESTRATION_CODEGEN_H
#define PYPTO_CODEGEN_ORCHESTRATION_ORCHESTRATION_CODEGEN_H

#include "pypto/ir/program.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace pypto::codegen {

/// The generations of the calls that the C++ makes.
enum class OrchestrationApi {
  March2026, ///< PTO2Runtime, PTOParam, pto2_rt_submit_task
  Today,     ///< ChipTaskArgs, CoreTaskArgs, rt_submit_aiv_task
};

struct OrchestrationResult {
  std::string code;
  std::map<std::string, int> func_name_to_id; ///< of kernels, in order of their first use
  std::map<std::string, ir::CoreType> func_name_to_core_type;
  std::set<std::string> with_queues; ///< kernels whose tasks have memory for queues behind their tensors
  ir::ProgramPtr kernels;            ///< the kernels by these ids; scopes of the orchestrator are outlined
  std::vector<ir::VarPtr> returned;  ///< tensors that are made on the way and returned: arguments behind the parameters
  std::vector<std::string> extents;  ///< variables of the parameters' extents, in the order of the C++
};

/// The core that a kernel runs on: CUBE where it has tiles of the cube core's memories.
ir::CoreType InferFunctionCoreType(const ir::FunctionPtr &function);

/// ValueError, with its place, for what the C++ cannot say: tensors that a kernel would have to read with strides,
/// tasks with dependencies in the API of March 2026.
/// `processor`: the target for whose memories products of tensors are cut.
OrchestrationResult GenerateOrchestration(const ir::ProgramPtr &program, const ir::FunctionPtr &function,
                                          OrchestrationApi api, const std::string &processor);

} // namespace pypto::codegen

#endif // PYPTO_CODEGEN_ORCHESTRATION_ORCHESTRATION_CODEGEN_H
