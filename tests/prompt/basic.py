"""Declarations, statements, values and commands, one after the other, on calls that are known."""
import os
import re
import subprocess

from helper import ASKED, TMP, UPTICK, Asked, Prompt

asked = Asked()
p = Prompt(columns=200)

# Values and variables.
p.equal(p.do("1 + 2"), "3")
p.equal(p.do("3 > 2"), "true")
p.equal(p.do('"a" + "b"'), '"ab"')
p.equal(p.do("limit = 2"), "")
p.equal(p.do("limit * 10"), "20")
p.equal(p.do("limit"), "2")
p.equal(p.do("# a comment"), "")

# A probe is armed at once, and its events stream.
p.equal(p.do("probe %s:alpha when (arg0:s32 > limit) < print(arg0:s32); calls = count() >" % ASKED), "")
first = p.mark()
asked.do("alpha 4")
p.wait("the fourth call", r"arg0:s32=4$", first)
lines = [line for line in p.screen.text() if "alpha" in line and "arg0:s32=" in line and "[%d]" % asked.pid in line]
p.equal([line.rsplit("=", 1)[1] for line in lines], ["3", "4"])
p.equal(p.hits(2), 4)
p.equal(p.do("calls.count"), "2")

# What is added does not disturb what is there.
p.equal(p.do("probe %s:beta < sizes = sum(arg0:s32) by comm > on return < last = retval:s32 >" % ASKED), "")
asked.do("beta 10")
asked.do("alpha 1")
p.equal(p.hits(2), 5)
p.equal(p.hits(3), 20)
p.equal(p.do('sizes["t_asked"].sum'), "55")
p.equal(p.do("len(sizes)"), "1")
p.equal(p.do("last"), "11")
p.holds(p.do("sizes"), r"^ *t_asked +55$")
p.holds(p.do("show sizes"), r"^ *t_asked +55$")
p.holds(p.do("vars"), r"^  limit = 2\n  last = 11\n  calls = count\(\)  \(1 row\)\n  sizes = sum\(arg0:s32\) by comm  \(1 row\)$")

# A variable that a handler reads, changed from here.
p.equal(p.do("limit = 100"), "")
p.holds(p.do("probes"), r"^  1 +limit = 100$")
asked.do("alpha 5")
p.equal(p.do("calls.count"), "2")

# Off and on.
p.equal(p.do("disable 3"), "")
asked.do("beta 7")
p.equal(p.hits(3), 20)
p.holds(p.do("probes"), r"^  3  off ")
p.equal(p.do("enable 3"), "")
asked.do("beta 1")
p.equal(p.hits(3), 22)
p.holds(p.do("enable 3"), "enabled already")
p.holds(p.do("disable 9"), "no declaration 9")
p.holds(p.do("disable 1"), "no probe")
p.equal(p.do("clear sizes"), "")
p.equal(p.do("len(sizes)"), "0")

# On a narrow terminal no line of the table wraps.
p.resize(24, 40)
narrow = p.do("probes").splitlines()
p.resize(24, 200)
p.equal([line for line in narrow if len(line) > 40], [])
p.equal(narrow[:2], ["  #  state places     hits hits/s  lost", "     declaration"])
p.equal(narrow[2].rstrip(), "  1")
p.holds(narrow[5], r"^     probe .*\.\.\.$")

# Errors are shown at what was typed, and change nothing.
p.equal(p.do("probe %s:alpa < count() >" % ASKED).splitlines()[0],
        "input:1:%d: error[symbol]: t_asked has no function named alpa" % (len("probe %s:" % ASKED) + 1))
p.holds(p.do("delete 1"), r"^\[2\]:1:\d+: error\[unknown-name\]")
p.equal(p.do("probes").count("limit = "), 1)
p.holds(p.do("probe %s:alpha < print(arg0->flags) >" % ASKED), r"^hint: .* is @\(arg0 \+ 16\):u32$")
p.holds(p.do("nonsense"), r"^input:1:1: error\[unknown-name\]")
p.holds(p.do("sizs.sum"), r"nothing is named `sizs`(.*\n)+hint: did you mean `sizes`")
p.holds(p.do('nosuch["a"].sum'), r"^input:1:1: error.* a table `nosuch`$")
p.holds(p.do("limit.sum"), "`limit` has no parts")
p.holds(p.do("pid"), r"error\[no-hit\]")
asked.do("beta 1")
p.equal(p.hits(3), 24)

