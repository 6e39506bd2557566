# The kernel's text gives the same as its binary records: live through trace_pipe, and saved, as anybody reads it later.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
cd "$TARGETS"

# Output without what differs between two runs: times, threads, addresses.
strip()
{
	sed -E 's/^[0-9:.]+ //; s/\[[0-9]+\] */[] /; s/0x[0-9a-f]+/0x/g' "$1"
}

# --- live -----------------------------------------------------------------------------------------

# Strings and names that mean trouble: the names have newlines, quotes, control bytes.
program='probe ./t_strings:say < print(arg0:string, comm, arg0:u8) > on return < print(retval:s32, comm)
	n = count() by comm, retval:u8 >'
for source in raw pipe; do
	run_up --source $source -o "$TMP/hits" -e "$program" -c ./t_strings
	expect_status 0
	expect_line '^40 hits handled, 0 filtered, 0 lost in ' err
	expect_no_line 'could not be read|out of time order' err
	strip "$TMP/hits" >"$TMP/$source"
done
expect_line 'comm="two\\nlines"' "$TMP/pipe"
expect_line 'comm="\\"quo\\\\ted"' "$TMP/pipe"
cmp -s "$TMP/raw" "$TMP/pipe" || fail "raw and pipe differ: $(diff "$TMP/raw" "$TMP/pipe" | head)"

# Numbers of all types, arrays and bytes.
program='probe ./t_types:* < print(func, arg0, arg1, arg2:s16, arg3:x32, reg.sp:x64) > on return < print(func, retval:u8) >'
for source in raw pipe; do
	run_up --source $source -f json -o "$TMP/hits" -e "$program" -c 'setarch -R ./t_types'
	expect_status 0
	jq -c 'select(.type == "print") | [.probe, .return, .comm, .values]' "$TMP/hits" >"$TMP/$source"
done
[ "$(wc -l <"$TMP/pipe")" -gt 10 ] || fail "only $(wc -l <"$TMP/pipe") hits"
cmp -s "$TMP/raw" "$TMP/pipe" || fail "raw and pipe differ: $(diff "$TMP/raw" "$TMP/pipe" | head)"

# In the true order, on all CPUs, and pairs are pairs, of threads that move, too.
run_up --source pipe -f json -o "$TMP/hits" -e 'probe ./t_burst:draw < print(arg0, cpu) > on return <
	print(retval - arg1, entry.arg0); if (cpu != entry.cpu) < moved = count() > >' -c './t_burst 500 8 move'
expect_line '^8000 hits handled, 0 filtered, 0 lost in ' err
expect_no_line 'not seen|out of time order|without a return|could not be read' err
jq -r 'select(.type == "print") | if .return then .values["retval - arg1"], .values["entry.arg0"] else .values.arg0 end' \
	"$TMP/hits" >"$TMP/tickets"
for ((i = 0; i < 4000; i++)); do
	printf '%d\n%d\n%d\n' $i $i $i
done | cmp -s - "$TMP/tickets" || fail "tickets of threads that move out of order"

# Every hit is counted though most are lost; events of one site each; the end after so many.
start_up --source pipe --buffer 64KiB -f json -o "$TMP/hits" -e 'probe ./t_burst:draw < n = count() >'
wait_armed
kill -STOP "$up_pid"
./t_burst >"$TMP/target"
kill -CONT "$up_pid"
end_up
jq -e -s 'map(select(.type == "end"))[0] | .lost > 0 and .handled + .lost == 12000' "$TMP/hits" \
	>"$TMP/verdict" || fail "the sum does not close: $(tail -n 1 "$TMP/hits")"
run_up --source pipe --single-sites -e 'probe ./t_burst:draw, ./t_burst:main < n = count() by func >' -c './t_burst 50 2'
expect_line '^101 hits handled, 0 filtered, 0 lost in ' err
expect_line '^  draw  100$'
run_up --source pipe -n 5 -e 'probe ./t_burst:draw < print(arg0) >' -c './t_burst 50 2'
expect_count 5 't_burst:draw arg0='
nothing_left

