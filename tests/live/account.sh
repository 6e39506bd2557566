# The account of hits closes: what the kernel counted is what was handled, filtered, rejected, lost and so on, to the last
# hit, also where the buffer is far too small; and losses are told of.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
cd "$TARGETS"

end='select(.type == "end")'
terms='.handled + .filtered + .rejected + .lost + .unpaired + .outside + .left_out + .missing'

# Older kernels count hits with one counter for all processors, which misses some that come at the same moment.
is_racy=
read -r major minor <<<"$(uname -r | sed -E 's/^([0-9]+)\.([0-9]+).*/\1 \2/')"
[ "$(nproc)" -eq 1 ] || [ $((major * 1000 + minor)) -ge 6012 ] || is_racy=1

# What the last line of JSON says.
ask()
{
	jq -r "$end | $1" "$TMP/hits"
}

# The hits are $1, or where the kernel misses some nearly so.
expect_hits()
{
	if [ -z "$is_racy" ]; then
		expect_eq "hits" "$(ask .hits)" "$1"
	else
		[ "$(ask .hits)" -le "$1" ] && [ "$(ask .hits)" -ge $(($1 * 9 / 10)) ] || fail "$(ask .hits) hits of $1"
	fi
}

# The sum closes, and is $1 if that is known. $2: the exit status; $3: whether its terms are exact.
check_sum()
{
	expect_status "${2:-0}"
	[ "${3:-true}" = any ] || [ -n "$is_racy" ] || expect_eq "exact" "$(ask .exact)" true
	expect_eq "sum" "$(ask "$terms")" "$(ask .hits)"
	[ -z "$1" ] || expect_hits "$1"
	expect_eq "lost on the processors" "$(ask '[.lost_on[].records] | add // 0')" "$(ask '.lost + .lost_threads - .lost_growing')"
}

# Runs a target while uptick is stopped, so that it reads nothing.
unread="sh -c 'kill -STOP \$PPID; ./t_storm calls 2 10000 >/dev/null; kill -CONT \$PPID; sleep 0.3'"

# --- nothing is lost ------------------------------------------------------------------------------

run_up -o "$TMP/hits" -f json -e 'probe ./t_storm:hit < n = count() >' -c './t_storm calls 2 2000'
check_sum 4000
expect_eq "handled" "$(ask .handled)" 4000

run_up -o "$TMP/hits" -f json -e 'probe ./t_storm:hit when ((arg2 & 1) == 0 && arg0 > 3) < n = count() >' -c './t_storm calls 2 2000'
check_sum 4000
[ -n "$is_racy" ] || expect_eq "rejected" "$(ask .rejected)" 2000

run_up -o "$TMP/hits" -f json --no-kernel-filter -e 'probe ./t_storm:hit when ((arg2 & 1) == 0) < n = count() >' -c './t_storm calls 2 2000'
check_sum 4000
expect_eq "filtered" "$(ask .filtered)" 2000

# The end is made by the script, in the middle of everything.
run_up -o "$TMP/hits" -f json -n 100 -e 'probe ./t_storm:hit < n = count() >' -c './t_storm calls 2 2000'
check_sum ''
expect_eq "handled" "$(ask .handled)" 100
run_up -o "$TMP/hits" -f json -e 'probe ./t_storm:hit when ((arg2 & 1) == 0) < n += 1; if (n == 100) < stop(3) > >' -c './t_storm calls 2 2000'
check_sum '' 3 any # hits go on while recording ends, and who knows which of them would have been rejected
expect_eq "handled" "$(ask .handled)" 100

# Two at once, whose events have one name: each counts its own.
start_up -o "$TMP/other" -f json -e 'probe ./t_storm:hit < n = count() >'
wait_armed
other=$up_pid up_pid=
run_up -o "$TMP/hits" -f json -e 'probe ./t_storm:hit when ((arg2 & 1) == 0) < n = count() >' -c './t_storm calls 2 1000'
check_sum 2000
[ -n "$is_racy" ] || expect_eq "rejected" "$(ask .rejected)" 1000
up_pid=$other
end_up
mv "$TMP/other" "$TMP/hits"
check_sum 2000
expect_eq "handled" "$(ask .handled)" 2000

