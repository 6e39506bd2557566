# Returns of functions that exceptions cross: seen at their own exits, so that the program lives, with exact counts and
# values. Tail calls, recursion deeper than the kernel follows, longjmp, a library, patterns, several probes on one function.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
cd "$TARGETS"
[ "$(uname -m)" = x86_64 ] || skip "there is no disassembly of exits for this processor's C++ programs"

want_sum=$(./t_throw)

# What each function does in one turn: calls, returns, left by a jump.
declare -A calls=([catches]=9 [outer]=9 [middle]=9 [deepest]=16 [hands_on]=9 [hands_over]=9 [recurse]=364 [choose]=9
	[lands]=3 [jumps]=3 [wide]=5)
declare -A returns=([catches]=9 [outer]=6 [middle]=6 [deepest]=11 [hands_on]=9 [hands_over]=9 [recurse]=182 [choose]=8
	[lands]=3 [jumps]=1 [wide]=3)

# count OF: "FUNC N" for each function, sorted, of one of the tables.
table()
{
	local -n of=$1
	local name
	for name in "${!of[@]}"; do
		echo "$name ${of[$name]}"
	done | sort
}

# counted NAME: the same of an aggregation by func in $TMP/out.
counted()
{
	jq -r --arg name "$1" 'select(.name == $name) | .rows[] | "\(.key.func) \(.value)"' "$TMP/out" | sort
}

targets_in()
{
	local name list=
	for name in $(printf '%s\n' "${!calls[@]}" | sort); do
		list+="${list:+, }$1:$name"
	done
	echo "$list"
}

ended()
{
	jq -r 'select(.type == "end") | "\(.lost) \(.unpaired) \(.no_return) \(.too_deep)"' "$TMP/out"
}

# --- all at once, in a program and in a library: paired, and not paired -----------------------------------------------

for how in './t_throw ./t_throw' './t_throwlib.so ./t_throwuse'; do
	read -r object program <<<"$how"
	targets=$(targets_in "$object")
	run_up -q -f json -o "$TMP/out" -e "
		probe $targets < entered = count() by func > on return < left = count() by func; late = sum((elapsed < 0)) >
		probe $targets on return < unpaired = count() by func >" -c "$program"
	expect_status 0
	expect_eq "calls in $object" "$(counted entered)" "$(table calls)"
	expect_eq "returns in $object" "$(counted left)" "$(table returns)"
	expect_eq "returns in $object, by themselves" "$(counted unpaired)" "$(table returns)"
	expect_eq "endings in $object" "$(ended)" "0 0 198 0"
done

# The program's own output passes through, and is right.
run_up -q -e "probe $(targets_in ./t_throw) on return < count() >" -c './t_throw 3'
expect_status 0
expect_count 3 "^$want_sum$" out

# --- one by one: nothing but the own calls is seen --------------------------------------------------------------------

for name in hands_over recurse choose lands; do
	run_up -q -f json -o "$TMP/out" -e "probe ./t_throw:$name < entered = count() by func > on return < left = count() by func, (depth > 0), retval >" \
		-c ./t_throw
	expect_status 0
	expect_eq "calls of $name" "$(counted entered)" "$name ${calls[$name]}"
	expect_eq "returns of $name" "$(jq -s '[.[] | select(.name == "left") | .rows[].value] | add' "$TMP/out")" "${returns[$name]}"
done

# --- values ------------------------------------------------------------------------------------------------------------

run_up -q -e '
	probe ./t_throw:deepest, ./t_throw:outer, ./t_throw:catches, ./t_throw:wide, ./t_throw:lands
	on return < printf("%s(%d) = %d\n", func, arg0:s32, retval:s32) >' -c ./t_throw
expect_status 0
{
	for i in 0 1 2 3 4 5 6 7 8; do
		[ $((i % 3)) -eq 0 ] || echo "deepest($i) = $((i + 1))"
		[ $((i % 3)) -eq 0 ] || echo "outer($i) = $((i + 111))"
		echo "catches($i) = $((i % 3 ? i + 111 : -1))"
	done
	for i in 1 2 4 5 7; do
		echo "deepest($i) = $((i + 1))"
	done
	for i in 0 1 2; do
		echo "wide(1) = $((21 + i))"
		echo "lands($i) = $((i ? i : 1000))"
	done
} | sort >"$TMP/want"
expect_eq "returned values" "$(grep ' = ' "$TMP/out" | sort)" "$(cat "$TMP/want")"

