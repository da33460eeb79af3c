#include "TaskGraph.h"

#include <algorithm>
#include <charconv>

namespace pto_mlir::runtime {

TaskGraph::TaskGraph(const pmodel::ProgramDesc &program)
    : places(program.places), launchPlaces(program.launchPlaces), scopes(program.launchScopes),
      tasks(program.launchTasks) {
  uint32_t greatest = 0;
  for (const auto *list : {&program.launchTasks, &program.taskEdges})
    for (uint32_t task : *list)
      greatest = std::max(greatest, task);
  waitsFor.resize(size_t(greatest) + 1);
  for (size_t i = 0; i + 1 < program.taskEdges.size(); i += 2)
    waitsFor[program.taskEdges[i + 1]].push_back(program.taskEdges[i]);
}

std::string TaskGraph::placeOf(size_t launch) const {
  return launch < launchPlaces.size() ? places[launchPlaces[launch]] : "";
}

std::vector<uint32_t> TaskGraph::overlapped(size_t launch) const {
  uint32_t mine = taskOf(launch);
  std::vector<bool> isOrdered(waitsFor.size());
  std::vector<uint32_t> open{mine};
  isOrdered[mine] = true;
  while (!open.empty()) {
    uint32_t task = open.back();
    open.pop_back();
    for (uint32_t earlier : waitsFor[task])
      if (!isOrdered[earlier]) {
        isOrdered[earlier] = true;
        open.push_back(earlier);
      }
  }
  std::vector<uint32_t> list;
  for (size_t other = 0; other < launch; ++other)
    if (scopes[other] == scopes[launch] && tasks[other] && !isOrdered[tasks[other]]) {
      isOrdered[tasks[other]] = true; // a task of several launches is listed once
      list.push_back(tasks[other]);
    }
  return list;
}

std::string TaskGraph::explained(size_t launch, const std::string &error) const {
  constexpr std::string_view mark = "task #";
  std::string text;
  size_t done = 0;
  for (size_t at = error.find(mark); at != std::string::npos; at = error.find(mark, done)) {
    uint32_t task = 0;
    const char *first = error.data() + at + mark.size();
    auto [end, problem] = std::from_chars(first, error.data() + error.size(), task);
    auto found = std::find(tasks.begin(), tasks.end(), task);
    std::string place = found == tasks.end() ? "" : placeOf(size_t(found - tasks.begin()));
    text += error.substr(done, at - done) + (place.empty() ? "another task" : "the task of " + place);
    done = size_t(end - error.data());
  }
  text += error.substr(done);
  std::string place = placeOf(launch);
  return text + (place.empty() ? "" : "; launched at " + place);
}

} // namespace pto_mlir::runtime
