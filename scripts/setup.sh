#!/usr/bin/env bash
# Brings what Rigel is built on: the system packages, a Rust toolchain if there is none, and SPDK.
#
#   scripts/setup.sh            do it; when all is there, end at once
#   scripts/setup.sh --where    print the folder of the finished SPDK build, or fail with the remedy
#   scripts/setup.sh --hugepages [MIB]   reserve hugepages (default 2048 MiB), for PCIe and vfio-user targets
#
# SPDK_DIR=<folder>  use this built tree or installation prefix, build nothing
# SPDK_SRC=<folder>  build this source tree (in place) instead of fetching one
# SPDK_JOBS=<n>      parallel compile jobs (default: all cores)
#
# The build lives outside the checkout, in ${XDG_CACHE_HOME:-~/.cache}/rigel, keyed by version and configure
# flags, and is finished only when its stamp is written: an interrupted build is removed and begun anew.
set -euo pipefail

SPDK_VERSION=26.01
# x86-64-v2 runs on every server of the last fifteen years and in emulators; "native" dies on older ones.
CONFIGURE=(--target-arch=x86-64-v2 --disable-tests --disable-unit-tests --with-vfio-user
  --with-iscsi-initiator --with-uring --with-rdma --without-vhost --without-virtio --without-crypto)
[ "$(uname -m)" = x86_64 ] || CONFIGURE=("${CONFIGURE[@]:1}")
BUILD_PACKAGES=(build-essential pkg-config nasm autoconf automake libtool meson ninja-build
  python3-pyelftools uuid-dev libssl-dev libaio-dev libnuma-dev libiscsi-dev libjson-c-dev
  libcmocka-dev libkeyutils-dev libncurses-dev libfuse3-dev liburing-dev libibverbs-dev
  librdmacm-dev libclang-dev clang patch xz-utils)
RUST_MIN=1.85

say() { printf 'setup: %s\n' "$*" >&2; }
die() { printf 'setup: %s\n' "$1" >&2; shift; for line in "$@"; do printf '       %s\n' "$line" >&2; done; exit 1; }

key() { printf '%s\n' "$SPDK_VERSION" "${CONFIGURE[@]}" | sha256sum | cut -c1-12; }
cache=${XDG_CACHE_HOME:-${HOME:?HOME is not set; set it, or XDG_CACHE_HOME}/.cache}/rigel
built=$cache/spdk-$SPDK_VERSION-$(key)
stamp=.rigel-finished

# A tree or prefix is usable when its pkg-config files and static libraries are there.
is_spdk() { [ -e "$1/build/lib/pkgconfig/spdk_nvme.pc" ] || [ -e "$1/lib/pkgconfig/spdk_nvme.pc" ]; }

# Prints the folder to use, or nothing.
where() {
  if [ -n "${SPDK_DIR:-}" ]; then
    is_spdk "$SPDK_DIR" || die "SPDK_DIR=$SPDK_DIR holds no built SPDK (no lib/pkgconfig/spdk_nvme.pc)." \
      "Point it at a built tree or an installation prefix, or unset it and run scripts/setup.sh."
    (cd "$SPDK_DIR" && pwd)
  elif [ -n "${SPDK_SRC:-}" ]; then
    [ -e "$SPDK_SRC/$stamp" ] && is_spdk "$SPDK_SRC" && (cd "$SPDK_SRC" && pwd)
  elif [ -e "$built/$stamp" ]; then
    echo "$built"
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n "$@"
  else return 126; fi
}

rust_is_new_enough() {
  local found
  found=$("${1:-cargo}" --version 2>/dev/null | cut -d' ' -f2) || return 1
  [ -n "$found" ] && [ "$(printf '%s\n' "$RUST_MIN" "$found" | sort -V | head -n1)" = "$RUST_MIN" ]
}

missing_packages() {
  local p
  for p in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
  done
}

packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    not_debian
    return
  fi
  local want=() missing
  [ -n "${SPDK_DIR:-}" ] && want=(build-essential pkg-config libclang-dev clang) || want=("${BUILD_PACKAGES[@]}")
  rust_is_new_enough || want+=(cargo-web rustc-web)
  mapfile -t missing < <(missing_packages "${want[@]}")
  [ "${#missing[@]}" = 0 ] && return
  say "installing: ${missing[*]}"
  local log=$cache/apt.log status=0
  mkdir -p "$cache"
  { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 || status=$?
  [ "$status" = 126 ] && die "these packages are missing, and installing them takes root:" \
    "sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}"
  [ "$status" = 0 ] || { tail -n 5 "$log" >&2; die "apt-get failed (full log: $log). Mend the cause it names, then call scripts/setup.sh again."; }
  rust_is_new_enough || die "cargo is older than $RUST_MIN: $(cargo --version 2>/dev/null || echo none)." \
    "Install a current Rust toolchain (rustup, or Debian's cargo-web and rustc-web)."
}

# Elsewhere than on Debian we install nothing, but name everything that is missing.
not_debian() {
  local lack=() tool lib
  for tool in cc make pkg-config nasm autoconf automake libtoolize meson ninja python3 clang patch tar; do
    command -v "$tool" >/dev/null || lack+=("$tool")
  done
  if command -v pkg-config >/dev/null; then
    for lib in uuid openssl libiscsi json-c ncurses fuse3 liburing libibverbs librdmacm; do
      pkg-config --exists "$lib" || lack+=("$lib (development files)")
    done
  fi
  [ -e /usr/include/numa.h ] || lack+=("libnuma (development files)")
  [ -e /usr/include/libaio.h ] || lack+=("libaio (development files)")
  python3 -c 'import elftools' 2>/dev/null || lack+=("python3 pyelftools")
  rust_is_new_enough || lack+=("cargo $RUST_MIN or newer")
  [ "${#lack[@]}" = 0 ] && { [ -n "${SPDK_SRC:-}${SPDK_DIR:-}" ] && return; die \
    "this is not a Debian system, so SPDK $SPDK_VERSION cannot be fetched from Debian's source packages." \
    "Get its source tree (with submodules) and call: SPDK_SRC=<tree> scripts/setup.sh"; }
  printf 'setup: missing: %s\n' "${lack[@]}" >&2
  die "this is not a Debian system; install the above with its package manager, get the SPDK $SPDK_VERSION source tree," \
    "then call: SPDK_SRC=<tree> scripts/setup.sh    (Debian's names: ${BUILD_PACKAGES[*]})"
}

# Fetches and verifies the source tarball through a private apt configuration (nothing on the host changes) into $1.
fetch_source() {
  local into=$1 apt=$1/apt mirror suite line uri sum
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
    if /usr/lib/apt/apt-helper "${opts[@]}" download-file "$uri" "$into/source.tar" "$sum" >>"$apt/log" 2>&1; then return; fi
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
    die "extracting failed; is the disk full? ($(df -h --output=avail "$into" | tail -n1 | tr -d ' ') free)"
  local found
  found=$(tr -d ' \n' <"$into/VERSION" 2>/dev/null) || true
  case $found in "$SPDK_VERSION"*) ;; *) die "the archive holds SPDK ${found:-of no version}, not $SPDK_VERSION." \
    "Bring the source tree of $SPDK_VERSION: SPDK_SRC=<tree> scripts/setup.sh" ;; esac
  # Without RBD nothing registers this log component, and nvmf_tgt and bdevperf do not link.
  local rbd=$into/lib/nvmf/subsystem_rbd_resrv.c
  if [ -e "$rbd" ] && ! grep -q 'SPDK_LOG_REGISTER_COMPONENT(reservation)' "$rbd"; then
    echo 'SPDK_LOG_REGISTER_COMPONENT(reservation)' >>"$rbd"
  fi
}

