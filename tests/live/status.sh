# uptick status and uptick clean: a run at work is shown and left alone.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"
program='probe ./t_ticker:tick, ./t_many:f_0* < ticks = count() >'

# --- a run at work --------------------------------------------------------------------------------

start_up -e "$program"
wait_armed
pid=$up_pid
"$UPTICK" status >"$TMP/status"
grep -qE "^uptick_$pid +$pid  running +1  yes +.*uptick -e probe \./t_ticker" "$TMP/status" || fail "not shown: $(cat "$TMP/status")"
"$UPTICK" status -f json >"$TMP/status"
grep -qE "^\{\"type\":\"session\",\"name\":\"uptick_$pid\",\"owner\":$pid,\"state\":\"running\",\"events\":1,\"instance\":true,\"command\":\".*t_ticker" "$TMP/status" ||
	fail "not shown: $(cat "$TMP/status")"
"$UPTICK" clean >"$TMP/clean" 2>&1 || fail "clean failed: $(cat "$TMP/clean")"
! grep -q "uptick_$pid" "$TMP/clean" || fail "a running session was touched: $(cat "$TMP/clean")"
is_armed || fail "clean has disarmed a running session"
# Nor does another run touch it.
"$UPTICK" -q -e 'probe ./t_ticker:main < count() >' -c './t_ticker 5' >"$TMP/other"
is_armed || fail "another run has disarmed a running session"
./t_ticker 10
end_up
expect_status 0
expect_line '^ticks = 15$'
run_up status
expect_status 0
expect_no_line "^uptick_$pid "
nothing_left
