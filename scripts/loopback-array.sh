#!/usr/bin/env bash
# An array on this machine: SPDK's own targets on loopback, for tests, benchmarks and the quick start.
#
#   scripts/loopback-array.sh start KIND FOLDER [KEY=VALUE…]   start one; prints KEY=VALUE lines (pid, uri, …)
#   scripts/loopback-array.sh stop FOLDER                      stop it
#
# KIND  tcp         NVMe/TCP on 127.0.0.1           (no hugepages, no root)
#       vfio-user   NVMe over a vfio-user socket    (needs hugepages; see scripts/setup.sh --hugepages)
#       iscsi       iSCSI on 127.0.0.1
# KEYS  core=0      core the target polls on
#       port=4420   port (iscsi: 3260)
#       backing=null | malloc | delay    what the namespaces are made of
#       size_mib=1024                    size of each (null: it costs no memory)
#       namespaces=1                     how many
#       delay_us=350                     average latency of `delay`, reads and writes
#       mem_mib=1024                     memory of the target
#       owner=PID                        stop it when that process is no more
set -euo pipefail

die() { printf 'loopback-array: %s\n' "$*" >&2; exit 1; }
here=$(cd "$(dirname "$0")" && pwd)
nqn=nqn.2026-11.io.rigel:loopback
iqn=iqn.2026-11.io.rigel:loopback

start() {
  local kind=${1:-} folder=${2:-}
  [ -n "$folder" ] || die "usage: loopback-array.sh start KIND FOLDER [KEY=VALUE…]"
  shift 2
  local core=0 port='' backing=null size_mib=1024 namespaces=1 delay_us=350 mem_mib=1024 owner='' pair
  for pair in "$@"; do
    case $pair in
      core=* | port=* | backing=* | size_mib=* | namespaces=* | delay_us=* | mem_mib=* | owner=*) local "${pair?}" ;;
      *) die "unknown key in '$pair'; known: core port backing size_mib namespaces delay_us mem_mib owner" ;;
    esac
  done
  case $kind in
    tcp | vfio-user) [ -n "$port" ] || port=4420 ;;
    iscsi) [ -n "$port" ] || port=3260 ;;
    *) die "unknown kind '$kind'; known: tcp, vfio-user, iscsi" ;;
  esac
  local spdk bin memory
  spdk=$("$here/setup.sh" --where)
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)
  ! running "$folder" || die "an array runs in $folder already"
  # Without hugepages the target has memory of its own to lock; with them it shares it with vfio-user clients.
  memory=(--no-huge -s "$mem_mib")
  if [ "$kind" = vfio-user ]; then
    memory=(-s "$mem_mib" --single-file-segments)
    mkdir -p "$folder/vfio"
    rm -f "$folder/vfio/cntrl" "$folder/vfio/bar0"
  fi
  config "$kind" "$folder" >"$folder/config.json"
  bin=$spdk/build/bin/nvmf_tgt
  [ "$kind" != iscsi ] || bin=$spdk/build/bin/iscsi_tgt
  [ -x "$bin" ] || die "$bin is not there; SPDK_DIR must be a built tree, or run scripts/setup.sh"
  # In a session of its own: an interrupt typed at the terminal is for whoever measures, not for the array.
  # Cores may be shared: an array beside another one is slow, but it is there.
  setsid "$bin" -m "[$core]" --disable-cpumask-locks -r "$folder/rpc.sock" "${memory[@]}" --no-pci -c "$folder/config.json" </dev/null >"$folder/log" 2>&1 &
  local pid=$! waited=0
  echo "$pid" >"$folder/pid"
  [ -z "$owner" ] || watch "$owner" "$folder"
  until ready "$kind" "$folder" "$port"; do
    kill -0 "$pid" 2>/dev/null || { tail -n 5 "$folder/log" >&2; die "the target ended at once (log: $folder/log)"; }
    [ $((waited += 1)) -lt 200 ] || { stop "$folder"; die "the target was not ready within 20 s (log: $folder/log)"; }
    sleep 0.1
  done
  echo "pid=$pid"
  echo "rpc=$folder/rpc.sock"
  local n
  for ((n = 1; n <= namespaces; n++)); do
    case $kind in
      tcp) echo "uri=nvme-tcp://127.0.0.1:$port/$nqn?ns=$n" ;;
      vfio-user) echo "uri=nvme-vfio-user://$folder/vfio/$nqn?ns=$n" ;;
      iscsi) echo "uri=iscsi://127.0.0.1:$port/$iqn/$((n - 1))" ;;
    esac
  done
}

# Whether the process noted in folder $1 is the array that was started there, and no other that has its number now.
running() {
  local pid
  pid=$(cat "$1/pid" 2>/dev/null) && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -xF "$1/config.json" >/dev/null
}

# Stops the array that runs in folder $2 when process $1 has ended, however it did.
watch() {
  # shellcheck disable=SC2016  # expanded by the bash that it is for
  setsid bash -c 'tail --pid="$1" -f /dev/null; [ "$4" != "$(cat "$3/pid")" ] || exec "$2" stop "$3"' \
    watch "$1" "$here/loopback-array.sh" "$2" "$(cat "$2/pid")" \
    </dev/null >/dev/null 2>&1 &
}

