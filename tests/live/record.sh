# Recording and replaying: the recorded program and other ones, without the program that was probed, as another user;
# what trace-cmd sees; what a recording lacks; losses; recordings that were not ended, and files that are none.
. "${BASH_SOURCE[0]%/*}/lib.sh"
need_tracefs
need_program trace-cmd
prog=$TMP/prog
cp "$TARGETS/t_add" "$prog"

# Everything that is known of these calls, from a recording of them, with the program gone.
cat >"$TMP/names.up" <<'END'
const LIMIT = 5
fn twice(n) = n * 2
END
cat >"$TMP/script.up" <<'END'
use names
param by = 1
probe $1:add < print(arg0:s32, arg1:s32, by, LIMIT) > on return < print(retval:s32) >
probe $1:fib < n = n + 1; calls = count() by twice(arg0:s32) > on return < d[depth] += 1; r = max(retval:s32) >
probe $1:bump < print(arg1:s32, @(arg0):s32) >
on end < print(n); show(d) >
END
run_up record -o "$TMP/it.dat" -c "$prog" "$TMP/script.up" "$prog" --by=7
expect_status 0
expect_line '^[0-9]+ events recorded, 0 lost' err
cp "$TMP/out" "$TMP/program"
[ ! -e "$TMP/it.dat.cpu0" ] || fail "a file beside the recording is left"
expect_eq "mode of the recording" "$(stat -c %a "$TMP/it.dat")" 600
rm "$prog" "$TMP/names.up" "$TMP/script.up"
chmod 755 "$TMP"
chmod 644 "$TMP/it.dat"
run_up replay "$TMP/it.dat"
expect_status 0
expect_count 7 'prog:add arg0:s32='
expect_count 7 'prog:add return retval:s32='
expect_line 'prog:add arg0:s32=1 arg1:s32=2 by=7 LIMIT=5$'
expect_line 'prog:add return retval:s32=3$'
expect_count 3 'prog:bump arg1:s32=[0-9-]+ @\(arg0\):s32='
expect_line ' n=15$'
expect_line '^  0 +1$'
expect_line '^  1 +2$'
expect_line 'r = 5$'
expect_line '^47 hits handled, 0 filtered, 0 lost' err
expect_no_line 'unpaired|made no sense|cut off' err

# The same as a user who may do nothing else, and by another program.
if command -v setpriv >/dev/null; then
	cp "$UPTICK" "$TMP/uptick"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$TMP/uptick" replay -q "$TMP/it.dat" >"$TMP/nobody"
	cmp -s <(sed 's/uptick\[[0-9]*\]//' "$TMP/out") <(sed 's/uptick\[[0-9]*\]//' "$TMP/nobody") ||
		fail "another user gets something else"
fi
cat >"$TMP/other.up" <<'END'
probe prog:fib as f when (arg0:s32 > 1) < s = sum(arg0:s32) >
on return < h = hist(elapsed); print(pid == tid, comm, retval:s32, entry.arg0:s32) >
END
run_up replay -f json "$TMP/it.dat" "$TMP/other.up"
expect_status 0
expect_count 7 '"probe":"f","return":true'
expect_line '"pid == tid":true,"comm":"prog","retval:s32":5,"entry.arg0:s32":5'
expect_line '"handled":14,"filtered":16'

# A narrower part of what was recorded, two probes on one place, -n.
run_up replay "$TMP/it.dat" -n 4 -e 'probe prog:add < print(arg0:u8) > probe prog:add as again < print(arg1:x16) >'
expect_status 0
expect_count 2 'prog:add arg0:u8=(1|255)$'
expect_count 2 'again arg1:x16=0x[21]$'

# The other reader.
trace-cmd report -i "$TMP/it.dat" >"$TMP/report"
expect_count 7 ' add: +\([0-9a-f]+\) site=0 ' "$TMP/report"
expect_count 15 ' fib__return: ' "$TMP/report"
expect_line ' add: .* di=1 si=2' "$TMP/report"
expect_line ' sched_process_exit: ' "$TMP/report"

