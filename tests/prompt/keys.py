"""Keys and signals in every state, narrow and dumb terminals, other sizes."""
import os
import signal
import time

from helper import ASKED, UPTICK, Asked, Prompt
from terminal import Terminal

INTERRUPT = "\x03"
asked = Asked()
p = Prompt(columns=120)

# Blocks of several lines; a mistake can be fetched back and mended.
p.more("probe %s:alpha" % ASKED)
p.more("<")
p.more("  prnt(arg0:s32)")
p.equal(p.do(">").splitlines()[0], "input:3:3: error[unknown-function]: there is no action or aggregation `prnt`")
p.type("\x1b[A")
p.wait("the input again", r"^\s+prnt\(arg0:s32\)", p.mark() - 4)
p.type("\x1b[D" * len("nt(arg0:s32)\n>") + "i")
p.wait("the mended input", r"^\s+print\(arg0:s32\)", p.mark() - 4)
p.type("\r")
p.settle(p.mark())
asked.do("alpha 1")
p.wait("a hit", r"arg0:s32=1$")

# Ctrl-C gives up a line, a block, and nothing else.
p.type("some text")
p.wait_last(r"up> some text")
p.type(INTERRUPT)
p.wait_last(r"up> ?")
p.more("probe %s:beta <" % ASKED)
p.type(INTERRUPT)
p.wait_last(r"up> ?")
p.type(INTERRUPT)
p.wait("advice", "Ctrl-D leaves", p.mark() - 3)
p.equal(p.do("1 + 1"), "2")

# Ctrl-D gives up a block; on an empty line it leaves, below.
p.more("on start <")
first = p.mark()
p.type("\x04")
p.wait_last(r"up> ?")
p.equal(p.screen.text()[first + 1:p.mark()], ["given up"])
p.equal(p.do("1 + 1"), "2")

# Ctrl-C while a handler loops for long.
p.do("t[1] = 1")
p.equal(p.do("n = 0"), "")

# A flood is stopped, and what was left out is told.
asked.ask("pace 40000 10")
p.wait("the flood", r"arg0:s32=1000$")
p.type(INTERRUPT)
p.wait("the pause", "is left out from here on")
p.wait_last(r"up \[paused\]> ?")
p.holds(p.do("2 + 2"), r"^4$")
p.holds(p.do("disable 1"), r"^$")
shown = p.mark()
p.holds(p.do("resume"), r"lines were left out meanwhile$")
asked.wait()

# What is left out stays so when a line is taken before the loop has seen it.
p.do("enable 1")
p.do("pause")
os.kill(p.pid, signal.SIGSTOP)
asked.do("alpha 3")
p.type("3 + 4\r")
first = p.mark()
os.kill(p.pid, signal.SIGCONT)
p.settle(first)
p.read(0.2)
p.equal(p.screen.text()[first + 1:p.mark()], ["7"])
p.equal(p.do("resume"), "3 lines were left out meanwhile")
p.do("disable 1")

# Also the last lines of a probe that goes.
p.do("probe %s:alpha < print(arg0) >" % ASKED)
p.do("pause")
asked.ask("pace 5000 100")
p.read(0.2)
p.holds(p.do("undo"), "^taken out ")
p.holds(p.do("resume"), r"lines were left out meanwhile$")
asked.wait()

# Another size, narrower than what is typed.
p.resize(24, 30)
p.type("1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9")
p.wait("the end of the line", r"^.*\+ 9$", p.mark() - 1)
p.type("\r")
p.wait("the sum", r"^45$")

# A source line is cut so that it does not wrap, and the caret stands below what it points at.
p.settle(-1)
first = p.mark()
p.type("1 + 2 + 3 + 4 + 5 + 6 + 7 + wrong + 9 + 10 + 11 + 12 + 13\r")
p.settle(first)
shown = p.screen.text()[first:p.mark()]
at = next(i for i, line in enumerate(shown) if line.startswith(" 1 | "))
p.holds(shown[at], "^ 1 \\| ….*wrong.*…$")
p.equal(shown[at + 1], " " * 3 + "| " + " " * (shown[at].index("wrong") - 5) + "^~~~~")
p.resize(24, 100)

# Stopped and going on.
p.type("7 * 6")
p.wait_last(r"up> 7 \* 6")
p.type("\x1a")
for _ in range(100):
    p.read(0.05)
    pid, status = os.waitpid(p.pid, os.WUNTRACED | os.WNOHANG)
    if pid and os.WIFSTOPPED(status):
        break
else:
    p.fail("Ctrl-Z did not stop it")
os.kill(p.pid, signal.SIGCONT)
p.type("\r")
p.wait("the product", r"^42$")
p.settle(-1)
p.equal(p.leave(), 0)

# Ctrl-D that is typed while there is something to do; the output waits, for nobody reads the terminal.
p = Prompt()
p.line("list libc:*")
time.sleep(0.5)
p.type("\x04")
p.equal(p.end(), 0)

# A dumb terminal, and none at all.
d = Prompt(term="dumb", columns=60)
d.equal(d.do("6 * 7"), "42")
d.do("probe %s:beta < print(arg0:s32) >" % ASKED)
d.type("1 + 1")
d.wait_last(r"up> 1 \+ 1")
asked.do("beta 2")
d.wait("a hit", r"arg0:s32=2$")
d.wait_last(r"up> 1 \+ 1")
d.equal(d.do(""), "2")
d.more("on start <")
first = d.mark()
d.type("\x04")
d.wait_last(r"up> ?")
d.equal(d.screen.text()[first + 1:d.mark()], ["given up"])
d.equal(d.leave(), 0)
d.equal(b"\x1b" in d.raw, False)

# A signal from outside ends it and leaves nothing.
s = Prompt()
s.do("probe %s:beta < count() >" % ASKED)
os.kill(s.pid, signal.SIGTERM)
s.equal(s.end(), 0)
s = Prompt()
s.do("probe %s:beta < count() >" % ASKED)
os.close(s.fd)
for _ in range(200):
    pid, status = os.waitpid(s.pid, os.WNOHANG)
    if pid:
        break
    time.sleep(0.05)
else:
    s.status = 0
    s.fail("it goes on without a terminal")
asked.end()
