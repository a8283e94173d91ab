#!/usr/bin/env bash
# The one gate, for people and for CI: format, lints, documentation, tests (the order of the layers among them).
#
#   scripts/check.sh                 everything, with SPDK and without
#   scripts/check.sh --without-spdk  only what builds without SPDK, for machines that cannot have it
#
# Ends with 0 when all passed, else with 1 after naming each step that failed; later steps run all the same.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

with_spdk=yes
case "${1:-}" in
  '') ;;
  --without-spdk) with_spdk= ;;
  *) printf 'check: unknown argument %s; usage: scripts/check.sh [--without-spdk]\n' "$1" >&2; exit 2 ;;
esac

# A snapshot that differs is a failure, never an update.
export INSTA_UPDATE=no
failed=()

step() {
  local name=$1; shift
  printf '\n== %s\n' "$name"
  "$@" || failed+=("$name")
}

# Lints, documentation and tests with the given features.
features() {
  local name=$1; shift
  step "clippy, $name" cargo clippy --locked "$@" --all-targets -- -D warnings
  step "doc, $name" env RUSTDOCFLAGS="-D warnings" cargo doc --locked "$@" --no-deps
  step "tests, $name" cargo test --locked "$@"
  step "benches once, $name" cargo test --locked "$@" --benches
}

step "format" cargo fmt --all --check
features "without SPDK" --package rigel --package spdk-wrapper --no-default-features
if [ -n "$with_spdk" ]; then
  features "with SPDK" --package rigel --package spdk-wrapper
fi

if [ ${#failed[@]} -gt 0 ]; then
  printf '\ncheck: FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
printf '\ncheck: all passed%s\n' "${with_spdk:+ (with SPDK and without)}"
