# Conditions that the kernel judges select the same hits as those that uptick judges, and as t_filter itself does.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
[ "$(nproc)" -ge 2 ] || skip "one processor, and a condition needs two"
cd "$TARGETS"

./t_filter script ./t_filter >"$TMP/script.up"
./t_filter truth | sort >"$TMP/truth"
total=$(wc -l <"$TMP/truth")

# Compares what a run has printed.
check()
{
	expect_status 0
	expect_line "^$total hits handled, [0-9]+ filtered, 0 lost in " err
	sort "$TMP/hits" >"$TMP/sorted"
	cmp -s "$TMP/sorted" "$TMP/truth" || fail "$1 selects other hits: $(diff "$TMP/sorted" "$TMP/truth" | head -n 20)"
}

filtered()
{
	sed -nE 's/^[0-9]+ hits? handled, ([0-9]+) filtered, .*/\1/p' "$TMP/err"
}

rejected()
{
	sed -nE 's/^(about )?[0-9]+ hits = .* \+ ([0-9]+) rejected by the kernel$/\2/p' "$TMP/err"
}

run_up -v -o "$TMP/hits" -c ./t_filter "$TMP/script.up"
check "the kernel"
expect_line 'conditions are judged in the kernel for [0-9]+ of them$' err
here=$(filtered) kernel=$(rejected)

run_up -o "$TMP/hits" --no-kernel-filter -c ./t_filter "$TMP/script.up"
check "uptick"
expect_no_line 'rejected by the kernel' err
all=$(filtered)
[ "$((here + kernel))" -eq "$all" ] || fail "$here filtered and $kernel rejected are not $all"
[ "$kernel" -gt "$((all / 2))" ] || fail "the kernel rejects only $kernel of $all"

run_up -o "$TMP/hits" --single-sites -c ./t_filter "$TMP/script.up"
check "the kernel, one event a site"

# What the kernel rejects is not recorded, and the end says so.
run_up -e 'probe ./t_filter:f when (arg5 < 10) < n = count() >' -c ./t_filter
expect_line '^n = 10$'
expect_line '^10 hits handled, 0 filtered, 0 lost in ' err
expect_line '^(about )?300 hits = 10 handled \+ 290 rejected by the kernel$' err
run_up -f json -e 'probe ./t_filter:f when (arg5 < 10) < n = count() >' -c ./t_filter
expect_line '"type":"end","handled":10,"filtered":0,"rejected":290,' out
run_up --no-kernel-filter -e 'probe ./t_filter:f when (arg5 < 10) < n = count() >' -c ./t_filter
expect_line '^10 hits handled, 290 filtered, 0 lost in ' err
expect_line '^(about )?300 hits = 10 handled \+ 290 filtered$' err
expect_count 2 . err

# A pair's entries are all recorded, because their returns are.
run_up -e 'probe ./t_filter:f when (arg5 < 10) < n = count() > on return < back = count() >' -c ./t_filter
expect_line '^back = 10$'
expect_line '^20 hits handled, 580 filtered, 0 lost in ' err
expect_no_line 'not seen|rejected' err

# Those of after the end are told apart.
run_up -n 5 -e 'probe ./t_filter:f when (arg5 >= 200) < n = count() >' -c ./t_filter
expect_line '^5 hits handled, 0 filtered, ' err
expect_line '^(about )?[0-9]+ hits = 5 handled \+ [0-9]+ rejected by the kernel \+ [0-9]+ outside$' err

# Conditions of returns that are not paired: the kernel counts calls, not returns.
run_up -e 'probe ./t_filter:f on return when (retval == 7777) < n = count() >' -c ./t_filter
expect_line '^about 300 hits = 300 rejected by the kernel$' err

nothing_left
