#!/usr/bin/env bash
# Runs both commands of the README on a minimal Debian 12 (debootstrap's minbase plus git) in a folder, as on a new
# machine.
#   scripts/fresh_machine.sh [FOLDER] [COMMAND..]     default: a temporary folder; ./quickstart.sh, then ./test.sh
# Needs root and debootstrap. Clones the committed state. Compiler caches are off. Prints the minutes taken; exits at
# the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh

[ "$(id -u)" -eq 0 ] || die "debootstrap and chroot need root"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install -y debootstrap"
if [ $# -gt 0 ]; then
  folder=$1
  shift
else
  folder=$(mktemp -d)
fi
[ $# -gt 0 ] || set -- ./quickstart.sh ./test.sh
mkdir -p "$folder"
folder=$(realpath "$folder")
[ -z "$(ls -A "$folder")" ] || die "$folder is not empty"

say "debootstrap into $folder"
debootstrap --variant=minbase --include=git,ca-certificates bookworm "$folder" >"$folder.log" 2>&1 || die "debootstrap failed: $folder.log"
clean_up() {
  for mount in dev/shm dev proc ""; do ! mountpoint -q "$folder/$mount" || umount --lazy "$folder/$mount"; done
}
trap clean_up EXIT
# A mount of its own, so that the tests can have private mounts in it.
mount --bind --make-private "$folder" "$folder"
mount -t proc proc "$folder/proc"
mount --bind --make-private /dev "$folder/dev"
mount -t tmpfs shm "$folder/dev/shm"
# How this machine reaches the registries: name server, settings of package clients, certificates. Nothing else is
# copied.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf; do [ ! -f "$file" ] || cp -L "$file" "$folder$file"; done
settings=()
while IFS='=' read -r name value; do
  case "$name" in
    *_proxy | *_PROXY | PIP_INDEX_URL | PIP_EXTRA_INDEX_URL | PIP_DEFAULT_TIMEOUT | PIP_TRUSTED_HOST | NO_PROXY) ;;
    *CERT* | *_CA_* | *CAINFO)
      [ ! -f "$value" ] || { mkdir -p "$folder$(dirname "$value")" && cp -L "$value" "$folder$value"; } ;;
    *) continue ;;
  esac
  settings+=("$name=$value")
done < <(env)
[ ! -d /usr/local/share/ca-certificates ] || cp -rL /usr/local/share/ca-certificates "$folder/usr/local/share/"
for file in /etc/apt/apt.conf.d/*; do ! grep -qi 'proxy\|https\?::' "$file" || cp "$file" "$folder/etc/apt/apt.conf.d/"; done

git clone --quiet --no-hardlinks . "$folder/root/pto-mlir"
minutes=()
for command in "$@"; do
  say "$command"
  begin=$SECONDS
  chroot "$folder" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CCACHE_DISABLE=1 "${settings[@]}" \
    bash -c "cd /root/pto-mlir && $command" || die "$command failed on the fresh machine"
  minutes+=("$(printf '%6.1f min  %s' "$(minutes_of $((SECONDS - begin)))" "$command")")
done
say "minutes on the fresh machine, packages included"
printf '%s\n' "${minutes[@]}"
