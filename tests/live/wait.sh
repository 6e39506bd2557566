# --wait: a program that is not there yet is waited for, and probed from its first call.
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
