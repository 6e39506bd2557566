# 32-bit x86 programs: arguments on the stack, memory behind pointers that the kernel cannot follow, calls.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program objcopy strip mkfifo
[ -x "$TARGETS/t_i386" ] || skip "t_i386 is built on x86-64 only"
cd "$TARGETS"
[ "$(./t_i386 q 2>/dev/null)" = 76 ] || skip "this kernel cannot run 32-bit programs (CONFIG_IA32_EMULATION)"

# Runs the program's text $1 on the target ($2: its argument; $3: another program); hits go to $TMP/hits.
run_i386()
{
	run_up -o "$TMP/hits" -e "$1" -c "./${3:-t_i386} ${2:-}"
	expect_status 0
	expect_line ' 0 lost in ' err
	expect_no_line '[^0-9]return.* came from a call whose entry was not seen' err
}

# --- arguments are words of the stack ---------------------------------------------------------------

run_i386 'probe ./t_i386:narrow < printf("%d %d %d %d %d %d\n", arg0:s8, arg1:u8, arg2:s16, arg3:u16, arg4, arg5:u32) >
	on return < printf("= %d %#x %d\n", retval, retval:x32, arg4) >'
expect_eq "narrow arguments" "$(cat "$TMP/hits")" "-128 255 -32768 65535 -2147483647 4294967295
= -2147450754 0x8000807e -2147483647
120 121 300 400 5 2147483648
= -2147482702 0x800003b2 5"
expect_no_line read-late err

# 64 bits are two words, and floating-point arguments are memory like all others.
run_i386 'probe ./t_i386:wide < print(arg0, @(stack + 8):s64, arg1:x32, arg2:x32, @(stack + 16):u64, arg5, arg5:u64) >
	on return < print(retval:x32, entry.@(stack + 8):s64) >
	probe ./t_i386:with_double < print(arg0, @(stack + 8):f64, arg3) >'
expect_line ' arg0=1 @\(stack \+ 8\):s64=-2 arg1:x32=0xfffffffe arg2:x32=0xffffffff @\(stack \+ 16\):u64=18364758544493064720 arg5=-3 arg5:u64=4294967293$' "$TMP/hits"
expect_line ' return retval:x32=0x7654320c entry.@\(stack \+ 8\):s64=-2$' "$TMP/hits"
expect_line ' arg0=1 @\(stack \+ 8\):f64=2.5 arg3=-3$' "$TMP/hits"

# Registers and words are 32 bits wide, by either name.
run_i386 'probe ./t_i386:sum_to when (arg0 == 4) <
	print(reg.sp == sp, reg.esp == stack, reg.eip == ip, stack[1], @(stack + 4):u8, if (reg.ax >> 32) 1 else 0)
	printf("%s %s %s\n", ip:sym, func, offset) >
	on return < print(sp == entry.sp + 4, ip == entry.stack[0], ip:sym ~ "start+*") >'
expect_line ' reg.sp == sp=true reg.esp == stack=true reg.eip == ip=true stack\[1\]=0x4 @\(stack \+ 4\):u8=4 .*=0$' "$TMP/hits"
expect_line '^sum_to sum_to \+0x0$' "$TMP/hits"
expect_line ' return sp == entry.sp \+ 4=true ip == entry.stack\[0\]=true ip:sym ~ "start\+\*"=true$' "$TMP/hits"

# --- memory behind a pointer in memory: read a moment after the hit ---------------------------------

memory='probe ./t_i386:look <
	printf("%d %s | %d %s %s %s %s | %d %s %d\n", arg2, arg1:string[20], @arg0:s32, (arg0 + 16):string,
		@(arg0 + 16):char[4], (arg0 + 18):bytes[3], @(arg0 + 12):sym,
		@(@(arg0 + 8)):s32, (@(arg0 + 8) + 16):string, @(@(arg0 + 8) + 4):u32)
	printf("%s %s %s %d %g %d %d %g\n", @(@(arg0 + 4)):s16[4], (@(arg0 + 4) + 8):string, @(@(arg0 + 4) + 16):string,
		@(@(arg0 + 4) + 20):s64, @(@(arg0 + 4) + 28):f64, @(@(arg0 + 4) + 36):b7@3/32, @(@(arg0 + 4) + 36):b22@10/32,
		@(@(arg0 + 4) + 40):f32) >'
run_i386 "$memory"
expect_count 1 'warning\[read-late\]' err
expect_eq "memory" "$(cat "$TMP/hits")" '1 yot yet | -1 on the stack on t 207468 sum_to | 3 last 0
{1,-2,3,-4} seven77 behind two 1099511627776 -0.75 100 1 0.5
-2 in the file | 3 last last 737400 sum_to | (fault) (fault) (fault)
(fault) (fault) (fault) (fault) (fault) (fault) (fault) (fault)
3 (fault) | (fault) (fault) (fault) (fault) (fault) | (fault) (fault) (fault)
(fault) (fault) (fault) (fault) (fault) (fault) (fault) (fault)
4 abcdefghijklmnopqrst... | (fault) (fault) (fault) (fault) (fault) | (fault) (fault) (fault)
(fault) (fault) (fault) (fault) (fault) (fault) (fault) (fault)'

# As conditions and keys, and kept for the return.
run_i386 'probe ./t_i386:look when (arg1:string == "yot yet") < n = count() by @(@(arg0 + 8) + 12):sym >
	on return < printf("%d %s %d %s\n", retval, entry.arg1:string, arg2, entry.(@(arg0 + 8) + 16):string) >'
expect_eq "kept text" "$(head -n 1 "$TMP/hits")" "0 yot yet 1 last"
expect_line '^  sum_to +1$' "$TMP/hits"

