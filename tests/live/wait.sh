# --wait: a program that is not there yet is waited for, and probed from its first call.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TMP"

start_up --wait -e 'probe ./late:add < print(arg0:s32) >'
wait_line '^uptick: waiting: .*late' err
# Written slowly, as a compiler would.
head -c 3000 "$TARGETS/t_add" >late
sleep 0.5
cat "$TARGETS/t_add" >late
chmod +x late
wait_armed
./late add >truth
end_up
expect_status 0
expect_eq "prints" "$(grep -c ' late:add arg0:s32=' "$TMP/out")" "$(sed -n 's/^ *\([0-9]*\) hits\{0,1\} handled.*/\1/p' "$TMP/err")"
expect_line ' late:add arg0:s32=' out

# A program that is there and a library that comes later: nothing is armed until both are found, then both are.
mkdir lib
cp "$TARGETS/t_ifuncuse" lib/
start_up --wait -o hits -e "probe $TARGETS/t_add:add < adds = count() > probe ./lib/t_ifunclib.so:scale_plain < scales = count() by arg0 >"
wait_line '^uptick: waiting: .*t_ifunclib\.so' err
expect_count 1 '^uptick: waiting: ' err
# It looks again and again, and still waits.
for ((look = 0; look < 3; look++)); do
	"$TARGETS/t_add" add >/dev/null
	sleep 0.3
	kill -0 "$up_pid" || fail "uptick has not waited"
	[ ! -e "$tracing/instances/uptick_$up_pid" ] || fail "there is an instance while a target is missing"
	expect_eq "probes while a target is missing" "$(grep ":uptick_$up_pid/" "$tracing/uprobe_events" || true)" ''
done
cp "$TARGETS/t_ifunclib.so" lib/new
mv lib/new lib/t_ifunclib.so
wait_armed
"$TARGETS/t_add" add >/dev/null
./lib/t_ifuncuse
end_up
expect_status 0
expect_line '^adds = 7$' hits
expect_count 1 '^  20  1$' hits
expect_count 7 '^ +[0-9]+  1$' hits
expect_line '^14 hits handled, 0 filtered, 0 lost ' err

# What no file can mend is said at once.
run_up --wait -e 'probe ./late:add < print(nonsense) >'
expect_status 2
expect_line 'nothing is named `nonsense`' err
run_up --wait -e 'probe ./late:no_such_function < count() >'
expect_status 2

# A signal ends the wait.
start_up --wait -e 'probe ./never:add < count() >'
wait_line '^uptick: waiting: ' err
end_up INT
expect_status 0
expect_line 'interrupted while waiting' err
nothing_left
