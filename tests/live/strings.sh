# Text from the traced program never steers a terminal and never breaks JSON; long text is whole or marked.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq script
cd "$TARGETS"

# --- text -----------------------------------------------------------------------------------------

run_up -e 'probe ./t_strings:say < print(arg0:string); printf("[%s] [%s]\n", arg0:string, comm)
	n = count() by arg0:string, comm >' -c ./t_strings
expect_status 0
expect_line '^20 hits handled, 0 filtered, 0 lost in ' err
expect_no_line 'could not be read' err
expect_eq "control bytes" "$(LC_ALL=C tr -d '\n\40-\176\200-\377' <"$TMP/out" | wc -c)" 0
iconv -f UTF-8 -t UTF-8 "$TMP/out" >/dev/null || fail "the output is not UTF-8"
expect_eq "what printf wrote" "$(grep '^\[' "$TMP/out")" '[plain] [t_strings]
[] [t_strings]
[tab\tnew\nline\x0dback\x08] [t_strings]
[\e[31mred\e]0;title\x07] [t_strings]
[\x01\x02\x7f] [t_strings]
["quoted" back\slash] [t_strings]
[grün 中文 😀] [t_strings]
[bad \xff\xfe bytes] [t_strings]
[cut \xc3] [t_strings]
[overlong \xc0\xaf] [t_strings]
[surrogate \xed\xa0\x80] [t_strings]
[c1 \u{009b} control] [t_strings]
[right-to-left \u{202e} override] [t_strings]
[ blanks ] [t_strings]
[(fault)] [t_strings]
[named] [ev\e[2Jil]
[named] [two\nlines]
[named] [\xff\xfebad]
[named] ["quo\ted]
[named] []'
expect_line ' t_strings:say arg0:string=""$'
expect_line ' t_strings:say arg0:string="\\"quoted\\" back\\\\slash"$'
expect_line '^[0-9:.]{15} ev\\e\[2Jil\[[0-9]+\] +t_strings:say arg0:string="named"$'
expect_line '^[0-9:.]{15} two\\nlines\[[0-9]+\] +t_strings:say arg0:string="named"$'
expect_line '^[0-9:.]{15} \[[0-9]+\] +t_strings:say arg0:string="named"$'
# In a table, text that could be mistaken is quoted.
sed -n '/^n by/,$p' "$TMP/out" >"$TMP/table"
expect_count 21 . "$TMP/table"
expect_line '^  "" +t_strings +1$' "$TMP/table"
expect_line '^  "\(fault\)" +t_strings +1$' "$TMP/table"
expect_line '^  named +"" +1$' "$TMP/table"
expect_line '^  plain +t_strings +1$' "$TMP/table"

# A script's own escape bytes, in a text or a comment, do nothing when it is shown on a terminal; in a file they stay.
printf '# com\033[31mment\nprobe libc:malloc < printf("a\033[31mb\\n") >\n' >"$TMP/escapes.up"
run_up fmt "$TMP/escapes.up"
cmp "$TMP/escapes.up" "$TMP/out" || fail "fmt changed the script"
script -qec "$UPTICK fmt $TMP/escapes.up" /dev/null </dev/null >"$TMP/out"
expect_count 2 '\\e\[31m'
expect_no_line $'\e'

# --- JSON -----------------------------------------------------------------------------------------

run_up -f json -e 'probe ./t_strings:say < print(arg0:string, comm); printf("[%s]\n", arg0:string); n = count() by arg0:string, comm >' \
	-c ./t_strings
jq -es . "$TMP/out" >"$TMP/parsed" || fail "not JSON"
expect_eq "lines and objects" "$(wc -l <"$TMP/out")" "$(jq length "$TMP/parsed")"
expect_eq "values" "$(jq -ac '.[] | select(.type == "print") | .values["arg0:string"]' "$TMP/parsed" | head -n 15)" \
	'"plain"
""
"tab\tnew\nline\rback\b"
"\u001b[31mred\u001b]0;title\u0007"
"\u0001\u0002\u007f"
"\"quoted\" back\\slash"
"gr\u00fcn \u4e2d\u6587 \ud83d\ude00"
"bad \ufffd\ufffd bytes"
"cut \ufffd"
"overlong \ufffd\ufffd"
"surrogate \ufffd\ufffd\ufffd"
"c1 \u009b control"
"right-to-left \u202e override"
" blanks "
"(fault)"'
expect_eq "names" "$(jq -ac '.[] | select(.type == "print" and .values["arg0:string"] == "named") | .comm' "$TMP/parsed")" \
	'"ev\u001b[2Jil"
"two\nlines"
"\ufffd\ufffdbad"
"\"quo\\ted"
""'
expect_eq "rows" "$(jq '.[] | select(.type == "aggregation") | .rows | length' "$TMP/parsed")" 20
expect_eq "sum of rows" "$(jq '.[] | select(.type == "aggregation") | [.rows[].value] | add' "$TMP/parsed")" 20

# --- long text ------------------------------------------------------------------------------------

# Runs uptick on strings of the lengths $2..., read as $1; $TMP/got has a line for each: name, length, last letter, cut or not.
read_long()
{
	run_up -f json -e "probe ./t_strings:say < print($1) >" -c "./t_strings long ${*:2}"
	expect_status 0
	expect_line ' 0 lost in ' err
	jq -r 'select(.type == "print") | "\(.comm) \(.values[] | length) \(.values[] | .[-1:]) \(.cut)"' "$TMP/out" >"$TMP/got"
}

read_long arg0:string 1 2 7 8 9 10 63 64 65 300 510 511
expect_eq "whole texts" "$(cat "$TMP/got")" "$(printf 't_strings %d E null\n' 1 2 7 8 9 10 63 64 65 300 510 511)"
read_long arg0:string 20 512 21 4040 22 4095 23 4096 24 5000 25 70000 26
expect_eq "whole and cut texts" "$(cat "$TMP/got")" "$(for whole in 20 21 22 23 24 25; do
	printf 't_strings %d E null\nt_strings 511 x ["arg0:string"]\n' $whole
done)
t_strings 26 E null"
read_long 'arg0:string[2048]' 2047 2048 2049 20
expect_eq "with room for more" "$(cat "$TMP/got")" 't_strings 2047 E null
t_strings 2048 E null
t_strings 2048 x ["arg0:string[2048]"]
t_strings 20 E null'
run_up -e 'probe ./t_strings:say < printf("%d %s\n", if (arg0:string[5] == "plain") 1 else 0, arg0:string[3]) >' -c ./t_strings
expect_line '^1 pla' out

# --- the end of memory ----------------------------------------------------------------------------

run_up -o "$TMP/hits" -e 'probe ./t_strings:touch < printf("%s\n", arg0:string) >' -c './t_strings edge'
expect_eq "texts at the edge" "$(cat "$TMP/hits")" "$(cat "$TMP/out")"

# --- memory that is special -----------------------------------------------------------------------

# Pages that were never touched, cannot be read, are not there: at the entry, at the return, and as a key.
run_up -o "$TMP/hits" -e 'probe ./t_pages:take < printf("%s %s\n", arg0:string, arg1:string); n = count() by arg1:string >
	on return < printf("%s %s\n", entry.arg0:string, retval:string) >' -c "./t_pages $TMP/t_pages.file stay"
expect_eq "texts in special memory" "$(sed '/^$/,$d' "$TMP/hits")" "$(sed p "$TMP/out")"
expect_eq "keys" "$(sed '1,/^$/d' "$TMP/hits")" 'n by arg1:string
  (fault)           6
  in shared memory  1
  ppppppppp         1
  yyyzzzzzzzzz      1
  zzzz              1
  "zzzzz"...        1'
expect_line '^18 values could not be read$' err

nothing_left
