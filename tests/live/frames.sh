# Calls that do not simply return: left by longjmp, by exit, by a thread's end; tail calls; signal handlers in between;
# vfork; calls deeper than the kernel follows; hits lost between an entry and its return. No return is ever paired with
# another call's entry.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program mkfifo
cd "$TARGETS"

functions='./t_frames:step, ./t_frames:other, ./t_frames:first, ./t_frames:second, ./t_frames:third, ./t_frames:launch'
program="probe $functions <
	printf(\"%s(%d)\\n\", func, arg0:s32)
> on return <
	printf(\"%s(%d) = %d, %d below\\n\", func, arg0:s32, retval:s32, depth)
>"

# for_each NUMBERS TEXT: the text once for each number, with $n in it worked out.
for_each()
{
	local n
	for n in $1; do
		eval "cat <<-END"$'\n'"$2"$'\n'END
	done
}

# Runs kind $1; what uptick wrote must be $2, and $3 (0 when it is not there) the calls that were left. The program's
# exit status must be WANT's, or 0.
run_kind()
{
	run_up --return=kernel --unsafe -o "$TMP/hits" -e "$program" -c "./t_frames $1"
	expect_status "${WANT:-0}"
	expect_line ' 0 filtered, 0 lost in ' err
	expect_no_line 'not seen|too deeply|left out' err
	expect_eq "calls of $1" "$(cat "$TMP/hits")" "$2"
	expect_eq "calls of $1 that were left" \
		"$(sed -nE 's/^([0-9]+) calls? w(as|ere) left without a return$/\1/p' "$TMP/err")" "${3:-}"
}

# --- left by longjmp ------------------------------------------------------------------------------

# Across six frames. The next call stands where the first one stood, but was made elsewhere.
run_kind jump 'step(0)
other(1)
step(2)
other(3)
step(4)
other(5)
other(10)
other(10) = 12, 0 below
step(11)
step(11) = 12, 0 below' 6

# Left again and again, with another function called from there each time.
# shellcheck disable=SC2016 # for_each works it out
run_kind again "$(for_each '1 3 5' 'step($n)
other($((n + 1)))
step($((n + 1)))
step($((n + 1))) = $((n + 2)), 1 below
other($((n + 1))) = $((n + 5)), 0 below')" 3

# By a signal handler.
run_kind sigjump 'step(0)
step(300)
step(300) = 301, 1 below
step(1)
step(300)
step(300) = 301, 1 below
step(7)
step(7) = 8, 0 below' 2

# The same with two probes on the function: each is left as often, neither takes the other for a call above it, and
# the entry of other() shows both that they have been left.
run_up --return=kernel --unsafe -o "$TMP/hits" -e 'probe ./t_frames:step < a = count() > on return < ra = count() by depth >
	probe ./t_frames:step < b = count() > on return < rb = count() by depth >
	probe ./t_frames:other on return < o = count() by depth >' -c './t_frames again'
expect_status 0
expect_eq "two probes" "$(tr '\n' ' ' <"$TMP/hits")" 'a = 6  ra by depth   0  3 b = 6  rb by depth   0  3  o by depth   0  3 '
expect_line '^6 calls were left without a return$' err

# --- tail calls -----------------------------------------------------------------------------------

# shellcheck disable=SC2016
run_kind tail "$(for_each '0 1 2' 'first($n)
second($((n + 1)))
third($((n + 2)))
third($((n + 2))) = $((n * 10 + 20)), 2 below
second($((n + 1))) = $((n * 10 + 20)), 1 below
first($n) = $((n * 10 + 20)), 0 below')"

# --- ends inside ----------------------------------------------------------------------------------

WANT=2 run_kind exit 'step(0)
step(1)
step(2)' 3
run_kind threads "$(for_each '0 1 2' 'step(0)
step(1)
step(2)
step(0)
step(0) = 1, 0 below')" 9

# --- signal handlers that call what they interrupt ------------------------------------------------

for kind in signal altstack; do
	# shellcheck disable=SC2016
	run_kind $kind "$(for_each '0 1 2' 'step($n)
step(100)
step(100) = 101, 1 below
other(200)
other(200) = 202, 1 below
step($n) = $((n + 1)), 0 below')"
done

# --- several stacks -------------------------------------------------------------------------------

# Entries alone; the kernel keeps returns in one list for a thread, and coroutines return in another order.
run_up --return=kernel --unsafe -o "$TMP/hits" -e 'probe ./t_frames:step < printf("step(%d)\n", arg0:s32) >' -c './t_frames coroutines'
expect_status 0
expect_eq "coroutines" "$(cat "$TMP/hits")" 'step(10)
step(20)
step(11)
step(21)'

# --- vfork ----------------------------------------------------------------------------------------

# The child is in launch(), as its parent is.
run_up --return=kernel --unsafe -o "$TMP/hits" -e 'probe ./t_frames:launch, ./t_frames:step < in = count() by func > on return <
		out = count() by func; if (retval:s32 - (if (func == "step") 1 else 0) != arg0:s32) < wrong = count() >
		depths = count() by func, depth
	>' -c './t_frames vfork'
expect_status 0
expect_eq "calls around vfork" "$(cat "$TMP/hits")" "
in by func
  launch  3
  step    3

out by func
  launch  3
  step    3
wrong: nothing

depths by func, depth
  launch  0  3
  step    1  3"
expect_line '^12 hits handled, 0 filtered, 0 lost in ' err
expect_no_line 'not seen|without a return' err

# vfork itself is entered once and returns twice, first in the child.
run_up --return=kernel --unsafe -o "$TMP/hits" -e 'probe libc:vfork < printf("in\n") > on return < printf("out %d\n", if (retval:s32 > 0) 1 else 0) >' \
	-c './t_frames vfork'
expect_status 0
expect_eq "returns of vfork" "$(cat "$TMP/hits")" 'in
out 0
out 1
in
out 0
out 1
in
out 0
out 1'
expect_no_line 'not seen|without a return' err

# --- deeper than the kernel follows ---------------------------------------------------------------

# Runs three descents of $1 + 1 calls, with five calls of step() and other() below each, then step(1000).
run_deep()
{
	run_up --return=kernel --unsafe -o "$TMP/hits" -e 'probe ./t_frames:descend < down = count() > on return < up = count(); if (arg0 + depth != '"$1"') < wrong = count() > >
		probe ./t_frames:step, ./t_frames:other < in = count() > on return <
			out = count()
			if (retval:s32 - (if (func == "step") 1 else 2) != arg0:s32) < wrong = count() >
		>' -c "./t_frames $1"
	expect_status 0
	expect_line ' 0 filtered, 0 lost in ' err
	expect_no_line 'not seen|without a return' err
	expect_eq "calls $1 deep" "$(tr '\n' ' ' <"$TMP/hits")" "$2"
}

run_deep 62 'down = 189 up = 189 wrong: nothing in = 16 out = 16 '
expect_no_line 'too deeply' err
run_deep 63 'down = 192 up = 192 wrong: nothing in = 16 out = 1 '
expect_line '^15 calls were nested too deeply: ' err
run_deep 64 'down = 195 up = 192 wrong: nothing in = 16 out = 1 '
expect_line '^18 calls were nested too deeply: ' err
run_deep 200 'down = 603 up = 192 wrong: nothing in = 16 out = 1 '
expect_line '^426 calls were nested too deeply: ' err

# --- hits lost in between -------------------------------------------------------------------------

# The reader of the output begins when the target has ended, so most is lost; what is paired is a pair, though threads
# go to another processor and back.
mkfifo "$TMP/slow"
{
	until [ -e "$TMP/done" ]; do
		sleep 0.05
	done
	cat
} <"$TMP/slow" >"$TMP/hits" &
helpers=("$!")
run_up --buffer 64KiB -o "$TMP/slow" -e 'probe ./t_burst:draw < printf("%060d\n", arg0) > on return <
	out = count()
	if (retval - arg1 != entry.arg0) < wrong = count() >
>' -c "sh -c './t_burst 1500 8 move; : >$TMP/done'"
wait "${helpers[0]}"
helpers=()
expect_status 0
expect_line '^wrong: nothing$' "$TMP/hits"
handled=$(sed -nE 's/^([0-9]+) hits handled, 0 filtered, [0-9]+ lost in .*/\1/p' "$TMP/err")
lost=$(sed -nE 's/^[0-9]+ hits handled, 0 filtered, ([0-9]+) lost in .*/\1/p' "$TMP/err")
others=$(sed -nE 's/^of the lost, up to ([0-9]+) may be .*/\1/p' "$TMP/err")
unpaired=$(sed -nE 's/^([0-9]+) returns? (came from|were left out|was left out).*/\1/p' "$TMP/err" | awk '{ sum += $1 } END { print sum + 0 }')
out=$(sed -nE 's/^out = //p' "$TMP/hits")
# At least what the first buffer held is handled, so there is much to judge.
[ "$out" -ge 500 ] || fail "$out pairs are too few to tell"
expect_eq "handled" "$handled" $(($(grep -c '^0' "$TMP/hits") + out))
[ "${lost:-0}" -gt 0 ] || fail "the slow reader lost nothing"
# Of the lost, the hits are exactly those that were not handled.
lost_hits=$((24000 - handled - unpaired))
[ "$lost_hits" -le "$lost" ] && [ "$lost_hits" -ge $((lost - ${others:-0})) ] ||
	fail "$lost_hits hits lost, but $lost said to be, $others of them perhaps other records"

nothing_left
