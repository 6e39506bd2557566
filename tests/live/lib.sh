# Sourced by the live tests: gives them a folder, the binary, the target programs, and checks that explain themselves.
# Knows how to use tracefs safely; knows nothing of any one test. A test is run as `bash tests/live/NAME.sh` with
# UPTICK_BUILD naming the build directory; it ends with 0 passed, 77 skipped, anything else failed.
#
#   $UPTICK $TARGETS $TMP $tracing    the binary, the target programs' folder, a folder of this test's own, tracefs
#   $EXAMPLES                         the folder of the example scripts
#   need_tracefs                      skips the test where tracefs cannot be used
#   need_program NAME...              fails the test unless the machine has the programs (tools/setup brings them)
#   skip REASON                       for what this kernel cannot do; must pass on another one
#   run_up ARGS...                    runs uptick to its end: $TMP/out, $TMP/err, $status
#   start_up ARGS...; end_up [SIGNAL] the same in the background; end_up sends INT unless told, and waits
#   await_up                          waits for the end of a started uptick that ends by itself
#   pause MS                          sleeps so many milliseconds, without starting a program for it
#   wait_armed                        until a started uptick has enabled its probes
#   wait_line REGEX [FILE]            until the growing file has such a line
#   expect_status WANT                of the latest run_up or end_up
#   expect_line REGEX [FILE]          a line of the file ($TMP/out, or out, err, or a path) matches (grep -E)
#   expect_no_line REGEX [FILE]       none does
#   expect_count N REGEX [FILE]       exactly N lines do
#   expect_eq WHAT GOT WANT           two texts are equal
#   nothing_left                      the kernel holds no probe and no instance of uptick's
#   fail MESSAGE                      ends the test, showing both outputs
# helpers=(PID...) names processes that are ended with the test; clean_up(), if a test has it, is called at its end.
# Settings: ANY_ENDING=1 for a run that passes on the status of a command that a signal ended;
# RUN_LIMIT seconds for one run of uptick, WAIT_LIMIT for one wait.
set -Eeuo pipefail

: "${UPTICK_BUILD:?set it to the build directory}"
UPTICK_BUILD=$(cd "$UPTICK_BUILD" && pwd)
UPTICK=${UPTICK:-$UPTICK_BUILD/uptick}
TARGETS=${TARGETS:-$UPTICK_BUILD/tests/targets}
EXAMPLES=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../examples" && pwd)
TMP=$(mktemp -d "${TMPDIR:-/tmp}/uptick-test.XXXXXX")
RUN_LIMIT=${RUN_LIMIT:-40}
WAIT_LIMIT=${WAIT_LIMIT:-20}
tracing=/sys/kernel/tracing
status=0
up_pid=
helpers=()
export HOME=$TMP LC_ALL=C.UTF-8
# A sanitizer's finding must not look like a status that a test expects.
export ASAN_OPTIONS=exitcode=99 LSAN_OPTIONS=exitcode=99 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1:exitcode=99

