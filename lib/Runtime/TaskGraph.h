// The tasks of a program of launches: what orders them, and where they stand in the program.
#ifndef PTO_MLIR_LIB_RUNTIME_TASKGRAPH_H
#define PTO_MLIR_LIB_RUNTIME_TASKGRAPH_H

#include "pto_mlir/PModel/Model.h"

#include <string>
#include <vector>

namespace pto_mlir::runtime {

/// Launches are numbered in code order.
class TaskGraph {
public:
  explicit TaskGraph(const pmodel::ProgramDesc &program);

  /// Where a launch stands in the program ("f.py:12:9"); empty: unknown.
  std::string placeOf(size_t launch) const;
  /// An error of a launch with its place behind it, and the places of the tasks that it names ("task #3").
  std::string explained(size_t launch, const std::string &error) const;
  /// Whether only dependencies order some launches.
  bool hasManualScopes() const { return !scopes.empty(); }
  /// Whether a launch is ordered behind all earlier ones: it is the first one of its scope, or in none.
  bool beginsScope(size_t launch) const {
    return launch == 0 || scopes[launch] == 0 || scopes[launch] != scopes[launch - 1];
  }
  /// The task of a launch that is submitted in a manual scope; 0: it is none.
  uint32_t taskOf(size_t launch) const { return scopes[launch] ? tasks[launch] : 0; }
  /// The earlier tasks of the launch's scope that it does not wait for, directly or through others.
  std::vector<uint32_t> overlapped(size_t launch) const;

private:
  std::vector<std::string> places;
  std::vector<uint32_t> launchPlaces, scopes, tasks;
  std::vector<std::vector<uint32_t>> waitsFor; // by task
};

} // namespace pto_mlir::runtime

#endif
