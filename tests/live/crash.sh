# uptick or its keeper is killed by force: within a second the kernel holds nothing of theirs, and the traced program goes on.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"
program='probe ./t_ticker:tick, ./t_ticker:main, ./t_many:f_0* < ticks = count() > on return < back = count() >'
limit_ms=1000
[ -z "${UPTICK_GUEST:-}" ] || limit_ms=5000

is_clean()
{
	[ ! -e "$tracing/instances/uptick_$1" ] && ! grep -q ":uptick_$1/" "$tracing/uprobe_events"
}

# Waits until nothing of uptick's process $1 is left.
await_clean()
{
	local since=${EPOCHREALTIME/./}
	until is_clean "$1"; do
		[ $(((${EPOCHREALTIME/./} - since) / 1000)) -le "$limit_ms" ] || fail "something of uptick_$1 is left after $limit_ms ms"
		pause 20
	done
}

# The end of uptick itself, by whatever way.
await_uptick()
{
	status=0
	wait "$up_pid" 2>/dev/null || status=$?
	up_pid=
}

kill_uptick()
{
	local pid=$up_pid
	kill -KILL "$pid"
	await_uptick
	[ "$status" -eq 137 ] || fail "uptick was not killed: status $status"
	await_clean "$pid"
}

# The children of uptick's main thread.
find_children()
{
	children=()
	{ read -ra children <"/proc/$up_pid/task/$up_pid/children"; } 2>/dev/null || true
}

# Those of a name. (Without starting programs, which takes long under emulation.)
child_named()
{
	local child name
	find_children
	for child in "${children[@]}"; do
		{ read -r name <"/proc/$child/comm"; } 2>/dev/null && [ "$name" = "$1" ] && echo "$child"
	done
	return 0
}

./t_ticker 1000000 &
ticker=$!
helpers=("$ticker")

# --- uptick is killed while its probes are being hit ----------------------------------------------

for options in '' "-p $ticker" '--single-sites'; do
	# shellcheck disable=SC2086 # several words
	start_up $options -e "${program/, .\/t_many:f_0\*/}"
	wait_armed
	pause 100
	kill_uptick
	kill -0 "$ticker" || fail "the program that was traced has died"
done

# The command of -c goes on, and passes on what it has to say.
start_up -e "$program" -c "sh -c './t_ticker 700; echo went on >$TMP/after'"
wait_armed
pause 100
kill_uptick
for ((i = 0; i < 200; i++)); do
	[ ! -s "$TMP/after" ] || break
	pause 50
done
expect_line '^went on$' "$TMP/after"

# start_marked ARGS...: a run whose processes all inherit a mark.
start_marked()
{
	nr_marked=$((${nr_marked:-0} + 1))
	UPTICK_TEST_MARK=$$.$nr_marked start_up "$@"
}

# What is left of the latest marked run, a line for each process: its environment.
list_run()
{
	grep -lsxz "UPTICK_TEST_MARK=$$.$nr_marked" /proc/[0-9]*/environ || true
}

# The same for a person.
show_run()
{
	list_run | while IFS=/ read -r _ _ pid _; do
		echo "$pid" "$(sed -nE 's/^(Name|State):\t//p' "/proc/$pid/status" 2>/dev/null | tr '\n' ' ')"
	done
}

# Whether the command was held back or had begun: it ends, and nobody stays, stopped or waiting.
await_run()
{
	local since=${EPOCHREALTIME/./}
	while [ -n "$(list_run)" ]; do
		[ $(((${EPOCHREALTIME/./} - since) / 1000)) -le "$limit_ms" ] ||
			fail "processes of the run are left after $limit_ms ms:"$'\n'"$(show_run)"
		pause 20
	done
}

# At moments before, while and after its probes are armed.
command="sh -c 'echo ran >$TMP/ran'"
for delay in 5 15 25 35 50; do
	start_up -e "$program"
	pause "$delay"
	kill_uptick
	start_marked -e "$program" -c "$command"
	pause "$delay"
	kill_uptick
	await_run
done

# While the command is held back, certainly: uptick is stopped first, and goes on to its end if that was too late. Then
# the command never runs.

# The command and the helper process; quick enough to see them before the command is let go.
has_forked()
{
	find_children
	((${#children[@]} == 2))
}

# A command that has been let go is another program.
is_held_back()
{
	[ -n "$(child_named uptick)" ]
}

hold_back()
{
	local tries
	for ((tries = 0; tries < 20; tries++)); do
		rm -f "$TMP/ran"
		start_marked --single-sites -e 'probe ./t_many:f_00* < count() >' -c "$command"
		until has_forked || ! kill -0 "$up_pid" 2>/dev/null; do
			:
		done
		if kill -STOP "$up_pid" 2>/dev/null; then
			pause 100
			! is_held_back || return 0
			kill -CONT "$up_pid"
		fi
		await_uptick
	done
	fail "the command was never seen held back"
}

for ((i = 0; i < 3; i++)); do
	hold_back
	expect_eq "processes with the held-back command" "$(list_run | grep -c .)" 3
	kill_uptick
	await_run
	[ ! -e "$TMP/ran" ] || fail "a command that was held back has run untraced"
done

# --- the keeper is killed -------------------------------------------------------------------------

for options in '' '-c ./t_ticker'; do
	# shellcheck disable=SC2086 # several words
	start_up $options -e "$program"
	pid=$up_pid
	wait_armed
	pause 100
	keeper=$(child_named uptick-keeper)
	kill -KILL "$keeper"
	for ((i = 0; i < 100; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		pause 50
	done
	! kill -0 "$pid" 2>/dev/null || fail "uptick goes on without its keeper"
	await_uptick
	expect_status 1
	expect_line '^uptick: the helper process ' err
	is_clean "$pid" || fail "something of uptick_$pid is left"
	kill -0 "$ticker" || fail "the program that was traced has died"
done

# --- a second run finds all in order --------------------------------------------------------------

run_up -e 'probe ./t_ticker:tick < ticks = count() >' -c './t_ticker 10'
expect_status 0
expect_line '^ticks = 10$'
kill -0 "$ticker" || fail "the program that was traced has died"
nothing_left
