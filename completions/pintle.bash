# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completes the verbs that `PROGRAM help` lists, the options that `PROGRAM VERB --help` lists, and the values that
# this help has for an option.  Everything else is completed as a file name.
_pintle_verbs() {
  "$1" help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Lists the values of an option, which its help has in the form "-o yaml|json".  `convert --to` has too many for that.
_pintle_values() {
  [ "$2 $3" != "convert --to" ] || echo machineconfig ignition 3.5 3.4 3.3 3.2 3.1 2.2
  "$1" "$2" --help 2>/dev/null | sed -n "s/^  $3 \([a-z0-9.-]*|[a-z0-9.|-]*\) .*/\1/p" | tr '|' '\n'
}

_pintle() {
  local program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD - 1]}
  local word=${COMP_WORDS[COMP_CWORD]} offered=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    offered=$(_pintle_verbs "$program")
  elif [ "$verb" = help ]; then
    [ "$COMP_CWORD" -gt 2 ] || offered=$(_pintle_verbs "$program")
  elif [[ $word == -* ]]; then
    offered="--help $("$program" "$verb" --help 2>/dev/null | sed -n 's/^  \(-[^ ]*\) .*/\1/p')"
  elif [[ $before == -* ]]; then
    offered=$(_pintle_values "$program" "$verb" "$before")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word" | sort -u)
}
complete -o default -F _pintle pintle pintle-controller kubectl-pintle machine-config-daemon
