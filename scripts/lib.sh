# For the scripts beside it: what to install, and how to say what happens. Source it, do not run it.
# shellcheck shell=bash disable=SC2034  # who sources it uses the lists

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=${0##*/}

# What apt installs goes before what somebody has put into a home of theirs (pyenv's python3, say), which
# the other users of a test run may not execute.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH
export PATH

# What each purpose needs, as Debian 12 and Ubuntu 24.04 name it. `a|b`: the first that apt knows.
build_packages=(
  cmake ninja-build g++ pkg-config ccache
  'libboost1.81-dev|libboost1.83-dev' libcli11-dev libarchive-dev libssl-dev libsodium-dev zlib1g-dev libzstd-dev
  libseccomp-dev libcap-dev busybox-static binutils python3 ca-certificates
)
test_packages=(
  "${build_packages[@]}"
  libgtest-dev jq openssl git clang-format-14 clang-tidy-14 shellcheck man-db mandoc mmdebstrap util-linux procps
)
image_packages=(mmdebstrap python3 debian-archive-keyring)
bench_packages=("${build_packages[@]}" "${image_packages[@]}" hyperfine bubblewrap
  libbenchmark-dev libseccomp-dev time jq)

say() { echo "$me: $*" >&2; }

die() {
  echo "$me: $*" >&2
  exit 1
}

# Runs a command as root: as it is, or by sudo that asks nothing when there is no terminal.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif ! command -v sudo >/dev/null; then
    die "needs root for '$*', and there is no sudo; run it once as root"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

can_be_root() { [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Installs those packages of the list that are missing; does nothing, and asks for nothing, when
# none is.
install_packages() {
  command -v apt-get >/dev/null ||
    die "installs packages by apt-get (Debian 12 or Ubuntu 24.04); here, install by hand: $*"
  local missing=() choice name
  for choice in "$@"; do
    for name in ${choice//|/ }; do is_installed "$name" && continue 2; done
    missing+=("$choice")
  done
  [ ${#missing[@]} -gt 0 ] || { say "all packages are there"; return 0; }

  say "apt-get update, then install: ${missing[*]}"
  as_root apt-get update -qq || die "apt-get update failed; is there a network?"
  local wanted=()
  for choice in "${missing[@]}"; do
    for name in ${choice//|/ }; do
      apt-cache show "$name" >/dev/null 2>&1 && break
    done
    wanted+=("$name")
  done
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${wanted[@]}" >/dev/null || die "apt-get could not install: ${wanted[*]}"
}

# How many jobs at once: the processors, but not more than memory allows at 1.5 GiB a compiler.
jobs_at_once() {
  local by_memory
  by_memory=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
  [ "$by_memory" -ge 1 ] || by_memory=1
  echo $(($(nproc) < by_memory ? $(nproc) : by_memory))
}

# build PRESET [cmake --build arguments...]: what the preset says, in build/PRESET.
build() {
  say "build preset '$1' in build/$1"
  [ ! -d "$root/build" ] || [ -w "$root/build" ] ||
    die "'$root/build' belongs to $(stat -c %U "$root/build"); remove it, or run as that user"
  (cd "$root" && cmake --preset "$1" >/dev/null) || die "cmake --preset $1 failed"
  cmake --build "$root/build/$1" -j "$(jobs_at_once)" "${@:2}" || die "the build of preset '$1' failed"
}
