# Threads and processes that come and go: `pid` and `tid` are those that the program itself says, of every single hit, also
# of those that were gone before uptick could have asked.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

who='probe ./t_storm:hit < n = count(); if (pid != arg0 || tid != arg1) < wrong = count() by pid, tid, arg0, arg1 > >'

# Everything that was counted was right.
check()
{
	expect_line "^n = $1\$"
	expect_line '^wrong by .*: nothing$'
	expect_line "^$1 hits handled, 0 filtered, 0 lost in " err
	expect_no_line 'could not be read' err
}

total()
{
	awk '/^[0-9]+$/ { n += $1 } END { print n + 0 }' "$TMP/total"
}

# --- what a command starts ------------------------------------------------------------------------

for storm in 'threads 100' 'forks 100' 'vforks 60' 'calls 50 20' 'exec 5' 'threads 20 forks 20 vforks 20 exec 3'; do
	run_up -e "$who" -c "sh -c './t_storm $storm >$TMP/total'"
	check "$(total)"
done

# --- of the whole machine -------------------------------------------------------------------------

# A thread that was there before, and has never made a call that uptick could have seen, calls once and is gone.
start_up -e "$who"
wait_armed
: >"$TMP/total"
for storm in 'threads 50' 'forks 50' 'vforks 30' 'exec 4'; do
	# shellcheck disable=SC2086 # words
	./t_storm $storm >>"$TMP/total"
done
end_up
check "$(total)"

# --- of a process that runs -----------------------------------------------------------------------

mkfifo "$TMP/go"
sh -c "read -r _ <$TMP/go; exec ./t_storm threads 50 forks 50 exec 3" >"$TMP/total" &
target=$!
helpers=("$target")
start_up -e "$who" -p "$target" --children
wait_armed
echo >"$TMP/go"
wait "$target"
wait_line '^n = ' out
wait "$up_pid"
up_pid=
check "$(total)"
helpers=()

nothing_left
