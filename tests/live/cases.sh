# Odd names and paths, indirect functions, a program replaced while it is traced: what other tracers stumble over.
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
run_up -o "$TMP/hits" -e 'probe ./t_ifunc:compare_* < n = count() by func >' -c ./t_ifunc
expect_status 0
expect_eq "calls of the implementation" "$(sed -n '$p' "$TMP/hits")" "  compare_fast  5"

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
