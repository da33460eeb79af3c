// Writes stored programs, the seeds of PyPTOFuzz: pypto-sample-program FOLDER.
#include "Build.h"

#include "pypto/ir/serialize.h"

#include <fstream>

using namespace pypto::ir;

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  auto write = [&](const char *name, const NodePtr &node) {
    std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary) << serialize(node);
  };
  write("program", program({sumFunction("")}));
  write("type", tile({16, 32}));
  write("call", call("tile.load", {var("x", tensor({8, 8})), index(3)}, {{"clamp", true}, {"stage", int64_t(-2)}}));
  auto kernel = std::make_shared<const InCoreScopeStmt>(assign(var("t", tile({8, 8})), call("tile.exp", {})), "k",
                                                        SplitMode::UP_DOWN, Attrs{{"mode", std::string("a")}}, Span());
  write("scope", kernel);
  return 0;
}
