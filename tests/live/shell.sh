# The module `shell` of the standard library: lines typed into bash and zsh at a terminal.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program bash zsh script
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "this machine has no pseudo-terminals"

# type_into SHELL: three lines typed into it, at a terminal.
type_into()
{
	cat >"$TMP/type" <<-EOF
		#!/bin/sh
		printf ': one\n: two  three\nexit\n' | script -qc "$1" /dev/null >"$TMP/terminal"
	EOF
	chmod +x "$TMP/type"
	run_up -e 'use shell
		probe shell.command < printf("[%s] %s\n", comm, line) >' -c "$TMP/type"
	expect_status 0
	expect_no_line 'leaves out' err
	expect_line ', 0 lost in ' err
}

type_into 'bash --norc --noprofile -i'
expect_eq "lines of bash" "$(cat "$TMP/out")" "[bash] : one
[bash] : two  three
[bash] exit"

type_into 'zsh -f -i'
# zsh's lines have their newline.
expect_eq "lines of zsh" "$(cat "$TMP/out")" '[zsh] : one\n
[zsh] : two  three\n
[zsh] exit\n'

# The example shows when they were typed, and no newline.
run_up -c "$TMP/type" "$EXAMPLES/shell-commands.up"
expect_status 0
expect_line '^[0-9:]{8} zsh\[[0-9]+\] : two  three$'
nothing_left
