// Writes a timeline for chrome://tracing and Perfetto: one process per core, one track per engine.
#ifndef PTO_MLIR_CMODEL_TIMING_TRACE_H
#define PTO_MLIR_CMODEL_TIMING_TRACE_H

#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace pto_mlir::cmodel {

/// A trace file in the trace-event format (JSON).
class Trace {
public:
  /// Null if the file cannot be written. The file gets its final name when the trace is destroyed.
  static std::unique_ptr<Trace> create(const std::string &path);
  ~Trace();

  /// A span on the track `engine` of `core`; microseconds. `arguments` is a JSON object.
  void span(const std::string &core, const std::string &engine, const std::string &name, double begin, double duration,
            const nlohmann::ordered_json &arguments);

private:
  Trace(std::FILE *file, std::string part, std::string path)
      : file(file), part(std::move(part)), path(std::move(path)) {}
  void event(const nlohmann::ordered_json &fields); // on a line of its own
  unsigned number(std::map<std::string, unsigned> &numbers, const std::string &name) {
    return numbers.emplace(name, numbers.size() + 1).first->second;
  }

  std::FILE *file;
  std::string part, path; // where it is written, and where it belongs; one for a device or a pipe
  bool first = true;
  std::map<std::string, unsigned> processes, threads;
};

} // namespace pto_mlir::cmodel

#endif