leave()
{
	local code=$?
	trap - ERR
	# A copy of this shell that a signal ends before it has become another program is not the test.
	[ "$BASHPID" = $$ ] || exit "$code"
	if [ -n "$up_pid" ] && kill -TERM "$up_pid" 2>/dev/null; then
		kill -CONT "$up_pid" 2>/dev/null || true
		wait "$up_pid" || true
	fi
	[ ${#helpers[@]} -eq 0 ] || kill "${helpers[@]}" 2>/dev/null || true
	! declare -F clean_up >/dev/null || clean_up
	rm -rf "$TMP"
	exit "$code"
}
trap leave EXIT

# Nobody ever writes into it. Starting a program takes longer than the pause, where the processor is emulated.
mkfifo "$TMP/never"
pause()
{
	local seconds word
	printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	read -rt "$seconds" word <>"$TMP/never" || true
}

trap 'echo "FAIL: ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR

# Shows one of the run's outputs, cut to what a person reads.
show_file()
{
	[ -s "$2" ] || return 0
	echo "--- $1"
	head -n 60 "$2"
	[ "$(wc -l <"$2")" -le 60 ] || echo "... ($(wc -l <"$2") lines)"
}

fail()
{
	trap - ERR
	{
		echo "FAIL: ${0##*/}: $*"
		[ -z "${last_command:-}" ] || echo "--- command (status $status): $last_command"
		show_file "standard output" "$TMP/out"
		show_file "standard error" "$TMP/err"
	} >&2
	exit 1
}

skip()
{
	trap - ERR
	echo "skipped: $*"
	exit 77
}

need_program()
{
	local program
	for program in "$@"; do
		command -v "$program" >/dev/null || fail "the program $program is missing"
	done
}

# --- tracefs --------------------------------------------------------------------------------------

# True if tracefs answers: a helper makes and removes an instance. A helper that does not come back cannot be ended,
# so it is left behind, holding nothing of ours, and the verdict is kept for as long as this boot lasts.
tracefs_answers()
{
	local verdict=$UPTICK_BUILD/tracefs-hangs boot tries instance=$tracing/instances/check_$$
	boot=$(cat /proc/sys/kernel/random/boot_id)
	[ "$(cat "$verdict" 2>/dev/null)" != "$boot" ] || return 1
	# shellcheck disable=SC2016 # the helper's arguments, not ours
	setsid bash -c 'mkdir "$1" && rmdir "$1" && echo yes >"$2" || echo no >"$2"' - "$instance" "$TMP/answer" \
		</dev/null >/dev/null 2>&1 &
	disown
	for ((tries = 0; tries < 100; tries++)); do
		[ ! -s "$TMP/answer" ] || break
		pause 50
	done
	case $(cat "$TMP/answer" 2>/dev/null) in
	yes) return 0 ;;
	no) return 1 ;;
	esac
	echo "$boot" 2>/dev/null >"$verdict" || true
	return 1
}

need_tracefs()
{
	[ "$(id -u)" = 0 ] || skip "tracing needs root"
	if [ ! -e "$tracing/README" ]; then
		mount -t tracefs tracefs "$tracing" 2>/dev/null || skip "tracefs cannot be mounted"
	fi
	[ -e "$tracing/uprobe_events" ] || skip "this kernel has no uprobe events"
	# In the guest its driver watches over that; an instance takes seconds there.
	[ -n "${UPTICK_GUEST:-}" ] || tracefs_answers || skip "tracefs does not answer: this kernel's tracing is broken until it restarts"
}

# The probes and instances of those uptick_PID whose process has ended: somebody else may be tracing.
left_by_the_dead()
{
	local line pid
	{
		grep -E '^[pr][0-9]*:uptick' "$tracing/uprobe_events" || true
		find "$tracing/instances" -mindepth 1 -maxdepth 1 -name 'uptick*'
	} | while read -r line; do
		pid=$(sed -E 's/.*uptick_([0-9]+).*/\1/' <<<"$line")
		[ -d "/proc/$pid" ] || echo "$line"
	done
}

# What uptick has left in the kernel, one a line: probes and instances whose name holds the number of no living
# process. (Another uptick may be at work on this machine.)
leftovers()
{
	local what
	{
		grep -oE '^[pr][0-9]*:uptick[^ ]*' "$tracing/uprobe_events" || true
		find "$tracing/instances" -mindepth 1 -maxdepth 1 -name 'uptick*'
	} | sort | while read -r what; do
		[[ $what =~ uptick_([0-9]+) ]] && [ -d "/proc/${BASH_REMATCH[1]}" ] || echo "$what"
	done
}

nothing_left()
{
	local left
	left=$(leftovers)
	[ -z "$left" ] || fail "left in the kernel:"$'\n'"$left"
}

