# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The verbs of pintle(1), as `pintle help` lists them.
_pintle() {
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    local verbs
    verbs=$("${COMP_WORDS[0]}" help 2>/dev/null | sed -n 's/^  \([a-z-]*\) .*/\1/p')
    mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "${COMP_WORDS[1]}")
  fi
}
complete -F _pintle pintle