p.holds(p.do("undo 3"), "^`undo` stands alone")
p.equal(p.do("probes").count("limit = "), 1)
p.holds(p.do("quit now"), "^`quit` stands alone")
p.holds(p.do("last = quantl(3)"), "did you mean `quantile`")

# Definitions, points and timed blocks.
p.equal(p.do("const FACTOR = 3"), "")
p.equal(p.do("fn scaled(n) = n * FACTOR"), "")
p.equal(p.do("scaled(5)"), "15")
p.equal(p.do("probe %s:alpha when (arg0:s32 > FACTOR) < scale = scaled(arg0:s32) >" % ASKED), "")
before = p.do("probes").count("\n")
asked.do("alpha 4")
p.equal(p.do("scale"), "12")
p.holds(p.do("fn scaled(n) = n * FACTOR + 1"), "^it is defined anew")
p.holds(p.do("const FACTOR = 1"), "^it is defined anew")
p.equal(p.do("probes").count("\n"), before)
asked.do("alpha 3")
p.equal(p.do("scale"), "4")
p.holds(p.do("probes"), r"^  6  on +1 +3 ")
p.holds(p.do("fn scaled(n) = n * NOTHING"), "nothing is named `NOTHING`")
p.equal(p.do("delete 6"), "")
p.holds(p.do("undo"), r"^put back    6  probe .* scale = scaled\(arg0:s32\) >$")
p.equal(p.do("undo"), "taken out   4  const FACTOR = 1\nput back    4  const FACTOR = 3")
p.equal(p.do("undo"), "taken out   5  fn scaled(n) = n * FACTOR + 1\nput back    5  fn scaled(n) = n * FACTOR")
p.equal(p.do("scaled(5)"), "15")
p.holds(p.do("undo"), "^taken out   6  probe ")
p.equal(p.do("delete 5"), "")
p.holds(p.do("scaled(5)"), r"error\[unknown-function\]")
p.equal(p.do("undo"), "put back    5  fn scaled(n) = n * FACTOR")
p.equal(p.do("scaled(5)"), "15")

# Plans and help.
p.holds(p.do("plan 2"), r"^p:uptick_\d+\w*/alpha " + ASKED)
p.holds(p.do("help disable"), "disarms")
p.holds(p.do("help hist"), "powers of two")
p.holds(p.do("help heap"), r"^ +points: heap.alloc, heap.free, heap.resize$")
shown = p.do("help heap.free").splitlines()
p.equal(shown[0], "heap.free (a point; `use heap` brings it)")
p.holds(shown[1], r"^    Memory is given back: ")
p.equal(shown[-1], "    gives ptr, caller")
p.holds(p.do("help heap.fre"), "nothing is named `heap.fre`")
p.holds(p.do("help heep"), "did you mean `heap`")
p.holds(p.do("list %s:alph*" % ASKED), r"function +alpha$")

# Saved, it runs as a script, and stands as the formatter would have it.
saved = TMP + "/saved.up"
p.holds(p.do("save " + saved), "^saved 5 declarations")
p.equal(p.do("save " + saved), "%s is there already; `save -f %s` replaces it" % (saved, saved))
text = open(saved).read()
open(saved, "w").write("something else\n")
os.chmod(saved, 0o755)
p.holds(p.do("save -f " + saved), "^saved 5 declarations")
p.equal(open(saved).read(), text)
p.equal(os.stat(saved).st_mode & 0o777, 0o755)
p.holds(p.do("save -f " + TMP), "^cannot write %s: " % TMP)
p.equal([name for name in os.listdir(os.path.dirname(TMP)) if name.startswith(os.path.basename(TMP) + ".new")], [])
p.holds(p.do("save /nowhere/x.up"), "^cannot write /nowhere/x.up: No such file or directory")
p.equal(subprocess.run([UPTICK, "check", saved]).returncode, 0)
p.equal(subprocess.run([UPTICK, "fmt", saved], capture_output=True, text=True).stdout, text)
run = subprocess.run([UPTICK, "-c", "sh -c 'echo beta 3 | %s'" % ASKED, saved], capture_output=True, text=True)
p.equal(run.returncode, 0)
p.holds(run.stdout, r"^ *t_asked +6$")

