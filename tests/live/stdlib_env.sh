# The module `env` of the standard library.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program env sort
cd "$TARGETS"

run_up -e 'use env
probe env.get when (name ~ "T_STDLIB*") < printf("get %s %s %d\n", name, value, result) >
probe env.set < printf("set %s %s\n", name, value) >
probe env.unset < printf("unset %s\n", name) >' -c './t_stdlib env'
expect_status 0
expect_line ', 0 lost in ' err
expect_eq "the environment" "$(cat "$TMP/out")" 'set T_STDLIB here
get T_STDLIB here 1
get T_STDLIB here 1
set T_STDLIB_2=there 
get T_STDLIB_2 there 1
unset T_STDLIB
get T_STDLIB  0'

run_up -e 'use env
probe env.get when (comm == "sort" && result) < values = last(value) by name >' -c 'env TMPDIR=/tmp/here sort -S 1M /etc/passwd -o /dev/null'
expect_status 0
expect_line '^  TMPDIR +"/tmp/here"$'
nothing_left