# Behind a register the kernel reads it at the hit.
run_i386 'probe ./t_i386:look_reg < printf("%d %s %s\n", @reg.eax:s32, (reg.ax + 16):string, @(reg.ax + 16):char[2]) >
	probe ./t_i386:next_of on return < printf("%s %d\n", (retval + 16):string, @retval:s32) >'
expect_no_line read-late err
expect_eq "behind a register" "$(cat "$TMP/hits")" "-1 on the stack on
last 3
(fault) (fault)"

# --- a program that ends at once --------------------------------------------------------------------

# What it cannot have changed is read from its file; the rest is gone.
run_i386 'probe ./t_i386:look < printf("%d %s %c %s\n", arg2, arg1:string, @arg1:char, @(arg1 + 3):u8[4]) >' q
expect_eq "constants" "$(cat "$TMP/hits")" "7 in the file i {116,104,101,32}"
run_i386 'probe ./t_i386_pie:greet < printf("%s %d\n", arg0:string, arg1) >' '' t_i386_pie
expect_eq "constants of a program that can lie anywhere" "$(head -n 1 "$TMP/hits")" "in the file 0"
run_i386 'probe ./t_i386_pie:greet < printf("%s %d\n", arg0:string, arg1) >' x t_i386_pie
expect_eq "while it is there" "$(cat "$TMP/hits")" "in the file 0
yot yet 1"

# A process that runs another program by now is not asked.
run_i386 'probe ./t_i386:look < printf("%s %d\n", arg1:string, arg2) >' f
expect_eq "another program" "$(sed 's/^yot yet 5$/(fault) 5/' "$TMP/hits")" "(fault) 5
in the file 6"

# --- calls ------------------------------------------------------------------------------------------

run_i386 'probe ./t_i386:sum_to on return < printf("%d -> %d %d\n", arg0, retval, depth) >'
expect_eq "recursion" "$(cat "$TMP/hits")" "0 -> 0 4
1 -> 1 3
2 -> 3 2
3 -> 6 1
4 -> 10 0"

# A function that returns a structure takes its place off the stack; others all of their arguments.
run_i386 'probe ./t_i386:make_pair on return < printf("%d -> %d %d, %d\n", arg1, @retval:s32, @(retval + 4):s32, depth) >
	probe ./t_i386:standard on return when (elapsed > 0) < printf("%d %d %d -> %d\n", arg0, arg1, arg2, retval) >'
expect_eq "functions that take arguments off" "$(cat "$TMP/hits")" "1 -> 1 -1, 2
2 -> 2 -3, 1
3 -> 3 -6, 0
10 2 3 -> 5
-1 -2 -3 -> 4"

# --- instructions -----------------------------------------------------------------------------------

# What a probe stands on does what it did: these mean something else in 64-bit code.
run_i386 'probe ./t_i386:absolute < a = count() > on return < printf("%d\n", retval) >
	probe ./t_i386:increment < i = count() >
	probe ./t_i386:increment+0x6 < print(reg.ax) >
	probe ./t_i386:increment+0x7 < print(reg.ax) >'
expect_eq "what the program says" "$(cat "$TMP/out")" 76
expect_line '^7$' "$TMP/hits"
expect_line ' t_i386:increment\+0x6 reg.ax=0x5$' "$TMP/hits"
expect_line ' t_i386:increment\+0x7 reg.ax=0x6$' "$TMP/hits"
expect_line '^a = 1$' "$TMP/hits"
expect_line '^i = 1$' "$TMP/hits"
run_up -e 'probe ./t_i386:increment+0x3 < count() >'
expect_status 2
expect_line 'increment\+0x3 is inside the 5-byte instruction at increment\+0x1' err
expect_line 'use increment\+0x1 or increment\+0x6' err

# The same when the names come from a separate debug file, for which the program is mapped in another way; and for a
# process that is there already.
objcopy --only-keep-debug t_i386 "$TMP/stripped.debug"
strip -o "$TMP/stripped" t_i386
(cd "$TMP" && objcopy --add-gnu-debuglink=stripped.debug stripped)
run_up -o "$TMP/hits" -e "probe $TMP/stripped:absolute, $TMP/stripped:increment < count() >
	on return < printf(\"%s %d\n\", func, retval) >" -c "$TMP/stripped q"
expect_status 0
expect_eq "what the program says" "$(cat "$TMP/out")" 76
expect_eq "values" "$(head -n 2 "$TMP/hits" | xargs)" "absolute 7 increment 6"
mkfifo "$TMP/go"
./t_i386 r <"$TMP/go" >"$TMP/said" &
helpers=($!)
exec 7>"$TMP/go"
start_up -o "$TMP/hits" -p $! -e 'probe ./t_i386:absolute, ./t_i386:increment on return < printf("%s %d\n", func, retval) >'
wait_armed
echo >&7
wait "${helpers[0]}"
helpers=()
end_up
expect_status 0
expect_eq "what the program says" "$(cat "$TMP/said")" 76
expect_eq "values" "$(cat "$TMP/hits")" "absolute 7
increment 6"

# --- one probe on programs of both kinds ------------------------------------------------------------

run_up -o "$TMP/hits" -e 'probe ./t_i386:look, ./t_values:here <
	printf("%s %s\n", object, if (object == "t_i386") arg1:string else arg0:string)
	n = count() by object >' -c 'sh -c "./t_i386 q; ./t_values where"'
expect_status 0
expect_eq "programs of both kinds" "$(cat "$TMP/hits")" "t_i386 in the file
t_values main
t_values thread
t_values again

n by object
  t_values  3
  t_i386    1"
nothing_left
