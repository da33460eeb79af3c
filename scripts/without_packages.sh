#!/usr/bin/env bash
# Hides the development packages of third_party/apt-packages.txt, and libraries installed with them, from a command:
#   scripts/without_packages.sh COMMAND..
# Uses a private mount namespace, so nothing outside changes and root is not needed. Python, git and the C compiler
# remain visible.
set -euo pipefail
[ $# -gt 0 ] || { echo "usage: scripts/without_packages.sh COMMAND.." >&2; exit 2; }
cd "$(dirname "$0")/.."

# Prints LLVM's folder and every library in the linker's path that a listed package, or a dependency of one, installed.
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
# Root needs no namespace of users, which a chroot may not have.
kind=(--map-root-user --mount)
! unshare --mount true 2>/dev/null || kind=(--mount)
unshare "${kind[@]}" bash -c '
  for folder in /usr/lib/llvm-*; do mount -t tmpfs none "$folder"; done
  for file in $PTO_HIDDEN_FILES; do [ ! -f "$file" ] || [ -L "$file" ] || mount --bind "$PTO_EMPTY_FILE" "$file"; done
  exec "$@"' without_packages "$@"
