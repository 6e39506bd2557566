# Probes of entries that stand on a cheaper instruction than the first: the same hits, arguments, addresses, stack words
# and pairs as on the first, also where a return is probed; and where the place must not be moved it is not.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program nm
cd "$TARGETS"

address_of()
{
	printf '0x%x' "$((16#$(nm t_entries | sed -n "s/^\([0-9a-f]*\) . $1\$/\1/p")))"
}

# placed FUNCTION WHERE PROGRAM...: where `plan` says that the probe of the entry stands; "entry" for the entry itself.
placed()
{
	local func=$1 where=$2
	shift 2
	run_up plan "${@:1:$#-1}" -e "${*: -1}"
	expect_status 0
	if [ "$where" = entry ]; then
		expect_no_line "^  t_entries:$func: on" out
	else
		expect_line "^  t_entries:$func: on the $where, at a (quarter|third) of the cost$" out
	fi
}

if [ "$(uname -m)" = x86_64 ]; then
	placed many 'push at \+0x4' 'probe ./t_entries:many < print(arg0, arg7, stack[0]) > on return < count() >'
	placed moves 'push at \+0x7' 'probe ./t_entries:moves < print(arg0) >'
	placed moves entry 'probe ./t_entries:moves < print(reg.ax) >'
	placed many entry 'probe ./t_entries:many < print(reg.ip) >'
	# All probes of a function stand at one place.
	placed many entry 'probe ./t_entries:many < print(reg.ip) > probe ./t_entries:many < print(arg0) >'
	placed many entry 'probe ./t_entries:many+0 < print(arg0) >'
	placed many entry "probe ./t_entries:$(address_of many) < print(arg0) >"
	placed many entry --exact-entry 'probe ./t_entries:many < print(arg0) >'
	# Each turn of its loop would hit the push.
	placed loops entry 'probe ./t_entries:loops < print(arg0) >'
fi

program='
probe ./t_entries:saves < printf("%s %d %d %x %s\n", func, arg0, arg1, ip, offset) >
	on return < printf("%s = %d of %d, %d\n", func, retval, arg0, depth) >
probe ./t_entries:many < printf("%s %d %d %d %d %x\n", func, arg0, arg5, arg6, arg7, ip) >
	on return when (entry.arg6 > 1) < printf("%s = %d of %d\n", func, retval, entry.stack[2]) >
probe ./t_entries:moves when (arg0 >= 52) < printf("%s %d %x\n", func, arg0, ip) >
	on return < printf("%s = %d\n", func, retval) >
probe ./t_entries:loops < printf("%s %d\n", func, arg0) > on return < printf("%s = %d\n", func, retval) >
probe ./t_entries:down < entered = count() > on return < printf("%s %d = %d, %d\n", func, arg0, retval, depth) >'

{
	for i in 0 1 2; do
		echo "saves $i $((10 * i)) $(address_of saves) +0x0"
	done
	echo 'saves = 0 of 0, 0'
	echo 'saves = 10 of 1, 0'
	echo 'saves = 50 of 2, 0'
	for i in 0 1 2 3; do
		echo "many 1 6 $i $((100 + i)) $(address_of many)"
	done
	for i in 2 3; do
		echo "many = $((121 + 11 * i)) of $((100 + i))"
	done
	for i in 52 53 54; do
		echo "moves $i $(address_of moves)"
		echo "moves = $((i + 1))"
	done
	echo 'loops 6'
	echo 'loops = 7'
	for i in 0 1 2 3 4 5 6 7 8 9; do
		echo "down $i = $((i + 1)), $((9 - i))"
	done
} | sed 's/ 0x/ /' | sort >"$TMP/want"

for how in '' --exact-entry --single-sites; do
	run_up ${how:+$how} -e "$program" -c ./t_entries
	expect_status 0
	expect_line '^entered = 10$' out
	expect_line '^[0-9]+ hits handled, [0-9]+ filtered, 0 lost' err
	grep -v '^entered\|^$' "$TMP/out" | sort >"$TMP/got"
	expect_eq "hits ${how:-where they are cheap}" "$(cat "$TMP/got")" "$(cat "$TMP/want")"
done

# What was recorded at such places is replayed as if it were the entry.
cat >"$TMP/script.up" <<END
$program
END
run_up -q record -o "$TMP/it.dat" -c ./t_entries "$TMP/script.up"
expect_status 0
run_up replay "$TMP/it.dat"
expect_status 0
expect_line '^entered = 10$' out
grep -v '^entered\|^$' "$TMP/out" | sort >"$TMP/got"
expect_eq "hits that were recorded" "$(cat "$TMP/got")" "$(cat "$TMP/want")"
nothing_left
