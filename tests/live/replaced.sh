# Probed files that are replaced, removed or written to while they are probed: one warning, the old file traced on, and
# with --follow-files the new one too, with exact counts. Also programs that run a file which is no longer there.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"
mkdir "$TMP/bin"
service=$TMP/bin/service
script='probe '$service':serve < printf("in %d\n", arg0:s32) > on return < printf("out %d\n", retval:s32) > probe '$service':serve < calls = count() by arg0:s32 >'

# Puts a version of the program in place, as packages are: by renaming.
place()
{
	cp "$1" "$service.new"
	touch -d '1 minute ago' "$service.new"
	mv "$service.new" "$service"
}

# --- nothing happens ------------------------------------------------------------------------------

switches()
{
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$up_pid/status"
}

# Whatever else happens in the folder, and even to its times.
place t_version
start_up --follow-files -e "probe $service:serve < count() >"
wait_armed
sleep 0.3
before=$(switches)
: >"$TMP/bin/another"
rm "$TMP/bin/another"
sleep 0.7
expect_eq "wake-ups" "$(switches)" "$before"
end_up
expect_line '^0 hits handled' err
expect_no_line 'replaced' err

# --- without following ----------------------------------------------------------------------------

place t_version
start_up -o "$TMP/hits" -e "$script"
wait_armed
"$service" >/dev/null
place t_version2
wait_line "^uptick: $service was replaced: .*--follow-files" err
"$service" >/dev/null
place t_version
"$service" >/dev/null
end_up
expect_status 0
expect_count 1 ' was replaced: ' err
expect_count 1 '^1 probed file was replaced or written to$' err
expect_eq "calls" "$(cat "$TMP/hits")" "in 1
out 2

calls by arg0:s32
  1  1"

# Quietly; and as JSON, where the sums say it.
place t_version
start_up -q -f json -o "$TMP/hits" -e "$script"
wait_armed
place t_version2
"$service" >/dev/null
end_up
expect_eq "messages" "$(cat "$TMP/err")" ""
expect_line '"type":"end","handled":0,.*"changed_files":1,' "$TMP/hits"

# --- following ------------------------------------------------------------------------------------

# Version after version; an event for each, whichever way the sites are laid out.
for option in --verbose --single-sites; do
	place t_version
	start_up "$option" --follow-files -o "$TMP/hits" -e "$script"
	wait_armed
	"$service" >/dev/null
	place t_version2
	wait_line "^uptick: a probed file was replaced: 3 places armed in the new $service\$" err
	"$service" >/dev/null
	"$service" >/dev/null
	rm "$service"
	place t_version
	wait_for "second following" eval '[ "$(grep -c "3 places armed in the new" "$TMP/err")" = 2 ]'
	"$service" >/dev/null
	end_up
	expect_status 0
	expect_eq "calls with $option" "$(cat "$TMP/hits")" "in 1
out 2
in 2
out 3
in 2
out 3
in 1
out 2

calls by arg0:s32
  1  2
  2  2"
	expect_line '^12 hits handled, 0 filtered, 0 lost ' err
	nothing_left
done

# What runs the old file is traced on without a gap, beside the new one.
cp t_procs "$TMP/bin/worker"
mkfifo "$TMP/orders"
"$TMP/bin/worker" silent - <"$TMP/orders" >"$TMP/truth" &
worker=$!
helpers+=($worker)
exec 7>"$TMP/orders"
start_up --follow-files -o "$TMP/hits" -e "probe $TMP/bin/worker:work < n = count() by pid, ip:sym >"
wait_armed
echo 'work 2000' >&7
cp t_procs "$TMP/bin/worker.new"
mv "$TMP/bin/worker.new" "$TMP/bin/worker"
wait_line 'armed in the new' err
# It stays for a moment: names of a replaced file's functions are looked up in the process.
(echo 'work 7' && sleep 0.5) | "$TMP/bin/worker" silent - >/dev/null
echo 'work 11' >&7
wait_for "answers" eval '[ "$(grep -c "^done$" "$TMP/truth")" = 2 ]'
end_up
expect_line "^  $worker +(worker:)?work +2011\$" "$TMP/hits"
expect_line '^  [0-9]+ +(worker:)?work +7$' "$TMP/hits"
expect_line '^2018 hits handled, 0 filtered, 0 lost ' err
echo 'exit 0' >&7
exec 7>&-

