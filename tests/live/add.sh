# Entry and return of calls whose number and values are known: the target prints the truth, in the same words.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

# Runs the program's text $1 on `t_add $2`; what uptick wrote is in $TMP/hits, what the target printed in $TMP/out.
run_add()
{
	run_up -o "$TMP/hits" -e "$1" -c "./t_add $2"
	expect_status 0
	expect_line ' 0 lost in ' err
	expect_no_line 'not seen|could not be read|out of time order' err
}

# --- arguments and results, in order --------------------------------------------------------------

run_add 'probe ./t_add:add < printf("add(%d, %d)\n", arg0:s32, arg1:s32) >
	on return < printf("add(%d, %d) = %d\n", arg0:s32, arg1:s32, retval:s32) >' add
expect_count 14 '^add' out
expect_eq "calls of add" "$(cat "$TMP/hits")" "$(cat "$TMP/out")"
expect_line '^14 hits handled, 0 filtered, 0 lost in ' err

run_add 'probe ./t_add:add < print(arg0:s32, arg1:s32) > on return < print(retval:s32, entry.arg0:s32) >' add
expect_count 14 '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} t_add\[[0-9]+\] +t_add:add ' "$TMP/hits"
expect_eq "labels and values" "$(sed 's/.*t_add:add //' "$TMP/hits")" "arg0:s32=1 arg1:s32=2
return retval:s32=3 entry.arg0:s32=1
arg0:s32=-1 arg1:s32=1
return retval:s32=0 entry.arg0:s32=-1
arg0:s32=-7 arg1:s32=-8
return retval:s32=-15 entry.arg0:s32=-7
arg0:s32=0 arg1:s32=0
return retval:s32=0 entry.arg0:s32=0
arg0:s32=2147483647 arg1:s32=1
return retval:s32=-2147483648 entry.arg0:s32=2147483647
arg0:s32=-2147483648 arg1:s32=-1
return retval:s32=2147483647 entry.arg0:s32=-2147483648
arg0:s32=-2147483648 arg1:s32=2147483647
return retval:s32=-1 entry.arg0:s32=-2147483648"

# --- what the return still knows of the entry -----------------------------------------------------

# bump() overwrites its own argument registers and the memory they pointed to.
run_add 'probe ./t_add:bump on return <
	printf("bump %d by %d gave %d\n", entry.@(arg0):s32, arg1:s32, retval:s32) >' bump
expect_count 3 '^bump' out
expect_eq "bump" "$(cat "$TMP/hits")" "$(cat "$TMP/out")"

# `elapsed` is the time between the two hits, and no less than the call slept.
run_add 'probe ./t_add:pause_ms < printf("%u\n", time) > on return <
	printf("%u %u %d %d\n", time, entry.time, elapsed, retval:s32) >' pause
expect_count 4 . "$TMP/hits"
nr=0
while read -r entry && read -r at entry_again elapsed ms; do
	expect_eq "entry.time" "$entry_again" "$entry"
	expect_eq "elapsed" "$elapsed" $((at - entry))
	[ "$elapsed" -ge $((ms * 1000000)) ] || fail "elapsed $elapsed in a call of $ms ms"
	[ "$elapsed" -lt 2000000000 ] || fail "elapsed $elapsed in a call of $ms ms"
	nr=$((nr + 1))
done <"$TMP/hits"
expect_eq "calls of pause_ms" "$nr" 2

# --- recursion ------------------------------------------------------------------------------------

run_add 'probe ./t_add:fib on return < printf("%d: fib(%d) = %d\n", depth, arg0:s32, retval:s32) >' fib
expect_count 15 '=' "$TMP/hits"
expect_eq "returns of fib" "$(cat "$TMP/hits")" "$(grep '=' "$TMP/out")"

run_add 'probe ./t_add:fib < printf("fib(%d)\n", arg0:s32) > on return <
	printf("fib(%d) = %d\n", arg0:s32, retval:s32) >' fib
expect_count 30 . "$TMP/hits"
expect_eq "entries and returns of fib" "$(cat "$TMP/hits")" "$(sed 's/^[0-9]*: //' "$TMP/out")"

# Two functions that call each other: each has a depth of its own.
run_add 'probe ./t_add:ping on return < printf("ping %d %d %d\n", depth, arg0:s32, retval:s32) >
	probe ./t_add:pong on return < printf("pong %d %d %d\n", depth, arg0:s32, retval:s32) >' ping
expect_eq "ping and pong" "$(cat "$TMP/hits")" "pong 2 0 200
ping 2 1 201
pong 1 2 202
ping 1 3 203
pong 0 4 204
ping 0 5 205"

# A call that ends by longjmp has no return, and no other call gets its values.
run_add 'probe ./t_add:leave < printf("in %d\n", arg0:s32) > on return <
	printf("out %d %d %d\n", arg0:s32, retval:s32, depth) >' leave
expect_eq "leave" "$(cat "$TMP/hits")" "in 0
out 0 5 0
in 1
in 0
out 0 5 0
in 1"
expect_line '^2 calls were left without a return$' err

# The kernel keeps track of so many nested returns and no more; those that it reports are right, the others are counted.
run_add 'probe ./t_add:deep < in = count() > on return < out = count(); if (retval:s32 != arg0:s32 || depth != 100 - arg0:s32) < wrong = count() > >' deep
out=$(sed -n 's/^out = //p' "$TMP/hits")
[ "$out" -ge 50 ] || fail "only $out returns of deep"
expect_eq "calls of deep" "$(cat "$TMP/hits")" "in = 101
out = $out
wrong: nothing"
[ "$out" -eq 101 ] || expect_line "^$((101 - out)) calls were nested too deeply" err

# A call that forks returns twice, and both returns know its entry.
run_add 'probe ./t_add:split < in = count() > on return < printf("%d %d %d\n", arg0:s32, retval:s32, depth); pids = count() by pid >' split
expect_eq "returns of split" "$(grep -v '^ ' "$TMP/hits")" "7 -7 0
7 7 0
in = 1

pids by pid"
expect_count 2 '^ +[0-9]+  1$' "$TMP/hits"

nothing_left
