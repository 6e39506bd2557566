# Whose calls are seen: of -c and its children, of -p with its threads and, if asked, its children, and of nobody else.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program mkfifo pgrep
cd "$TARGETS"

who='probe ./t_procs:work < printf("%d %d %d\n", pid, tid, arg0:s32) >'

# Starts a t_procs that obeys `tell`; what it prints goes to $TMP/truth.
start_target()
{
	mkfifo "$TMP/orders"
	./t_procs "$@" - <"$TMP/orders" >"$TMP/truth" &
	target=$!
	exec 7>"$TMP/orders"
	rm "$TMP/orders"
	nr_told=0
}

has_answered()
{
	[ "$(grep -c '^done$' "$TMP/truth")" -ge "$nr_told" ]
}

tell()
{
	local order
	for order; do
		nr_told=$((nr_told + 1))
		echo "$order" >&7
		wait_for "answer to $order" has_answered
	done
}

# What the target has printed, but for the answers.
told_truth()
{
	grep -v '^done$' "$TMP/truth"
}

stop_target()
{
	echo 'exit 0' >&7
	exec 7>&-
	wait "$target"
}

# --- -c -------------------------------------------------------------------------------------------

# Threads run at the same time: their lines are printed in another order than their calls were made in.
run_up -o "$TMP/hits" -e "$who" -c "./t_procs 'work 2' 'fork 3' 'spawn 4' 'thread 5' 'threads 6' helper 'help 7' 'born 8'"
expect_status 0
expect_count 53 . "$TMP/hits"
expect_eq "who called" "$(sort "$TMP/hits")" "$(sort "$TMP/out")"
expect_no_line 'could not be read' err

# The same program beside it is not counted, and goes on.
start_target silent
run_up -o "$TMP/hits" -e "$who" -c "sh -c 'echo work 50 >/proc/$$/fd/7; echo fork 50 >/proc/$$/fd/7; ./t_procs \"fork 3\"; sleep 0.2'"
expect_status 0
expect_count 3 . "$TMP/hits"
expect_eq "who called" "$(sort "$TMP/hits")" "$(sort "$TMP/out")"
nr_told=2
wait_for "answer from beside" has_answered
stop_target

# A library that everybody uses: the same number every time.
counts=$(for run in 1 2 3; do
	run_up -o "$TMP/hits" -e 'probe libc:malloc, libc:calloc < n = count() >' -c "./t_procs 'threads 5' 'fork 5'"
	sed -n 's/^n = //p' "$TMP/hits"
done)
expect_eq "number of counts" "$(wc -w <<<"$counts")" 3
expect_eq "different counts" "$(sort -u <<<"$counts" | wc -l)" 1
[ "$counts" != $'0\n0\n0' ] || fail "no call of malloc"

# --- exit statuses --------------------------------------------------------------------------------

for code in 0 3 255; do
	run_up -e 'probe ./t_procs:work < count() >' -c "./t_procs 'work 1' 'exit $code'"
	expect_status $code
	expect_line 'count\(\) = 1$'
done
ANY_ENDING=1 run_up -e 'probe ./t_procs:work < count() >' -c "./t_procs 'work 1' 'raise 9'"
expect_status 137
expect_line 'count\(\) = 1$'

run_up -e 'probe ./t_procs:work < count() >' -c 'no-such-program --at-all'
expect_status 1
expect_line '^uptick: .*no-such-program' err
echo 'echo' >"$TMP/plain"
run_up -e 'probe ./t_procs:work < count() >' -c "$TMP/plain"
expect_status 1
expect_line "^uptick: .*$TMP/plain.*: .*([Pp]ermission|executable)" err
run_up -e 'probe ./t_procs:work < count() >' -c "'"
expect_status 2

# --- -p -------------------------------------------------------------------------------------------

# All threads, those of before and those to come, and no other process; the run ends with the process.
start_target helper
start_up -o "$TMP/hits" -e "$who" -p "$target"
wait_armed
tell 'work 1' 'help 2' 'thread 3' 'threads 4' 'born 5'
told_truth >"$TMP/want"
tell 'fork 6' 'spawn 7' silent
stop_target
RUN_LIMIT=5 await_up
expect_status 0
expect_count 27 . "$TMP/want"
expect_eq "threads of -p" "$(sort "$TMP/hits")" "$(sort "$TMP/want")"

# With --children also the processes that it starts, from whichever thread.
start_target helper
start_up -o "$TMP/hits" -e "$who" -p "$target" --children
wait_armed
tell 'work 1' 'help 2' 'fork 3' 'spawn 4' 'born 5' 'threads 6'
./t_procs 'work 9' >/dev/null
told_truth >"$TMP/want"
stop_target
RUN_LIMIT=5 await_up
expect_status 0
expect_count 39 . "$TMP/want"
expect_eq "threads and children of -p" "$(sort "$TMP/hits")" "$(sort "$TMP/want")"
expect_no_line 'could not be read' err

run_up -e 'probe ./t_procs:work < count() >' -p "$target"
expect_status 1
expect_line '^uptick: .*no such process' err

# --- ourselves ------------------------------------------------------------------------------------

# What uptick does to trace is no part of the trace, however common the function.
start_up -o "$TMP/hits" -e 'probe libc:malloc, libc:write < printf("%s %d\n", comm, tid) >'
wait_armed
keeper=$(pgrep -P "$up_pid" | head -n 1)
sleep 0.5
end_up
expect_status 0
expect_eq "hits of uptick and its keeper" "$(grep -cE " ($up_pid|$keeper)\$" "$TMP/hits" || true)" 0

nothing_left
