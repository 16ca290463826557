#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `compile_once.sh COMPILER ARGUMENT...`: precompiles a header for a target, while ./dev precompiles those of all targets.
#
# Meson gives each target a precompiled header of its own.  Headers that are compiled with the same arguments differ
# only in their folders, so only the first of them is compiled; the others are links to it.  $PRECOMPILED_ONCE is a
# folder, empty at the beginning, that keeps the first headers.
set -euo pipefail

# Collects the arguments that are the same for equal headers: all except the paths of outputs and of include folders.
arguments=("$@") common=()
for ((at = 0; at < ${#arguments[@]}; ++at)); do
  case ${arguments[at]} in
    -o) output=${arguments[++at]} ;;
    -MF) dependencies=${arguments[++at]} ;;
    -MQ) target=${arguments[++at]} ;;
    -I*) ;; # These headers include only headers of other projects.
    *) common+=("${arguments[at]}") ;;
  esac
done
first=$PRECOMPILED_ONCE/$(printf '%s\n' "${common[@]}" | sha256sum | cut -c1-32)

exec {lock}>"$first.lock"
flock "$lock"
if [ -e "$first" ]; then
  ln -f "$first" "$output"
  sed "1s#^[^:]*:#$target:#" "$first.d" >"$dependencies"
else
  "$@"
  cp "$dependencies" "$first.d"
  ln "$output" "$first"
fi
