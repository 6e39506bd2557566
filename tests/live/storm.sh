# Threads and processes that come and go: `pid` and `tid` are those that the program itself says, of every single hit, also
# of those that were gone before uptick could have asked.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

who='probe ./t_storm:hit < n = count(); if (pid != arg0 || tid != arg1) < wrong = count() by pid, tid, arg0, arg1 > >'

# check WANT: the program says that it has made so many calls; all were counted, and all were right.
check()
{
	expect_status 0
	expect_eq "calls of the program" "$(awk '/^[0-9]+$/ { n += $1 } END { print n + 0 }' "$TMP/total")" "$1"
	expect_line "^n = $1\$"
	expect_line '^wrong by .*: nothing$'
	expect_line "^$1 hits handled, 0 filtered, 0 lost in " err
	expect_no_line 'could not be read' err
}

# --- what a command starts ------------------------------------------------------------------------

while read -r calls storm; do
	run_up -e "$who" -c "sh -c './t_storm $storm >$TMP/total'"
	check "$calls"
done <<'END'
200 threads 100
200 forks 100
60 vforks 60
1000 calls 50 20
5 exec 5
103 threads 20 forks 20 vforks 20 exec 3
END

# --- of the whole machine -------------------------------------------------------------------------

start_up -e "$who"
wait_armed
: >"$TMP/total"
for storm in 'threads 50' 'forks 50' 'vforks 30' 'exec 4'; do
	# shellcheck disable=SC2086 # words
	./t_storm $storm >>"$TMP/total"
done
end_up
check 234

# A thread that was there before, and has never made a call that uptick could have seen, calls once and is gone.
mkfifo "$TMP/ask"
./t_asked <"$TMP/ask" >"$TMP/answer" &
asked=$!
helpers=("$asked")
start_up -e 'probe ./t_asked:alpha < printf("%d %d\n", pid, tid) >'
wait_armed
kill -STOP "$up_pid"
echo 'alpha 1' >"$TMP/ask"
wait "$asked"
helpers=()
kill -CONT "$up_pid"
end_up
expect_status 0
expect_eq "process and thread" "$(cat "$TMP/out")" "$asked $asked"

# --- of a process that runs -----------------------------------------------------------------------

mkfifo "$TMP/go"
sh -c "read -r _ <$TMP/go; exec ./t_storm threads 50 forks 50 exec 3" >"$TMP/total" &
target=$!
helpers=("$target")
start_up -e "$who" -p "$target" --children
wait_armed
echo >"$TMP/go"
wait "$target"
await_up
check 203
helpers=()

nothing_left
