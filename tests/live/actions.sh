# What a handler does: printf, counts by keys, conditions, stop, and the options that end a run.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

# --- printf ---------------------------------------------------------------------------------------

run_up -e 'probe ./t_add:add when (arg0:s32 == -7) <
	printf("[%d|%5d|%-5d|%05d|%+d|%u|%x|%X|%#x|%#o|%.3d|% d]\n", arg0:s32, arg0:s32, arg0:s32, arg0:s32, 7, arg0:u32,
		arg0:u8, arg0:x16, 255, 8, 5, 42)
	printf("[%s|%8s|%-8s|%.2s|%c|%%|%p]\n", func, func, func, func, 65, 4096) >' -c './t_add add'
expect_status 0
expect_eq "printf" "$(grep '^\[' "$TMP/out")" "[-7|   -7|-7   |-0007|+7|4294967289|f9|FFF9|0xff|010|005| 42]
[add|     add|add     |ad|A|%|0x1000]"

# --- counts ---------------------------------------------------------------------------------------

# Seven calls of add, three of bump, fifteen of fib: counted by several keys, under one name from two probes.
run_up -o "$TMP/hits" -e 'probe ./t_add:add, ./t_add:bump, ./t_add:fib < count() by func; all = count(); count() by func top 2
		signs = count() by func, arg0:s32 < 0 >' -c ./t_add
expect_status 2
expect_line 'bare-comparison' err
run_up -o "$TMP/hits" -e 'probe ./t_add:add, ./t_add:bump, ./t_add:fib < by_func = count() by func; all = count(); most = count() by func top 2
		if (func == "add") < signs = count() by (arg0:s32 < 0), func > > on return < all = count() >
	probe ./t_add:ping < all = count() >' -c ./t_add
expect_status 0
expect_line '^53 hits handled, 0 filtered, 0 lost in ' err
expect_eq "counts" "$(cat "$TMP/hits")" "
by_func by func
  fib   15
  add    7
  bump   3
all = 53

most by func
  fib  15
  add   7
  and 1 more

signs by (arg0:s32 < 0), func
   true  add  4
  false  add  3"

# Unnamed aggregations are shown under their own text and place; nothing hit is said, too.
run_up -o "$TMP/hits" -e 'probe ./t_add:add < count() by arg1:s32, func > on return < count() by retval:s32 top 1 >
	probe ./t_add:pong < count() by comm; count() >' -c './t_add add'
expect_eq "unnamed counts" "$(cat "$TMP/hits")" "
./t_add:add: count() by arg1:s32, func
           1  add  2
          -8  add  1
          -1  add  1
           0  add  1
           2  add  1
  2147483647  add  1

./t_add:add return: count() by retval:s32
  0  2
  and 5 more

./t_add:pong: count() by comm: nothing
./t_add:pong: count(): nothing"

# Probes on one place run in the order of the script, at the return too.
run_up -o "$TMP/hits" -e 'probe ./t_add:ping < printf("a ") > on return < printf("A\n") >
	probe ./t_add:ping < printf("b ") > on return < printf("B\n") >
	probe ./t_add:ping < printf("%d ", arg0:s32) > on return < printf("%d\n", retval:s32) >' -c './t_add ping'
expect_eq "order of probes" "$(cat "$TMP/hits")" "a b 5 a b 3 a b 1 A
B
201
A
B
203
A
B
205"

# --- conditions -----------------------------------------------------------------------------------

# A return of a call that was not selected does not count, neither as handled nor as unpaired.
run_up -o "$TMP/hits" -e 'probe ./t_add:fib when (arg0:s32 > 2) < in = count() > on return when (retval:s32 != 3) <
	printf("%d %d\n", arg0:s32, retval:s32) >' -c './t_add fib'
expect_status 0
expect_eq "selected calls of fib" "$(cat "$TMP/hits")" "3 2
3 2
5 5
in = 4"
expect_line '^7 hits handled, 23 filtered, 0 lost in ' err
expect_no_line 'not seen' err

run_up -o "$TMP/hits" -e 'probe ./t_add:add <
	if (arg0:s32 == 0) < printf("zero\n") >
	else if (arg0:s32 < 0 && arg1:s32 < 0) < printf("both\n"); minus = count() >
	else if (arg0:s32 < 0 || arg1:s32 < 0) < if (arg1:s32 == 1) < printf("first, one\n") > else < printf("first\n") >; minus = count() >
	else < printf("%s\n", if (arg1:s32 == 1) "one" else "more") >
	>' -c './t_add add'
expect_eq "branches" "$(cat "$TMP/hits")" "more
first, one
both
zero
one
both
first
minus = 4"

# --- the end --------------------------------------------------------------------------------------

# After stop() no handler runs, and the results are shown; the command's own status does not matter.
run_up -o "$TMP/hits" -e 'probe ./t_add:add < n = count(); if (arg0:s32 == -7) < printf("stop\n"); stop(3); printf("same hit\n") > >' \
	-c 'sh -c "./t_add add; sleep 20"'
expect_status 3
expect_eq "stop(3)" "$(cat "$TMP/hits")" "stop
same hit
n = 3"
expect_line '^3 hits handled, ' err

run_up -o "$TMP/hits" -e 'probe ./t_add:add < stop() > on return < n = count() >' -c 'sh -c "./t_add add; sleep 20"'
expect_status 0
expect_eq "stop()" "$(cat "$TMP/hits")" "n: nothing"

# -n counts handled hits only.
run_up -n 4 -o "$TMP/hits" -e 'probe ./t_add:fib when (arg0:s32 > 0) < printf("%d\n", arg0:s32); n = count() >' \
	-c 'sh -c "./t_add fib; sleep 20"'
expect_status 0
expect_eq "-n 4" "$(cat "$TMP/hits")" "5
4
3
2
n = 4"
expect_line '^4 hits handled, ' err

# Without an order to keep, too.
run_up -n 4 -o "$TMP/hits" -e 'probe ./t_add:fib < n = count() >' -c 'sh -c "./t_add fib; sleep 20"'
expect_eq "-n 4 of counts" "$(cat "$TMP/hits")" "n = 4"

# -d ends after its time, with the status of a run that has ended as it should.
start=${EPOCHREALTIME/./}
run_up -d 300ms -e 'probe ./t_add:fib < count() >' -c 'sleep 20'
took=$(((${EPOCHREALTIME/./} - start) / 1000))
expect_status 0
[ "$took" -ge 300 ] || fail "-d 300ms ended after $took ms"
[ "$took" -le 5000 ] || fail "-d 300ms ended after $took ms"
expect_line ' in 0\.[3-9] s$' err

nothing_left
