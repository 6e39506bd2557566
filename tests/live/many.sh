# Many places at once: patterns, one kernel event for all, names that share an address.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

# f_NNN is called NNN % 7 times: what a count by function must show, largest first, then by name.
calls_of_f()
{
	local times nr
	for times in 6 5 4 3 2 1; do
		for ((nr = times; nr < 300; nr += 7)); do
			printf '  f_%03d  %d\n' "$nr" "$times"
		done
	done
}

# --- 300 functions --------------------------------------------------------------------------------

run_up plan -e 'probe ./t_many:f_* < count() by func >'
expect_status 0
expect_count 300 '^p:uptick/[A-Za-z0-9_]+ /.*t_many:0x[0-9a-f]+ site=\\[0-9]+:u32' out
expect_eq "kernel events" "$(sed -n 's/^p:uptick\/\([^ ]*\) .*/\1/p' "$TMP/out" | sort -u | wc -l)" 1
expect_eq "addresses" "$(sed -n 's/^p:uptick\/[^ ]* \([^ ]*\) .*/\1/p' "$TMP/out" | sort -u | wc -l)" 300

run_up -v -o "$TMP/hits" -e 'probe ./t_many:f_* < calls = count() by func >' -c ./t_many
expect_status 0
expect_eq "calls by function" "$(cat "$TMP/hits")" "$(printf '\ncalls by func\n'; calls_of_f)"
expect_line '^897 hits handled, 0 filtered, 0 lost in ' err
expect_line '^uptick: 300 places armed in 1 kernel events? of group uptick_' err

# Entry and return: two events; each return finds its call.
run_up -v -o "$TMP/hits" -e 'probe ./t_many:f_* < in = count() > on return < out = count(); if (retval:s32 != arg0:s32 + 1) < wrong = count() > >' \
	-c ./t_many
expect_eq "entries and returns" "$(cat "$TMP/hits")" "in = 897
out = 897
wrong: nothing"
expect_line '^1794 hits handled, 0 filtered, 0 lost in ' err
expect_line ' places armed in 2 kernel events ' err

# A regular expression takes a part of them; several targets may be mixed, and a place named twice is hit twice.
run_up -o "$TMP/hits" -e 'probe ./t_many:/^f_0[0-9]3$/, ./t_many:g_*, ./t_many:f_003 < calls = count() by func >' -c ./t_many
expect_status 0
expect_eq "calls by regular expression" "$(cat "$TMP/hits")" "
calls by func
  f_003  6
  f_013  6
  f_083  6
  f_033  5
  f_053  4
  f_073  3
  f_023  2
  f_093  2
  f_043  1
  g_000  1"

# --- one event a site -----------------------------------------------------------------------------

run_up plan --single-sites -e 'probe ./t_many:f_00* < count() by func >'
expect_status 0
run_up -v --single-sites -o "$TMP/hits" -e 'probe ./t_many:f_00* < calls = count() by func > on return < back = count() by func >' -c ./t_many
expect_status 0
expect_line '^uptick: 20 places armed in 20 kernel events of group uptick_' err
expect_eq "single sites" "$(cat "$TMP/hits")" "$(for title in calls back; do
	printf '\n%s by func\n' $title
	printf '  f_%03d  %d\n' 6 6 5 5 4 4 3 3 2 2 9 2 1 1 8 1
done)"

# --- names that share an address ------------------------------------------------------------------

for names in 'put_[rwo]*' put_other; do
	run_up -v -o "$TMP/hits" -e "probe ./t_alias:$names < calls = count() by func >" -c ./t_alias
	expect_status 0
	expect_eq "calls of $names" "$(sed -n '$s/.* //p' "$TMP/hits")" 10
	expect_eq "places of $names" "$(wc -l <"$TMP/hits")" 3
	expect_line '^uptick: 1 places? armed ' err
done
run_up -o "$TMP/hits" -e "probe ./t_alias:put_* < calls = count() by (func == \"put_apart\") >" -c ./t_alias
expect_eq "calls of put_*" "$(cat "$TMP/hits")" "
calls by (func == \"put_apart\")
  false  10
   true   3"

nothing_left
