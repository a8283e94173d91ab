#!/usr/bin/env bash
# Brings what Rigel is built on: the system packages, a Rust toolchain if there is none, and SPDK.
#
#   scripts/setup.sh            do it; when all is there, end at once
#   scripts/setup.sh --where    print the folder of the finished SPDK build, or fail with the remedy
#   scripts/setup.sh --hugepages [MIB]   reserve hugepages (default 2048 MiB), for PCIe and vfio-user targets
#
# SPDK_DIR=<folder>  use this built tree or installation prefix, build nothing (goes before SPDK_SRC)
# SPDK_SRC=<folder>  build this source tree, in place, instead of fetching one
# SPDK_JOBS=<n>      parallel compile jobs (default: all cores)
#
# The build lives outside the checkout, in ${XDG_CACHE_HOME:-~/.cache}/rigel, keyed by version and configure
# flags, and is finished only when its stamp is written. Whatever ends this script early ends the build too
# and removes it.
set -euo pipefail

SPDK_VERSION=26.01
# x86-64-v2 runs on every server of the last fifteen years and in emulators; "native" dies on older ones.
CONFIGURE=(--target-arch=x86-64-v2 --disable-tests --disable-unit-tests --with-vfio-user
  --with-iscsi-initiator --with-uring --with-rdma --without-vhost --without-virtio --without-crypto)
[ "$(uname -m)" = x86_64 ] || CONFIGURE=("${CONFIGURE[@]:1}")
# What it takes to build Rigel on an SPDK that is there, and what it takes to build SPDK.
RIGEL_PACKAGES=(build-essential pkg-config ca-certificates libclang-dev clang uuid-dev libssl-dev libaio-dev libnuma-dev
  libiscsi-dev libjson-c-dev libkeyutils-dev libncurses-dev libfuse3-dev liburing-dev libibverbs-dev librdmacm-dev)
SPDK_PACKAGES=(nasm autoconf automake libtool meson ninja-build python3-pyelftools libcmocka-dev patch xz-utils)
RUST_MIN=1.85
BUILD_MIB=2000

say() { printf 'setup: %s\n' "$*" >&2; }
die() { printf 'setup: %s\n' "$1" >&2; shift; for line in "$@"; do printf '       %s\n' "$line" >&2; done; exit 1; }

key() { printf '%s\n' "$SPDK_VERSION" "${CONFIGURE[@]}" | sha256sum | cut -c1-12; }
[ -n "${XDG_CACHE_HOME:-}${HOME:-}" ] || die "neither HOME nor XDG_CACHE_HOME is set, so there is no place for the SPDK build." \
  "Set one, such as: XDG_CACHE_HOME=/var/cache scripts/setup.sh"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rigel
