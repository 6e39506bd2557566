# What cannot be probed is said clearly, before anything is in the kernel; and several tracers leave each other alone.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program setpriv mkfifo nm objdump
cd "$TARGETS"

# expect_error STATUS REGEX TARGET [OPTIONS...]: probing that target ends so, with a line like that.
expect_error()
{
	local want=$1 regex=$2 target=$3
	shift 3
	run_up "$@" -e "probe $target < count() >"
	expect_status "$want"
	expect_line "$regex" err
	expect_count 0 . out
}

# --- objects and places ---------------------------------------------------------------------------

expect_error 2 'error\[object\]: .*/no/such/file' /no/such/file:add
expect_error 2 'error\[object\]: .*no-such-program' no-such-program:add
expect_error 2 'error\[object\]: .* is a directory' /tmp:add
expect_error 2 'error\[object\]: .*/etc/passwd is not an ELF file' /etc/passwd:add
cp t_add "$TMP/cut" && truncate -s 3000 "$TMP/cut"
expect_error 2 'error\[object\]: ' "$TMP/cut:add"
cp t_add "$TMP/garbage" && head -c 9000 /dev/urandom >"$TMP/noise"
dd if="$TMP/noise" of="$TMP/garbage" bs=1 seek=5 conv=notrunc status=none
expect_error 2 'error\[(object|symbol)\]: ' "$TMP/garbage:add"
: >"$TMP/empty"
expect_error 2 'error\[object\]: ' "$TMP/empty:add"
mkfifo "$TMP/fifo"
expect_error 2 'error\[object\]: .* not a regular file' "$TMP/fifo:add"

expect_error 2 'did you mean `odd_good`' ./t_errors:odd_god
expect_error 2 'takes it from libc' ./t_add:nanosleep
expect_error 2 'odd_data is data' ./t_errors:odd_data
expect_error 2 'error\[address-range\]: 0x10 is in the data' ./t_errors:0x10
expect_error 2 'error\[address-range\]: 0x99999999 is outside' ./t_errors:0x99999999
expect_error 2 'error\[address-range\]: file offset 0x10 .* is data' ./t_errors:@0x10

if [ "$(uname -m)" = x86_64 ]; then
	expect_error 2 'error\[address-range\]: the kernel cannot probe .*lock prefix' ./t_errors:odd_lock
	expect_error 2 'error\[address-range\]: the kernel cannot probe .*int3' ./t_errors:odd_break
	expect_error 2 'error\[address-range\]: the kernel cannot probe .*hlt' ./t_errors:odd_halt
	# An import's stub, given by its address.
	address=$(objdump -d t_add | sed -n 's/^0*\([0-9a-f]*\) <printf@plt>:$/0x\1/p')
	expect_error 2 "error\[address-range\]: $address is the call stub of printf, not the function" "./t_add:$address"
	expect_line '^hint: probe libc\.so\.6:printf$' err
	# A pattern does without them.
	run_up -e 'probe ./t_errors:odd_* < count() >' -c ./t_errors
	expect_status 0
	expect_line 'count\(\) = 3$'
	expect_line 'warning\[skipped\]: odd_\* leaves out 3 functions' err

	# What only the kernel can judge is shown at the text that it comes from.
	run_up -e 'probe ./t_add:add < print(arg0, fetch("+0(%zz):u32")) >' -c './t_add add'
	expect_status 1
	expect_line '^-e:1:39: error\[kernel\]: .*Invalid register name' err
	expect_count 0 . out
fi
nothing_left

# --- without privileges ---------------------------------------------------------------------------

last_command='as nobody: uptick'
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${nobody[@]}" test -x "$UPTICK" || nobody=()
if [ ${#nobody[@]} -gt 0 ]; then
	status=0
	"${nobody[@]}" "$UPTICK" -e 'probe libc:puts < count() >' -c true >"$TMP/out" 2>"$TMP/err" || status=$?
	expect_status 1
	expect_line '^uptick: cannot .*: Permission denied; .*root' err
	expect_count 1 . err
	for command in plan check; do
		"${nobody[@]}" "$UPTICK" $command -e 'probe libc:puts < count() >' >"$TMP/out" 2>"$TMP/err" || fail "$command needs privileges"
	done
fi

run_up -e 'probe libc:puts < count() >' -p 2147483646
expect_status 1
expect_line '^uptick: cannot trace process 2147483646: .*no such process' err

# --- several tracers on one function --------------------------------------------------------------

# Somebody's own probe, made by hand, in an instance of its own.
foreign=live_test_$$
instance=$tracing/instances/$foreign
address=$(nm t_add | sed -n 's/^0*\([0-9a-f]*\) . add$/\1/p')
clean_up()
{
	[ -e "$instance/events/$foreign/add/enable" ] || return 0
	echo 0 >"$instance/events/$foreign/add/enable"
	[ "$(cat "$instance/events/$foreign/add/enable")" = 0 ] && echo "-:$foreign/add" >>"$tracing/uprobe_events"
	rmdir "$instance"
}
mkdir "$instance"
echo "p:$foreign/add $PWD/t_add:0x$address n=%di:s32" >>"$tracing/uprobe_events"
echo 1 >"$instance/events/$foreign/add/enable"

# One uptick sees everybody's calls; another one comes, sees its own command's, and goes.
start_up -o "$TMP/all" -e 'probe ./t_add:add < calls = count() > on return < returns = count() by retval:s32 >'
wait_armed
first=$up_pid
helpers=("$first")
up_pid=
for run in 1 2; do
	run_up -o "$TMP/hits" -e 'probe ./t_add:add < calls = count() > on return < returns = count() >' -c './t_add add'
	expect_status 0
	expect_eq "calls seen by the second" "$(cat "$TMP/hits")" "calls = 7
returns = 7"
done
./t_add add >/dev/null
[ -e "$tracing/instances/uptick_$first" ] || fail "the first one is gone"
up_pid=$first
helpers=()
end_up
expect_status 0
expect_line '^calls = 21$' "$TMP/all"
expect_line '^ +0 +6$' "$TMP/all"

# The foreign probe has seen them all, and is as it was.
expect_eq "the foreign probe" "$(grep -c " $foreign/add\| add: (" "$instance/trace")" 21
grep -q "^p:$foreign/add " "$tracing/uprobe_events" || fail "the foreign probe is gone"
expect_eq "the foreign probe is on" "$(cat "$instance/events/$foreign/add/enable")" 1
clean_up
nothing_left
