#!/usr/bin/env bash
# Rigel beside SPDK's own load generators on the same target, in turns, and the ratios between them.
#
#   scripts/peers.sh [CASE…] [--pairs N] [--time S]        default: all cases, 5 pairs, 3 s a run
#
# CASE  null        null bdev in process, QD 32              against bdevperf
#       null2       the same, two cores against one          Rigel only
#       tcp         NVMe/TCP on loopback, QD 1, 32, 128      against spdk_nvme_perf
#       vfio-user   NVMe over vfio-user, QD 1, 32            against spdk_nvme_perf (needs hugepages)
#       iscsi       iSCSI on loopback, QD 1, 32              against bdevperf
#
# 4 KiB random reads. The target has one core, the generator another one. A pair is a run of each at once after the
# other, Rigel first in odd pairs and last in even ones, so that a machine that drifts favours neither; both have the
# same depth, time and warm-up (1 s with spdk_nvme_perf, none with bdevperf, which has none). Compare ratios, never
# figures of different calls. Ends with 1 when a run failed.
set -euo pipefail
cd "$(dirname "$0")/.."
script="peers"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

usage() { sed -n '2,17s/^# \{0,1\}//p' "$0"; }

cases=()
pairs=5
time_s=3
while [ $# -gt 0 ]; do
  case $1 in
    null | null2 | tcp | vfio-user | iscsi) cases+=("$1") ;;
    --pairs | --time)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || { say "$1 takes a whole number above 0"; exit 2; }
      if [ "$1" = --pairs ]; then pairs=$2; else time_s=$2; fi
      shift ;;
    -h | --help) usage; exit 0 ;;
    *) say "unknown argument '$1'"; usage >&2; exit 2 ;;
  esac
  shift
