# Runs last: whatever the other tests did, the kernel holds nothing of it, and tracing works as on the first day.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs

nothing_left
left=$(find "$tracing/instances" -mindepth 1 -maxdepth 1 -name 'live_test_*')
[ -z "$left" ] || fail "an instance of a test is left: $left"
! grep -q ':live_test_' "$tracing/uprobe_events" || fail "a probe of a test is left"

cd "$TARGETS"
run_up -e 'probe ./t_add:add < n = count() >' -c './t_add add'
expect_status 0
expect_line '^n = 7$'
nothing_left
