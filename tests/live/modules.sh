# Modules, points of several places, parameters and arguments, on calls that are known; and where modules are looked for.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program mkfifo
cd "$TARGETS"
mkdir "$TMP/scripts" "$TMP/links" "$TMP/path"

cat >"$TMP/scripts/steps.up" <<'EOF'
# Calls of t_add that call each other.
const FIRST = 0
fn hundred(x) = x / 100 * 100
point step.done = ./t_add:ping on return < number = arg0:s32; result = retval:s32 >
point step.done = ./t_add:pong on return < number = arg0:s32; result = retval:s32 >
point step.late = step.done when (number > FIRST + 2) < base = hundred(result); rest = result - base; number = number >
EOF
cat >"$TMP/scripts/steps-of.up" <<'EOF'
#!/usr/bin/env uptick
# Shows the steps of t_add.
use steps
param least = 0 # the first step to show
param title = "step"
probe step.done when (number >= least) < printf("%s %s %d %d %s\n", title, func, number, result, $1); steps = count() >
probe step.late < late = count() by base, rest >
EOF

# --- points, parameters, arguments ----------------------------------------------------------------

run_up -c './t_add ping' "$TMP/scripts/steps-of.up" word
expect_status 0
expect_eq "steps" "$(sed '/^$/,$d; /^steps/d' "$TMP/out")" "step pong 0 200 word
step ping 1 201 word
step pong 2 202 word
step ping 3 203 word
step pong 4 204 word
step ping 5 205 word"
expect_line '^steps = 6$'
expect_count 1 '^ +200  3  1$'
expect_count 1 '^ +200  4  1$'
expect_count 1 '^ +200  5  1$'
expect_line ' 0 lost in ' err

run_up -c './t_add ping' "$TMP/scripts/steps-of.up" --least=4 word --title=late
expect_status 0
expect_eq "late steps" "$(grep '^late [a-z]*p' "$TMP/out")" "late pong 4 204 word
late ping 5 205 word"
expect_line '^steps = 2$'

# A number that is an argument is one, and text in quotes is text.
run_up -e 'probe ./t_add:ping when (arg0:s32 == $1) < printf("%d %s\n", $1, $2) >' -c './t_add ping' -- 3 '"4"'
expect_status 0
expect_eq "arguments" "$(cat "$TMP/out")" "3 4"
nothing_left

# --- mistakes on the command line -----------------------------------------------------------------

run_up "$TMP/scripts/steps-of.up" --lest=4 word
expect_status 2
expect_line 'error\[param\]: the script has no parameter `lest`' err
expect_line '^hint: it has --least, --title' err
run_up "$TMP/scripts/steps-of.up" --least=4x word
expect_status 2
expect_line '^--least:1:1: error\[param\]: --least takes a whole number' err
run_up "$TMP/scripts/steps-of.up"
expect_status 2
expect_line 'error\[param\]: there is no argument \$1' err
run_up "$TMP/scripts/steps-of.up" --help
expect_status 0
expect_line '^usage: uptick \[OPTIONS\] .*steps-of\.up \[--NAME=VALUE \.\.\.\] \$1$'
expect_line '^Shows the steps of t_add\.$'
expect_line '^  --least=0 +the first step to show$'
expect_line '^  --title="step"$'

# --- where modules are found ----------------------------------------------------------------------

# Beside the script's real place, whatever it is called by.
ln -s ../scripts/steps-of.up "$TMP/links/of.up"
run_up check "$TMP/links/of.up" word
expect_status 0

# On $UPTICK_PATH; what stands beside the script comes first.
echo 'use steps
probe step.done < count() >' >"$TMP/links/other.up"
run_up check "$TMP/links/other.up"
expect_status 2
expect_line 'error\[module\]: there is no module `steps`' err
expect_line "^hint: looked for $TMP/links/steps.up, and among what is built in: .*shell" err
cp "$TMP/scripts/steps.up" "$TMP/path/"
export UPTICK_PATH=/nonexistent::$TMP/path
run_up check "$TMP/links/other.up"
expect_status 0
echo 'point step.other = ./t_add:add < x = arg0 >' >"$TMP/links/steps.up"
run_up check "$TMP/links/other.up"
expect_status 2
expect_line 'error\[point\]: there is no point `step.done`' err
unset UPTICK_PATH

# By a path from the file that uses it; a program that is no file looks in the current folder.
mkdir "$TMP/scripts/deep"
echo 'use "../steps.up"
const A = FIRST' >"$TMP/scripts/deep/more.up"
run_up -e "use \"$TMP/scripts/deep/more.up\" probe ./t_add:add < print(A) > " --dry-run
expect_status 0
last_command='cd scripts; uptick check -' status=0
(cd "$TMP/scripts" && echo 'use steps probe /bin/sh:@0 < count() >' | timeout "$RUN_LIMIT" "$UPTICK" check - >"$TMP/out" 2>"$TMP/err") || status=$?
expect_status 2
expect_count 1 'error\[' err
expect_line '^stdin:1:25: error\[address-range\]: file offset 0x0 of ' err

# What cannot be a module is refused, not waited for.
mkfifo "$TMP/scripts/fifo.up"
mkdir "$TMP/scripts/folder.up"
head -c 1100000 /dev/zero | tr '\0' ' ' >"$TMP/scripts/large.up"
ln -s /dev/zero "$TMP/scripts/device.up"
ln -s loop.up "$TMP/scripts/loop.up"
# expect_refused NAME MESSAGE: in MESSAGE, FILE is the module's path.
expect_refused()
{
	echo "use $1 probe ./t_add:add < count() >" >"$TMP/scripts/bad.up"
	run_up check "$TMP/scripts/bad.up"
	expect_status 2
	expect_line "^$TMP/scripts/bad.up:1:1: error\[module\]: ${2/FILE/$TMP/scripts/$1.up}\$" err
	expect_count 1 'error\[' err
}

expect_refused fifo 'the module FILE is no regular file'
expect_refused folder 'the module FILE is a folder'
expect_refused large 'the module FILE is too large for a module'
expect_refused device 'the module FILE is no regular file'
expect_refused loop 'cannot read the module FILE: Too many levels of symbolic links'

# --- a module by itself ---------------------------------------------------------------------------

run_up check "$TMP/scripts/steps.up"
expect_status 0
expect_count 0 . err
run_up "$TMP/scripts/steps.up"
expect_status 2
expect_line 'steps.up is a module: it has no probe of its own$' err
expect_line 'use "steps.up"$' err
sed 's/hundred(result)/hundrd(result)/' "$TMP/scripts/steps.up" >"$TMP/scripts/typo.up"
run_up check "$TMP/scripts/typo.up"
expect_status 2
expect_line "typo.up:6:64: error\[unknown-function\]: there is no function \`hundrd\`" err
echo 'use "typo.up" probe step.late < print(rest) >' >"$TMP/scripts/bad.up"
run_up check "$TMP/scripts/bad.up"
expect_status 2
expect_line '^.*bad.up:1:1: note:$' err
expect_line 'used here$' err
nothing_left
