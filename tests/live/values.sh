# Every kind of value, against what the target says of itself.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program nm
cd "$TARGETS"

# Runs the program's text $1 on the target's part $2 ($3: another program); hits go to $TMP/hits, the truth to $TMP/out.
run_values()
{
	run_up -o "$TMP/hits" -e "$1" -c "./${3:-t_values} $2"
	expect_status 0
	expect_line ' 0 lost in ' err
}

# --- arguments in registers and on the stack ------------------------------------------------------

run_values 'probe ./t_values:eleven on return < printf("%d %d %d %d %#x %d %d %d %d %d %c = %d\n",
	arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9:s32, arg10:char, retval) >' args
expect_count 1 . "$TMP/out"
expect_eq "arguments" "$(cat "$TMP/hits")" "$(cat "$TMP/out")"

# Untyped, they are 64 bits wide and signed; the same word of the stack can be named in two ways.
run_values 'probe ./t_values:eleven < print(arg0, arg4, arg4:x32, arg4:u16, arg0:u8, arg10:char)
	printf("%d\n", if (arg6 == stack[1] && arg8 == stack[3]) 1 else 0) >' args
expect_line ' arg0=-1 arg4=1311768467463790320 arg4:x32=0x9abcdef0 arg4:u16=57072 arg0:u8=255 arg10:char='"'k'"'$' "$TMP/hits"
expect_line '^1$' "$TMP/hits"

# --- who and where --------------------------------------------------------------------------------

run_values 'probe ./t_values:here <
	printf("%s ip=%p sp=%p stack0=%#x caller=%p pid=%d tid=%d cpu=%d comm=%s\n",
		arg0:string, ip, sp, stack[0], @stack, pid, tid, cpu, comm) >' where
expect_count 3 . "$TMP/out"
expect_eq "where" "$(cat "$TMP/hits")" "$(cat "$TMP/out")"

run_values 'probe ./t_values:here < print(sp == stack, func, object, probe, offset)
	printf("%u\n", time) >
	probe ./t_values:here+0x0 as spot < print(func, object, probe, offset) >' where
expect_count 3 ' t_values:here sp == stack=true func="here" object="t_values" probe="t_values:here" offset="\+0x0"$' "$TMP/hits"
expect_count 3 ' spot func="here" object="t_values" probe="spot" offset="\+0x0"$' "$TMP/hits"
before=$(sed -n 's/^before //p' "$TMP/err")
after=$(sed -n 's/^after //p' "$TMP/err")
times=$(grep -E '^[0-9]+$' "$TMP/hits")
expect_eq "times in order" "$(printf '%s\n' "$before" "$times" "$after" | sort -nu)" "$(printf '%s\n' "$before" "$times" "$after")"

# On return, ip is where the call returns to.
run_values 'probe ./t_values:here on return < printf("%d %d\n", if (ip == entry.stack[0]) 1 else 0,
	if (sp == entry.sp + 8) 1 else 0) >' where
expect_count 3 '^1 1$' "$TMP/hits"

# --- registers ------------------------------------------------------------------------------------

if [ "$(uname -m)" = x86_64 ]; then
	run_values 'probe ./t_values:registers_set < print(reg.ax, reg.bx, reg.cx, reg.dx, reg.si, reg.di, reg.bp,
		reg.r8, reg.r9, reg.r10, reg.r11, reg.r12, reg.r13, reg.r14, reg.r15)
		print(reg.r15:u8, reg.rax, reg.di:s32, fetch("%r15:x16"), if (reg.sp == sp && reg.ip == ip) 1 else 0) >' registers
	expect_line ' reg.ax=0xa0 reg.bx=0xb0 reg.cx=0xc0 reg.dx=0xd0 reg.si=0x50 reg.di=0xfffffffffffffffe reg.bp=0xb1 reg.r8=0x8 reg.r9=0x9 reg.r10=0xa reg.r11=0xb reg.r12=0xc reg.r13=0xd reg.r14=0xe reg.r15=0x1122334455667788$' \
		"$TMP/hits"
	expect_line ' reg.r15:u8=136 reg.rax=0xa0 reg.di:s32=-2 fetch\("%r15:x16"\)=0x7788 .*=1$' "$TMP/hits"
fi

