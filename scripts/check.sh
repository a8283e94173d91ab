#!/usr/bin/env bash
# The one gate, for people and for CI: format, lints, documentation, tests (the order of the layers among them).
#
#   scripts/check.sh                 everything, with SPDK and without
#   scripts/check.sh --without-spdk  only what builds without SPDK, for machines that cannot have it
#
# Ends with 0 when all passed, else with 1 after naming each step that failed; later steps run all the same. A step
# whose tool is not installed is named too, as not checked.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
script="check"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

variants=("with SPDK" "without SPDK")
case "${1:-}" in
  '') ;;
  --without-spdk) variants=("without SPDK") ;;
  *) printf 'check: unknown argument %s; usage: scripts/check.sh [--without-spdk]\n' "$1" >&2; exit 2 ;;
esac

# A snapshot that differs is a failure, never an update.
export INSTA_UPDATE=no
failed=()
unchecked=()

step() {
  local title=$1; shift
  printf '\n== %s\n' "$title"
  "$@" || failed+=("$title")
}

# A step that needs a tool which not every toolchain brings: `step_with TRIAL REMEDY TITLE COMMAND…`.
step_with() {
  if $1 >/dev/null 2>&1; then step "${@:3}"; else unchecked+=("$3 ($2)"); fi
}

# Runs `cargo COMMAND` on the packages for one variant, with the arguments that follow.
packages=(--package rigel --package spdk-wrapper)
cargo_for() {
  local features=()
  [ "$1" = "with SPDK" ] || features=(--no-default-features)
  cargo "$2" --locked "${packages[@]}" "${features[@]}" "${@:3}"
}

# Quick steps first; each variant's tests before the documentation, which hardly ever fails alone. All share one target
# folder, where cargo keeps the two variants side by side.
step_with "cargo fmt --version" "rustup component add rustfmt" "format" cargo fmt --all --check
step_with "shellcheck --version" "apt-get install shellcheck" "scripts" shellcheck --external-sources scripts/*.sh
for variant in "${variants[@]}"; do
  step_with "cargo clippy --version" "rustup component add clippy" "clippy, $variant" \
    cargo_for "$variant" clippy --all-targets -- -D warnings
done
for variant in "${variants[@]}"; do
  step "tests, $variant" cargo_for "$variant" test --no-fail-fast
  step "benches once, $variant" cargo_for "$variant" test --no-fail-fast --bench "*"
done
export RUSTDOCFLAGS="-D warnings"
for variant in "${variants[@]}"; do
  # Without SPDK the wrapper is a stump, and its own page speaks of the whole.
  packages=(--package rigel)
  [ "$variant" = "without SPDK" ] || packages+=(--package spdk-wrapper)
  step "doc, $variant" cargo_for "$variant" doc --no-deps
done

echo
[ ${#unchecked[@]} -eq 0 ] || printf 'check: NOT CHECKED: %s\n' "${unchecked[@]}"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'check: FAILED: %s\n' "${failed[@]}"
  exit 1
fi
list=$(printf ' and %s' "${variants[@]}")
printf 'check: all passed (%s)\n' "${list# and }"
