# Places where a probe harms the program: refused, allowed by --unsafe with a warning, and what then happens is what
# the warning says.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
[ "$(uname -m)" = x86_64 ] || skip "the places are x86-64 instructions"
cd "$TARGETS"
program=./t_redzone

# --- inside an instruction ------------------------------------------------------------------------

run_up -e "probe $program:number+1 < count() >" -c "$program"
expect_status 2
expect_line 'error\[harm\]: number\+0x1 is inside the 5-byte instruction at number$' err
expect_line '^hint: use number or number\+0x5; --unsafe allows it$' err
expect_eq "the program ran" "$(cat "$TMP/out")" ""

# The breakpoint is a byte of the number now, and never hit.
run_up --unsafe -o "$TMP/hits" -e "probe $program:number+1 < n = count() >" -c "$program"
expect_status 0
expect_count 1 'warning\[unsafe\]: number\+0x1 is inside .*: the program does something else' err
expect_eq "the program's number" "$(cat "$TMP/out")" "wrong 0, number 0x112233cc"
expect_line '^0 hits handled, 0 filtered, 0 lost ' err

# It is gone with the run.
expect_eq "the program afterwards" "$("$program")" "wrong 0, number 0x11223344"

# What the kernel refuses stays refused, and says nothing of --unsafe.
run_up --unsafe -e "probe $program:0x4 < count() >"
expect_status 2
expect_no_line 'unsafe' err

# --- a five-byte nop in a function that uses the red zone ------------------------------------------

run_up doctor
expect_count 1 ' five-byte nops: '
harms=$(grep -c '^warn  *five-byte nops: .*seen in 49 of 50 calls' "$TMP/out" || true)
[ "$harms" = 1 ] || expect_line '^ok +five-byte nops: '

if [ "$harms" = 1 ]; then
	run_up -e "probe $program:keep+5 < count() >" -c "$program"
	expect_status 2
	expect_line 'error\[harm\]: keep\+0x5 is a five-byte nop inside a function: .* this kernel overwrites' err
	expect_line '^hint: use keep\+0xa, .*; --unsafe allows it$' err
fi
run_up --unsafe -o "$TMP/hits" -e "probe $program:keep+5 < n = count() >" -c "$program"
expect_status 0
expect_line '^n = 1000$' "$TMP/hits"
# The first hit only makes the kernel put its call in place.
expect_eq "the program's values" "$(cat "$TMP/out")" "wrong $((harms * 999)), number 0x11223344"
expect_count "$harms" 'warning\[unsafe\]: keep\+0x5 is a five-byte nop' err

# What the hint says is right: the same registers, and no harm.
run_up -o "$TMP/hits" -e "probe $program:keep+10 < n = count(); if (reg.di == 1000) < print(reg.di:u64) > >" -c "$program"
expect_status 0
expect_line '^n = 1000$' "$TMP/hits"
expect_count 1 'reg.di:u64=1000$' "$TMP/hits"
expect_eq "the program's values" "$(cat "$TMP/out")" "wrong 0, number 0x11223344"
nothing_left

# --- without privileges ---------------------------------------------------------------------------

for command in check plan; do
	run_up "$command" -e "probe $program:number+1 < count() >"
	expect_status 2
	run_up "$command" --unsafe -e "probe $program:number+1 < count() >"
	expect_status 0
	expect_line 'warning\[unsafe\]' err
done
