"""Probed files that are replaced, removed and written to: what is said, and `reload`."""
import os
import shutil
import subprocess

from helper import ASKED, TMP, Asked, Prompt

PROG = TMP + "/prog"


def put(path):
    """A file like the target, but another one."""
    shutil.copy(ASKED, TMP + "/new")
    with open(TMP + "/new", "ab") as new:
        new.write(b"another build")
    os.rename(TMP + "/new", path)


def run(what):
    """A new process of the file that is there now."""
    subprocess.run([PROG], input=what + "\n", text=True, stdout=subprocess.DEVNULL, check=True)


put(PROG)
old = Asked(PROG)
p = Prompt(columns=200)
p.holds(p.do("reload"), "^no probed file has changed$")
p.do("probe %s:alpha < n = count() >" % PROG)
old.do("alpha 3")
p.equal(p.do("n.count"), "3")

# Said once; those that run the old file are traced on, and what is there goes on whatever else is typed.
put(PROG)
p.wait("the message", r"^%s was replaced: processes that run the old file are traced on, .*`reload`" % PROG)
p.settle(-1)
old.do("alpha 4")
run("alpha 50")
p.equal(p.do("n.count"), "7")
p.do("limit = 3")
old.do("alpha 1")
p.equal(p.do("n.count"), "8")
p.holds(p.do("probe %s:beta < b = count() >" % PROG), "`reload` moves the probes")
p.holds(p.do("reload"), "^1 file has changed: the probes stand in what is there now$")
run("alpha 5")
p.equal(p.do("n.count"), "13")
p.equal(old.end(), 0)
p.equal(p.do("probe %s:beta < b = count() >" % PROG), "")
run("beta 2")
p.equal(p.do("b.count"), "2")
p.holds(p.do("reload"), "^no probed file has changed$")
p.equal(len([line for line in p.screen.text() if " was replaced: " in line]), 1)

# What is disabled is not armed for a moment by it, and can be armed then.
busy = Asked(PROG)
p.do("disable 1")
first = p.mark()
put(PROG)
p.wait("the message again", r" was replaced: ", first)
p.settle(-1)
busy.end()
busy = Asked(PROG)
busy.ask("pace 60000 1")
p.holds(p.do("reload"), "^1 file has changed")
busy.wait()
p.equal(p.do("n.count"), "13")
p.equal(p.do("enable 1"), "")
busy.do("alpha 1")
p.equal(p.do("n.count"), "14")
p.equal(busy.end(), 0)

# Gone: nothing can be found, and all stays as it is.
old = Asked(PROG)
os.rename(PROG, TMP + "/away")
p.wait("the message", r"^%s was removed" % PROG)
p.settle(-1)
p.holds(p.do("reload"), "error.*" + PROG)
old.do("alpha 2")
p.equal(p.do("n.count"), "16")
p.equal(old.end(), 0)
os.rename(TMP + "/away", PROG)

# Written to, while nobody runs it.
with open(PROG, "ab") as file:
    file.write(b"more")
p.wait("the message", r"^%s was written to while it is probed" % PROG)
p.settle(-1)
p.holds(p.do("reload"), "^1 file has changed")
run("alpha 1")
p.equal(p.do("n.count"), "17")

# It became shorter: nothing that is mapped is read any more. When it is whole again, it is looked up by itself.
os.truncate(PROG, 100)
p.holds(p.do("1 + 1"), r"^\[1\]:1:7: error.*is broken")
shutil.copyfile(ASKED, PROG)
p.equal(p.do("1 + 1"), "2")
run("alpha 1")
p.equal(p.do("n.count"), "18")
p.holds(p.do("reload"), "^no probed file has changed$")
with open(PROG, "ab") as file:
    file.write(b"and more")
p.wait("another message", r"^%s was written to while it is probed" % PROG, p.mark() - 1)
p.settle(-1)

# Of two files one is replaced: those that run the old one are traced on, whatever else is typed.
OTHER = TMP + "/other"
put(OTHER)
other = Asked(OTHER)
p.do("probe %s:alpha < m = count() >" % OTHER)
other.do("alpha 1")
put(OTHER)
p.wait("the message", r"^%s was replaced" % OTHER)
p.settle(-1)
p.do("limit = 4")
other.do("alpha 2")
p.equal(p.do("m.count"), "3")
p.equal(other.end(), 0)

# One that is asked for in vain, and then built.
GROWN = TMP + "/grown"
shutil.copy("/bin/true", GROWN)
for i in range(2):
    p.holds(p.do("probe %s:alpha < count() >" % GROWN), "error.*no function named alpha")
put(GROWN)
p.equal(p.do("probe %s:alpha < count() >" % GROWN), "")
for number in 4, 5:
    p.do("delete %d" % number)

# One that is gone cannot be probed again; which declaration wants it is said.
gone = p.mark()
os.rename(PROG, TMP + "/away")
p.wait("the message", r"^%s was removed" % PROG, gone)
p.settle(-1)
p.equal(p.do("delete 3") + p.do("delete 1"), "")
p.holds(p.do("undo"), r"^\[1\]:1:7: error.*" + PROG)

# What is not probed any more is not spoken of.
put(PROG)
p.read(0.5)
p.equal(p.do("1 + 1"), "2")
p.equal(len([line for line in p.screen.text() if " was replaced: " in line]), 3)
p.equal(p.leave(), 0)
