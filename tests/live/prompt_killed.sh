# uptick or its helper process is killed at the prompt: the kernel holds nothing of theirs then.
# Guest: only where this machine cannot trace.
# Once: with sanitizers, where they are built.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
need_tracefs
need_program python3

export UPTICK TARGETS TMP WAIT_LIMIT
python3 "$(dirname "$0")/../prompt/killed.py"
nothing_left
