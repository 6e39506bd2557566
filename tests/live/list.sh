# uptick list: places by name, pattern, version and source name; objects; without privileges.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_program setpriv nm strip
cd "$TARGETS"

# --- places ---------------------------------------------------------------------------------------

run_up list './t_add:add'
expect_status 0
expect_line '^0x[0-9a-f]+ +[1-9][0-9]*  function +add$'
expect_line '^1 place$' err
address=$(nm ./t_add | awk '$3 == "add" { print $1 }')
expect_eq address "$(($(cut -d' ' -f1 "$TMP/out")))" "$((0x$address))"

# All names of an address on one line, the shortest first.
run_up list './t_alias:put_*'
expect_status 0
expect_count 2 .
expect_line ' function +put_(real|weak), put_(real|weak), put_other$'
expect_line ' function +put_apart$'
expect_line '^2 places$' err

# Several patterns, a regular expression, options behind them.
run_up list './t_many:f_00?' './t_many:/^f_01[0-3]$/' -f json
expect_status 0
expect_count 14 '^\{"type":"place","object":"/.*/t_many","address":"0x[0-9a-f]+","offset":"0x[0-9a-f]+","size":[0-9]+,"kind":"function","local":(true|false),"names":\[\{"name":"f_0'
expect_line '^14 places$' err

# What is listed is what a probe of the same pattern takes.
run_up list './t_many:f_*'
listed=$(wc -l <"$TMP/out")
run_up plan -e 'probe ./t_many:f_* < count() >'
expect_eq "places of a probe" "$(grep -c '^p:' "$TMP/out")" "$listed"

# Everything, with and without the colon; local functions are marked, data is left out.
for arg in ./t_names.so ./t_names.so:; do
	run_up list "$arg"
	expect_status 0
	expect_line ' function local +hidden$'
	expect_line ' function +shown$'
	expect_no_line data_item
done
run_up list ./t_names.so:data_item
expect_status 1
expect_line 'is data, and a probe can only stand on code' err

# Versions, indirect functions, imports, near names.
run_up list 'libc:malloc'
expect_line '^0x[0-9a-f]+ +[0-9]+  function +.*malloc@GLIBC_2\.'
run_up list 'libc:memchr*'
expect_line ' ifunc +memchr'
# An indirect function is shown with what it picks from, and is no place.
run_up list './t_ifunc:*compare*'
expect_status 0
expect_line ' ifunc +compare -> compare_fast$'
expect_line '^2 places; 1 indirect function, of which only the implementations can be probed$' err
run_up list ./t_ifunc:compare -f json
expect_line '"kind":"ifunc","local":false,"names":\[\{"name":"compare"\}\],"picks":\[\{"address":"0x[0-9a-f]+","name":"compare_fast"\}\]\}$'
expect_line '^0 places; 1 indirect function, ' err
run_up list 'libc:mallocc'
expect_status 1
expect_line '^uptick: nothing in libc matches mallocc$' err
expect_line 'did you mean `malloc`' err
run_up list './t_add:printf'
expect_status 1
expect_line 't_add does not define printf, it takes it from libc' err
run_up list nosuchprogram:x
expect_status 1
run_up list 'libc:/(/'
expect_status 2
expect_line 'bad regular expression' err
run_up list
expect_status 2

# A file without symbols, and one that names only what others use.
strip -s -o "$TMP/bare" t_add
for pattern in '' ':*' :add; do
	run_up list "$TMP/bare$pattern"
	expect_status 1
	expect_line '^uptick: bare is stripped: no function has a name$' err
	expect_line '^  hint: install its debug symbols ' err
done
strip -s -o "$TMP/bare.so" t_ifunclib.so
run_up list "$TMP/bare.so:no_such_thing"
expect_status 1
expect_line '^  hint: it is stripped: only functions for other programs have names; install ' err

# --- source names ---------------------------------------------------------------------------------

run_up list "./t_names.so:*"
expect_line ' _ZN5Cache3getEi = Cache::get\(int\)$'
expect_line ' _ZN4core3fmt5write17h0123456789abcdefE = core::fmt::write$'
expect_line ' shown$'
run_up list "./t_names.so:Cache::get" -f json
expect_count 1 .
expect_line '"names":\[\{"name":"_ZN5Cache3getEi","demangled":"Cache::get\(int\)"\}\]'
run_up list "./t_names.so:Cache::*"
expect_count 2 .
run_up list "./t_names.so:Cache::get(int)"
expect_count 1 .
run_up list "./t_names.so:core::fmt::write"
expect_count 1 .

# --- objects --------------------------------------------------------------------------------------

run_up list 'libc*'
expect_status 0
expect_line '^/.*/libc\.so\.6'
expect_line ' objects?$' err
run_up list 'no-such-thing-*'
expect_status 1

./t_ticker 20000 &
helpers=("$!")
sleep 0.2
run_up list -p "${helpers[0]}"
expect_status 0
expect_line '/t_ticker$'
expect_line '/libc\.so\.6$'
run_up list -p "${helpers[0]}" 'libc:mallo?' 't_ticker:tick'
expect_status 0
expect_line 'malloc@GLIBC'
expect_line ' tick$'
run_up list -p 999999999
expect_status 1
expect_line 'there is none' err

# --- many names, and no privileges ----------------------------------------------------------------

since=${EPOCHREALTIME/./}
run_up list './t_names.so:g*'
took=$((${EPOCHREALTIME/./} - since))
expect_count 12000 .
expect_line '^12000 places$' err
limit=1000000
[ -z "${UPTICK_GUEST:-}" ] || limit=10000000
[ "$took" -lt "$limit" ] || fail "12,000 names took $took us"

# A script with too many targets is told so before all of them have been looked at, and 20,000 take no minute. (The guest
# would need one: it emulates its processor, and this is the processor's work alone.)
if [ -z "${UPTICK_GUEST:-}" ]; then
	{
		echo 'probe ./t_names.so:g0'
		for ((i = 1; i < 25000; i++)); do
			echo ", ./t_names.so:g$((i % 12000))"
		done
		echo '< count() >'
	} | tr '\n' ' ' >"$TMP/many.up"
	since=${EPOCHREALTIME/./}
	run_up check "$TMP/many.up"
	took=$((${EPOCHREALTIME/./} - since))
	expect_status 2
	expect_line ': error\[limit\]: one program probes at most 20000 places$' err
	[ "$took" -lt $((10 * limit)) ] || fail "25,000 targets took $took us"
fi

status=0
setpriv --reuid 65534 --regid 65534 --clear-groups "$UPTICK" list libc:malloc >"$TMP/out" 2>"$TMP/err" || status=$?
expect_status 0
expect_line ' malloc'