# Names of addresses are those of the file that the process runs.
cp t_procs "$TMP/bin/named"
mkfifo "$TMP/orders3"
"$TMP/bin/named" silent - <"$TMP/orders3" >"$TMP/truth" &
named=$!
helpers+=($named)
exec 9>"$TMP/orders3"
start_up -o "$TMP/hits" -e "probe $TMP/bin/named:work < n = count() by pid, ip:sym >"
wait_armed
cp t_many "$TMP/bin/named.new"
mv "$TMP/bin/named.new" "$TMP/bin/named"
echo 'work 3' >&9
wait_for "answer" grep -qx done "$TMP/truth"
end_up
expect_line "^  $named +named:work +3\$" "$TMP/hits"
echo 'exit 0' >&9
exec 9>&-

# A new file that is not what is asked for; then one that is, written bit by bit.
place t_version
start_up --follow-files -o "$TMP/hits" -e "$script"
wait_armed
cp t_many "$service.new"
mv "$service.new" "$service"
wait_line "^uptick: $service was replaced, and no probe can be put on a new file: service has no function named serve" err
rm "$service"
size=$(stat -c %s t_version2)
for ((part = 0; part < 8; part++)); do
	dd if=t_version2 bs=$((size / 8 + 1)) skip=$part count=1 status=none >>"$service"
	sleep 0.05
done
chmod +x "$service"
wait_line 'armed in the new' err
"$service" >/dev/null
end_up
expect_status 0
expect_eq "calls" "$(cat "$TMP/hits")" "in 2
out 3

calls by arg0:s32
  2  1"

# The folder is replaced.
mkdir "$TMP/next"
place t_version
cp t_version2 "$TMP/next/service"
start_up --follow-files -o "$TMP/hits" -e "$script"
wait_armed
mv "$TMP/bin" "$TMP/old"
mv "$TMP/next" "$TMP/bin"
wait_line 'armed in the new' err
"$service" >/dev/null
"$TMP/old/service" >/dev/null
end_up
expect_line '^in 2$' "$TMP/hits"
expect_line '^in 1$' "$TMP/hits"
expect_line '^6 hits handled, 0 filtered, 0 lost ' err
nothing_left

# --- written to -----------------------------------------------------------------------------------

# Nothing moves then; a file that is only touched is no matter.
place t_version
start_up --follow-files -o "$TMP/hits" -e "$script"
wait_armed
touch "$service"
chmod u+w "$service"
"$service" >/dev/null
cat t_version >"$service"
wait_line "^uptick: $service was written to while it is probed" err
cat t_version >"$service"
"$service" >/dev/null
end_up
expect_count 1 ' was written to ' err
expect_line '^6 hits handled' err
expect_line '^1 probed file was replaced or written to$' err

# --- a program whose file is gone -----------------------------------------------------------------

cp t_procs "$TMP/bin/gone"
mkfifo "$TMP/orders2"
"$TMP/bin/gone" silent - <"$TMP/orders2" >"$TMP/truth" &
gone=$!
helpers+=($gone)
exec 8>"$TMP/orders2"
cp t_version "$TMP/bin/gone.new"
mv "$TMP/bin/gone.new" "$TMP/bin/gone"
for name in gone "$TMP/bin/gone"; do
	: >"$TMP/truth"
	start_up -p "$gone" -o "$TMP/hits" -e "probe $name:work < n = count() >"
	wait_armed
	echo 'work 5' >&8
	wait_for "answer" grep -qx done "$TMP/truth"
	end_up
	expect_status 0
	expect_line '^n = 5$' "$TMP/hits"
	expect_no_line 'was (replaced|removed)' err
done
rm "$TMP/bin/gone"
run_up plan -p "$gone" -e 'probe gone:work < count() >'
expect_status 0
expect_line "^p:.* /proc/$gone/map_files/"
echo 'exit 0' >&8
exec 8>&-
nothing_left
