#!/usr/bin/env bash
# From a fresh checkout to a characterisation: set-up, build, an NVMe/TCP array on this machine, and a rising load on it.
#
#   scripts/quickstart.sh
#
# The first call installs packages (which takes root) and builds SPDK; later ones start at once. The array is SPDK's
# own target over a null device: what is measured is the path to it, and nothing is stored or destroyed. No NVMe
# hardware, no hugepages. Ends with the exit code of `rigel run`.
set -euo pipefail
cd "$(dirname "$0")/.."
script="quickstart"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
[ $# = 0 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] || [ "$1" = -h ] || exit 2; exit 0; }

folder=
# shellcheck disable=SC2317  # the trap's
stop_array() {
  [ -n "$folder" ] || return 0
  scripts/loopback-array.sh stop "$folder"
  rm -rf "$folder"
}

start_array() {
  local port
  port=$(free_port 4420)
  folder=$(mktemp -d "${TMPDIR:-/tmp}/rigel-quickstart.XXXXXX")
  scripts/loopback-array.sh start tcp "$folder" core="$1" port="$port" owner=$$ >"$folder/facts" ||
    die "the array could not be started on this machine; the reason stands above." \
      "The same sweep over a simulated array, which needs nothing: $rigel run examples/sim-sweep.toml" \
      "Or over an array of your own: $rigel run examples/quickstart.toml --target nvme-tcp://HOST:4420/NQN?ns=1"
}

scripts/setup.sh
say "building Rigel"
rigel=$(build_rigel)
mapfile -t cores < <(allowed_cores)
array_core=${cores[0]}
load_core=${cores[1]:-${cores[0]}}
trap stop_array EXIT
trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
say "starting an NVMe/TCP array on core $array_core; Rigel has core $load_core"
if [ "$array_core" = "$load_core" ]; then
  say "NOTE: there is one core only. Array and Rigel take turns on it, so the figures show that it works and nothing else."
fi
start_array "$array_core"
uri=$(sed -n 's/^uri=//p' "$folder/facts")
"$rigel" run examples/quickstart.toml --target "$uri" --cores "$load_core" &
run=$!
# An interrupted run saves what it has and says so with its exit code; the array stays up until then.
trap 'kill -INT "$run" 2>/dev/null || true' INT TERM HUP
status=0
while :; do
  wait "$run" && status=0 || status=$?
  kill -0 "$run" 2>/dev/null || break
done
exit "$status"
