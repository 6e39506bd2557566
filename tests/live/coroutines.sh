# A program that switches stacks inside of a probed function runs on, and its returns are counted.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
cd "$TARGETS"

run_up plan -e 'probe ./t_coro:work on return < count() >'
expect_line 'not by the kernel: it switches stacks, by (swap|make)context'

# 50 calls on each stack, each of which is left while one on the other stack is under way.
run_up -f json -e '
	probe ./t_coro:work < calls = count() by arg0 >
	probe ./t_coro:work on return < out = count() by (retval & 1) >' -c ./t_coro
expect_status 0
expect_line '"calls".*"arg0":0},"value":50.*"arg0":1},"value":50'
expect_line '"out".*0},"value":50.*1},"value":50|"out".*1},"value":50.*0},"value":50'

# An entry on the upper stack ends what is known of the lower one; what is paired is right.
run_up -f json -e 'probe ./t_coro:work on return < right = count() by (retval == arg1 * arg1 + arg0) >' -c ./t_coro
expect_status 0
expect_eq right "$(jq -r 'select(.name == "right") | [.rows[] | "\(.key[]) \(.value)"] | join(" ")' "$TMP/out")" 'true 50'
expect_eq 'unpaired, left' "$(jq -r 'select(.type == "end") | "\(.unpaired) \(.no_return)"' "$TMP/out")" '50 50'

nothing_left
