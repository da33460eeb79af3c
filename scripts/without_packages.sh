#!/usr/bin/env bash
# Runs a command where the development packages of third_party/apt-packages.txt, and the libraries that came with them, cannot be seen:
#   scripts/without_packages.sh COMMAND..
# In a mount namespace of its own, so that nothing outside changes; needs no root. Python, git and the C compiler stay visible.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: scripts/without_packages.sh COMMAND.." >&2; exit 2; }
cd "$(dirname "$0")/.."

# LLVM's folder, and every library that a package of the list, or one that such a package depends on, put into the linker's path.
hidden_packages() {
  local named
  named=$(sed -n 's/^\(lib[^ ]*\|llvm[^ ]*\|clang[^ ]*\|lld[^ ]*\|mlir[^ ]*\|.*-dev\|protobuf[^ ]*\|flatbuffers[^ ]*\)$/\1/p' third_party/apt-packages.txt)
  { echo "$named"; dpkg-query -W -f '${Depends}\n' $named 2>/dev/null | tr ',|' '\n\n' | sed 's/(.*//; s/ //g'; } |
    grep -E '^(lib(mlir|llvm|clang|protobuf|proto|flatbuffers|gtest|gmock|benchmark|tbb|xxhash|edit|cli11)|llvm|clang|lld|mlir|nlohmann)' | sort -u
}
files=$(for package in $(hidden_packages); do dpkg -L "$package" 2>/dev/null; done | grep -E '^(/usr)?/lib/.*\.(so(\..*)?|a)$' | grep -v '^/usr/lib/llvm-' | sort -u)
empty=$(mktemp)
trap 'rm -f "$empty"' EXIT
export PTO_HIDDEN_FILES="$files" PTO_EMPTY_FILE="$empty"
unshare --map-root-user --mount bash -c '
  for folder in /usr/lib/llvm-*; do mount -t tmpfs none "$folder"; done
  for file in $PTO_HIDDEN_FILES; do [ ! -f "$file" ] || [ -L "$file" ] || mount --bind "$PTO_EMPTY_FILE" "$file"; done
  exec "$@"' without_packages "$@"