# The target is ready when it listens (vfio-user: on its socket) and has answered on its RPC socket.
ready() {
  [ -S "$2/rpc.sock" ] || return 1
  case $1 in
    vfio-user) [ -S "$2/vfio/cntrl" ] ;;
    *) (exec 3<>"/dev/tcp/127.0.0.1/$3") 2>/dev/null ;;
  esac
}

# SPDK's JSON configuration for the target, from the variables of `start`.
config() {
  local kind=$1 folder=$2 n bdevs='' names=() name
  for ((n = 0; n < namespaces; n++)); do
    local blocks=$((size_mib * 2048))
    case $backing in
      null)
        name=Null$n
        bdevs+="{\"method\":\"bdev_null_create\",\"params\":{\"name\":\"$name\",\"num_blocks\":$blocks,\"block_size\":512}}," ;;
      malloc | delay)
        name=Malloc$n
        bdevs+="{\"method\":\"bdev_malloc_create\",\"params\":{\"name\":\"$name\",\"num_blocks\":$blocks,\"block_size\":512}}," ;;
      *) die "unknown backing '$backing'; known: null, malloc, delay" ;;
    esac
    if [ "$backing" = delay ]; then
      name=Delay$n
      bdevs+="{\"method\":\"bdev_delay_create\",\"params\":{\"name\":\"$name\",\"base_bdev_name\":\"Malloc$n\",\"avg_read_latency\":$delay_us,\"p99_read_latency\":$delay_us,\"avg_write_latency\":$delay_us,\"p99_write_latency\":$delay_us}},"
    fi
    names+=("$name")
  done
  local target=''
  if [ "$kind" = iscsi ]; then
    local luns=''
    for n in "${!names[@]}"; do luns+="{\"bdev_name\":\"${names[n]}\",\"lun_id\":$n},"; done
    target="{\"subsystem\":\"iscsi\",\"config\":[
      {\"method\":\"iscsi_set_options\",\"params\":{\"node_base\":\"iqn.2026-11.io.rigel\",\"max_queue_depth\":256}},
      {\"method\":\"iscsi_create_portal_group\",\"params\":{\"tag\":1,\"portals\":[{\"host\":\"127.0.0.1\",\"port\":\"$port\"}]}},
      {\"method\":\"iscsi_create_initiator_group\",\"params\":{\"tag\":1,\"initiators\":[\"ANY\"],\"netmasks\":[\"127.0.0.0/8\"]}},
      {\"method\":\"iscsi_create_target_node\",\"params\":{\"name\":\"$iqn\",\"alias_name\":\"rigel\",\"pg_ig_maps\":[{\"pg_tag\":1,\"ig_tag\":1}],\"luns\":[${luns%,}],\"queue_depth\":256,\"disable_chap\":true}}]}"
  else
    local nss='' transport=TCP listen
    for name in "${names[@]}"; do
      nss+="{\"method\":\"nvmf_subsystem_add_ns\",\"params\":{\"nqn\":\"$nqn\",\"namespace\":{\"bdev_name\":\"$name\"}}},"
    done
    listen="\"trtype\":\"TCP\",\"adrfam\":\"IPv4\",\"traddr\":\"127.0.0.1\",\"trsvcid\":\"$port\""
    [ "$kind" = tcp ] || { transport=VFIOUSER; listen="\"trtype\":\"VFIOUSER\",\"traddr\":\"$folder/vfio\""; }
    target="{\"subsystem\":\"nvmf\",\"config\":[
      {\"method\":\"nvmf_create_transport\",\"params\":{\"trtype\":\"$transport\"}},
      {\"method\":\"nvmf_create_subsystem\",\"params\":{\"nqn\":\"$nqn\",\"allow_any_host\":true,\"serial_number\":\"RIGEL-LOOPBACK-1\",\"model_number\":\"Rigel loopback array\",\"max_namespaces\":32}},
      ${nss}
      {\"method\":\"nvmf_subsystem_add_listener\",\"params\":{\"nqn\":\"$nqn\",\"listen_address\":{$listen}}}]}"
  fi
  echo "{\"subsystems\":[{\"subsystem\":\"bdev\",\"config\":[${bdevs%,}]},$target]}"
}

stop() {
  local folder=${1:?usage: loopback-array.sh stop FOLDER} pid
  [ -d "$folder" ] || return 0
  folder=$(cd "$folder" && pwd)
  if running "$folder"; then
    pid=$(cat "$folder/pid")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 50); do
      running "$folder" || break
      sleep 0.1
    done
    ! running "$folder" || kill -9 "$pid" 2>/dev/null || true
  fi
  rm -f "$folder/pid"
}

case ${1:-} in
  start) start "${@:2}" ;;
  stop) stop "${@:2}" ;;
  *) sed -n '2,18s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