# What is not in it.
run_up replay "$TMP/it.dat" -e 'probe prog:add < print(reg.bx) >'
expect_status 2
expect_line 'error\[not-recorded\]: the recording lacks `reg.bx` of add: nothing in it was fetched as %bx:x64' err
expect_line "^hint: record it: uptick record -o FILE -e 'probe prog:add < print\(reg.bx\) >'" err
run_up replay "$TMP/it.dat" -e 'probe prog:bump < count() > on return < count() >'
expect_status 2
expect_line 'error\[not-recorded\]: the recording has no returns of bump' err
run_up replay "$TMP/it.dat" -e 'probe prog:ping < count() >'
expect_status 2
expect_line 'error\[symbol\]: the recording has no hits of ping in prog' err
run_up replay "$TMP/it.dat" -e 'probe libc:malloc < count() >'
expect_status 2
expect_line 'error\[object\]: the recording has no hits in libc' err

# Conditions that the kernel judged: the same program gets the same, another one is told.
run_up record -o "$TMP/f.dat" -c "$TARGETS/t_add" -e "probe $TARGETS/t_add:fib when (arg0:s32 > 2) < count() >"
expect_status 0
run_up replay "$TMP/f.dat"
expect_line 'count\(\) = 4$'
expect_no_line 'warning' err
run_up replay "$TMP/f.dat" -e 'probe t_add:fib < count() >'
expect_status 0
expect_line 'warning\[partly-recorded\]: the recording has only those hits of fib for which' err

# A process that runs already, of several: only its hits, at the intervals at which they were.
"$TARGETS/t_ticker" &
helpers=($!)
"$TARGETS/t_ticker" &
helpers+=($!)
run_up record -o "$TMP/p.dat" -d 1700ms -p "${helpers[0]}" -e "probe $TARGETS/t_ticker:tick < count() >"
expect_status 0
run_up replay "$TMP/p.dat" -e 'probe t_ticker:tick < n += 1; by_pid = count() by pid > on every 500ms < print(n) >'
expect_status 0
expect_count 3 ' n=[0-9]+$'
expect_count 1 "^  ${helpers[0]} +[1-9][0-9]*$"
total=$(awk -v pid="${helpers[0]}" '$1 == pid { print $2 }' "$TMP/out")
expect_eq "hits of -d" "$(sed -n 's/.* n=//p' "$TMP/out" | sort -n | tail -n 1 | awk -v t="$total" '{ print ($1 <= t && $1 >= t / 2) }')" 1

# Probes that stand elsewhere than on entries, and returns seen at exits: as they were without a recording.
cat >"$TMP/throw.up" <<'END'
probe $1:* < calls = count() by func; at = sum(offset == "+0x0") >
on return when (elapsed > 0) < returns = count() by func; deepest = max(depth) by func; p = uniq(ip) by func >
END
run_up -q -c "$TARGETS/t_throw" "$TMP/throw.up" "$TARGETS/t_throw"
expect_status 0
sed -n '/ by func$/,$p' "$TMP/out" >"$TMP/live"
expect_line '^  catches +[1-9]' "$TMP/live"
run_up record -q -o "$TMP/throw.dat" -c "$TARGETS/t_throw" "$TMP/throw.up" "$TARGETS/t_throw"
expect_status 0
run_up replay -q "$TMP/throw.dat"
expect_status 0
sed -n '/ by func$/,$p' "$TMP/out" >"$TMP/replayed"
cmp -s "$TMP/live" "$TMP/replayed" || fail "replayed is something else: $(diff "$TMP/live" "$TMP/replayed")"

