// The checked mode: every access of every engine is compared with what flags and queues order.
#ifndef PTO_MLIR_CMODEL_CHECKED_CHECKER_H
#define PTO_MLIR_CMODEL_CHECKED_CHECKER_H

#include "Checked/Accesses.h"
#include "Checked/Shadow.h"
#include "Observer.h"
#include "Program.h"

#include <map>
#include <optional>

namespace pto_mlir::cmodel {

class Checker : public Observer {
public:
  explicit Checker(isa::Arch arch) : arch(arch) {}

  void allocated(uint64_t address, uint64_t bytes) override;
  void released(uint64_t address) override;
  void copiedToDevice(uint64_t address, uint64_t bytes) override;
  std::string copiesFromDevice(uint64_t address, uint64_t bytes) override;
  bool judgesFlags() const override { return true; }
  void launchBegin(const LaunchState &launch) override;
  void launchEnd(const LaunchState &launch, pto_profile &cost) override;
  void coreBegin(Core &core) override;
  void before(Core &core, const Op &op) override;
  void after(Core &core, const Op &op) override;

private:
  static constexpr unsigned numMemories = std::size(isa::kMemoryNames), numPipes = 16, numIds = 8;

  struct Block {
    uint64_t bytes;
    DefinedShadow defined;
  };
  /// Global memory that some stream of the launch writes.
  struct Region {
    uint64_t begin, end;
    AccessShadow accesses;
  };
  struct Local {
    std::optional<DefinedShadow> defined;
    std::optional<AccessShadow> accesses;
  };
  struct Flag {
    Clock raised;           // what the raising engine knew
    uint32_t consumed = 0;  // the waiting engine's time when it took the last token
  };
  struct CoreLog {
    std::string name;
    std::vector<const Stream *> streams;
    std::vector<std::vector<uint32_t>> ops; // of each engine's events, the op
  };

  void accesses(Core &core);
  void access(Core &core, const Access &what);
  void setFlag(Core &core, isa::Pipe src, isa::Pipe dst, int64_t id);
  void waitFlag(isa::Pipe src, isa::Pipe dst, int64_t id);
  Clock &clock() { return clocks[engine]; }
  std::optional<uint64_t> firstUndefined(const Access &what, const ByteRuns &runs);
  void findUndefinedLanes();
  void race(Core &core, const Access &what, const Conflict &conflict);
  std::string describe(const Event &event) const;
  std::string place(const Core &core, const Access &what, uint64_t byte) const;
  Block *blockOf(uint64_t address);

  isa::Arch arch;
  std::map<uint64_t, Block> blocks; // by address
  std::pair<const uint64_t, Block> *lastBlock = nullptr;

  // --- of a launch ---
  std::vector<Region> regions;
  std::vector<CoreLog> cores;

  // --- of a core ---
  Local locals[numMemories];
  std::array<Clock, maxEngines> clocks;
  Flag flags[numPipes][numPipes][numIds];
  std::vector<Clock> queues[numPipes]; // what S knew at each push
  size_t popped[numPipes];
  unsigned engine = 0; // the one that executes

  // --- of an instruction ---
  isa::DecodedInsn resolved;
  AccessList list;
  std::vector<std::pair<uint64_t, uint64_t>> undefinedLanes; // of dst: first byte, bytes
};

} // namespace pto_mlir::cmodel

#endif
