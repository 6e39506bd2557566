# Typing at the prompt, and adding and deleting probes, while ten thousand events a second stream: none is lost or torn.
# Guest: only where this machine cannot trace.
# shellcheck source=tests/live/lib.sh
. "$(dirname "$0")/lib.sh"
need_tracefs
need_program python3

export UPTICK TARGETS TMP WAIT_LIMIT
python3 "$(dirname "$0")/../prompt/stream.py"
nothing_left
