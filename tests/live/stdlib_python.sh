# The module `python` of the standard library, on a script whose exceptions, imports and calls are known.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
export PATH=/usr/bin:/bin:$PATH
need_program python3
command -v python3.11 >/dev/null || skip "this machine has no Python 3.11"

echo 'deep = 1' >"$TMP/probed_module.py"
cat >"$TMP/work.py" <<'EOP'
import sys
sys.path.insert(0, sys.argv[1])
import probed_module
import probed_module
def fail(n):
    raise ValueError("number %d" % n)
for i in range(3):
    try:
        fail(i)
    except ValueError:
        pass
for action in "{}['missing key']", "None.nothing", "[].pop()", "exit(3)":
    try:
        eval(action)
    except BaseException:
        pass
try:
    import probed_nothing
except ImportError:
    pass
def twice(x):
    return 2 * x
def outer(x):
    return twice(x)
sorted([3, 1, 2], key=outer)
open("/dev/null").close()
class Refused(Exception):
    pass
raise Refused("uncaught")
EOP
run_up -e 'use python
	probe python.raise when (text ~ "number *" || text == "missing key" || text ~ "*nothing*" || text ~ "pop *" || text == "uncaught") <
		printf("raise %s %s\n", type, text) >
	probe python.uncaught < printf("uncaught %s %s\n", type, text) >
	probe python.import when (name ~ "probed*") < printf("import %s %d\n", name, ok) >
	probe python.audit when (event == "open" && text == "/dev/null") < printf("open %s\n", text) >
	probe python.enter when (file ~ "*/work.py" && name != "<module>") < printf("enter %s %d\n", name, line) >
		on return < printf("left %d %d\n", ok, (ns > 0)) >' -c "python3.11 -I -B $TMP/work.py $TMP"
expect_status 1
expect_eq "events" "$(cat "$TMP/out")" "import probed_module 1
import probed_module 1
raise ValueError number 0
raise ValueError number 1
raise ValueError number 2
raise KeyError missing key
raise AttributeError 'NoneType' object has no attribute 'nothing'
raise IndexError pop from empty list
raise KeyError probed_nothing
raise ModuleNotFoundError No module named 'probed_nothing'
import probed_nothing 0
enter outer 23
left 1 1
enter outer 23
left 1 1
enter outer 23
left 1 1
open /dev/null
enter Refused 27
left 1 1
raise Refused uncaught
uncaught Refused uncaught"
expect_line ' 0 lost in ' err

# The example on an exception that nobody catches.
run_up -c "python3.11 -c 'raise RuntimeError(\"the end\")'" "$EXAMPLES/python-exceptions.up" --kind='Runtime*'
expect_status 1
expect_line '^python3.11\[[0-9]+\] ends with RuntimeError: the end$'
expect_line '^  RuntimeError  the end +1$'
nothing_left
