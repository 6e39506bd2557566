# The prompt's completion and history.
# Guest: only where this machine cannot trace.
# Once: with sanitizers, where they are built.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
need_tracefs
need_program python3

export UPTICK TARGETS TMP WAIT_LIMIT
python3 "$(dirname "$0")/../prompt/complete.py"
nothing_left
