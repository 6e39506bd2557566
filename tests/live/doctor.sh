# uptick doctor: finds that this machine can trace, by doing it; says what is missing where it cannot.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program setpriv

run_up doctor
expect_status 0
expect_line '^ok +user: root$'
expect_line '^ok +instances: '
expect_line '^ok +trace clock: mono'
expect_line '^ok +many sites: '
expect_line '^ok +wake-up: .* within [0-9.]+ ms$'
expect_line '^ok +probes: .* 2001 hits, 2001 records, [0-9.]+ us a hit$'
expect_line '^ok +clean-up: '
expect_no_line '^missing'
expect_no_line '^untried'
expect_line '^tracing works here$' err
nothing_left

run_up doctor -f json
expect_status 0
expect_count 1 '^\{"type":"doctor","works":true,"us_per_hit":[0-9.]+\}$'
expect_no_line '^[^{]'
expect_line '^\{"type":"check","what":"probes","verdict":"ok","text":"'

# Two at once do not count each other's hits.
"$UPTICK" doctor >"$TMP/first" 2>&1 &
other=$!
run_up doctor
expect_status 0
wait "$other" || fail "the other doctor failed: $(cat "$TMP/first")"

# Without privileges.
status=0
setpriv --reuid 65534 --regid 65534 --clear-groups "$UPTICK" doctor >"$TMP/out" 2>"$TMP/err" || status=$?
expect_status 1
expect_line '^warn +user: .* is not root'
expect_line '^missing +tracefs: .* run uptick as root'
expect_line '^untried +the rest: '
expect_line '^tracing does not work here' err

run_up doctor -f csv
expect_status 2
nothing_left

# --- a machine that lacks something: only where it may be broken ---------------------------------

[ -n "${UPTICK_GUEST:-}" ] || exit 0
mkdir "$tracing/instances/uptick_29999"
run_up doctor
expect_status 0
expect_line '^warn +leftovers: 1 run .*uptick clean'
rmdir "$tracing/instances/uptick_29999"
if [ -e /proc/sys/kernel/traceoff_on_warning ]; then
	echo 1 >/proc/sys/kernel/traceoff_on_warning
	run_up doctor
	expect_line '^warn +sysctl: kernel.traceoff_on_warning'
	echo 0 >/proc/sys/kernel/traceoff_on_warning
fi
umount "$tracing"
run_up doctor
expect_status 0
expect_line '^ok +tracefs: was not mounted; now it is'
mount -o remount,ro "$tracing"
run_up doctor
expect_status 1
expect_line '^missing +(tracefs|uprobe events|instances): .*read-only'
mount -o remount,rw "$tracing"
nothing_left
