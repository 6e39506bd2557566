# Many hits at once, on all CPUs: printed in their true order; and what the buffers could not hold is counted.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program mkfifo jq
cd "$TARGETS"
total=12000

# --- nothing is lost, and everything in order -----------------------------------------------------

run_up -o "$TMP/hits" -e 'probe ./t_burst:draw < printf("%d\n", arg0) >' -c ./t_burst
expect_status 0
expect_line "^$total hits handled, 0 filtered, 0 lost in " err
expect_no_line 'out of time order' err
seq 0 $((total - 1)) | cmp -s - "$TMP/hits" || fail "tickets out of order: $(seq 0 $((total - 1)) | diff - "$TMP/hits" | head)"

# Pairs of entry and return, on all CPUs: every return its own ticket.
run_up -o "$TMP/hits" -e 'probe ./t_burst:draw < in = count() > on return <
	out = count() by arg1; if (retval - arg1 != entry.arg0) < wrong = count() > >' -c ./t_burst
expect_line "^$((2 * total)) hits handled, 0 filtered, 0 lost in " err
expect_eq "pairs" "$(cat "$TMP/hits")" "in = $total

out by arg1
  0  3000
  1  3000
  2  3000
  3  3000
wrong: nothing"

# Eight threads; and threads that change the processor between the entry and the return: the order is the same, and
# the pairs are pairs.
run_up -o "$TMP/hits" -e 'probe ./t_burst:draw < printf("%d\n", arg0) >' -c './t_burst 1000 8'
expect_line '^8000 hits handled, 0 filtered, 0 lost in ' err
seq 0 7999 | cmp -s - "$TMP/hits" || fail "tickets of eight threads out of order"
run_up -f json -o "$TMP/hits" -e 'probe ./t_burst:draw < print(arg0, cpu) > on return <
	print(retval - arg1, entry.arg0); if (cpu != entry.cpu) < moved = count() > >' -c './t_burst 500 8 move'
expect_line '^8000 hits handled, 0 filtered, 0 lost in ' err
expect_no_line 'not seen|out of time order|without a return' err
jq -r 'select(.type == "print") | if .return then .values["retval - arg1"], .values["entry.arg0"] else .values.arg0 end' \
	"$TMP/hits" >"$TMP/tickets"
for ((i = 0; i < 4000; i++)); do
	printf '%d\n%d\n%d\n' $i $i $i
done | cmp -s - "$TMP/tickets" || fail "tickets of threads that move out of order"
moved=$(jq -r 'select(.name == "moved") | .value' "$TMP/hits")
[ "$(nproc)" -eq 1 ] || [ "$moved" -gt 100 ] || fail "only $moved calls ended on another processor"

# --- more than the buffers hold -------------------------------------------------------------------

# Starts a reader of the output, a FIFO, that begins when the target has ended. What it reads is in $TMP/hits.
start_reader()
{
	rm -f "$TMP/slow" "$TMP/done"
	mkfifo "$TMP/slow"
	{
		until [ -e "$TMP/done" ]; do
			sleep 0.05
		done
		cat
	} <"$TMP/slow" >"$TMP/hits" &
	reader=$!
	helpers=("$reader")
}

slow_total=24000
slow_target="sh -c './t_burst $((slow_total / 4)); : >$TMP/done'"

start_reader
run_up --buffer 64KiB -o "$TMP/slow" -e 'probe ./t_burst:draw < printf("ticket %060d\n", arg0) >' -c "$slow_target"
wait "$reader"
expect_status 0
lost=$(sed -nE 's/^[0-9]+ hits handled, 0 filtered, ([0-9]+) lost in .*/\1/p' "$TMP/err")
handled=$(sed -nE 's/^([0-9]+) hits handled, .*/\1/p' "$TMP/err")
[ "${lost:-0}" -gt 0 ] || fail "the slow reader lost nothing"
expect_eq "lines" "$(wc -l <"$TMP/hits")" "$handled"
expect_eq "handled and lost" $((handled + lost)) $slow_total
sort -c -u "$TMP/hits" || fail "tickets out of order"
echo "$handled handled, $lost lost"

# The same for counts: what was counted and what was lost make the whole, in JSON too.
start_reader
run_up --buffer 64KiB -f json -q -o "$TMP/slow" -e 'probe ./t_burst:draw < n = count(); print(arg0) >' -c "$slow_target"
wait "$reader"
helpers=()
counted=$(sed -nE 's/.*"type":"aggregation","name":"n",.*"value":([0-9]+).*/\1/p' "$TMP/hits")
lost=$(sed -nE 's/.*"type":"end",.*"lost":([0-9]+).*/\1/p' "$TMP/hits")
[ "${lost:-0}" -gt 0 ] || fail "the slow reader lost nothing"
expect_eq "counted and lost" $((counted + lost)) $slow_total
expect_eq "printed" "$(grep -c '"type":"print"' "$TMP/hits")" "$counted"
# -q does not hide a loss.
expect_line " $lost lost in " err

nothing_left
