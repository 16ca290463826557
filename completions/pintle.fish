# SPDX-License-Identifier: Apache-2.0
# Completes the verbs that `PROGRAM help` lists, the options that `PROGRAM VERB --help` lists, and the values that
# this help has for an option.  Everything else is completed as a file name.

function __pintle_verbs
    set -l words (commandline -opc)
    $words[1] help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*) +(.*)$' '$1\t$2'
end

function __pintle_options
    set -l words (commandline -opc)
    printf '%s\t%s\n' --help 'print this help'
    $words[1] $words[2] --help 2>/dev/null | string replace -rf '^  (-\S+)(?: \S+)? +(.*)$' '$1\t$2'
end

function __pintle_values
    set -l words (commandline -opc)
    set -l option (string escape --style=regex -- $words[-1])
    test "$words[2] $words[-1]" = "convert --to"; and string split ' ' 'machineconfig ignition 3.5 3.4 3.3 3.2 3.1 2.2'
    string match -q -- '-*' $words[-1]
    and $words[1] $words[2] --help 2>/dev/null | string replace -rf "^  $option ([a-z0-9.-]+\|[a-z0-9.|-]+) .*\$" '$1' | string split '|'
end

function __pintle_is_at_verb
    set -l words (commandline -opc)
    test (count $words) -eq 1; or begin
        test (count $words) -eq 2; and test $words[2] = help
    end
end

function __pintle_has_values
    not __pintle_is_at_verb; and test (count (__pintle_values)) -gt 0
end

for program in pintle pintle-controller kubectl-pintle machine-config-daemon
    complete -c $program -n __pintle_is_at_verb -f -a '(__pintle_verbs)'
    complete -c $program -n 'not __pintle_is_at_verb; and string match -q -- "-*" (commandline -ct)' -f -a '(__pintle_options)'
    complete -c $program -n __pintle_has_values -f -a '(__pintle_values)'
end
