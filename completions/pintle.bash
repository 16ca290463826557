# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The verbs of pintle(1), as `pintle help` lists them, and the options of each, as its --help does; else, files.
_pintle() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} offered=
  COMPREPLY=()
  if [[ ${COMP_WORDS[1]} == convert && ${COMP_WORDS[COMP_CWORD - 1]} == --to ]]; then
    offered="machineconfig ignition 3.5 3.4 3.3 3.2 3.1 2.2"
  elif [ "$COMP_CWORD" -eq 1 ]; then
    offered=$("$program" help 2>/dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')
  elif [[ $word == -* ]]; then
    offered="--help $("$program" "${COMP_WORDS[1]}" --help 2>/dev/null | sed -n 's/^  \(-[^ ]*\) .*/\1/p')"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
}
complete -o default -F _pintle pintle
