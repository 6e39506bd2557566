# Programs in Go: what their arguments and results are.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program go
cd "$TARGETS"

# --- arguments ------------------------------------------------------------------------------------

# Words in registers, then on the stack; a string is two words, a slice three.
run_up -e 'probe ./t_go:main.wide < printf("%d %s %d %d %d %d %d %d %d\n", arg0, arg1:gostring, arg2, arg4, arg5, arg6, arg7, arg8, arg9) >' -c ./t_go
expect_status 0
expect_eq words "$(cat "$TMP/out")" '1 ab 2 3 3 4 5 6 77'

# Texts: empty, with a NUL, longer than what is read, behind a pointer.
run_up -e 'probe ./t_go:main.texts < print(arg0:gostring, arg0:gostring[8], @(arg2 + 8):gostring) >' -c ./t_go
expect_status 0
expect_count 4 '"the cache"$'
expect_count 1 'arg0:gostring="" .*\[8\]="" '
expect_count 1 'arg0:gostring="plain" .*\[8\]="plain" '
expect_count 1 'arg0:gostring="with\\x00NUL" .*\[8\]="with\\x00NUL" '
expect_count 1 'arg0:gostring="(0123456789){51}0"\.\.\. .*\[8\]="01234567"\.\.\. '
expect_no_line fault err

nothing_left
