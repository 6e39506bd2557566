# A process that sees other files than we do: in a root folder of its own, and in a mount namespace of its own. What is
# named with -p is what the process has, not what has that name here.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program unshare chroot ldd
root=$TMP/root
script='probe %s:work < printf("%%d\\n", arg0:s32) >'

clean_up()
{
	! mountpoint -q "$TMP/ns" || umount "$TMP/ns"
}

# Starts a t_procs that obeys `tell`, by the command that is given.
start_target()
{
	mkfifo "$TMP/orders"
	"$@" silent - <"$TMP/orders" >"$TMP/truth" &
	target=$!
	helpers+=($target)
	exec 7>"$TMP/orders"
	rm "$TMP/orders"
	echo 'work 1' >&7
	nr_told=1
	wait_for "answer" has_answered
}

has_answered()
{
	[ "$(grep -c '^done$' "$TMP/truth")" -ge "$nr_told" ]
}

tell()
{
	nr_told=$((nr_told + 1))
	echo "$1" >&7
	wait_for "answer to $1" has_answered
}

# Traces the file that the target sees as $1, named by a path through /proc, whoever runs it.
expect_path_traced()
{
	local path=/proc/$target/root$1
	start_up -o "$TMP/hits" -e "$(printf "$script" "$path")"
	wait_armed
	tell 'work 3'
	"$TARGETS/t_procs" silent 'work 2' >/dev/null
	tell 'work 2'
	end_up
	expect_status 0
	expect_eq "calls of $path" "$(tr '\n' ' ' <"$TMP/hits")" "0 1 2 0 1 "
	expect_line '^5 hits handled, 0 filtered, 0 lost ' err
}

stop_target()
{
	echo 'exit 0' >&7
	exec 7>&-
	wait "$target" || true
}

# Traces `work` of the target under a name, and the namesake of this machine beside it: the latter's calls do not count.
expect_traced()
{
	local program
	# shellcheck disable=SC2059 # the script is a format
	program=$(printf "$script" "$1")
	start_up -p "$target" -o "$TMP/hits" -e "$program"
	wait_armed
	tell 'work 3'
	"$TARGETS/t_procs" silent 'work 2' >/dev/null
	tell 'work 2'
	end_up
	expect_status 0
	expect_eq "calls of $1" "$(tr '\n' ' ' <"$TMP/hits")" "0 1 2 0 1 "
	expect_line '^5 hits handled, 0 filtered, 0 lost ' err
}

# --- a root folder of its own ---------------------------------------------------------------------

mkdir -p "$root/bin" "$TMP/elsewhere"
cp "$TARGETS/t_procs" "$root/bin/t_procs"
ln -s t_procs "$root/bin/link"
ldd "$TARGETS/t_procs" | grep -oE '/[^ ]+' | sort -u | while read -r library; do
	mkdir -p "$root/${library%/*}"
	cp -L "$library" "$root/$library"
done
start_target unshare -m chroot "$root" /bin/t_procs
for name in t_procs /bin/t_procs; do
	expect_traced "$name"
done
expect_path_traced /bin/t_procs
run_up plan -p "$target" -e "$(printf "$script" /bin/t_procs)"
expect_status 0
expect_line "^p:.* ($root|/proc/$target/root)/bin/t_procs:0x" out

# Its own libc, which is another file than ours.
start_up -p "$target" -o "$TMP/hits" -e 'probe libc:fork < n = count() >'
wait_armed
tell 'fork 4'
tell 'fork 1'
sh -c 'true; (true)'
end_up
expect_line '^n = 2$' "$TMP/hits"
stop_target

# --- a mount namespace of its own -----------------------------------------------------------------

# Here the folder is empty; there a file system with the program is mounted on it.
mkdir "$TMP/ns"
start_target unshare -m sh -c "mount -t tmpfs tmpfs '$TMP/ns' && cp '$TARGETS/t_procs' '$TMP/ns/inner' &&
	exec '$TMP/ns/inner' \"\$@\"" sh
[ ! -e "$TMP/ns/inner" ] || fail "the mount is seen from outside"
for name in inner "$TMP/ns/inner"; do
	expect_traced "$name"
done
expect_path_traced "$TMP/ns/inner"
run_up -e "probe $TMP/ns/inner:work < count() >"
expect_status 2
expect_line "error\[object\]: there is no file $TMP/ns/inner" err

# Its program is replaced while it runs. Whoever is in a root folder himself has no path that leads there, so that is
# not noticed; the mapping itself is probed.
run_up plan -p "$target" -e 'probe inner:work < count() >'
expect_line "^p:.* /proc/$target/(root$TMP/ns/inner|map_files/[-0-9a-f]+):0x" out
has_path=$(grep -c "/proc/$target/root" "$TMP/out" || true)
start_up -p "$target" -o "$TMP/hits" -e "probe inner:work < n = count() >"
wait_armed
cp "$TARGETS/t_version" "/proc/$target/root$TMP/ns/new"
mv "/proc/$target/root$TMP/ns/new" "/proc/$target/root$TMP/ns/inner"
[ "$has_path" = 0 ] || wait_line ' was replaced: ' err
tell 'work 6'
end_up
expect_line '^n = 6$' "$TMP/hits"
expect_traced inner
stop_target
nothing_left
