# A signal at any moment ends the run in time, with its results, and nothing stays behind.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program script mkfifo pgrep
cd "$TARGETS"

limit_ms=300 slowness=1
# Under emulation everything takes ten times as long, and the machine below has other things to do.
[ -z "${UPTICK_GUEST:-}" ] || limit_ms=4000 slowness=6
# A sanitized build looks for leaks as it ends, and is tested beside the guest: it shows what is right, not what is quick.
[ "$limit_ms" -gt 2000 ] || ! grep -qa __asan_init "$UPTICK" || limit_ms=2000
rounds=${ROUNDS:-16}

# Is process $1 uptick by now, and has it a handler for signal number $2?
is_caught()
{
	local mask
	grep -qsx uptick "/proc/$1/comm" || return 1
	mask=$(sed -n 's/^SigCgt:\t*//p' "/proc/$1/status" 2>/dev/null || true)
	[ -n "$mask" ] && (((16#$mask >> ($2 - 1)) & 1))
}

# Neither instance nor probe of the uptick that had process number $1.
nothing_left_of()
{
	[ ! -e "$tracing/instances/uptick_$1" ] || fail "instance uptick_$1 is left"
	! grep -q ":uptick_$1/" "$tracing/uprobe_events" || fail "probes of uptick_$1 are left"
}

# Starts uptick, sends it signal $1 (its number $2) after $3 ms, and judges its end, but for the time it took, in $took.
interrupt()
{
	local name=$1 number=$2 delay=$3 caught='' pid sent
	shift 3
	start_up "$@"
	pid=$up_pid
	while grep -qsx bash "/proc/$pid/comm"; do
		pause 1
	done
	pause "$delay"
	! is_caught "$pid" "$number" || caught=1
	sent=${EPOCHREALTIME/./}
	kill "-$name" "$pid" 2>/dev/null || fail "uptick had ended after $delay ms"
	status=0
	wait "$pid" || status=$?
	took=$(((${EPOCHREALTIME/./} - sent) / 1000))
	up_pid=
	nothing_left_of "$pid"
	# The signal was there before the program could say what it wants done with it.
	if [ -z "$caught" ] && [ "$status" -eq $((128 + number)) ]; then
		nr_early=$((nr_early + 1))
		return
	fi
	[ "$status" -eq 0 ] || fail "$name after $delay ms: status $status"
	if grep -q '^uptick: interrupted before the probes were armed' "$TMP/err"; then
		nr_early=$((nr_early + 1))
		return
	fi
	expect_line '^[0-9]+ hits? handled, 0 filtered, 0 lost in ' err
	expect_line '^ticks = [0-9]+|^ticks: nothing'
	nr_late=$((nr_late + 1))
}

only_ticker()
{
	[ "$(pgrep -r R,S,D -x t_ticker)" = "$ticker" ]
}

# A machine that is busy with other things may be late once; uptick's fault shows every time.
interrupt_in_time()
{
	local try
	for try in 1 2 3; do
		interrupt "$@"
		if [ "$took" -le "$limit_ms" ]; then
			[ "$took" -le "${slowest:-0}" ] || slowest=$took
			return
		fi
		echo "$1 after $3 ms: ended $took ms later (try $try)"
	done
	fail "$1 after $3 ms: ended too late three times"
}

# --- any moment -----------------------------------------------------------------------------------

./t_ticker 1000000 &
ticker=$!
helpers=("$ticker")
nr_early=0 nr_late=0
for ((i = 0; i < rounds; i++)); do
	case $((i % 5)) in
	0 | 3) signal='INT 2' ;;
	1) signal='TERM 15' ;;
	2) signal='HUP 1' ;;
	4) signal='QUIT 3' ;;
	esac
	# The first 35 ms are those in which the most happens.
	delay=$((i < rounds / 2 ? i * 70 / rounds : RANDOM % 400))
	case $((i % 4)) in
	3) on=(-c './t_ticker') ;;
	2) on=(-p "$ticker") ;;
	*) on=() ;;
	esac
	# shellcheck disable=SC2086 # two words
	interrupt_in_time $signal $((delay * slowness)) -e 'probe ./t_ticker:tick < ticks = count() > on return < if (elapsed < 0) < printf("!\n") > >' "${on[@]}"
done
echo "$rounds rounds: $nr_early before arming, $nr_late after; slowest end after $slowest ms"
[ "$nr_late" -gt 0 ] || fail "no round got as far as arming"
wait_for "end of the commands of -c" only_ticker

# --- a terminal -----------------------------------------------------------------------------------

# Ctrl-C reaches uptick and its command at once.
last_command='uptick in a terminal'
status=0
{
	pause $((700 * slowness))
	printf '\003'
	pause $((limit_ms * 2))
} | script -qec "exec $UPTICK --no-color -e 'probe ./t_ticker:tick < ticks = count() >' -c ./t_ticker" /dev/null >"$TMP/out" 2>&1 || status=$?
expect_status 0
expect_line '^(\^C)?ticks = [0-9]+'
expect_line '^[0-9]+ hits handled, 0 filtered, 0 lost in '

# --- who ignores what -----------------------------------------------------------------------------

