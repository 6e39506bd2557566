# Every type, compared with what the target says of itself: bit fields, arrays, bytes, floats, and addresses by name.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
cd "$TARGETS"

# --- values ---------------------------------------------------------------------------------------

record='printf("bits %d %d %d %d %d %d %d\n", @arg0:b3@0/32, @arg0:b4@3/32, @arg0:b13@7/32, @arg0:b12@20/32,
		@(arg0 + 64):b5@0/64, @(arg0 + 64):b40@5/64, @(arg0 + 64):b19@45/64)
	printf("nr %s %s %s\n", @(arg0 + 4):u32[8], @(arg0 + 36):s16[4], @(arg0 + 120):s64[2])
	printf("mac %s %s\n", (arg0 + 44):bytes[6], @(arg0 + 50):char[14])
	printf("float %g %.16g %.3f %e %a\n", @(arg0 + 72):f32, @(arg0 + 80):f64, @(arg0 + 80):f64, @(arg0 + 88):f64, @(arg0 + 96):f64)
	printf("many %s\n", @(arg0 + 152):u8[200])'
run_up -o "$TMP/trace" -e "probe ./t_types:take < $record >" -c ./t_types
expect_status 0
[ "$(wc -l <"$TMP/out")" -eq 5 ] || fail "the target says something else"
expect_eq "the target's own words" "$(cat "$TMP/trace")" "$(cat "$TMP/out")"
# The same, kept from the entry and shown at the return.
run_up -o "$TMP/trace" -e "probe ./t_types:take on return < $(sed -E 's/(@?\(?arg0)/entry.\1/g' <<<"$record") >" -c ./t_types
expect_eq "kept values" "$(cat "$TMP/trace")" "$(cat "$TMP/out")"

run_up -o "$TMP/trace" -f json -e 'probe ./t_types:take < print(@(arg0 + 72):f32, @(arg0 + 88):f64[3], @(arg0 + 112):f32[2],
		@(arg0 + 136):bool[4], @(arg0 + 76):s8, @(arg0 + 77):char, @(arg0 + 78):bool, @(arg0 + 79):bool, @(arg0 + 36):x16[2],
		(arg0 + 44):bytes[6], (arg0 + 44):bytes[2] == "\xde\xad", @(arg0 + 76):s8 == -3)
	count() by @(arg0 + 36):s16[4], (arg0 + 44):bytes[6], @(arg0 + 80):f64, @(arg0 + 76):s8 >' -c ./t_types
expect_eq "in JSON" "$(jq -c 'select(.type == "print") | [.values[]]' "$TMP/trace")" \
	'[0.1,[1e+300,-0.5,"inf"],[1.5,3.4028235e+38],[false,true,false,true],-3,"q",true,false,["0x0","0xfc18"],"deadbeef0001",true,true]'
expect_eq "keys in JSON" "$(jq -c 'select(.type == "aggregation") | [.rows[0].key[]]' "$TMP/trace")" \
	'[[0,-1000,2,-3000],"deadbeef0001",0.3333333333333333,-3]'

# Registers: bit fields, and what a narrow argument holds.
run_up -o "$TMP/trace" -e 'probe ./t_types:bits < printf("%d %d %d %s\n", arg0:b4@0/32, arg0:b8@4/16, (arg0 + 1):b4@4/32, func) >
		on return < printf("%d %d\n", arg0:b4@28/32, retval:b8@24/32) >
	probe ./t_types:small when (arg0:s8 < 0 && arg1:s16 == -300) < printf("%d %d %d %u\n", arg0:s8, arg1:s16 + 1, arg2:s32, arg3:bool) >' -c ./t_types
expect_eq "registers" "$(cat "$TMP/trace")" "15 238 15 bits
13 222
-1 -299 -70000 1"

# Arithmetic on floats.
run_up -o "$TMP/trace" -e 'probe ./t_types:number when (@arg0:f64 > 0.5) < printf("%g %g %g %d %.2f %g\n", @arg0:f64 * 2 + 1, -@arg0:f64,
		if (@arg0:f64 == 1.5) 0.25 else 3, (@arg0:f64 * 10):s64, 7 / 2.0, @arg0:f64 / 0) >' -c ./t_types
expect_eq "arithmetic" "$(cat "$TMP/trace")" "2.5 -0.75 3 7 3.50 0
4 -1.5 0.25 15 3.50 0"
expect_line '^4 hits handled|^2 hits handled, 2 filtered' err
expect_line '^2 divisions by zero' err

# --- the end of what is mapped --------------------------------------------------------------------

run_up -e 'probe ./t_types:edge < printf("%s|%s|%s|%s|%s\n", arg0:bytes[20], arg0:bytes[13], @arg0:u32[4], @arg0:char[13], @arg0:u64[1]) >' \
	-c './t_types edge'
expect_eq "at the edge" "$(cat "$TMP/out")" "30313233343536373839616263...|30313233343536373839616263|{858927408,926299444,1650538808}...|0123456789abc|{3978425819141910832}
(fault)|(fault)|(fault)|(fault)|(fault)
$(printf '0%.0s' {1..40})|$(printf '0%.0s' {1..26})|{0,0,0,0}||{0}
373839616263...|373839616263...|{1631139895}...|789abc...|(fault)"

# --- addresses by name ----------------------------------------------------------------------------

run_up -e 'probe ./t_types:compare < printf("%s %s\n", ip:sym, stack[0]:sym) > on return < printf("%s\n", ip:sym); n = count() by (ip:sym ~ "libc.so*:*") >' -c './t_types sort'
expect_count 3 '^compare libc\.so[^ ]*:[^ ]+$'
expect_count 3 '^libc\.so[^ ]*:[^ ]+$'
expect_line '^  true +3$'

# After an exec everything lies elsewhere.
run_up -e 'probe ./t_types:compare < count() by stack[0]:sym >' -c './t_types exec'
expect_count 1 '^  libc\.so[^ ]*:[^ ]+ +6$'

# The process is gone when its hits are handled: addresses in the probed program are named all the same.
run_up -e 'probe ./t_types:take < print(ip:sym, stack[0]:sym, @(arg0 + 144):sym, 0x10:sym, @(arg0 + 144):sym == "compare") >
		on return < print(ip:sym) >' -c './t_types quick'
expect_line ' t_types:take ip:sym="take" stack\[0\]:sym="main\+0x[0-9a-f]+" @\(arg0 \+ 144\):sym="compare" 0x10:sym="0x10" .*=true$'
expect_line ' t_types:take return ip:sym="main\+0x[0-9a-f]+"$'
nothing_left
