# What quickstart.sh, test.sh and peers.sh have in common; sourced, not run. The sourcing script sets `script`, the name by which
# its messages begin, and stands in the root of the checkout.
# shellcheck shell=bash

say() { printf '%s: %s\n' "${script:?}" "$*" >&2; }
die() { printf '%s: %s\n' "${script:?}" "$1" >&2; shift; for line in "$@"; do printf '%s\n' "  $line" >&2; done; exit 3; }

# A toolchain of rustup's is there even where no login shell has put it into PATH.
PATH=$PATH:${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin

# The cores this process may use, a line each.
allowed_cores() {
  local range
  awk '/^Cpus_allowed_list:/ {gsub(",", "\n", $2); print $2}' /proc/self/status | while read -r range; do
    seq "${range%-*}" "${range#*-}"
  done
}

# Builds Rigel and prints where its program is.
build_rigel() {
  cargo build --release --locked >&2 || die "building Rigel failed; mend the cause that stands above." \
    "Without access to crates.io, bring the crates first: cargo fetch --locked"
  printf '%s/release/rigel\n' "$(target_folder)"
}

# Cargo's target folder, wherever the environment or a configuration puts it.
target_folder() {
  cargo metadata --format-version 1 --no-deps --locked | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
}

# Reserves hugepages of $1 MiB in all, where there are fewer; `return_hugepages` gives back what was added.
pages_before=''
borrow_hugepages() {
  local before
  before=$(cat /proc/sys/vm/nr_hugepages)
  scripts/setup.sh --hugepages "$1" || return 1
  [ "$(cat /proc/sys/vm/nr_hugepages)" = "$before" ] || pages_before=$before
}
return_hugepages() {
  [ -z "$pages_before" ] || echo "$pages_before" >/proc/sys/vm/nr_hugepages
}

# A port of this machine that nobody listens on, at or above $1.
free_port() {
  local port
  for ((port = $1; port < $1 + 200; port++)); do
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      echo "$port"
      return
    fi
  done
  die "no free port between $1 and $((port - 1)) on 127.0.0.1."
}
