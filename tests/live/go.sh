# Programs in Go: arguments and results, and exact counts while goroutines grow their stacks, go on in other threads, panic
# and recover, and end inside of calls.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program go jq strip
cd "$TARGETS"
export GOMAXPROCS=4

# --- arguments ------------------------------------------------------------------------------------

# Words in registers, then on the stack; a string is two words, a slice three.
run_up -e 'probe ./t_go:main.wide < printf("%d %s %d %d %d %d %d %d %d\n", arg0, arg1:gostring, arg2, arg4, arg5, arg6, arg7, arg8, arg9) >' -c ./t_go
expect_status 0
expect_eq words "$(cat "$TMP/out")" '1 ab 2 3 3 4 5 6 77'

# Texts: empty, with a NUL, longer than what is read, behind a pointer.
run_up -e 'probe ./t_go:main.texts < print(arg0:gostring, arg0:gostring[8], @(arg2 + 8):gostring) >' -c ./t_go
expect_status 0
expect_count 4 '"the cache"$'
expect_count 1 'arg0:gostring="" .*\[8\]="" '
expect_count 1 'arg0:gostring="plain" .*\[8\]="plain" '
expect_count 1 'arg0:gostring="with\\x00NUL" .*\[8\]="with\\x00NUL" '
expect_count 1 'arg0:gostring="(0123456789){51}0"\.\.\. .*\[8\]="01234567"\.\.\. '
expect_no_line fault err

# --- returns --------------------------------------------------------------------------------------

# rows NAME: what an aggregation of the run shows, "KEY,KEY=VALUE ..." in the order of keys.
rows()
{
	jq -r --arg name "$1" 'select(.name == $name) | if .rows then [.rows[] | "\([.key[] | tostring] | join(","))=\(.value)"] | sort | join(" ")
		else .value end' "$TMP/out"
}

cat >"$TMP/returns.up" <<-'END'
	probe ./t_go:main.work on return < work = count() by (retval == 3 * arg0 + 1), depth; moved = count() by (tid == entry.tid) >
	probe ./t_go:main.deep on return < deep = count() by (retval == arg0 * (arg0 + 1) / 2), (depth + arg0) >
	probe ./t_go:main.risky < risked = count() > on return < came = count() by (retval == arg0) >
	probe ./t_go:main.guard on return < guarded = count() by (abs(retval) == arg0) >
	probe ./t_go:main.outer < outers = count() > on return < outer = count() by depth, (depth + arg1) >
	probe ./t_go:main.inner < inners = count() > on return < inner = count() by depth, arg0:bool, retval >
	probe ./t_go:main.(*Cache).Get on return < got = count() by entry.arg1:gostring, retval:gostring, reg.cx:u64 >
END
run_up -f json -c ./t_go "$TMP/returns.up"
expect_status 0
expect_line '^right$' err
expect_eq work "$(rows work)" true,0=200
# Every call sleeps or gives way: some go on in another thread.
[[ $(rows moved) == false=*\ true=* ]] || fail "goroutines stayed in their threads: $(rows moved)"
expect_eq deep "$(rows deep)" true,3000=24008
expect_eq risked "$(rows risked)" 100
expect_eq came "$(rows came)" true=66
expect_eq guarded "$(rows guarded)" true=100
# Of those that ended inside nothing is left in the goroutines that got their structures.
expect_eq outers "$(rows outers)" 50
expect_eq outer "$(rows outer)" '0,3=10 1,3=10 2,3=10 3,3=10'
expect_eq inners "$(rows inners)" 20
expect_eq inner "$(rows inner)" 0,false,1=10
expect_eq got "$(rows got)" 'key,key!,1=1 key,key!,2=1 key,key!,3=1 key,key!,4=1 key,key!,5=1'
expect_eq 'left, unpaired, lost' "$(jq -r 'select(.type == "end") | "\(.no_return) \(.unpaired) \(.lost)"' "$TMP/out")" '54 0 0'

# The kernel's return probes are refused.
run_up check --return=kernel -e 'probe ./t_go:main.work on return < count() >'
expect_status 2
expect_line 'error\[harm\].*main.work' err

# --- a stripped program ---------------------------------------------------------------------------

strip -o "$TMP/stripped" ./t_go
run_up -f json -c "$TMP/stripped" -e '
	probe '"$TMP"'/stripped:main.deep on return < deep = count() by (retval == arg0 * (arg0 + 1) / 2), (depth + arg0) >
	probe '"$TMP"'/stripped:main.(*Cache).* < got = count() by func, arg1:gostring >'
expect_status 0
expect_eq deep "$(rows deep)" true,3000=24008
expect_eq got "$(rows got)" 'main.(*Cache).Get,key=5'

nothing_left
