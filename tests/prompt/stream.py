"""Typing while events stream, and changing the program meanwhile: no line is torn, and no event is lost."""
import re

from helper import ASKED, TMP, Asked, Prompt

CALLS = 20000
asked = Asked()
p = Prompt("--buffer", "16MiB", columns=100)
p.do("cd = 1")
p.equal(p.do("probe \"%s\":alpha, %s:beta < printf(\"<%%d>\\n\", arg0:s32); n = count() >" % (ASKED, ASKED))[:1] != "i", True)

# Ten thousand events a second, and a line that is typed slowly, with mistakes.
asked.ask("pace %d 20" % CALLS)
p.wait("the first event", r"^<1>$")
typed = ""
for char in "n.couny":
    p.type(char)
    p.read(0.1)
    typed += char
p.type("\x7f")
p.read(0.1)
p.type("t * 1000000\x01\x05")
p.wait_last(r"up( \[losing\])?> n\.count \* 1000000")
p.type("\x15")

# Probes come and go, at a place of the one that is there.
for i in range(4):
    p.line('probe %s:beta < extra = count() > on return < print(retval) >' % ASKED)
    p.read(0.15)
    p.line("disable %d" % (3 + i))
    p.line("1 + %d" % i)
    p.read(0.15)
    p.line("delete %d" % (3 + i))
    p.read(0.05)
p.wait("the last event", r"^<%d>$" % CALLS, seconds=60)
asked.wait()
p.read(0.3)
p.settle(-1)
seen = [int(line[1:-1]) for line in p.screen.text() if re.fullmatch(r"<\d+>", line)]
p.equal(seen, list(range(1, CALLS + 1)))
p.equal(p.do("n.count"), str(CALLS))
p.equal([line for line in p.screen.text() if "<" in line and not re.fullmatch(r"<\d+>|(up|\.\.).*|.*>", line)], [])
for i in range(4):
    p.holds("\n".join(p.screen.text()), r"^%d$" % (1 + i))

# What happens while a large file is compiled is shown meanwhile, and not when that is done.
with open(TMP + "/large.up", "w") as script:
    script.write("".join("const c%d = %d\n" % (i, i) for i in range(10000)))
begun = p.mark()
asked.ask("pace 1000000 1000")
p.wait("events", r"^<100>$", begun)
before = p.mark()
p.do("load %s/large.up" % TMP)
p.equal(len([line for line in p.screen.text()[before:p.mark()] if re.fullmatch(r"<\d+>", line)]) > 50, True)

# Completion knows all of them.
p.type("print(c1234\t2\t")
p.wait_last(r"up( \[losing\])?> print\(c1234 2")
p.type("\x15")

# A value is shown by itself; what probes print while it is compiled is shown as ever.
p.do("probe %s:alpha < print(arg0) >" % ASKED)
before = p.mark()
p.do("1 + 1")
lines = p.screen.text()[before:p.mark()]
p.equal([line for line in lines if re.fullmatch(r"\d+", line)], ["2"])
p.equal(len([line for line in lines if re.search(r"t_asked:alpha arg0=\d+$", line)]) > 10, True)
p.do("undo")
p.do("undo")

# Given up, it changes nothing, and leaves soon.
before = p.mark()
p.line("load %s/large.up" % TMP)
while p.mark() == before:
    p.read(0.01)
p.type("\x03")
p.wait("the answer", r"^given up: all is as it was$", before)
p.settle(-1)
p.holds(p.do("c5"), r"nothing is named `c5`")

# Of all that, not one was lost.
asked.process.kill()
asked.process.wait()
p.read(0.5)
p.settle(-1)
seen = [int(line[1:-1]) for line in p.screen.text()[begun:] if re.fullmatch(r"<\d+>", line)]
p.equal(seen, list(range(1, len(seen) + 1)))
p.equal(p.do("n.count"), str(CALLS + len(seen)))
p.equal(p.leave(), 0)
p.holds("\n".join(p.screen.text()[-3:]), r" 0 lost in")
