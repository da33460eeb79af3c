//===- EngineStorer.h - Storage of one engine's commands ------------------===//
//
// A concrete storer holds the commands of one engine. Decorators stack on it, each with one purpose and a switch to
// disable it: vector dump (moves the words to a buffer of the compilation), statistics, disassembly trace.
//
//===----------------------------------------------------------------------===//

#ifndef PTO_MLIR_BACKEND_ENGINESTORER_H
#define PTO_MLIR_BACKEND_ENGINESTORER_H

#include "pto_mlir/Backend/EncoderABI.h"

#include "pto_mlir/ISA/Table.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pto_mlir::backend {

/// An error message; nullopt on success.
using StoreError = std::optional<std::string>;

/// Receives the commands of one engine.
class EngineStoreInterface {
public:
  virtual ~EngineStoreInterface() = default;
  /// Stores one whole command and counts it in `node` (may be null).
  virtual StoreError store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) = 0;
  /// Ends the stream. `dep`: bit set of the pipes whose end this engine's end waits for, 0 for none.
  virtual void store_cmd_end(unsigned dep) = 0;
  /// Moves out the stored words; a second call returns only those stored since.
  virtual std::vector<uint32_t> get_cmds() = 0;
};
using EngineStorerPtr = std::shared_ptr<EngineStoreInterface>;

/// Stores the commands of one engine; rejects commands of other engines.
class EngineStorer : public EngineStoreInterface {
public:
  EngineStorer(int engineId, std::string name) : engineId(engineId), name(std::move(name)) {}
  StoreError store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) override;
  void store_cmd_end(unsigned dep) override { endDependency = dep; }
  std::vector<uint32_t> get_cmds() override { return std::exchange(words, {}); }
  /// The argument of `store_cmd_end`; nullopt before the call.
  std::optional<unsigned> dependency() const { return endDependency; }

protected:
  /// Checks that the command belongs to this engine.
  virtual StoreError accept(const uint32_t *cmd, size_t numWords) const = 0;

  const int engineId;
  const std::string name;

private:
  std::vector<uint32_t> words;
  std::optional<unsigned> endDependency;
};

/// An engine of a core of `arch`: accepts the instructions that the table gives to its pipe, to a missing one whose
/// instructions it carries out, or to every engine.
class PipeEngineStorer : public EngineStorer {
public:
  PipeEngineStorer(const isa::ArchInfo &arch, isa::CoreKind core, isa::Pipe pipe);

protected:
  StoreError accept(const uint32_t *cmd, size_t numWords) const override;

private:
  const isa::ArchInfo &arch;
  isa::Pipe pipe;
};
class ScalarEngineStorer : public PipeEngineStorer {
public:
  ScalarEngineStorer(const isa::ArchInfo &arch, isa::CoreKind core) : PipeEngineStorer(arch, core, isa::Pipe::S) {}
};
class VectorEngineStorer : public PipeEngineStorer {
public:
  explicit VectorEngineStorer(const isa::ArchInfo &arch) : PipeEngineStorer(arch, isa::CoreKind::AIV, isa::Pipe::V) {}
};
class CubeEngineStorer : public PipeEngineStorer {
public:
  explicit CubeEngineStorer(const isa::ArchInfo &arch) : PipeEngineStorer(arch, isa::CoreKind::AIC, isa::Pipe::M) {}
};
/// MTE1, MTE2, MTE3.
class DMAEngineStorer : public PipeEngineStorer {
public:
  using PipeEngineStorer::PipeEngineStorer;
};
class FixpipeEngineStorer : public PipeEngineStorer {
public:
  explicit FixpipeEngineStorer(const isa::ArchInfo &arch)
      : PipeEngineStorer(arch, isa::CoreKind::AIC, isa::Pipe::FIX) {}
};
/// One port of the cross-device engine. Its commands have no rows in the table; all are accepted.
class CDMAEngineStorer : public EngineStorer {
public:
  explicit CDMAEngineStorer(int port) : EngineStorer(PTO_ENGINE_CDMA, "CDMA." + std::to_string(port)) {}

protected:
  StoreError accept(const uint32_t *, size_t) const override { return std::nullopt; }
};

/// Forwards all calls. While `enabled` is false a decorator does nothing else.
class EngineStorerDecorator : public EngineStoreInterface {
public:
  EngineStorerDecorator(EngineStorerPtr component, const bool &enabled)
      : component(std::move(component)), enabled(enabled) {}
  StoreError store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) override {
    return component->store(cmd, numWords, node);
  }
  void store_cmd_end(unsigned dep) override { component->store_cmd_end(dep); }
  std::vector<uint32_t> get_cmds() override { return component->get_cmds(); }

protected:
  EngineStorerPtr component;
  const bool &enabled; // owned by the command-level decorator
};

/// Moves the words out of the component into `output` at each command.
class VectorDumpEngineStorerDecorator : public EngineStorerDecorator {
public:
  VectorDumpEngineStorerDecorator(EngineStorerPtr component, const bool &enabled, std::vector<uint32_t> &output)
      : EngineStorerDecorator(std::move(component), enabled), output(output) {}
  StoreError store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) override;
  void store_cmd_end(unsigned dep) override;

private:
  void take();
  std::vector<uint32_t> &output;
};

/// Command counts of one engine.
struct EngineStatistics {
  uint64_t commands = 0, words = 0;
  std::map<std::string, uint64_t> byMnemonic; // complete once store_cmd_end was called
};

/// Counts commands and words.
class StatisticsEngineStorerDecorator : public EngineStorerDecorator {
public:
  StatisticsEngineStorerDecorator(EngineStorerPtr component, const bool &enabled, EngineStatistics &statistics)
      : EngineStorerDecorator(std::move(component), enabled), statistics(statistics) {}
  StoreError store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) override;
  void store_cmd_end(unsigned dep) override;

private:
  EngineStatistics &statistics;
  std::map<unsigned, uint64_t> byOpcode; // converted to mnemonics when flushed
};

/// Appends a line of disassembly per command to `output` when flushed.
class TraceEngineStorerDecorator : public EngineStorerDecorator {
public:
  TraceEngineStorerDecorator(EngineStorerPtr component, const bool &enabled, std::string &output)
      : EngineStorerDecorator(std::move(component), enabled), output(output) {}
  StoreError store(const uint32_t *cmd, size_t numWords, CMD_ID_NODE *node) override;
  void store_cmd_end(unsigned dep) override;

private:
  std::string &output;
  std::vector<uint32_t> pending;
};

} // namespace pto_mlir::backend

#endif
