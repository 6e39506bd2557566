# The prompt's commands about processes: those that are run, those that are attached, their ends; and losses.
# Guest: only where this machine cannot trace.
# Once: with sanitizers, where they are built.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
need_tracefs
need_program python3

export UPTICK TARGETS TMP WAIT_LIMIT
python3 "$(dirname "$0")/../prompt/process.py"
nothing_left