# Deleted, nothing is left of it but what was shown; loaded again it begins anew.
for number in (2, 3, 5, 4, 1):
    p.equal(p.do("delete %d" % number), "")
asked.do("beta 2")
p.holds(p.do("vars"), "no variables")
p.equal(p.do("load " + saved), "")
with open(TMP + "/empty.up", "w") as script:
    script.write("# nothing but words\n")
p.equal(p.do("load %s/empty.up" % TMP), "there is nothing in it to add")
with open(TMP + "/many.up", "w") as script:
    script.write("".join("const c%d = %d\n" % (i, i) for i in range(11)))
p.equal(p.do("load %s/many.up" % TMP), "")
shown = p.do("undo").split("\n")
p.equal([re.sub(r"^taken out +\d+  ", "", line) for line in shown], ["const c%d = %d" % (i, i) for i in range(8)] + ["... and 3 more"])
p.equal(p.do("load " + TMP), "cannot read %s: it is no regular file" % TMP)
asked.do("beta 2")
p.equal(p.do('sizes["t_asked"].sum'), "3")
p.holds(p.do("undo"), "^taken out +[0-9]+  probe ")
p.holds(p.do("probes"), "no declarations")

# What statements set is what the saved script sets, whatever they read.
for line in ("a = 1", "b = a", "a = 2", "a = a + 5", "a += 10", "a = a * 2", "c = 1", "c = 3", "if (a > b) < d = a + 1 >"):
    p.equal(p.do(line), "")
p.equal(p.do("a * 10000 + b * 1000 + c * 100 + d"), "341335")
p.equal(len(re.findall(r"c = \d", p.do("probes"))), 1)
p.holds(p.do("save %s/set.up" % TMP), "^saved 8 declarations")
with open(TMP + "/set.up", "a") as script:
    script.write("\non start < print(a, b, c, d); stop() >\n")
p.holds(subprocess.run([UPTICK, TMP + "/set.up"], capture_output=True, text=True).stdout, "a=34 b=1 c=3 d=35")
for _ in range(9):
    p.holds(p.do("undo"), r"^(taken out|put back) +\d+  ")
p.holds(p.do("probes"), "no declarations")

# What is disabled is a comment in the script; that something needs it is said.
p.equal(p.do("probe %s:alpha < needed = arg0 >" % ASKED), "")
p.equal(p.do("on every 1h < print(needed) >"), "")
off = re.search(r"^ +(\d+) +on .*needed = arg0", p.do("probes"), re.M).group(1)
p.equal(p.do("disable " + off), "")
shown = p.do("save %s/off.up" % TMP)
p.holds(shown, r"error\[unknown-name\]: nothing is named `needed`$")
p.holds(shown, "^saved 2 declarations to .*off.up, but it does not run yet")
p.equal(p.do("enable " + off), "")
p.holds(p.do("save -f %s/off.up" % TMP), "^saved 2 declarations; run it")
for change in "disabled", "enabled", "taken out", "taken out":
    p.holds(p.do("undo"), "^%s +[0-9]+  " % change)
p.holds(p.do("probes"), "no declarations")

# Words of commands that mean something in the language.
p.equal(p.do("seen[3] = 1; seen[4] = 1"), "")
p.equal(p.do("delete seen[3]"), "")
p.equal(p.do("len(seen)"), "1")
p.holds(p.do("show(seen)"), r"^ *4 +1$")
for word in ("probes", "enable", "vars", "list", "plan", "pause", "resume", "attach", "run", "save", "load", "undo", "help", "quit", "exit"):
    p.equal(p.do("%s = 4" % word), "")
    p.equal(p.do("%s + 1" % word), "5")
    p.equal(p.do("(%s)" % word), "4")
    p.holds(p.do("undo"), r"^taken out +\d+  %s = 4$" % word)
p.holds(p.do("undo"), "^taken out ")

p.equal(asked.end(), 0)
p.equal(p.leave(), 0)
p.holds("\n".join(p.screen.text()[-5:]), r"hits handled, .* 0 lost in")
