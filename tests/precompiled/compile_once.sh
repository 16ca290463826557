#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `compile_once.sh COMPILER ARGUMENT...`: precompiles a header for a target, while ./dev precompiles those of all targets.
#
# Meson gives each target a precompiled header of its own.  They differ only in their folders, so only the first is
# compiled; the others are links to it.  $PRECOMPILED_ONCE is an empty folder for the first ones.
set -euo pipefail

# The compiler's arguments, without the paths of files.
arguments=("$@") told=()
for ((at = 0; at < ${#arguments[@]}; ++at)); do
  case ${arguments[at]} in
    -o) output=${arguments[++at]} ;;
    -MF) dependencies=${arguments[++at]} ;;
    -MQ) target=${arguments[++at]} ;;
    -I*) ;; # These headers include only headers of other projects.
    *) told+=("${arguments[at]}") ;;
  esac
done
first=$PRECOMPILED_ONCE/$(printf '%s\n' "${told[@]}" | sha256sum | cut -c1-32)

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