# Builds the tree $1 where it stays (its .pc files hold absolute paths), logging to $2.
build() {
  local tree=$1 log=$2 jobs=${SPDK_JOBS:-$(nproc)}
  say "building SPDK $SPDK_VERSION (about 4 minutes on 2 cores; log: $log)"
  # /usr/bin first: a private python3 (pyenv, conda) has no elftools, and DPDK's meson then stops.
  (
    cd "$tree"
    export PATH=/usr/bin:/bin:$PATH
    ./configure "${CONFIGURE[@]}" && make -j"$jobs"
  ) >"$log" 2>&1 || {
    grep -E 'error|Error|ERROR|not found' "$log" | tail -n 8 >&2 || true
    die "building SPDK failed; the full log is $log." "Mend the cause it names and call scripts/setup.sh again."
  }
  is_spdk "$tree" || die "the SPDK build ended without libraries in $tree/build/lib; see $log."
  : >"$tree/$stamp"
}

bring_spdk() {
  mkdir -p "$cache" || die "cannot create $cache; set XDG_CACHE_HOME to a folder that can be written."
  exec 9>"$cache/lock"
  flock -n 9 || { say "another setup is at work; waiting for it"; flock 9; }
  [ -n "$(where)" ] && return
  if [ -n "${SPDK_SRC:-}" ]; then
    [ -x "$SPDK_SRC/configure" ] || die "SPDK_SRC=$SPDK_SRC is no SPDK source tree (it has no configure script)."
    build "$(cd "$SPDK_SRC" && pwd)" "$cache/build-src.log"
    return
  fi
  local need=3000 have
  have=$(df -m --output=avail "$cache" | tail -n1 | tr -d ' ')
  [ "$have" -ge "$need" ] || die "$cache has $have MB free, and the build takes $need MB; set XDG_CACHE_HOME to a roomier place."
  work=$cache/fetch
  # Whatever ends this script before the stamp is written, nothing half-built stays.
  trap 'rm -rf "$work"; [ -e "$built/$stamp" ] || rm -rf "$built"' EXIT
  trap 'exit 130' INT; trap 'exit 143' TERM HUP
  rm -rf "$work" "$built"
  mkdir -p "$work"
  fetch_source "$work"
  unpack_source "$work" "$built"
  rm -rf "$work"
  build "$built" "$cache/build.log"
}

hugepages() {
  local mib=${1:-2048} size_kb pages got
  [[ $mib =~ ^[0-9]+$ ]] || die "--hugepages takes a number of MiB, not '$mib'."
  size_kb=$(awk '/^Hugepagesize:/ {print $2}' /proc/meminfo)
  [ -n "$size_kb" ] || die "this kernel has no hugepages."
  pages=$((mib * 1024 / size_kb))
  # DPDK takes them through a mounted hugetlbfs.
  if ! grep -q ' hugetlbfs ' /proc/mounts; then
    as_root sh -c "mkdir -p /dev/hugepages && mount -t hugetlbfs nodev /dev/hugepages" ||
      die "mounting hugetlbfs takes root: sudo mount -t hugetlbfs nodev /dev/hugepages"
  fi
  as_root sh -c "echo $pages > /proc/sys/vm/nr_hugepages" ||
    die "reserving hugepages takes root: sudo sh -c 'echo $pages > /proc/sys/vm/nr_hugepages'"
  got=$(cat /proc/sys/vm/nr_hugepages)
  [ "$got" -ge "$pages" ] || die "the kernel gave only $got of $pages hugepages; free some memory or reserve them at boot."
}

case ${1:-} in
  --where)
    found=$(where)
    [ -n "$found" ] || die "SPDK is not built yet. Run scripts/setup.sh (it takes a few minutes), or set SPDK_DIR."
    echo "$found" ;;
  --hugepages) hugepages "${2:-}" ;;
  '')
    packages
    [ -n "$(where)" ] || bring_spdk
    say "SPDK is ready in $(where)" ;;
  *) sed -n '2,14s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] || [ "$1" = -h ] || exit 2 ;;
esac
