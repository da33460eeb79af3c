// Abstract execution of a kernel's commands without data: register arithmetic, loops and jumps are executed; all other
// commands are reported to the caller.
#ifndef PTO_MLIR_LIB_PMODEL_STREAMWALK_H
#define PTO_MLIR_LIB_PMODEL_STREAMWALK_H

#include "pto_mlir/ISA/Codec.h"
#include "pto_mlir/PModel/Model.h"
#include "pto_mlir/Support/Result.h"

#include <deque>
#include <functional>
#include <map>
#include <vector>

namespace pto_mlir::pmodel {

struct StreamOp {
  isa::DecodedInsn insn;
  uint32_t word = 0;
  uint32_t target = 0; // of a loop and its breaks: the command after its end; of a jump: its target
};

Result<std::vector<StreamOp>> decodeStream(const StreamDesc &stream);

/// Executes one engine of one core. S must run before the engines that pop from its queues.
class StreamWalker {
public:
  using Queues = std::map<isa::Pipe, std::deque<int64_t>>;
  /// Callback for an executed command; `op` is its index in the stream.
  using Command = std::function<void(const isa::DecodedInsn &insn, uint32_t op)>;

  /// `steps` counts the commands executed for the whole kernel; `queues` are those of the core.
  StreamWalker(uint64_t &steps, Queues &queues) : steps(steps), queues(queues) {}

  int64_t places[isa::kNumQueries] = {}; // block index and number, sub-block index and number
  std::vector<int64_t> scalars;          // of the launch; others are 0
  isa::Pipe pipe = isa::Pipe::S;

  /// Executes the stream. `command` is called, with registers substituted, for every command other than control flow
  /// and register arithmetic; `plain`, if set, for those.
  Status run(const std::vector<StreamOp> &ops, const Command &command, const Command &plain = {});

private:
  struct Open {
    size_t loop;
    int64_t upper, step;
  };
  bool scalar(const isa::DecodedInsn &insn);
  void queue(const isa::DecodedInsn &insn);
  std::optional<size_t> control(const std::vector<StreamOp> &ops, size_t at);
  int64_t read(const isa::Value &v) const { return v.isRegister ? registers[v.value] : v.value; }

  int64_t registers[isa::kNumRegisters] = {};
  std::vector<Open> open;
  uint64_t &steps;
  Queues &queues;
};

} // namespace pto_mlir::pmodel

#endif
