# The module `time` of the standard library.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program sleep
cd "$TARGETS"

run_up -e 'use time
probe time.sleep < printf("%d %d %d %d\n", asked / 1ms, absolute, result, (ns >= asked)) >' -c './t_stdlib time'
expect_status 0
expect_line ', 0 lost in ' err
expect_eq "sleeps" "$(cat "$TMP/out")" '3 0 0 1
3 0 0 1
2 0 0 1
1000 0 0 1'

run_up -e 'use time
probe time.sleep < wanted = sum(asked) by comm >' -c 'sleep 0.02'
expect_status 0
expect_line '^  sleep +20000000$'
nothing_left