# --- memory ---------------------------------------------------------------------------------------

# shellcheck disable=SC2016 # the program is uptick's
memory='probe ./t_values_nopie:look <
	printf("%u %d %u %d %u %d %u %d %s %s\n", @arg0:u8, @(arg0 + 1):s8, @(arg0 + 2):u16, @(arg0 + 4):s16,
		@(arg0 + 8):u32, @(arg0 + 12):s32, @(arg0 + 16):u64, @(arg0 + 24):s64,
		(arg0 + 32):string, @(arg0 + 48):string)
	printf("%#x %#x %#x %#x ", @arg0:x8, @(2 + arg0):x16, @(arg0 + 8):x32, @(arg0 + 16):x64)
	print(@(arg0 + 6):char, @(arg0 + 7):bool)
	printf("%d %s %s %d %s %#x\n", @(@(arg0 + 56) + 12):s32, (@(arg0 + 56) + 32):string,
		@(@(arg0 + 56) + 48):string, @(@(@(arg0 + 56) + 56) + 12):s32, @(@(@(arg0 + 56) + 56) + 48):string,
		@GLOBAL:x32) >'
global=0x$(nm t_values_nopie | sed -n 's/^\([0-9a-f]*\) . global_number$/\1/p')
run_values "${memory/GLOBAL/$global}" memory t_values_nopie
expect_count 9 . "$TMP/out"
expect_eq "memory" "$(sed -E "s/[0-9:.]{15} .* t_values_nopie:look .*char=('.'|'.{4}') .*bool=/\1 /" "$TMP/hits")" \
	"$(cat "$TMP/out")"

# What the return value points to; entry. reads at the entry; a fetch argument of the kernel's own.
run_values 'probe ./t_values:look on return < printf("%d %s %s\n", @(retval + 12):s32, (retval + 32):string,
	entry.(arg0 + 32):string) >' memory
expect_eq "memory behind retval" "$(cat "$TMP/hits")" "-2147483648 fifteen letters text in a
-3 third fifteen letters
-70000 text in a third"
if [ "$(uname -m)" = x86_64 ]; then
	run_values 'probe ./t_values:look < printf("%u %s\n", fetch("+8(%di):u32"), fetch("+0(+48(%di)):string")) >' memory
	expect_eq "fetch" "$(cat "$TMP/hits")" "70000 name of a
4294967295 
3 name of c"
fi

# --- pointers that lead nowhere -------------------------------------------------------------------

# The kernel does not tell a number that it could not read from 0, unless the pointer itself shows it; never is there
# a value of an earlier hit.
run_values 'probe ./t_values:look < printf("%d %s %s %d %s\n", @(arg0 + 12):s32, (arg0 + 32):string,
	@(arg0 + 48):string, @(@(arg0 + 56) + 12):s32, (@(arg0 + 56) + 32):string) >' faults
expect_eq "good ones" "$(sed -n 'p;n' "$TMP/hits" | sort -u)" "11 good name of good 22 end"
expect_eq "bad ones" "$(sed -n 'n;p' "$TMP/hits")" "33 no name (fault) 22 end
44 bad name (fault) 0 (fault)
55 small (fault) (fault) (fault)
66 wild (fault) (fault) (fault)
22 end name of end (fault) (fault)
(fault) (fault) (fault) (fault) (fault)
(fault) (fault) (fault) (fault) (fault)
(fault) (fault) (fault) (fault) (fault)
0 (fault) (fault) (fault) (fault)"
expect_line '^30 values could not be read$' err

# A fault equals nothing and is not true.
run_values 'probe ./t_values:look when (@(@(arg0 + 56) + 12):s32 == 22) < equal = count() >
	probe ./t_values:look when (@(@(arg0 + 56) + 12):s32 != 22) < unequal = count() >
	probe ./t_values:look when (@(@(arg0 + 56) + 12):s32 < 22) < less = count() >
	probe ./t_values:look when (@(arg0 + 48):string == "name of good") < same = count() >
	probe ./t_values:look when (@(arg0 + 48):string != "name of good") < other = count() >' faults
expect_eq "comparisons" "$(cat "$TMP/hits")" "equal = 10
unequal = 8
less = 1
same = 9
other = 9"
nothing_left