# --- running uptick -------------------------------------------------------------------------------

note_command()
{
	last_command="uptick$(printf ' %q' "$@")"
}

run_up()
{
	note_command "$@"
	status=0
	timeout --kill-after=20 "$RUN_LIMIT" "$UPTICK" "$@" </dev/null >"$TMP/out" 2>"$TMP/err" || status=$?
	check_ending
}

# Fails for endings that no test may expect.
check_ending()
{
	[ -z "${ANY_ENDING:-}" ] || return 0
	case $status in
	99) fail "the sanitizer found something" ;;
	124 | 137) fail "uptick did not end within $RUN_LIMIT s" ;;
	132 | 134 | 135 | 136 | 139) fail "uptick crashed" ;;
	esac
}

start_up()
{
	note_command "$@"
	status=0
	# A background job of a script ignores INT; uptick must not inherit that.
	env --default-signal=INT,QUIT "$UPTICK" "$@" </dev/null >"$TMP/out" 2>"$TMP/err" &
	up_pid=$!
}

end_up()
{
	kill -"${1:-INT}" "$up_pid" 2>/dev/null || true
	await_up " of the signal ${1:-INT}"
}

await_up()
{
	local tries
	for ((tries = 0; tries < RUN_LIMIT * 20; tries++)); do
		kill -0 "$up_pid" 2>/dev/null || break
		pause 50
	done
	! kill -0 "$up_pid" 2>/dev/null || fail "uptick did not end within $RUN_LIMIT s${1:-}"
	status=0
	wait "$up_pid" || status=$?
	up_pid=
	check_ending
}

# Runs its arguments until they succeed; fails the test when that takes too long or uptick has ended.
wait_for()
{
	local what=$1 tries
	shift
	for ((tries = 0; tries < WAIT_LIMIT * 20; tries++)); do
		! "$@" || return 0
		if [ -n "$up_pid" ] && ! kill -0 "$up_pid" 2>/dev/null; then
			"$@" && return 0
			fail "uptick ended: no $what"
		fi
		pause 50
	done
	fail "no $what within $WAIT_LIMIT s"
}

# Has the started uptick, and no other one, armed its probes? It switches recording on when all are armed; before the
# first is, an instance's recording is on as well.
is_armed()
{
	local instance file word
	for instance in "$tracing/instances/uptick_$up_pid" "$tracing/instances/uptick_$up_pid"_*; do
		for file in "$instance"/events/uptick*/*/enable; do
			{ read -r word <"$file"; } 2>/dev/null && [[ $word = 1* ]] || continue
			{ read -r word <"$instance/tracing_on"; } 2>/dev/null && [ "$word" = 1 ] && return 0
			break
		done
	done
	return 1
}

wait_armed()
{
	wait_for "armed probe" is_armed
}

wait_line()
{
	wait_for "line that matches $1" grep -qsE -e "$1" "$(output_file "${2:-}")"
}

# --- checks ---------------------------------------------------------------------------------------

output_file()
{
	case ${1:-out} in
	out | err) echo "$TMP/${1:-out}" ;;
	*) echo "$1" ;;
	esac
}

expect_status()
{
	[ "$status" -eq "$1" ] || fail "exit status $status instead of $1"
}

expect_line()
{
	grep -qE -e "$1" "$(output_file "${2:-}")" || fail "no line of ${2:-out} matches: $1"
}

expect_no_line()
{
	! grep -qE -e "$1" "$(output_file "${2:-}")" || fail "a line of ${2:-out} matches: $1"
}

expect_count()
{
	local got
	got=$(grep -cE -e "$2" "$(output_file "${3:-}")" || true)
	[ "$got" -eq "$1" ] || fail "$got lines of ${3:-out} instead of $1 match: $2"
}

expect_eq()
{
	[ "$2" = "$3" ] || fail "$1"$'\n'"    got:  $2"$'\n'"    want: $3"
}
