"""Programs of the public ISA library's CPU simulator: its compile options, once, and a main that runs kernels."""

import subprocess
from pathlib import Path

HEADERS = ("cstdint", "cmath", "vector", "algorithm")  # which the simulator's headers use and do not include
OPTIONS = (
    *("-std=c++20", "-O1", "-w", "-mllvm", "-hints-allow-reordering=false", "-D__CPU_SIM"),
    # The simulator requires equal boxes of some operands where the chips' headers require equal valid regions.
    *("-DPTO_CPU_MAX_THREADS=1", "-Dstatic_assert(...)="),
    *(flag for header in HEADERS for flag in ("-include", header)),
)

# Runs CALLS on every core with `data`, the contents of the files that argv names from FIRST on, and writes them back.
# Cores run one after the other: the simulator's flags do not synchronise, and none of our kernels needs another core.
MAIN = r"""
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
static std::vector<char> bytes(const char *path) {
  std::FILE *file = std::fopen(path, "rb");
  std::fseek(file, 0, SEEK_END);
  std::vector<char> data(size_t(std::ftell(file)));
  std::rewind(file);
  if (std::fread(data.data(), 1, data.size(), file) != data.size())
    std::abort();
  std::fclose(file);
  return data;
}
int main(int argc, char **argv) {
  std::string kernel = argv[1];
  unsigned cores = std::atoi(argv[2]);
  std::vector<std::vector<char>> data;
  for (int i = 3; i < argc; ++i)
    data.push_back(bytes(argv[i]));
  for (unsigned core = 0; core < cores; ++core) {
    cpu_sim::set_execution_context(0, core, cores);
    CALLS
  }
  for (int i = 3; i < argc; ++i) {
    std::FILE *file = std::fopen(argv[i], "wb");
    std::fwrite(data[i - 3].data(), 1, data[i - 3].size(), file);
    std::fclose(file);
  }
}
"""


def main_of(calls: str) -> str:
    """A main for `PROGRAM KERNEL CORES FILE..`; `calls` is C++ that runs the kernel named `kernel` on `data`."""
    return MAIN.replace("CALLS\n", calls + "\n")


def command(isa: Path, source: Path, output: Path, *options: str) -> list[str]:
    """The compiler's command line for a program, or with `-shared -fPIC` a library; `isa` is a checkout of pto-isa."""
    return ["clang++-19", *OPTIONS, f"-I{isa}/include", *options, str(source), "-o", str(output), "-lpthread", "-ldl"]


def build(isa: Path, source: Path, output: Path, *options: str) -> str | None:
    """Compiles and links; the first error, or None."""
    made = subprocess.run(command(isa, source, output, *options), capture_output=True, text=True)
    if made.returncode == 0:
        return None
    return next((line for line in made.stderr.splitlines() if "error" in line), "the compiler fails")
