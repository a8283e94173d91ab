#!/usr/bin/env bash
# What a stall of 100 ms looks like: the same NVMe/TCP target on loopback is stopped once while each tool loads it at
# about half of what it can do, and each tool's own figures are printed side by side (docs/method.md shows a run of it).
#
#   scripts/stall.sh [--stall MS] [--time S]        default: 100 ms in a window of 5 s
#
# Rigel runs an open loop, then a closed one; spdk_nvme_perf a closed loop; fio an open one, paced by rate_iops with
# rate_process=poisson, when FIO (its binary) and FIO_PLUGIN (SPDK's NVMe plugin for just that fio) are given.
# Ends with 1 when a run failed.
set -euo pipefail
cd "$(dirname "$0")/.."
script="stall"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

stall_ms=100
time_s=5
while [ $# -gt 0 ]; do
  case $1 in
    --stall | --time)
      [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "$1 needs a whole number"
      if [ "$1" = --stall ]; then stall_ms=$2; else time_s=$2; fi
      shift ;;
    -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) die "unknown argument $1; usage: scripts/stall.sh [--stall MS] [--time S]" ;;
  esac
  shift
done

spdk=$(scripts/setup.sh --where)
work=$(mktemp -d)
trap 'scripts/loopback-array.sh stop "$work/array" || true; rm -rf "$work"' EXIT
rigel=$(build_rigel)
port=$(free_port 4420)
scripts/loopback-array.sh start tcp "$work/array" port="$port" owner=$$ > "$work/facts"
pid=$(sed -n 's/^pid=//p' "$work/facts")
uri=$(sed -n 's/^uri=//p' "$work/facts")

# Runs a command that measures for $time_s after a second of ramp, and stops the target in the middle of it.
stalled() {
  "$@" > "$work/out" 2> "$work/err" &
  local tool=$!
  # Start-up takes a tool a fraction of a second, the ramp one more.
  sleep "$((1 + time_s / 2))"
  kill -STOP "$pid"
  sleep "$(printf '%d.%03d' $((stall_ms / 1000)) $((stall_ms % 1000)))"
  kill -CONT "$pid"
  wait "$tool" || { cat "$work/err" >&2; die "failed: $*"; }
}

run_rigel() { stalled "$rigel" run -t "$uri" --ramp 1s --time "${time_s}s" --quiet --json --out "$work/$1" "${@:2}"; cp "$work/out" "$work/$1.json"; }

"$rigel" run -t "$uri" -q 32 --ramp 1s --time 3s --quiet --json --out "$work/capacity" > "$work/capacity.json"
rate=$(python3 -c "import json; print(int(json.load(open('$work/capacity.json'))['points'][0]['total']['iops'] / 2))")
run_rigel open --rate "$rate"
run_rigel closed -q 1
nqn=nqn.2026-11.io.rigel:loopback
stalled "$spdk/build/bin/spdk_nvme_perf" -q 1 -o 4096 -w randread -t "$time_s" -a 1 -c 0x2 --no-huge -s 512 -LL \
  -r "trtype:TCP adrfam:IPv4 traddr:127.0.0.1 trsvcid:$port subnqn:$nqn"
cp "$work/out" "$work/perf.txt"
if [ -n "${FIO:-}" ] && [ -n "${FIO_PLUGIN:-}" ]; then
  stalled env LD_PRELOAD="$FIO_PLUGIN" "$FIO" --name=stall --ioengine=spdk --thread=1 --group_reporting --direct=1 \
    --filename="trtype=TCP adrfam=IPv4 traddr=127.0.0.1 trsvcid=$port subnqn=${nqn/:/\\:} ns=1" --rw=randread --bs=4k \
    --iodepth=128 --rate_iops="$rate" --rate_process=poisson --ramp_time=1 --runtime="$time_s" --time_based=1 \
    --cpus_allowed=1 --output-format=json
  cp "$work/out" "$work/fio.json"
fi

python3 - "$work" "$rate" "$stall_ms" "$time_s" <<'PY'
import json, os, re, sys
work, rate, stall, time_s = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
rows = []
def rigel(name, figure, label):
    point = json.load(open(f"{work}/{name}.json"))["points"][0]["total"]
    lat = point["read"][figure]
    rows.append((label, point["iops"], *(lat[k] / 1e3 for k in ("mean_ns", "p99_ns", "p999_ns", "max_ns"))))
rigel("open", "response", f"Rigel, open loop, response")
rigel("open", "service", f"Rigel, open loop, service")
rigel("closed", "service", "Rigel, QD 1, service")
text = open(f"{work}/perf.txt").read()
total = next(line.split() for line in text.splitlines() if line.startswith("Total"))
at = {share: float(us) for share, us in re.findall(r"([0-9.]+)% : +([0-9.]+)us", text)}
rows.append(("spdk_nvme_perf, QD 1", float(total[2]), float(total[4]), at["99.00000"], at["99.90000"], float(total[6])))
if os.path.exists(f"{work}/fio.json"):
    raw = open(f"{work}/fio.json").read()
    read = json.loads(raw[raw.index("{"):])["jobs"][0]["read"]
    clat = read["clat_ns"]
    pct = clat["percentile"]
    rows.append(("fio, rate_iops, clat", read["iops"], clat["mean"] / 1e3, pct["99.000000"] / 1e3, pct["99.900000"] / 1e3, clat["max"] / 1e3))
print(f"A stall of {stall} ms in a window of {time_s} s; open loops at {rate:,} arrivals a second.\n")
print(f"| {'figure':28} | {'IOPS':>9} | {'mean µs':>10} | {'p99 µs':>10} | {'p99.9 µs':>10} | {'max µs':>10} |")
print("|---|---:|---:|---:|---:|---:|")
for name, iops, *latencies in rows:
    print(f"| {name:28} | {iops:>9,.0f} | " + " | ".join(f"{us:>10,.1f}" for us in latencies) + " |")
PY