done
[ ${#cases[@]} -gt 0 ] || cases=(null null2 tcp vfio-user iscsi)
command -v python3 >/dev/null || die "python3 is needed to read the figures; scripts/setup.sh installs it."

mapfile -t cores < <(allowed_cores)
[ ${#cores[@]} -ge 2 ] || die "one core for the target and one for the generator are needed, and there is only one."
target_core=${cores[0]}
load_core=${cores[1]}

spdk=$(scripts/setup.sh --where)
perf=$spdk/build/bin/spdk_nvme_perf
bdevperf=$spdk/build/examples/bdevperf
for program in "$perf" "$bdevperf"; do
  [ -x "$program" ] || die "$program is not there; SPDK_DIR must be a built tree, or run scripts/setup.sh without it."
done
say "building Rigel"
rigel=$(build_rigel)

work=$(mktemp -d "${TMPDIR:-/tmp}/rigel-peers.XXXXXX")
figures=$work/figures
: >"$figures"
failures=0

# shellcheck disable=SC2317  # the trap's
clean_up() {
  scripts/loopback-array.sh stop "$work/array"
  return_hugepages
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP

# Reads what a program has printed, and says `IOPS MEAN_US`.
read_figures() {
  python3 - "$1" "$2" <<'PYTHON'
import json, re, sys
kind, path = sys.argv[1:]
text = open(path, errors="replace").read()
if kind == "rigel":
    total = json.loads(text)["points"][0]["total"]
    if total["errors"]:
        sys.exit(f"Rigel counted {total['errors']} failed I/Os")
    print(total["iops"], total["read"]["service"]["mean_ns"] / 1000)
else:
    rows = [line for line in text.splitlines() if re.match(r"\s*Total\s*:", line)]
    numbers = [float(word) for word in rows[-1].split(":", 1)[1].split()]
    iops, mean = (numbers[0], numbers[4]) if kind == "bdevperf" else (numbers[0], numbers[2])
    print(iops, mean)
PYTHON
}

# Says who else keeps the CPUs busy. Called while no target of ours runs.
warn_of_others() {
  python3 - <<'PYTHON'
import os, time
def used():
    out = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, rest = open(f"/proc/{pid}/stat").read().rsplit(")", 1)
        except OSError:
            continue
        fields = rest.split()
        out[pid] = (name.split("(", 1)[1], int(fields[11]) + int(fields[12]))
    return out
before = used(); time.sleep(1); after = used()
hertz = os.sysconf("SC_CLK_TCK")
busy = {pid: (n, t - before[pid][1]) for pid, (n, t) in after.items() if pid in before and pid != str(os.getpid())}
busy = sorted(((t / hertz, n) for n, t in busy.values() if t / hertz > 0.05), reverse=True)
if busy:
    names = ", ".join(f"{name} {share:.0%}" for share, name in busy[:5])
    print(f"peers: WARNING: other processes use the CPUs ({names} of a core); the figures are noise until they stop")
PYTHON
}

# Memory options of the peers: hugepages where Rigel takes them too.
peer_memory() {
  local free_mib
  free_mib=$(awk '/^HugePages_Free:/ {n = $2} /^Hugepagesize:/ {k = $2} END {print int(n * k / 1024)}' /proc/meminfo)
  [ "$free_mib" -ge "$1" ] && echo "-s $1" || echo "--no-huge -s $1"
}

# Each prints on stdout; what they log goes to $work/log.
run_rigel() { "$rigel" run --target "$uri" --block-size 4k --access random --queue-depth "$depth" --time "${time_s}s" --ramp "$ramp" \
  --cores "${rigel_cores:-$load_core}" --json --quiet --out "$(mktemp -d "$work/rigel.XXXXXX")" 2>>"$work/log"; }
run_perf() {
  local memory
  read -ra memory <<<"$(peer_memory 512)"
  "$perf" "${memory[@]}" "${perf_options[@]}" -q "$depth" -o 4096 -w randread -t "$time_s" -a 1 -c "[$load_core]" 2>>"$work/log"
}
run_bdevperf() {
  local memory
  read -ra memory <<<"$(peer_memory 768)"
  "$bdevperf" "${memory[@]}" -m "[$load_core]" -q "$depth" -o 4096 -w randread -t "$time_s" -c "$work/bdev.json" 2>>"$work/log"
}
run_rigel_on_one_core() { rigel_cores=$load_core depth=$((depth / 2)) run_rigel; }

# Runs one side and prints its figures.
measure() {
  local kind=$1
  : >"$work/log"
  if ! "run_$kind" >"$work/out"; then
    tail -n 5 "$work/log" >&2
    return 1
  fi
  case $kind in rigel*) kind=rigel ;; esac
  read_figures "$kind" "$work/out"
}

# All pairs of one case at one depth: `compare CASE PEER DEPTH`.
compare() {
  local case=$1 peer=$2 depth=$3 pair first second side
  local -A of
  for ((pair = 1; pair <= pairs; pair++)); do
    if [ $((pair % 2)) = 1 ]; then first=rigel second=$peer; else first=$peer second=rigel; fi
    for side in "$first" "$second"; do
      of[$side]=$(measure "$side") || { failed "$case" "$depth"; return; }
    done
    echo "$case $depth $peer ${of[rigel]} ${of[$peer]}" >>"$figures"
    say "$case, QD $depth, pair $pair of $pairs (${first//_/ } first): Rigel ${of[rigel]%%.*} IOPS, ${peer//_/ } ${of[$peer]%%.*} IOPS"
  done
}

failed() { failures=$((failures + 1)); say "FAILED: $1, QD $2; what the program said stands above"; }

bdev_config() { echo "{\"subsystems\":[{\"subsystem\":\"bdev\",\"config\":[{\"method\":\"$1\",\"params\":$2}]}]}" >"$work/bdev.json"; }

# Starts the array and sets `uri`.
start_array() {
  scripts/loopback-array.sh start "$1" "$work/array" core="$target_core" owner=$$ "${@:2}" >"$work/facts" || return 1
  uri=$(sed -n 's/^uri=//p' "$work/facts")
}
stop_array() { scripts/loopback-array.sh stop "$work/array"; }

case_null() {
  bdev_config bdev_null_create '{"name":"Null0","num_blocks":2097152,"block_size":512}'
  local uri="bdev://Null0?config=$work/bdev.json" ramp=0s
  compare null bdevperf 32
}

# Twice the depth on two cores, so that each core has what the one has.
case_null2() {
  bdev_config bdev_null_create '{"name":"Null0","num_blocks":2097152,"block_size":512}'
  local uri="bdev://Null0?config=$work/bdev.json" ramp=1s rigel_cores="$target_core,$load_core"
  compare null2 rigel_on_one_core 64
}

case_tcp() {
  local uri port depth ramp=1s
  port=$(free_port 4420)
  start_array tcp port="$port" || { failed tcp -; return; }
  local perf_options=(-r "trtype:TCP adrfam:IPv4 traddr:127.0.0.1 trsvcid:$port subnqn:nqn.2026-11.io.rigel:loopback")
  for depth in 1 32 128; do compare tcp perf "$depth"; done
  stop_array
}

case_vfio_user() {
  local uri depth ramp=1s
  [ "$(id -u)" != 0 ] || borrow_hugepages 2560 || true
  start_array vfio-user || { failed vfio-user -; say "it needs hugepages: scripts/setup.sh --hugepages 2560"; return; }
  local perf_options=(-g -r "trtype:VFIOUSER traddr:$work/array/vfio subnqn:nqn.2026-11.io.rigel:loopback")
  for depth in 1 32; do compare vfio-user perf "$depth"; done
  stop_array
}

case_iscsi() {
  local uri port depth ramp=0s
  port=$(free_port 3260)
  start_array iscsi port="$port" || { failed iscsi -; return; }
  bdev_config bdev_iscsi_create "{\"name\":\"iscsi0\",\"url\":\"$uri\",\"initiator_iqn\":\"iqn.2026-11.io.rigel:peer\"}"
  for depth in 1 32; do compare iscsi bdevperf "$depth"; done
  stop_array
}

print_table() {
  python3 - "$figures" <<'PYTHON'
import sys
from statistics import median
rows, order = {}, []
for line in open(sys.argv[1]):
    case, depth, peer, *numbers = line.split()
    rows.setdefault((case, depth, peer), []).append([float(n) for n in numbers])
head = ["case", "QD", "peer", "pairs", "Rigel IOPS", "peer IOPS", "ratio of medians", "median ratio", "min..max", "mean latency ratio"]
table = [head]
for (case, depth, peer), pairs in rows.items():
    ours, theirs = median(p[0] for p in pairs), median(p[2] for p in pairs)
    ratios = [p[0] / p[2] for p in pairs]
    latency = median(p[1] / p[3] for p in pairs)
    peer = {"perf": "spdk_nvme_perf", "rigel_on_one_core": "Rigel, one core"}.get(peer, peer)
    table.append([case, depth, peer, str(len(pairs)), f"{ours:,.0f}", f"{theirs:,.0f}", f"{ours / theirs:.3f}",
                  f"{median(ratios):.3f}", f"{min(ratios):.3f}..{max(ratios):.3f}", f"{latency:.3f}"])
widths = [max(len(row[i]) for row in table) for i in range(len(head))]
for row in table:
    cells = [cell.ljust(w) if i in (0, 2) else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
    print("  ".join(cells).rstrip())
print("IOPS: medians over the pairs; ratio: Rigel / peer, above 1 Rigel does more. Mean latency ratio: below 1 Rigel's is shorter.")
PYTHON
}

for case in "${cases[@]}"; do
  warn_of_others >&2
  "case_${case//-/_}"
done
print_table
[ "$failures" = 0 ] || { say "$failures of the comparisons failed"; exit 1; }
