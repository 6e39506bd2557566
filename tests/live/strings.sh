# Text from the traced program never steers a terminal and never breaks JSON; long text is whole or marked.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program jq
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
expect_line ' t_strings:say arg0:string="\\"quoted\\" back\\slash"$'
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

lengths=(10 63 64 65 300 1000 4000)
run_up -f json -e 'probe ./t_strings:say < print(arg0:string) >' -c "./t_strings long ${lengths[*]}"
expect_eq "lengths and last letters" "$(jq -c 'select(.type == "print") | [(.values["arg0:string"] | length), .values["arg0:string"][-1:], .cut]' "$TMP/out")" \
	"$(printf '[%d,"E",null]\n' "${lengths[@]}")"

# Longer than the kernel can hand over: whole, or marked as cut, or a fault, or counted as lost; never something else.
run_up -f json -e 'probe ./t_strings:say < print(arg0:string) >' -c './t_strings long 4040 4095 4096 5000 9000 20'
jq -r 'select(.type == "print") | [.comm, (.values["arg0:string"] | if . == null then "fault" else (length | tostring) + .[-1:] end),
	if .cut then "cut" else "-" end] | @tsv' "$TMP/out" >"$TMP/got"
expect_line $'^t_strings\t20E\t-$' "$TMP/got"
expect_count "$(wc -l <"$TMP/got")" $'^t_strings\t([0-9]+E\t-|[0-9]+x\tcut|fault\t-)$' "$TMP/got"
lost=$(jq 'select(.type == "end") | .lost' "$TMP/out")
expect_eq "printed and lost" $(($(wc -l <"$TMP/got") + lost)) 6
nothing_left