# --- saved ----------------------------------------------------------------------------------------

# While uptick sleeps the kernel's text is copied; then both are read, and show the same hits at the same times.
program='probe ./t_strings:say < print(arg0:string, comm, ip) > on return < print(retval, elapsed) >
	probe ./t_strings:say when (arg0:u8 > 3) < n = count() by comm, pid; h = hist(arg0:u8) >'
start_up -f json -o "$TMP/hits" -e "$program"
wait_armed
kill -STOP "$up_pid"
./t_strings
cat "$tracing"/instances/uptick_"$up_pid"*/trace >"$TMP/saved"
kill -CONT "$up_pid"
end_up
expect_line 'hits handled, 0 filtered, 0 lost in ' err
# The kernel rounds to microseconds.
flatten='select(.type != "end") | del(.wall)
	| if .time then .time = ((.time + 500) / 1000 | floor) else . end
	| if .values.elapsed then .values.elapsed = 0 else . end
	| if .rows then .rows = (.rows | sort_by(.key)) else . end'
jq -c "$flatten" "$TMP/hits" >"$TMP/raw"
cp "$TMP/saved" "$TMP/as-it-was"

# Anybody reads it: in a file, or as it comes, without the program, without tracefs.
reader=(setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs)
chmod 755 "$TMP"
"${reader[@]}" "$UPTICK" -f json --source "$TMP/saved" -e "$program" >"$TMP/out" 2>"$TMP/err" || fail "cannot read it"
jq -c "$flatten" "$TMP/out" >"$TMP/text"
cmp -s "$TMP/raw" "$TMP/text" || fail "raw and saved text differ: $(diff "$TMP/raw" "$TMP/text" | head)"
expect_line '^[0-9]+ hits handled, 0 filtered, 0 lost in ' err
expect_no_line 'could not be read' err
mkdir "$TMP/empty"
cd "$TMP/empty"
"$UPTICK" -f json --source - -e "$program" <"$TMP/saved" >"$TMP/out" 2>"$TMP/err" || fail "cannot read it without the program"
jq -c "$flatten" "$TMP/out" >"$TMP/text"
# (Nobody knows here how far behind the entry the probe stood.)
for kind in raw text; do
	jq -c 'del(.values.ip)' "$TMP/$kind" >"$TMP/$kind.less"
done
cmp -s "$TMP/raw.less" "$TMP/text.less" ||
	fail "raw and text without the program differ: $(diff "$TMP/raw.less" "$TMP/text.less" | head)"
cd "$TARGETS"

# Of one process; other events between, a loss, a line that is cut: counted. (Among the lines are also those of any
# process of the machine that began or ended meanwhile.)
pid=$(jq -r 'select(.type == "print") | .tid' "$TMP/hits" | head -n 1)
{
	head -n 20 "$TMP/saved"
	echo 'CPU:0 [LOST 12 EVENTS]'
	echo '            bash-1234    [003] d..2.  1234.567890: sched_switch: prev_comm=bash'
	awk 'NR > 20 && / say: / { print substr($0, 1, 90); exit }' "$TMP/saved"
} >"$TMP/cut"
run_up --source "$TMP/cut" -e "$program" -p "$pid"
expect_line ', 12 lost in ' err
expect_line '^1 line of the text could not be read: line 23$' err
expect_line '^1 event that no probe is for was passed over$' err

# What cannot be said of text is said.
run_up --source "$TMP/nothing" -e "$program"
expect_status 1
expect_line 'cannot read the trace text .*nothing: No such file' err
run_up --source "$TMP/saved" -e 'probe nothere:f* < count() >'
expect_status 2
expect_line 'the text does not say which functions there were' err
run_up --source "$TMP/saved" -e "$program" -c ./t_strings
expect_status 2
nothing_left