# --- much is lost ---------------------------------------------------------------------------------

run_up --buffer 64KiB -o "$TMP/hits" -f json -e 'probe ./t_storm:hit < n = count() >' -c "$unread"
check_sum 20000
[ "$(ask .lost)" -gt 8000 ] || fail "only $(ask .lost) were lost"
expect_eq "counted" "$(jq 'select(.name == "n") | .value' "$TMP/hits")" "$(ask .handled)"
# It was told of while the run went on, once.
expect_count 1 '^{"type":"lost","time":[0-9]+,.*"buffer_kib":64}$' "$TMP/hits"
expect_line '^uptick: lost [0-9]+ on CPU [0-9]+.*; the buffer has 64 KiB for each CPU: .*--buffer SIZE' err

run_up --buffer 64KiB -o "$TMP/hits" -f json -e 'probe ./t_storm:hit when ((arg2 & 1) == 0) < n = count() >' -c "$unread"
check_sum 20000
[ "$(ask .lost)" -gt 1000 ] || fail "only $(ask .lost) were lost"

# Text says the same.
run_up --buffer 64KiB -e 'probe ./t_storm:hit < n = count() >' -c "$unread"
handled=$(sed -nE 's/^([0-9]+) hits handled, .*/\1/p' "$TMP/err")
expect_line "^(about )?20000 hits = $handled handled \+ $((20000 - handled)) lost\$" err
expect_count 2 '^(uptick: )?lost [0-9]+ on CPU ' err

# Pairs: each return finds its own entry, or is left out.
run_up --buffer 64KiB -o "$TMP/hits" -f json -e 'probe ./t_storm:hit < > on return < n = count(); if (retval:u64 != (entry.arg0 << 32 | entry.arg1)) < wrong = count() > >' \
	-c "$unread"
expect_eq "sum" "$(ask "$terms")" "$(ask .hits)"
most=$(ask .hits) least=$(ask '.hits - .lost_not_hits')
[ "$least" -le 40000 ] && [ "$most" -ge 40000 ] || fail "40000 hits are not $least to $most"
expect_eq "wrong pairs" "$(jq 'select(.name == "wrong") | .value' "$TMP/hits")" null

# A buffer whose size was not asked for grows, once: records of two kilobytes fill it soon. What is traced goes on
# meanwhile, and the sum closes all the same.
run_up -o "$TMP/hits" -f json -e 'probe ./t_storm:hit < n = count(); if (stack:bytes[2000] == "") < never = count() > >' \
	-c "sh -c 'kill -STOP \$PPID; ./t_storm calls 2 8000 >/dev/null; kill -CONT \$PPID; ./t_storm run 2 300 >$TMP/more'"
check_sum '' 0 any
[ "$(ask .lost)" -gt 1000 ] || fail "only $(ask .lost) were lost"
[ "$(jq -s 'map(select(.type == "lost"))[-1].buffer_kib' "$TMP/hits")" -gt 4096 ] || fail "the buffer has not grown"
expect_line '^uptick: lost .*; the buffer has grown to [0-9]+ KiB for each CPU' err
expect_hits $((16000 + $(cat "$TMP/more")))

# --- an end in the middle of it, at full speed ----------------------------------------------------

./t_storm run 2 30000 >/dev/null &
target=$!
helpers=("$target")
for how in "-p $target" ""; do
	for buffer in 64KiB 4MiB; do
		# shellcheck disable=SC2086 # words
		start_up --buffer $buffer -o "$TMP/hits" -f json -e 'probe ./t_storm:hit < n = count() >' $how
		wait_armed
		sleep 0.2
		end_up
		check_sum ''
		[ "$(ask .handled)" -gt 100 ] || fail "only $(ask .handled) hits"
	done
done
kill "$target"
wait "$target" || true
helpers=()

nothing_left
