#compdef pintle pintle-controller kubectl-pintle machine-config-daemon
# SPDX-License-Identifier: Apache-2.0
# Completes the verbs that `PROGRAM help` lists, the options that `PROGRAM VERB --help` lists, and the values that
# this help has for an option.  Everything else is completed as a file name.
local program=$words[1] verb=$words[2] word=$words[CURRENT] before=$words[CURRENT-1]
local -a offered

# Prints lines of help as "name:summary".  Names contain no colon.
_pintle_lines() { sed -n "s/^  \($1\)\( [^ ][^ ]*\)\{0,1\}  *\(.*\)/\1:\3/p" }

if (( CURRENT == 2 )) || [[ $verb == help && CURRENT -eq 3 ]]; then
  offered=(${(f)"$($program help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
  _describe verb offered
elif [[ $verb == help ]]; then
  return 1
elif [[ $word == -* ]]; then
  offered=('--help:print this help' ${(f)"$($program $verb --help 2>/dev/null | _pintle_lines '-[^ ]*' |
    grep -v '^--help:')"})
  _describe -o option offered
else
  [[ $before != -* ]] || offered=(${(s:|:)"$($program $verb --help 2>/dev/null |
    sed -n "s/^  $before \([a-z0-9.-]*|[a-z0-9.|-]*\) .*/\1/p")"})
  [[ "$verb $before" != "convert --to" ]] || offered=(machineconfig ignition 3.5 3.4 3.3 3.2 3.1 2.2)
  if (( $#offered )); then _describe value offered; else _files; fi
fi
