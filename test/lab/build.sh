#!/usr/bin/env bash
# Builds the lab's programs from the Go modules pinned in modules/, into a cache outside the checkout.
#   build.sh                 everything that the lab needs; does nothing if it is built
#   build.sh FAMILY...       only these (see lib/families.sh)
#   build.sh --complete      succeeds if there is nothing left to build
#   build.sh --print-bin     prints the directory that holds the programs built so far, and builds nothing
# Cache: ${TRAFFIC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/traffic-operator/lab}
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
MODULES=$HERE/modules
CACHE=${TRAFFIC_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/traffic-operator/lab}
# shellcheck source=lib/families.sh
source "$HERE/lib/families.sh"

# All families use the same settings, so that packages that they share are compiled once. So -trimpath is not used: with
# it, a module from a replace directive is compiled separately from the same module without one.
# No debug information is compiled, because -s -w would remove it at the end: saves an eighth of the time.
# GOTOOLCHAIN: an older Go downloads the release that the go.mod files require; Debian's default forbids that.
# GOGC: compilers collect garbage less often: saves 5 to 10 % of the time.
export GOTOOLCHAIN=${GOTOOLCHAIN:-auto} GOGC=${GOGC:-400}
export CGO_ENABLED=0 GOFLAGS='-buildvcs=false -gcflags=all=-dwarf=false'

say() { printf '%4ds  %s\n' "$SECONDS" "$*"; }

# A family's key: everything that determines its programs, except the Go release.
family_key() {
  {
    cat "$MODULES/$(family_module "$1")"/*
    echo "$GOFLAGS"
    family_binaries "$1"
    family_tags "$1"
    family_ldflags "$1"
    uname -m
  } | sha256sum | cut -c1-12
}

family_dir() { echo "$CACHE/$1-$(family_key "$1")"; }

# The keys of all families form the key of the directory that holds all programs.
bin_dir() {
  local family keys=''
  for family in "${DEFAULT_FAMILIES[@]}" "${EXTRA_FAMILIES[@]}"; do keys+=$(family_key "$family"); done
  echo "$CACHE/$(sha256sum <<<"$keys" | cut -c1-12)/bin"
}

family_is_built() {
  local name _ dir
  dir=$(family_dir "$1")
  while read -r name _; do [[ -x $dir/$name ]] || return 1; done < <(family_binaries "$1")
}

require_family() {
  family_binaries "$1" >/dev/null && return
  echo "build.sh: there is no family $1, only ${DEFAULT_FAMILIES[*]} ${EXTRA_FAMILIES[*]}" >&2
  exit 2
}

require_go() {
  command -v go >/dev/null && return
  echo "build.sh: Go is not installed; see ${HERE#"$PWD"/}/README.md, or https://go.dev/dl" >&2
  exit 1
}

# Prints every 15 s how many packages are compiled, until it is killed.
report_progress() { # log label
  # A sleep that is still running must not keep the output of the script open.
  while sleep 15 >/dev/null 2>&1; do say "$2: $(grep -cE '^[a-z0-9.-]+(/|$)' "$1" || true) packages compiled so far"; done
}

# Downloads the modules of later families while the first one compiles: saves a minute and a half.
prefetch() { # family...
  local family
  for family in "$@"; do
    (cd "$MODULES/$(family_module "$family")" && family_binaries "$family" | cut -d' ' -f2 | xargs go list -deps -tags "$(family_tags "$family")")
  done
}

build_family() { # family label
  local family=$1 label=$2 dir tmp log reporter names
  dir=$(family_dir "$family") tmp=$dir.tmp.$$ log=$dir.log
  names=$(family_binaries "$family" | cut -d' ' -f1 | paste -sd' ')
  say "$label: building $names"
  mkdir -p "$tmp"
  : >"$log"
  report_progress "$log" "$label" &
  reporter=$!
  if ! compile "$family" "$tmp" >>"$log" 2>&1; then
    kill "$reporter"
    rm -rf "$tmp"
    printf 'build.sh: %s failed; the end of %s:\n' "$label" "$log" >&2
    tail -n 30 "$log" >&2
    return 1
  fi
  kill "$reporter"
  rm -rf "$dir"
  mv "$tmp" "$dir"
}

# If another call builds the same family, waits for it and uses its result.
build_once() { # family label
  local lock status=0
  mkdir -p "$CACHE"
  exec {lock}>"$(family_dir "$1").lock"
  flock "$lock"
  family_is_built "$1" || build_family "$@" || status=$?
  # Closing the file is not enough: background processes still have it open.
  flock --unlock "$lock"
  exec {lock}>&-
  return "$status"
}

# Links all programs of a family in one call, so that both cores are used.
compile() { # family out
  local family=$1 out=$2 packages=() names=() name package
  while read -r name package; do names+=("$name") packages+=("$package"); done < <(family_binaries "$family")
  # A trailing slash names each file after its package, which is wrong for a module's root such as .../v3.
  local target=$out/
  [[ ${#names[@]} -gt 1 ]] || target=$out/${names[0]}
  cd "$MODULES/$(family_module "$family")"
  go build -v -tags "$(family_tags "$family")" -ldflags "-s -w $(family_ldflags "$family")" -o "$target" "${packages[@]}"
}

# Also links programs of earlier calls: the directory has a new name when the version of any family changes.
link_families() { # bin
  local family name _ dir
  mkdir -p "$1"
  for family in "${DEFAULT_FAMILIES[@]}" "${EXTRA_FAMILIES[@]}"; do
    family_is_built "$family" || continue
    dir=$(family_dir "$family")
    while read -r name _; do
      # Hard links, because the lab's nodes mount only this directory.
      [[ $1/$name -ef $dir/$name ]] || ln -f "$dir/$name" "$1/$name"
    done < <(family_binaries "$family")
  done
}

end_background_jobs() {
  local jobs
  jobs=$(jobs -p)
  # shellcheck disable=SC2086 # one word a job
  [[ -z $jobs ]] || kill $jobs 2>/dev/null || true
}

main() {
  trap end_background_jobs EXIT
  local bin family missing=() done=0
  bin=$(bin_dir)
  if [[ ${1:-} == --print-bin ]]; then
    link_families "$bin"
    echo "$bin"
    return
  fi
  local check=
  if [[ ${1:-} == --complete ]]; then check=yes && shift; fi
  local wanted=("$@")
  [[ $# -gt 0 ]] || wanted=("${DEFAULT_FAMILIES[@]}")
  for family in "${wanted[@]}"; do
    require_family "$family"
    family_is_built "$family" || missing+=("$family")
  done
  if [[ -n $check ]]; then [[ ${#missing[@]} -eq 0 ]]; return; fi
  [[ ${#missing[@]} -eq 0 ]] || require_go
  prefetch "${missing[@]:1}" >/dev/null 2>&1 &
  for family in "${missing[@]}"; do
    build_once "$family" "[$((++done))/${#missing[@]}] $family"
  done
  link_families "$bin"
  [[ ${#missing[@]} -eq 0 ]] || say "built ${#missing[@]} of ${#wanted[@]} families into $bin"
}

main "$@"