key=$(key)
built=$cache/spdk-$SPDK_VERSION-$key
stamp=.rigel-finished
# A toolchain of rustup's is there even where no login shell has put it into PATH.
PATH=$PATH:${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin

# A tree or prefix is usable when its pkg-config files are there.
is_spdk() { [ -e "$1/build/lib/pkgconfig/spdk_nvme.pc" ] || [ -e "$1/lib/pkgconfig/spdk_nvme.pc" ]; }

# Refuses values of the environment that cannot be meant, before anything is installed or fetched.
check_environment() {
  # Other programs than this one read these too, from other folders, and SPDK's makefiles cannot take blanks.
  local name value
  for name in SPDK_DIR SPDK_SRC XDG_CACHE_HOME; do
    value=${!name:-}
    case $value in
      '') ;;
      *[[:space:]]*) die "$name='$value' has a blank in it, and SPDK cannot be built or used in such a folder." "Choose another one." ;;
      /*) ;;
      *) die "$name=$value is not an absolute path." "Write $name=$PWD/${value#./}, or whichever folder is meant." ;;
    esac
  done
  case $cache in *[[:space:]]*) die "$cache has a blank in it, and SPDK cannot be built in such a folder." \
    "Set XDG_CACHE_HOME to another one." ;; esac
  if [ -n "${SPDK_DIR:-}" ]; then
    is_spdk "$SPDK_DIR" || die "SPDK_DIR=$SPDK_DIR holds no built SPDK (no lib/pkgconfig/spdk_nvme.pc)." \
      "Point it at a built tree or an installation prefix, or unset it and run scripts/setup.sh."
  elif [ -n "${SPDK_SRC:-}" ]; then
    [ -x "$SPDK_SRC/configure" ] || die "SPDK_SRC=$SPDK_SRC is no SPDK source tree (it has no configure script)." \
      "Point it at one, or unset it and run scripts/setup.sh, which fetches SPDK $SPDK_VERSION."
    [ -e "$SPDK_SRC/dpdk/meson.build" ] || die "SPDK_SRC=$SPDK_SRC lacks its submodules (dpdk is empty)." \
      "Bring them: git -C $SPDK_SRC submodule update --init"
  fi
  [[ ${SPDK_JOBS:-1} =~ ^[1-9][0-9]*$ ]] || die "SPDK_JOBS=$SPDK_JOBS is not a number of jobs; write SPDK_JOBS=4 or leave it out."
}

# Prints the folder to use, or nothing.
where() {
  if [ -n "${SPDK_DIR:-}" ]; then
    (cd "$SPDK_DIR" && pwd)
  elif [ -n "${SPDK_SRC:-}" ]; then
    if is_spdk "$SPDK_SRC" && [ "$(cat "$SPDK_SRC/$stamp" 2>/dev/null)" = "$key" ]; then (cd "$SPDK_SRC" && pwd); fi
  elif [ -e "$built/$stamp" ]; then
    echo "$built"
  fi
}

print_where() {
  local found
  found=$(where)
  [ -n "$found" ] || die "SPDK is not built yet${SPDK_SRC:+ in SPDK_SRC=$SPDK_SRC}." \
    "Run scripts/setup.sh (it takes a few minutes), or set SPDK_DIR to a built tree."
  echo "$found"
}

# Creates the cache folder and takes the lock, which keeps two set-ups apart until this process and its children end.
take_lock() {
  if ! mkdir -p "$cache" 2>/dev/null || ! true 2>/dev/null >>"$cache/lock"; then
    die "$cache cannot be written." "Set XDG_CACHE_HOME to a folder that can, or mend its owner or the room there."
  fi
  exec 9>>"$cache/lock"
  flock -n 9 && return
  say "another setup is at work; waiting for it"
  # Not a plain `flock 9`: bash would look at a signal only after it.
  until flock -n 9; do sleep 0.5; done
}

# Runs a command as root; 126 when this user cannot.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "$@"
  else return 126; fi
}

# new: cargo and rustc are there and new enough; old; none.
rust() {
  local tool found state=new
  for tool in cargo rustc; do
    command -v "$tool" >/dev/null || { echo none; return; }
    found=$("$tool" --version 2>/dev/null | cut -d' ' -f2) || true
    [ -n "$found" ] && [ "$(printf '%s\n' "$RUST_MIN" "$found" | sort -V | head -n1)" = "$RUST_MIN" ] || state=old
  done
  echo "$state"
}

# A toolchain that someone chose is not replaced.
refuse_old_rust() {
  [ "$(rust)" != old ] || die "Rust $RUST_MIN or newer is needed, and here are $(cargo --version 2>&1 | head -n1) and $(rustc --version 2>&1 | head -n1)." \
    "With rustup: rustup update stable && rustup default stable" \
    "With Debian 12's packages: sudo apt-get install cargo-web rustc-web rustfmt-web (replaces cargo and rustc)"
}

# Debian 12's own cargo is too old, but it carries a current one for its browsers.
rust_packages() {
  if grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
    echo cargo-web rustc-web rustfmt-web
  else
    echo cargo rustc rustfmt rust-clippy
  fi
}

missing_packages() {
  local installed p
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p') || true
  for p in "$@"; do
    grep -qxF -- "$p" <<<"$installed" || echo "$p"
  done
}

packages() {
  refuse_old_rust
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    not_debian
    return
  fi
  local want=("${RIGEL_PACKAGES[@]}") missing
  [ -n "$(where)" ] || want+=("${SPDK_PACKAGES[@]}")
  # shellcheck disable=SC2207  # names of packages hold no blanks
  [ "$(rust)" = new ] || want+=($(rust_packages))
  mapfile -t missing < <(missing_packages "${want[@]}")
  [ "${#missing[@]}" = 0 ] || install "${missing[@]}"
  hash -r
  refuse_old_rust
  [ "$(rust)" = new ] || die "Debian's Rust is installed, but there is no cargo and rustc in PATH ($PATH)." "Put /usr/bin into PATH."
}

install() {
  take_lock
  local log=$cache/apt.log status=0
  say "installing: $*"
  {
    as_root apt-get -o DPkg::Lock::Timeout=300 update &&
      as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-remove --no-install-recommends "$@"
  } >"$log" 2>&1 </dev/null 9>&- || status=$?
  [ "$status" != 126 ] || die "these packages are missing, and installing them takes root. Run this, then scripts/setup.sh again:" \
    "sudo apt-get update && sudo apt-get install -y --no-install-recommends $*"
  [ "$status" = 0 ] || { tail -n 5 "$log" >&2; die "apt-get failed (full log: $log). Mend the cause it names, then call scripts/setup.sh again."; }
}

# Elsewhere than on Debian we install nothing, but name everything that is missing.
not_debian() {
  local lack=() tools=(cc c++ make pkg-config clang) tool lib found
  found=$(where)
  [ -n "$found" ] || tools+=(nasm autoconf automake libtoolize meson ninja python3 patch tar xz)
  for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || lack+=("$tool")
  done
  if command -v pkg-config >/dev/null; then
    for lib in uuid openssl libiscsi json-c ncurses fuse3 liburing libibverbs librdmacm; do
      pkg-config --exists "$lib" || lack+=("$lib (development files)")
    done
  else
    lack+=("the development files of uuid openssl libiscsi json-c ncurses fuse3 liburing libibverbs librdmacm (not checked: that takes pkg-config)")
  fi
  [ -e /usr/include/numa.h ] || lack+=("libnuma (development files)")
  [ -e /usr/include/libaio.h ] || lack+=("libaio (development files)")
  [ -n "$found" ] || python3 -c 'import elftools' 2>/dev/null || lack+=("python3 pyelftools")
  [ "$(rust)" = new ] || lack+=("cargo and rustc $RUST_MIN or newer")
  [ -n "$found" ] && [ "${#lack[@]}" = 0 ] && return
  [ "${#lack[@]}" = 0 ] || printf 'setup: missing: %s\n' "${lack[@]}" >&2
  local steps=()
  [ "${#lack[@]}" = 0 ] || steps+=("Install what is missing with its package manager (Debian's names: ${RIGEL_PACKAGES[*]} ${SPDK_PACKAGES[*]}).")
  if [ -z "$found${SPDK_SRC:-}" ]; then
    steps+=("SPDK is fetched from Debian's source packages only: bring the source tree of SPDK $SPDK_VERSION, with submodules, yourself.")
    steps+=("Then call: SPDK_SRC=<that tree> scripts/setup.sh    (or SPDK_DIR=<a built tree> scripts/setup.sh)")
  elif [ "${#lack[@]}" = 0 ]; then
    return
  else
    steps+=("Then call scripts/setup.sh again.")
  fi
  die "this is not a Debian system (no apt-get and dpkg-query)." "${steps[@]}"
}

# Fetches and verifies the source tarball through a private apt configuration (nothing on the host changes) into $1.
fetch_source() {
  local into=$1 apt=$1/apt mirror suite line uri sum helper
  helper=$(command -v apt-helper || echo /usr/lib/apt/apt-helper)
  # shellcheck disable=SC2016  # apt's own variable
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -Ei '/debian/?$' | head -n1) || true
  [ -n "$mirror" ] || die "apt has no Debian mirror in its sources, so the SPDK source cannot be fetched." \
    "Add one to /etc/apt/sources.list, or bring a source tree: SPDK_SRC=<tree> scripts/setup.sh"
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/parts" "$apt/prefs"
  local opts=(-o Dir::State="$apt/state" -o Dir::Cache="$apt/cache" -o Dir::Etc::sourcelist="$apt/sources"
    -o Dir::Etc::sourceparts="$apt/parts" -o Dir::Etc::preferencesparts="$apt/prefs" -o Dir::Etc::preferences=/dev/null
    -o APT::Get::List-Cleanup=0 -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)")
  for suite in sid testing; do
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources"
    apt-get "${opts[@]}" update >"$apt/log" 2>&1 || { tail -n 3 "$apt/log" >&2; continue; }
    # The .dsc and debian parts are not needed, and a mirror may lack them for a while: only the orig tarball.
    line=$(apt-get "${opts[@]}" --print-uris --download-only source ceph 2>>"$apt/log" | grep -E '\.orig\.tar\.[a-z0-9]+' | grep -v '\.asc' | head -n1) || true
    [ -n "$line" ] || continue
    uri=$(cut -d"'" -f2 <<<"$line"); sum=$(awk '{print $NF}' <<<"$line")
    say "fetching $(basename "$uri") (245 MB) from $suite"
    if "$helper" "${opts[@]}" download-file "$uri" "$into/source.tar" "$sum" >>"$apt/log" 2>&1; then return; fi
    tail -n 3 "$apt/log" >&2
  done
  die "the SPDK source could not be fetched from the Debian mirror $mirror (package ceph, suites sid and testing)." \
    "Check the network and call scripts/setup.sh again, or bring a source tree: SPDK_SRC=<tree> scripts/setup.sh"
}

unpack_source() {
  local from=$1 into=$2 top
  say "extracting SPDK"
  top=$(tar -tf "$from/source.tar" 2>/dev/null | head -n1 | cut -d/ -f1) || true
  [ -n "$top" ] || die "the fetched archive is empty or damaged; call scripts/setup.sh again."
  mkdir -p "$into"
  tar -xf "$from/source.tar" -C "$into" --strip-components=5 "$top/src/nvmeof/gateway/spdk" ||
    die "extracting failed; is the disk full? ($(free_mib "$into") MiB free in $into)" \
      "Make room or set XDG_CACHE_HOME to a roomier place, then call scripts/setup.sh again."
  local found
  found=$(version_of "$into")
  case $found in "$SPDK_VERSION"*) ;; *) die "the archive holds SPDK ${found:-of no version}, not $SPDK_VERSION." \
    "Bring the source tree of $SPDK_VERSION: SPDK_SRC=<tree> scripts/setup.sh" ;; esac
}

version_of() { tr -d ' \n' 2>/dev/null <"$1/VERSION" || true; }

free_mib() { df -m --output=avail "$1" | tail -n1 | tr -d ' '; }

# Builds the tree $1 where it stays (its .pc files hold absolute paths), logging to $2.
build() {
  local tree=$1 log=$2 jobs=${SPDK_JOBS:-$(nproc)} rbd=$1/lib/nvmf/subsystem_rbd_resrv.c
  # Without RBD nothing registers this log component, and nvmf_tgt and bdevperf do not link.
  if [ -e "$rbd" ] && ! grep -q 'SPDK_LOG_REGISTER_COMPONENT(reservation)' "$rbd"; then
    echo 'SPDK_LOG_REGISTER_COMPONENT(reservation)' >>"$rbd"
  fi
  say "building SPDK $(version_of "$tree") (about 4 minutes on 2 cores; log: $log)"
  # /usr/bin first: a private python3 (pyenv, conda) has no elftools, and DPDK's meson then stops.
  (
    cd "$tree"
    export PATH=/usr/bin:/bin:$PATH
    ./configure "${CONFIGURE[@]}" && make -j"$jobs"
  ) >"$log" 2>&1 || {
    grep -E 'error|Error|ERROR|not found|No space left|Killed' "$log" | tail -n 8 >&2 || true
    die "building SPDK failed; the full log is $log ($(free_mib "$tree") MiB of disk are free)." \
      "Mend the cause it names and call scripts/setup.sh again."
  }
  is_spdk "$tree" || die "the SPDK build ended without libraries in $tree/build/lib; see $log."
  # All of it is on the disk before the stamp that vouches for it.
  sync -f "$tree"
  echo "$key" >"$tree/$stamp"
}

bring_spdk() {
  take_lock
  [ -z "$(where)" ] || return 0
  if [ -n "${SPDK_SRC:-}" ]; then
    local tree found
    tree=$(cd "$SPDK_SRC" && pwd)
    [ -w "$tree" ] || die "SPDK_SRC=$SPDK_SRC cannot be written by this user, and it is built in place." "Copy it to a folder of your own."
    found=$(version_of "$tree")
    case $found in "$SPDK_VERSION"*) ;; *) say "SPDK_SRC=$SPDK_SRC is SPDK ${found:-of no version}; Rigel is made for $SPDK_VERSION and may not build with it" ;; esac
    rm -f "$tree/$stamp"
    guarded build "$tree" "$cache/build-src.log"
    return
  fi
  local have
  have=$(free_mib "$cache")
  [ "$have" -ge "$BUILD_MIB" ] || die "$cache has $have MiB free, and the build takes $BUILD_MIB MiB." \
    "Make room there, or set XDG_CACHE_HOME to a roomier place."
  discard=("$cache/fetch" "$built")
  rm -rf "${discard[@]}"
  guarded fetch_and_build "$cache/fetch" "$built"
}

fetch_and_build() {
  mkdir -p "$1"
  fetch_source "$1"
  unpack_source "$1" "$2"
  rm -rf "$1"
  build "$2" "$cache/build.log"
}

job=
guard=
discard=()

# Ends the job's process group, and removes what it was making unless that is finished.
clean_up() {
  if [ -n "$job" ] && kill -TERM -- "-$job" 2>/dev/null; then
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      kill -0 -- "-$job" 2>/dev/null || break
      sleep 0.2
    done
    kill -KILL -- "-$job" 2>/dev/null || true
  fi
  [ "${#discard[@]}" != 0 ] && [ ! -e "$built/$stamp" ] || return 0
  # A compiler on its way out may still write a file.
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf "${discard[@]}" 2>/dev/null && return
    sleep 0.5
  done
}

on_exit() {
  local status=$?
  trap '' INT TERM HUP
  [ -z "$guard" ] || kill -KILL -- "-$guard" 2>/dev/null || true
  clean_up
  exit "$status"
}

# Whether $2 is still the parent of process $1. A parent that nobody has reaped has lost its children all the same.
has_parent() { [ "$(awk '/^PPid:/ {print $2}' "/proc/$1/status")" = "$2" ]; }

# Runs a function of this script as a job of its own process group, with a guard beside it that cleans up when this
# process can not (kill -9). Both hold the lock, so that a new call begins only when everything of this one is gone.
guarded() {
  local status=0 seconds=0 me=$$
  trap on_exit EXIT
  set -m
  ("$@") </dev/null &
  job=$!
  (while has_parent "$BASHPID" "$me"; do sleep 0.5; done; clean_up) </dev/null >/dev/null 2>&1 &
  guard=$!
  set +m
  # Not a bare `wait`, so that a long build shows that it lives.
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.5
    seconds=$((seconds + 1))
    [ $((seconds % 120)) != 0 ] || say "still at work ($((seconds / 120)) min)"
  done
  wait "$job" || status=$?
  job=
  [ "$status" = 0 ] || exit "$status"
}

reserve_hugepages() {
  local mib=${1:-2048} size_kb pages got
  [[ $mib =~ ^[1-9][0-9]*$ ]] || die "--hugepages takes a number of MiB, not '$mib'."
  size_kb=$(awk '/^Hugepagesize:/ {print $2}' /proc/meminfo)
  [ -n "$size_kb" ] || die "this kernel has no hugepages; use one that is built with CONFIG_HUGETLBFS."
  pages=$(((mib * 1024 + size_kb - 1) / size_kb))
  # DPDK takes them through a mounted hugetlbfs.
  if ! grep -q ' hugetlbfs ' /proc/mounts; then
    as_root sh -c "mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages" 2>/dev/null ||
      die "hugetlbfs is not mounted, and mounting it takes root: sudo mkdir -p /dev/hugepages && sudo mount -t hugetlbfs nodev /dev/hugepages"
  fi
  got=$(cat /proc/sys/vm/nr_hugepages)
  if [ "$got" -lt "$pages" ]; then
    as_root true || die "reserving hugepages takes root: sudo sh -c 'echo $pages > /proc/sys/vm/nr_hugepages'"
    as_root sh -c "echo $pages > /proc/sys/vm/nr_hugepages" 2>/dev/null ||
      die "/proc/sys/vm/nr_hugepages cannot be written here (a container?); reserve $pages hugepages on the host."
    got=$(cat /proc/sys/vm/nr_hugepages)
  fi
  [ "$got" -ge "$pages" ] || die "the kernel gave only $got of $pages hugepages; free some memory or reserve them at boot."
  say "$got hugepages of $size_kb KiB are reserved"
}

set_up() {
  trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
  packages
  [ -n "$(where)" ] || bring_spdk
  say "SPDK is ready in $(where)"
}

case ${1:-} in
  --where) check_environment; print_where ;;
  --hugepages) reserve_hugepages "${2:-}" ;;
  '') check_environment; set_up ;;
  *) sed -n '2,15s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] || [ "$1" = -h ] || exit 2 ;;
esac
