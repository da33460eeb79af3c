# Functions shared by quickstart.sh and test.sh: system packages, the project's Python environment, configuration and
# build.
# To be sourced with the repository's root as working directory.

say() { printf '\n== %s\n' "$*"; }
minutes_of() { awk -v s="$1" 'BEGIN { printf "%.1f", s / 60 }'; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

install_packages() {
  local missing=() package
  while read -r package; do
    case "$package" in '' | '#'*) continue ;; esac
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done <third_party/apt-packages.txt
  if [ ${#missing[@]} -eq 0 ]; then
    echo "system packages: all there"
    return
  fi
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo)
    else
      die "system packages are missing. As root, type:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    fi
  fi
  echo "installing ${#missing[@]} system packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "apt-get failed (whole log: $log)"
  fi
  rm -f "$log"
}

# Creates the project's Python environment in .venv, again if the requirements change.
make_venv() {
  local stamp=.venv/requirements.sha256 now
  now=$(sha256sum third_party/python-requirements.txt | cut -d' ' -f1)
  if [ -x .venv/bin/python ] && [ "$(cat $stamp 2>/dev/null)" = "$now" ]; then
    echo "Python environment: .venv is there"
    return
  fi
  python3 -m venv .venv || die "python3 -m venv failed"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r third_party/python-requirements.txt ||
    die "pip could not install third_party/python-requirements.txt"
  echo "$now" >$stamp
}

# configure PRESET
configure() {
  local log
  log=$(mktemp)
  if ! cmake --preset "$1" -DPython_EXECUTABLE="$PWD/.venv/bin/python" >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "cmake --preset $1 failed (whole log: $log)"
  fi
  rm -f "$log"
}

# build FOLDER TARGETS..
build() {
  local folder=$1
  shift
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  ninja -C "$folder" "$@" || die "the build failed"
}

# The Python interpreters from 3.10 to 3.13 on PATH and under pyenv that can build modules, one
# line "PATH VERSION" per version.
find_pythons() {
  local minor candidate
  for minor in 10 11 12 13; do
    for candidate in "python3.$minor" "/usr/bin/python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.$minor.*/bin/python3; do
      if "$candidate" -c "import ensurepip, os, sys, sysconfig
header = os.path.join(sysconfig.get_paths()['include'], 'Python.h')
sys.exit(sys.version_info[:2] != (3, $minor) or not os.path.exists(header))" 2>/dev/null; then
        printf '%s 3.%s\n' "$(command -v "$candidate")" "$minor"
        break
      fi
    done
  done
}

# check_generated_headers FOLDER: fails if a compiled file includes a generated header without a dependency on it.
check_generated_headers() {
  ninja -C "$1" -t missingdeps | grep -q 'No missing dependencies' || {
    ninja -C "$1" -t missingdeps >&2
    die "$1: a target includes a generated header that it does not depend on"
  }
}
