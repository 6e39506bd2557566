# The sentence that the language grows from, in every way of giving a program to uptick.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program zsh

sentence='probe zsh:zfree < print(ip, reg.ax) > on return < count() >'
# shellcheck disable=SC2016 # for zsh
command=(-c 'zsh -c "for i in 1 2 3; do a=$i; done"')
print='^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} zsh\[[0-9]+\] +zsh:zfree ip=0x[0-9a-f]+ reg\.ax=0x[0-9a-f]+$'

# Every print is an entry, the count is of returns, and every call returns.
check_sentence()
{
	local lines count
	lines=$(grep -cE "$print" "$TMP/out" || true)
	count=$(sed -n 's/^zsh:zfree return: count() = \([0-9]*\)$/\1/p' "$TMP/out")
	[ "$lines" -ge 20 ] || fail "only $lines calls of zfree"
	expect_eq "returns and entries" "$count" "$lines"
	expect_eq "lines of output" "$(wc -l <"$TMP/out")" $((lines + 1))
	expect_eq "places" "$(grep -o 'ip=0x[0-9a-f]*' "$TMP/out" | sort -u | wc -l)" 1
	expect_line "^$((2 * lines)) hits handled, 0 filtered, 0 lost in [0-9.]+ m?s$" err
	expect_count 1 . err
}

# As a one-liner.
run_up -e "$sentence" "${command[@]}"
expect_status 0
check_sentence

# From a file; the command's exit status is passed on.
echo "$sentence" >"$TMP/sentence.up"
run_up -c 'zsh -c "exit 7"' "$TMP/sentence.up"
expect_status 7
check_sentence

# From standard input.
note_command "${command[@]}" "<$TMP/sentence.up"
status=0
"$UPTICK" "${command[@]}" <"$TMP/sentence.up" >"$TMP/out" 2>"$TMP/err" || status=$?
expect_status 0
check_sentence

# From an executable file; its argument is the script's.
mkdir "$TMP/bin"
ln -s "$UPTICK" "$TMP/bin/uptick"
{
	echo '#!/usr/bin/env uptick'
	echo '# How often does a program free memory?'
	echo 'probe $1:zfree < print(ip, reg.ax) > on return < count() >'
} >"$TMP/sentence"
chmod +x "$TMP/sentence"
note_command "$TMP/sentence" zsh
PATH=$TMP/bin:$PATH env --default-signal=INT "$TMP/sentence" zsh </dev/null >"$TMP/out" 2>"$TMP/err" &
up_pid=$!
wait_armed
zsh -c 'for i in 1 2 3; do a=$i; done'
end_up INT
expect_status 0
check_sentence

nothing_left
