# Probed files that are replaced, removed or written to while they are probed: one warning, the old file traced on, and
# with --follow-files the new one too, with exact counts. Also programs that run a file which is no longer there.
# Guest: only where this machine cannot trace.
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

# start_worker PROGRAM: a t_procs that does what it is told through $orders, and answers in $truth; its process is $worker.
start_worker()
{
	nr_workers=$((${nr_workers:-0} + 1))
	truth=$TMP/truth.$nr_workers
	mkfifo "$TMP/orders"
	"$1" silent - <"$TMP/orders" >"$truth" &
	worker=$!
	helpers+=("$worker")
	exec {orders}>"$TMP/orders"
	rm "$TMP/orders"
}

has_answered()
{
	[ "$(grep -c '^done$' "$truth")" -gt "$nr_answers" ]
}

# tell ORDER: the latest worker is told, and has answered.
tell()
{
	nr_answers=$(grep -c '^done$' "$truth" || true)
	echo "$1" >&"$orders"
	wait_for "answer to $1" has_answered
}

# stop_worker PID ORDERS
stop_worker()
{
	local fd=$2
	echo 'exit 0' >&"$fd"
	exec {fd}>&-
	wait "$1"
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
start_worker "$TMP/bin/worker"
old=$worker old_orders=$orders old_truth=$truth
start_up --follow-files -o "$TMP/hits" -e "probe $TMP/bin/worker:work <
	n = count() by pid, ip:sym
	if (arg0:s32 == 1999) < printf(\"all of the first\\n\") >
>"
wait_armed
# These are named while the file is still there, those of the new one after it has taken its place: each as its own.
tell 'work 2000'
wait_line '^all of the first$' "$TMP/hits"
cp t_procs "$TMP/bin/worker.new"
mv "$TMP/bin/worker.new" "$TMP/bin/worker"
wait_line 'armed in the new' err
# Both live until the run has ended.
start_worker "$TMP/bin/worker"
tell 'work 7'
new=$worker new_orders=$orders
orders=$old_orders truth=$old_truth
tell 'work 11'
end_up
expect_line "^  $old +work +2011\$" "$TMP/hits"
expect_line "^  $new +work +7\$" "$TMP/hits"
expect_line '^2018 hits handled, 0 filtered, 0 lost ' err
stop_worker "$old" "$old_orders"
stop_worker "$new" "$new_orders"

# Names of addresses are those of the file that the process runs.
cp t_procs "$TMP/bin/named"
start_worker "$TMP/bin/named"
start_up -o "$TMP/hits" -e "probe $TMP/bin/named:work < n = count() by pid, ip:sym >"
wait_armed
cp t_many "$TMP/bin/named.new"
mv "$TMP/bin/named.new" "$TMP/bin/named"
tell 'work 3'
end_up
expect_line "^  $worker +named:work +3\$" "$TMP/hits"
stop_worker "$worker" "$orders"

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
start_worker "$TMP/bin/gone"
cp t_version "$TMP/bin/gone.new"
mv "$TMP/bin/gone.new" "$TMP/bin/gone"
for name in gone "$TMP/bin/gone"; do
	start_up -p "$worker" -o "$TMP/hits" -e "probe $name:work < n = count() >"
	wait_armed
	tell 'work 5'
	end_up
	expect_status 0
	expect_line '^n = 5$' "$TMP/hits"
	expect_no_line 'was (replaced|removed)' err
done
rm "$TMP/bin/gone"
run_up plan -p "$worker" -e 'probe gone:work < count() >'
expect_status 0
expect_line "^p:.* /proc/$worker/map_files/"
stop_worker "$worker" "$orders"
nothing_left
