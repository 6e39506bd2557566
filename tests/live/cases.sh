# Odd names and paths, indirect functions, a program replaced while it is traced: what other tracers stumble over.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program objcopy
cd "$TARGETS"

# --- names ----------------------------------------------------------------------------------------

objcopy --redefine-sym 'go_method=main.(*T).Run' --redefine-sym 'with_plus=a-b+4' t_odd "$TMP/odd"
nr=0
for name in on probe by 'pkg.Server$start.func1' '"main.(*T).Run"' '"a-b+4"'; do
	nr=$((nr + 1))
	run_up -o "$TMP/hits" -e "probe $TMP/odd:$name < printf(\"%d %s\\n\", arg0:s32, func) >" -c "$TMP/odd"
	expect_status 0
	expect_eq "calls of $name" "$(cat "$TMP/hits")" "$nr ${name//\"/}"
done

# --- paths ----------------------------------------------------------------------------------------

for path in 'blank and:colon,(x)/#odd bin' 'ünïcode/odd%' 'plain/.odd'; do
	mkdir -p "$TMP/$(dirname "$path")"
	cp t_odd "$TMP/$path"
	run_up -o "$TMP/hits" -e "probe \"$TMP/$path\":on < printf(\"%d %s\\n\", arg0:s32, object) >" -c "'$TMP/$path'"
	expect_status 0
	expect_eq "calls in $path" "$(cat "$TMP/hits")" "1 $(basename "$path")"
done
nothing_left

# A link, a relative path, and a path through a link to a folder are the same program.
ln -s "$TARGETS/t_odd" "$TMP/link"
ln -s "$TARGETS" "$TMP/folder"
run_up -o "$TMP/hits" -e "probe $TMP/link:on, $TMP/folder/t_odd:probe, ./t_odd:by < n = count() by func >" -c "$TMP/link"
expect_eq "calls through links" "$(cat "$TMP/hits")" "
n by func
  by     1
  on     1
  probe  1"

# --- indirect functions ---------------------------------------------------------------------------

run_up -e 'probe ./t_ifunc:compare < count() >' -c ./t_ifunc
expect_status 2
expect_line 'error\[symbol\]: compare is an indirect function' err
expect_line '^hint: probe what it picks from: \./t_ifunc:compare_fast$' err
run_up -o "$TMP/hits" -e 'probe ./t_ifunc:compare_* < n = count() by func >' -c ./t_ifunc
expect_status 0
expect_eq "calls of the implementation" "$(sed -n '$p' "$TMP/hits")" "  compare_fast  5"

# What a run says to probe instead, of uptick with the arguments.
implementations()
{
	run_up check -e "probe $1 < count() >"
	expect_status 2
	sed -n 's/^hint: probe what it picks from: //p' "$TMP/err"
}

# In a library, in a stripped one, and in a program without the dynamic linker. What is said can be probed as it stands.
cp t_ifunclib.so t_ifuncuse "$TMP"
strip -s "$TMP/t_ifunclib.so"
nr=0
for target in ./t_ifunclib.so:scale "$TMP/t_ifunclib.so:scale" ./t_ifunc_static:compare; do
	case $((nr++)) in
	0) program=./t_ifuncuse want='./t_ifunclib.so:scale_plain, ./t_ifunclib.so:scale_wide, ./t_ifunclib.so:scale_shown' calls=7 ;;
	1) program=$TMP/t_ifuncuse want="$(nm t_ifunclib.so | sed -nE "s|^0*([0-9a-f]+) t scale_(plain\|wide)|$TMP/t_ifunclib.so:0x\1|p" | sort |
		paste -sd, | sed 's/,/, /g'), $TMP/t_ifunclib.so:scale_shown" calls=7 ;;
	2) program=./t_ifunc_static want=./t_ifunc_static:compare_fast calls=5 ;;
	esac
	places=$(implementations "$target")
	expect_eq "what $target picks from" "$places" "$want"
	run_up -o "$TMP/hits" -e "probe $places < n = count() by func; numbers = count() by arg0:s32 >" -c "$program"
	expect_status 0
	expect_eq "calls of $target" "$(sed -n '3s/.* //p' "$TMP/hits")" $calls
	expect_count 1 '^  [a-z0-9_]+ +[57]$' "$TMP/hits"
	expect_eq "their arguments" "$(sed -n '/^numbers/,$s/^ *\([0-9]*\)  1$/\1/p' "$TMP/hits" | sort -n | tr '\n' ' ')" \
		"$([ $calls = 5 ] && echo '1 2 3 4 5 ' || echo '1 2 3 4 5 10 20 ')"
done

# --- one function under many names ----------------------------------------------------------------

# Two versions of a name at one address are one place.
run_up -v -o "$TMP/hits" -e 'probe libc:pthread_create < n = count() > on return < m = count() >' -c './t_burst 1'
expect_line '^uptick: 2 places armed ' err
expect_eq "calls of pthread_create" "$(cat "$TMP/hits")" "n = 4
m = 4"
# Whatever is written counts by itself: two targets of one probe, two probes, a pattern and a name.
run_up -o "$TMP/hits" -e 'probe ./t_alias:put_weak, ./t_alias:put_real < a = count() by func > on return < b = count() by func >
	probe ./t_alias:put_other < c = count() > on return < d = count() >
	probe ./t_alias:put_[orw]* < e = count() > on return < f = count() >' -c ./t_alias
expect_status 0
expect_eq "calls by what was written" "$(tr -s '\n ' ' ' <"$TMP/hits")" \
	" a by func put_real 10 put_weak 10 b by func put_real 10 put_weak 10 c = 10 d = 10 e = 10 f = 10 "
expect_line '^80 hits handled, 0 filtered, 0 lost in ' err

# --- a program that is replaced -------------------------------------------------------------------

# The probes stay with the file that they were put on: the new program runs undisturbed.
cp t_version "$TMP/service"
cp t_version2 "$TMP/new"
run_up -o "$TMP/hits" -e "probe $TMP/service:serve < printf(\"%d\\n\", arg0:s32) > on return < printf(\"%d\\n\", retval:s32) >" \
	-c "sh -c '$TMP/service; mv $TMP/new $TMP/service; $TMP/service; $TMP/service'"
expect_status 0
expect_eq "what the programs said" "$(cat "$TMP/out")" "version 1
0 version 2
0 version 2"
expect_eq "calls of serve" "$(cat "$TMP/hits")" "1
2"

# The same when it is there no more.
cp t_version "$TMP/gone"
start_up -o "$TMP/hits" -e "probe $TMP/gone:serve < n = count() >"
wait_armed
"$TMP/gone" >/dev/null
rm "$TMP/gone"
end_up
expect_status 0
expect_eq "calls" "$(cat "$TMP/hits")" "n = 1"
nothing_left