# While it is being made it can be read as well: so is what a killed one leaves.
start_up record -o "$TMP/live.dat" --buffer 64KiB -e "probe $TARGETS/t_burst:* < count() >"
wait_armed
"$TARGETS/t_burst" >/dev/null
wait_for pages test -s "$TMP/live.dat.cpu0" -o -s "$TMP/live.dat.cpu1"
mkdir "$TMP/copy"
cp "$TMP"/live.dat* "$TMP/copy"
end_up
expect_status 0
lost=$(sed -n 's/.* recorded, \([0-9]*\) lost.*/\1/p' "$TMP/err")
run_up replay "$TMP/live.dat"
expect_status 0
whole=$(sed -n 's/ hits handled.*//p' "$TMP/err")
expect_line "^$whole hits handled, 0 filtered, $lost lost" err
run_up replay "$TMP/copy/live.dat"
expect_status 0
expect_line 'was not ended: its last events are missing' err
part=$(sed -n 's/ hits handled.*//p' "$TMP/err")
[ "$part" -gt 0 ] && [ "$part" -le "$whole" ] || fail "$part hits of $whole before the end"

# Of buffers that were overrun the kernel may not tell any more when they fill: here it is told not to.
recorded()
{
	cat "$TMP"/over.dat.cpu* | wc -c
}
has_grown()
{
	[ "$(recorded)" -gt "$before" ]
}
start_up record -o "$TMP/over.dat" --buffer 64KiB -e "probe $TARGETS/t_burst:draw < count() >"
wait_armed
kill -STOP "$up_pid"
"$TARGETS/t_burst" >/dev/null
kill -CONT "$up_pid"
wait_for "word of the losses" grep -q 'lost [1-9]' "$TMP/err"
echo 100 >"$(echo "$tracing"/instances/uptick*)/buffer_percent"
for i in 1 2 3; do
	before=$(recorded)
	"$TARGETS/t_burst" 4 1 >/dev/null
	wait_for "look $i that nobody asked for" has_grown
done
end_up
expect_status 0

# The kernel is asked how full its buffers are only where its warnings are no more than lines in its log.
[ -z "${UPTICK_GUEST:-}" ] || for is_set in 0 1; do
	echo "$is_set" >/proc/sys/kernel/traceoff_on_warning
	start_up record -o "$TMP/w.dat" -e "probe $TARGETS/t_add:* < count() >"
	wait_armed
	expect_eq "percents" "$(cat "$tracing"/instances/uptick*/buffer_percent)" "$((is_set ? 0 : 25))"
	"$TARGETS/t_add" >/dev/null
	end_up
	expect_status 0
	run_up replay "$TMP/w.dat"
	expect_status 0
	expect_line ': count\(\) = [1-9]'
	echo 0 >/proc/sys/kernel/traceoff_on_warning
done

# Cut off at any byte: an error, or some of it and a word about the rest.
size=$(stat -c %s "$TMP/it.dat")
for at in 0 5 20 100 300 1000 2000 4000 8000 20000 60000 70000 100000 $((size - 1)); do
	[ "$at" -lt "$size" ] || continue
	head -c "$at" "$TMP/it.dat" >"$TMP/cut.dat"
	run_up replay "$TMP/cut.dat"
	if [ "$status" = 0 ]; then
		expect_line 'is cut off: [0-9]+ bytes of events are missing' err
	else
		expect_status 1
		expect_line 'uptick: cannot replay .*: it ' err
	fi
done
for file in /dev/null /etc/passwd "$UPTICK" /dev /nowhere; do
	run_up replay "$file"
	expect_status 1
	expect_line 'uptick: cannot replay ' err
done
run_up record -e "probe $TARGETS/t_add:add < count() >"
expect_status 2
expect_line 'give it with -o FILE' err
run_up record -o /dev/null -e "probe $TARGETS/t_add:add < count() >" -c "$TARGETS/t_add"
expect_status 1
expect_line 'cannot write the recording /dev/null: it must be a file' err
run_up replay
expect_status 2
nothing_left
