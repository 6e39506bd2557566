# Stripped programs whose symbols are elsewhere: in a file that .gnu_debuglink names, in one found by the build id, in
# .gnu_debugdata; and where they are not, it is said.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program objcopy strip readelf xz unshare mount
cd "$TARGETS"

# Makes $TMP/$1/add, a stripped t_add, and $TMP/$1/full.debug with what was taken from it.
make_stripped()
{
	folder=$TMP/$1
	mkdir -p "$folder"
	objcopy --only-keep-debug "${@:2}" t_add "$folder/full.debug"
	strip -s -o "$folder/add" t_add
}

# The program's add() is found, with arguments and results, and so is every other function by a pattern.
expect_found()
{
	run_up -o "$TMP/hits" -e "probe $folder/add:add < printf(\"add(%d, %d)\\n\", arg0:s32, arg1:s32) >
		on return < printf(\"add(%d, %d) = %d\\n\", arg0:s32, arg1:s32, retval:s32) >" -c "$folder/add add"
	expect_status 0
	expect_eq "calls of add" "$(cat "$TMP/hits")" "$(cat "$TMP/out")"
	run_up list "$folder/add:p*"
	expect_line ' function +ping$'
	expect_line ' function +pong$'
}

expect_not_found()
{
	run_up check -e "probe $folder/add:add < count() >"
	expect_status 2
	expect_line 'error\[symbol\]: add has no function named add' err
	expect_line '^hint: it is stripped: no function has a name; install its debug symbols' err
	run_up list "$folder/add:*"
	expect_status 1
	expect_line '^uptick: add is stripped: no function has a name$' err
	expect_line '^  hint: install its debug symbols .*/usr/lib/debug/\.build-id/[0-9a-f]{2}/[0-9a-f]+\.debug$' err
}

# --- nothing anywhere -----------------------------------------------------------------------------

make_stripped nothing
expect_not_found
# By address it can be probed all the same.
address=$(nm t_add | sed -nE 's/^0*([0-9a-f]+) T add$/0x\1/p')
run_up -o "$TMP/hits" -e "probe $folder/add:$address < n = count() > on return < m = count() >" -c "$folder/add add"
expect_eq "calls by address" "$(cat "$TMP/hits")" "n = 7
m = 7"

# --- .gnu_debuglink -------------------------------------------------------------------------------

make_stripped beside
objcopy --add-gnu-debuglink="$folder/full.debug" "$folder/add"
expect_found

make_stripped subfolder
mkdir "$folder/.debug"
mv "$folder/full.debug" "$folder/.debug/"
objcopy --add-gnu-debuglink="$folder/.debug/full.debug" "$folder/add"
expect_found

make_stripped compressed --compress-debug-sections
objcopy --add-gnu-debuglink="$folder/full.debug" "$folder/add"
expect_found

# Another file of that name, and none.
make_stripped other
objcopy --add-gnu-debuglink="$folder/full.debug" "$folder/add"
echo >>"$folder/full.debug"
expect_not_found
make_stripped missing
objcopy --add-gnu-debuglink="$folder/full.debug" "$folder/add"
rm "$folder/full.debug"
expect_not_found

# --- .gnu_debugdata -------------------------------------------------------------------------------

make_stripped mini
objcopy --strip-debug "$folder/full.debug" "$folder/mini"
xz "$folder/mini"
objcopy --add-section .gnu_debugdata="$folder/mini.xz" "$folder/add"
rm "$folder/full.debug"
expect_found

# --- a library ------------------------------------------------------------------------------------

folder=$TMP/library
mkdir "$folder"
cp t_ifunclib.so t_ifuncuse "$folder"
objcopy --only-keep-debug "$folder/t_ifunclib.so" "$folder/lib.debug"
strip -s "$folder/t_ifunclib.so"
objcopy --add-gnu-debuglink="$folder/lib.debug" "$folder/t_ifunclib.so"
run_up -o "$TMP/hits" -e "probe $folder/t_ifunclib.so:scale_plain < n = count() by arg0 >" -c "$folder/t_ifuncuse"
expect_status 0
expect_line '^7 hits handled, 0 filtered, 0 lost in ' err
expect_line '^  20  1$' "$TMP/hits"

# --- by the build id ------------------------------------------------------------------------------

make_stripped id
id=$(readelf -n "$folder/add" | sed -n 's/^ *Build ID: //p')
store=$TMP/store/.build-id/${id:0:2}
mkdir -p "$store"
mv "$folder/full.debug" "$store/${id:2}.debug"
expect_not_found
# This uptick alone sees the store in the place of the machine's.
cat >"$TMP/with-store" <<EOF
#!/bin/sh
exec unshare -m sh -c 'mount --bind "\$0" /usr/lib/debug && exec "$UPTICK" "\$@"' "$TMP/store" "\$@"
EOF
chmod +x "$TMP/with-store"
UPTICK=$TMP/with-store
[ -d /usr/lib/debug ] || skip "no folder /usr/lib/debug to mount a store on"
expect_found
nothing_left
