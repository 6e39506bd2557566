# uptick status and uptick clean: what the dead left is shown and removed, by the next run too; never what somebody may own.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program pgrep
# It leaves armed probes behind on purpose, which only a throw-away kernel is there for.
[ -n "${UPTICK_GUEST:-}" ] || skip "for the guest only"
cd "$TARGETS"
program='probe ./t_ticker:tick, ./t_many:f_0* < ticks = count() >'

run_up status
expect_line '^nothing of uptick.s is in the kernel$' err
run_up clean
expect_status 0
expect_line '^nothing to clean$' err

# A run and its keeper end at the same moment, with probes armed.
leave_behind()
{
	start_up -e "$program"
	wait_armed
	dead=$up_pid
	kill -STOP "$up_pid"
	kill -KILL "$(pgrep -P "$up_pid" -x uptick-keeper)"
	kill -KILL "$up_pid"
	wait "$up_pid" 2>/dev/null || true
	up_pid=
}

leave_behind
run_up status
expect_line "^uptick_$dead +$dead  gone +1  yes +-$"
expect_line 'uptick clean' err
run_up clean
expect_status 0
expect_line "^uptick_$dead: removed 1 event and its instance$"
nothing_left
run_up clean
expect_line '^nothing to clean$' err

# Two cleaners at once: both end well, one of them does it.
leave_behind
"$UPTICK" clean >"$TMP/first" 2>&1 &
cleaner=$!
run_up clean
expect_status 0
wait "$cleaner" || fail "the other cleaner failed: $(cat "$TMP/first")"
expect_eq "removals" "$(cat "$TMP/first" "$TMP/out" | grep -c "^uptick_$dead: removed")" 1
nothing_left

# A normal run does it, and says nothing of it.
leave_behind
run_up -e 'probe ./t_ticker:tick < ticks = count() >' -c './t_ticker 7'
expect_status 0
expect_line '^ticks = 7$'
expect_no_line "uptick_$dead" err
nothing_left

# Several runs at once with something to remove: all are right.
leave_behind
others=()
for i in 1 2 3; do
	"$UPTICK" -e 'probe ./t_ticker:tick < ticks = count() >' -c './t_ticker 7' >"$TMP/run$i" 2>&1 &
	others+=("$!")
done
for i in 1 2 3; do
	wait "${others[i - 1]}" || fail "run $i failed: $(cat "$TMP/run$i")"
	grep -qx 'ticks = 7' "$TMP/run$i" || fail "run $i: $(cat "$TMP/run$i")"
done
nothing_left

# A keeper that outlives its run does the work itself, and is waited for.
start_up -e "$program"
wait_armed
dead=$up_pid
keeper=$(pgrep -P "$up_pid" -x uptick-keeper)
kill -STOP "$keeper"
kill -KILL "$up_pid"
wait "$up_pid" 2>/dev/null || true
up_pid=
run_up status
expect_line "^uptick_$dead +$dead  ending +1  yes"
(sleep 1 && kill -CONT "$keeper") &
run_up clean
expect_status 0
nothing_left

# --- numbers that were used again -----------------------------------------------------------------

# Whoever is older than the instance may have made it, whatever it is called now.
sleep 60 &
helpers=("$!")
mkdir "$tracing/instances/uptick_${helpers[0]}"
run_up status
expect_line "^uptick_${helpers[0]} +${helpers[0]}  running "
run_up clean
expect_line '^nothing to clean$' err
[ -d "$tracing/instances/uptick_${helpers[0]}" ] || fail "the instance of a living process was removed"
rmdir "$tracing/instances/uptick_${helpers[0]}"

# Whoever is younger got the number later.
number=20000
mkdir "$tracing/instances/uptick_$number"
sleep 2.5
echo $((number - 1)) >/proc/sys/kernel/ns_last_pid
sleep 60 &
helpers+=("$!")
[ "$!" = "$number" ] || fail "got the process number $! instead of $number"
run_up status
expect_line "^uptick_$number +$number  gone +0  yes"
run_up clean
expect_status 0
expect_line "^uptick_$number: removed 0 events and its instance$"
[ ! -e "$tracing/instances/uptick_$number" ] || fail "the instance is still there"

# A file of the instance that somebody has open keeps it, and clean says so.
mkdir "$tracing/instances/uptick_29999"
exec 9<"$tracing/instances/uptick_29999/trace_pipe"
run_up clean
expect_status 1
expect_line 'still in use' err
exec 9<&-
run_up clean
expect_status 0
expect_line '^uptick_29999: removed'
nothing_left
