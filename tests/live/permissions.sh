# Who may trace: root; a user with the capability; a user to whom tracefs was opened is told why that is not enough; nobody.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program setpriv
# It changes the modes of tracefs, which it could not put back as they were.
[ -n "${UPTICK_GUEST:-}" ] || skip "for the guest only"
cd "$TARGETS"
chmod 755 "$TMP"
program='probe ./t_ticker:tick < ticks = count() >'
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

run_as()
{
	local prefix=()
	while [ "$1" != -- ]; do
		prefix+=("$1")
		shift
	done
	shift
	note_command "$@"
	status=0
	timeout --kill-after=20 "$RUN_LIMIT" "${prefix[@]}" "$UPTICK" "$@" </dev/null >"$TMP/out" 2>"$TMP/err" || status=$?
	check_ending
}

run_up -e "$program" -c './t_ticker 6'
expect_status 0
expect_line '^ticks = 6$'

# --- nobody in particular -------------------------------------------------------------------------

for command in "-e $program" status clean; do
	case $command in
	-e*) run_as "${nobody[@]}" -- -e "$program" -c './t_ticker 6' ;;
	*) run_as "${nobody[@]}" -- "$command" ;;
	esac
	expect_status 1
	expect_line '^uptick: cannot use uprobes through .*: Permission denied; run it as root, for example with sudo\.$' err
done
run_as "${nobody[@]}" -- check -e "$program"
expect_status 0
run_as "${nobody[@]}" -- plan -e "$program"
expect_status 0

# --- a capability ---------------------------------------------------------------------------------

capable=("${nobody[@]}" --inh-caps=-all,+dac_override --ambient-caps=-all,+dac_override)
run_as "${capable[@]}" -- -e "$program" -c './t_ticker 6'
expect_status 0
expect_line '^ticks = 6$'
run_as "${capable[@]}" -- doctor
expect_status 0
expect_line '^ok +probes: '
nothing_left

# --- a group to which all of tracefs was opened ---------------------------------------------------

mount -o remount,gid=65534,mode=770 "$tracing"
chmod -R g+rwX "$tracing"
run_as "${nobody[@]}" -- status
expect_status 0
# The kernel gives the files of a new instance to root alone.
run_as "${nobody[@]}" -- -e "$program" -c './t_ticker 6'
expect_status 1
expect_line '^uptick: cannot write .*/instances/uptick_.*: Permission denied' err
nothing_left
run_as "${nobody[@]}" -- doctor
expect_status 1
expect_line '^missing +instances: .*CAP_DAC_OVERRIDE'
nothing_left
