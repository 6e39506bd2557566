# Names of functions and of files with anything in them that a name can hold: each can be named, probed and shown.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program objcopy jq
cd "$TARGETS"

# A name as it is written in quotes in a target.
quoted()
{
	local LC_ALL=C s=$1 c code out='' i
	for ((i = 0; i < ${#s}; i++)); do
		c=${s:i:1}
		printf -v code %d "'$c"
		code=$((code & 255))
		if [ "$c" = '"' ] || [ "$c" = '\' ]; then
			out+="\\$c"
		elif [ "$code" -lt 32 ] || [ "$code" -gt 126 ]; then
			printf -v c '\\x%02x' "$code"
			out+=$c
		else
			out+=$c
		fi
	done
	printf '"%s"' "$out"
}

# --- functions ------------------------------------------------------------------------------------

# Words of the language, which need no quotes.
words=(on probe return print printf count by top when entry as if else for in delete stop show clear sum hist use const fn
	point param pid arg0 retval start end every)
# What needs quotes, because it would be read as something else or ends the target.
printf -v long 'long%01000d' 0
odd=('a b' ' before' 'behind ' 'a,b' '<' 'a<b>' 'operator<<' 'operator()(int)' 'f@VERSION' 'x@@y' 'a+4' 'star*' 'q?x' 'br[a]'
	'back\slash' 'quo"te' '$1' '%provider' 'per%cent' 'has#hash' '#first' '0x12' '1st' '42' 'pkg.Server$start.func1' 'main.(*T).Run'
	'<T as core::fmt::Debug>::fmt' 'semi;colon' "apostrophe's" 'ünïcode' '中文' $'tab\there' $'esc\e[31m' $'new\nline' $'\xff\xfeno text'
	"$long")

# Functions of t_many that are called once get the names.
redefine=()
for ((i = 0; i < ${#words[@]}; i++)); do
	printf -v old 'f_%03d' $((1 + 7 * i))
	redefine+=(--redefine-sym "$old=${words[i]}")
done
objcopy "${redefine[@]}" t_many "$TMP/words"
redefine=()
for ((i = 0; i < ${#odd[@]}; i++)); do
	printf -v old 'f_%03d' $((1 + 7 * i))
	redefine+=(--redefine-sym "$old=${odd[i]}")
done
objcopy "${redefine[@]}" t_many "$TMP/odd"

for word in "${words[@]}"; do
	echo "probe $TMP/words:$word < calls = count() by func >"
done >"$TMP/words.up"
run_up -o "$TMP/hits" -c "$TMP/words" "$TMP/words.up"
expect_status 0
expect_eq "words" "$(sed '1,2d; s/ *1$//; s/^ *//' "$TMP/hits" | sort)" "$(printf '%s\n' "${words[@]}" | sort)"
run_up fmt "$TMP/words.up"
cmp "$TMP/words.up" "$TMP/out" || fail "formatted otherwise"

for ((i = 0; i < ${#odd[@]}; i++)); do
	echo "probe $TMP/odd:$(quoted "${odd[i]}") < calls = count() by $i, func > on return < returns = count() by $i >"
done >"$TMP/odd.up"
run_up -f json -o "$TMP/hits" -c "$TMP/odd" "$TMP/odd.up"
expect_status 0
expect_eq "calls of each" "$(jq -r 'select(.type == "aggregation") | "\(.name) \(.total_rows) \([.rows[].value] | unique | join(" "))"' "$TMP/hits")" \
	"calls ${#odd[@]} 1
returns ${#odd[@]} 1"
# The name is shown as it is; what stands behind an @ is a version.
jq -r 'select(.name == "calls") | .rows | sort_by(.key | to_entries[0].value) | .[].key.func' "$TMP/hits" >"$TMP/shown"
for ((i = 0; i < ${#odd[@]}; i++)); do
	printf '%s\n' "${odd[i]%%@*}"
done | sed 's/\xff\xfe/\xef\xbf\xbd\xef\xbf\xbd/' | cmp -s - "$TMP/shown" || fail "other names: $(cat "$TMP/shown")"
# On a terminal none of them does anything, nor in a message.
run_up -o "$TMP/hits" -e "probe $TMP/odd:esc* < print(func) > probe $TMP/odd:new?line < print(func) >" -c "$TMP/odd"
expect_count 2 . "$TMP/hits"
expect_line ' odd:esc\\e\[31m func="esc\\e\[31m"$' "$TMP/hits"
expect_line ' odd:new\\nline func="new\\nline"$' "$TMP/hits"
run_up check -e "probe $TMP/odd:\"new\\nlime\" < count() >"
expect_line '^-e:1:[0-9]+: error\[symbol\]: odd has no function named new\\nlime$' err
expect_line '^hint: did you mean `"new\\nline"`\?$' err
run_up check -e "probe $TMP/odd:${long}1 < count() >"
expect_line '^-e:1:[0-9]+: error\[symbol\]: odd has no function named long0+\.\.\.0+1$' err
[ "$(wc -c <"$TMP/err")" -lt 700 ] || fail "a long name is repeated whole"

# --- what list makes of them ----------------------------------------------------------------------

for name in 'a b' 'star*' 'f@VERSION' 'main.(*T).Run' 'back\slash' $'new\nline' 'q?x'; do
	run_up list "$TMP/odd:$(quoted "$name")"
	expect_status 0
	expect_count 1 .
done

# --- files ----------------------------------------------------------------------------------------

printf -v part '%0200d' 0
deep=$TMP
while [ ${#deep} -lt 3700 ]; do
	deep+=/$part
done
paths=('a b' ' before' 'behind ' 'co:lon' 'com,ma' 'has#hash' '#first' 'per%cent' 'quo"te' "apostrophe's" 'back\slash' 'star*' 'q?' '[br]' '$1'
	'<angle>' 'semi;' 'pipe|' '-dash' '@at' 'ünïcode' $'tab\there' $'new\nline' $'esc\e[31m' $'\xff\xfe' 'with blanks/and#more/x y')
for path in "${paths[@]}"; do
	mkdir -p "$TMP/files/$(dirname -- "$path")"
	cp t_odd "$TMP/files/$path"
	echo "probe $(quoted "$TMP/files/$path"):on < calls = count() by object, func >"
done >"$TMP/paths.up"
mkdir -p "$deep"
cp t_odd "$deep/bin"
echo "probe $deep/bin:on < calls = count() by object, func >" >>"$TMP/paths.up"
cat >"$TMP/all" <<'END'
#!/bin/bash
for file; do "$file"; done
END
chmod +x "$TMP/all"
run_command="$TMP/all"
for path in "${paths[@]}"; do
	run_command+=" '${TMP//\'/\'\\\'\'}/files/${path//\'/\'\\\'\'}'"
done
run_up -f json -o "$TMP/hits" -c "$run_command $deep/bin" "$TMP/paths.up"
expect_status 0
expect_line "^$((${#paths[@]} + 1)) hits handled, 0 filtered, 0 lost in " err
expect_eq "calls of each" "$(jq -r '.rows | select(.) | length, ([.[].value] | unique | join(" "))' "$TMP/hits")" "$((${#paths[@]} + 1))
1"

# Through links, and with dots in the path. A file has the name under which it was met first.
ln -s "$TMP/files" "$TMP/link to"
ln -s "../a b" "$TMP/files/with blanks/link"
cd "$TMP/files/with blanks"
run_up -o "$TMP/hits" -e 'probe "../../link to/a b":on, ./link:probe, "../with blanks/../co:lon":by < n = count() by func, object >' \
	-c "sh -c '\"../a b\"; ../co:lon'"
expect_eq "calls through links" "$(sed '1,2d' "$TMP/hits")" '  by     co:lon  1
  on     a b     1
  probe  a b     1'
nothing_left