# Where it returns to, the stack, a register, what the entry had: the same as the kernel's return probe tells.
program='probe ./t_add:fib on return < printf("%s %d %d %x %d %d %x\n", ip:sym, retval:s32, entry.arg0:s32, reg.ax:u32,
	sp - entry.sp, stack - entry.stack, stack[2]) >'
run_up -q --return=kernel -e "$program" -c ./t_add
expect_status 0
grep '^[a-z]*+0x' "$TMP/out" >"$TMP/kernel"
run_up -q --return=sites -e "$program" -c ./t_add
expect_status 0
expect_eq "returns at sites" "$(grep '^[a-z]*+0x' "$TMP/out" | cut -d' ' -f1-6)" "$(cut -d' ' -f1-6 "$TMP/kernel")"
[ -s "$TMP/kernel" ] || fail "fib() returned nowhere"

# A function that is left by a jump has returned nothing yet; two probes on one function; conditions.
run_up -f json -o "$TMP/out" -e '
	probe ./t_throw:hands_over on return < values = count() by retval:s32 >
	probe ./t_throw:hands_over when (arg0:s32 < 0) on return < negative = count() by retval:s32 >
	probe ./t_throw:hands_over on return when (retval:s32 == -2) < two = count() >' -c ./t_throw
expect_status 0
expect_line 'retval. is a fault where a function is left by a jump' err
expect_eq "values of hands_over" "$(jq -c 'select(.name == "values") | [.rows[] | [.key[], .value]] | sort' "$TMP/out")" '[[null,7],[-2,1],[-1,1]]'
expect_eq "negative ones" "$(jq -c 'select(.name == "negative") | [.rows[] | [.key[], .value]] | sort' "$TMP/out")" '[[-2,1],[-1,1]]'
expect_eq "one of them" "$(jq 'select(.name == "two") | .value' "$TMP/out")" 1

# --- patterns ----------------------------------------------------------------------------------------------------------

run_up -f json -o "$TMP/out" -e 'probe ./t_throwlib.so:* < entered = count() by func > on return < left = count() by func, (elapsed >= 0) >' \
	-c ./t_throwuse
expect_status 0
for name in "${!calls[@]}"; do
	expect_eq "calls of $name, by a pattern" "$(counted entered | sed -n "s/^$name //p")" "${calls[$name]}"
	expect_eq "returns of $name, by a pattern" "$(counted left | sed -n "s/^$name //p")" "${returns[$name]}"
done

# --- recorded and replayed ---------------------------------------------------------------------------------------------

cat >"$TMP/script.up" <<END
probe $(targets_in ./t_throw) < entered = count() by func > on return < left = count() by func, (elapsed >= 0) >
END
run_up -q record -o "$TMP/it.dat" -c ./t_throw "$TMP/script.up"
expect_status 0
run_up -f json replay "$TMP/it.dat"
expect_status 0
expect_eq "calls that were recorded" "$(counted entered)" "$(table calls)"
expect_eq "returns that were recorded" "$(counted left)" "$(table returns)"
run_up replay "$TMP/it.dat" -e 'probe t_throw:wide on return < printf("wide = %d\n", retval) >'
expect_status 0
expect_eq "values that were recorded" "$(grep '^wide' "$TMP/out" | sort | tr '\n' ' ')" 'wide = 21 wide = 22 wide = 23 '

# --- what is asked for by hand -----------------------------------------------------------------------------------------

run_up check --return=kernel -e 'probe ./t_throw:outer on return < count() >'
expect_status 2
expect_line 'error\[harm\]: the kernel.s return probe on outer can end the program' err
run_up plan --return=kernel --unsafe -e 'probe ./t_throw:outer on return < count() >'
expect_status 0
expect_line '^r:' out
expect_line 'warning\[unsafe\]' err
# C programs are probed by the kernel's return probe, unless it is told otherwise.
run_up plan -e 'probe ./t_add:fib on return < count() >'
expect_line '^r:' out
run_up -q --return=sites -e 'probe ./t_frames:descend < entered = count() > on return < left = count() by (entry.arg0:s32 > 200) >' -c './t_frames 300'
expect_status 0
expect_line '^entered = 903$' out
expect_line '^ *false +603$' out
expect_line '^ *true +300$' out
# Coroutines, which the kernel's return probes would end: all is seen, though calls of several stacks are not paired.
run_up -q -e 'probe ./t_frames:step < entered = count() > probe ./t_frames:step on return < left = count() >' -c './t_frames coroutines'
expect_status 0
expect_line '^done$' out
expect_line '^entered = 4$' out
expect_line '^left = 4$' out
nothing_left
