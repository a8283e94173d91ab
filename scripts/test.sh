#!/usr/bin/env bash
# Brings up a fresh machine and runs every test on it; also what CI runs.
#
#   scripts/test.sh
#
# scripts/setup.sh, then all of scripts/check.sh. As root it lends the tests hugepages (vfio-user needs them) and gives
# them back; without them those tests say that they were left out. Ends with the tests' own summaries and, alone on the
# last line, `N passed, N failed`; a step that fails without a test (a build, a lint) counts as one failure.
set -euo pipefail
cd "$(dirname "$0")/.."
script="test"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
[ $# = 0 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; [ "$1" = --help ] || [ "$1" = -h ] || exit 2; exit 0; }

HUGEPAGES_MIB=2048

lend_hugepages() {
  local spare_mib
  [ "$(id -u)" = 0 ] || { say "not root, so no hugepages are reserved: tests over vfio-user run only if there are some"; return; }
  spare_mib=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  if [ "$spare_mib" -lt $((HUGEPAGES_MIB * 2)) ]; then
    say "$spare_mib MiB of memory are free, too few to lend hugepages: tests over vfio-user are left out"
    return
  fi
  borrow_hugepages "$HUGEPAGES_MIB" || say "tests over vfio-user are left out"
}

# Nothing is built with it, so set-up leaves it out.
bring_shellcheck() {
  command -v shellcheck >/dev/null || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null ||
    apt-get install -y --no-install-recommends shellcheck >/dev/null 2>&1 || say "shellcheck could not be installed"
}

scripts/setup.sh
bring_shellcheck
trap 'exit 130' INT; trap 'exit 143' TERM; trap 'exit 129' HUP
trap return_hugepages EXIT
lend_hugepages
log=$(mktemp "${TMPDIR:-/tmp}/rigel-test.XXXXXX")
status=0
scripts/check.sh </dev/null 2>&1 | tee "$log" || status=$?

echo
grep -aE '^ +(Running|Doc-tests) |^test result: |^== tests|^check: ' "$log" || true
# Steps of tests fail by what their summaries count; every other failed step is one failure.
counts=$(awk '
  /^test result: / {
    for (i = 2; i <= NF; i++) {
      if ($i ~ /^passed/) passed += $(i - 1)
      if ($i ~ /^failed/) failed += $(i - 1)
    }
  }
  /^check: FAILED: / && !/FAILED: tests, / { failed++ }
  END { print passed + 0, failed + 0 }' "$log")
rm -f "$log"
read -r passed failed <<<"$counts"
# No failure is lost to a line that was not understood.
[ "$status" = 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] || exit 1