# A shell's background job starts with INT ignored: `kill -INT` still ends it.
for start in 'INT' 'HUP INT'; do
	set -- $start
	(
		trap '' "$1"
		exec "$UPTICK" -e 'probe ./t_ticker:tick < ticks = count() >' </dev/null >"$TMP/out" 2>"$TMP/err"
	) &
	up_pid=$!
	wait_armed
	pause 50
	if [ "$1" = HUP ]; then
		kill -HUP "$up_pid"
		pause $((limit_ms * 2))
		kill -0 "$up_pid" || fail "ended by a HUP that was ignored"
	fi
	end_up INT
	expect_status 0
	expect_line '^ticks = [0-9]+'
done

# --- outputs that end -----------------------------------------------------------------------------

start=${EPOCHREALTIME/./}
last_command='uptick | head -n 1'
set +o pipefail
"$UPTICK" -e 'probe ./t_ticker:tick < print(arg0) >' -c ./t_ticker 2>"$TMP/err" | head -n 1 >"$TMP/out"
status=${PIPESTATUS[0]}
set -o pipefail
took=$(((${EPOCHREALTIME/./} - start) / 1000))
expect_status 0
expect_line ' t_ticker:tick arg0=0$'
expect_no_line 'uptick:|[Pp]ipe' err
[ "$took" -lt 10000 ] || fail "ended $took ms after its reader"

for full in stdout -o; do
	status=0
	if [ $full = -o ]; then
		"$UPTICK" -o /dev/full -e 'probe ./t_ticker:tick < print(arg0) >' -c './t_ticker 500' >"$TMP/out" 2>"$TMP/err" || status=$?
	else
		"$UPTICK" -e 'probe ./t_ticker:tick < print(arg0) >' -c './t_ticker 500' >/dev/full 2>"$TMP/err" || status=$?
	fi
	last_command="uptick to a full disk ($full)"
	expect_status 1
	expect_line '^uptick: cannot write the output.*: No space left on device' err
done


# Without standard output nothing of uptick's own gets its number.
status=0
"$UPTICK" -e 'probe ./t_ticker:tick < print(arg0) >' -c './t_ticker 500' >&- 2>"$TMP/err" || status=$?
last_command='uptick without standard output'
expect_status 1
expect_line '^uptick: cannot write the output: Bad file descriptor$' err

# --- handlers that take long ----------------------------------------------------------------------

# The first signal ends the recording, the second the handling of what was recorded.
start_up -e 'probe ./t_ticker:tick < t[n] = 1; n += 1; for a in t < for b in t < for c in t < m += 1 > > > ticks = count() >' \
	-c './t_ticker 100000'
wait_armed
pause $((2000 * slowness))
kill -INT "$up_pid"
pause $((1000 * slowness))
kill -0 "$up_pid" || fail "the hits that were recorded did not take long"
sent=${EPOCHREALTIME/./}
end_up TERM
took=$(((${EPOCHREALTIME/./} - sent) / 1000))
[ "$took" -le $((limit_ms + 1000)) ] || fail "ended $took ms after the second signal"
expect_status 0
expect_line '^[0-9]+ hits handled, 0 filtered, 0 lost in ' err
expect_line '^[0-9]+ hits were left out, because the run was interrupted again$' err
expect_line '^ticks = [0-9]+$'

# --- outputs that nobody reads --------------------------------------------------------------------

# Sends the started uptick signal $1 and waits for its end, which must come in time: $took, $status.
end_in_time()
{
	local sent=${EPOCHREALTIME/./}
	end_up "$1"
	took=$(((${EPOCHREALTIME/./} - sent) / 1000))
	[ "$took" -le $((limit_ms + 100)) ] || fail "ended $took ms after $1"
}

mkfifo "$TMP/stuck"
for signal in INT TERM QUIT; do
	exec 8<>"$TMP/stuck"
	start_up -o "$TMP/stuck" -e 'probe ./t_burst:draw < printf("%060d\n", arg0) >' -c ./t_burst
	pause $((600 * slowness))
	end_in_time $signal
	exec 8>&-
	expect_status 1
	expect_line "^uptick: cannot write the output $TMP/stuck: nobody reads it, so the rest is left out$" err
done
# The same where the messages go there, too.
exec 8<>"$TMP/stuck"
env --default-signal=INT,QUIT "$UPTICK" -e 'probe ./t_burst:draw < printf("%060d\n", arg0) >' -c ./t_burst >"$TMP/stuck" 2>&1 &
up_pid=$!
pause $((600 * slowness))
end_in_time INT
exec 8>&-
expect_status 1
# A FIFO that nobody has opened is waited for, until a signal comes; and until a reader does, who then gets all.
start_up -o "$TMP/stuck" -e 'probe ./t_burst:draw < printf("%d\n", arg0) >' -c ./t_burst
pause $((200 * slowness))
end_in_time INT
expect_status 0
expect_line '^uptick: interrupted before the probes were armed' err
start_up -o "$TMP/stuck" -e 'probe ./t_burst:draw < printf("%d\n", arg0) >' -c './t_burst 1000'
pause $((200 * slowness))
expect_eq "what the reader got" "$(cat "$TMP/stuck")" "$(seq 0 3999)"
await_up
expect_status 0

wait_for "end of the commands of -c" only_ticker
nothing_left
