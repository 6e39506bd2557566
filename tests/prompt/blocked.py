"""A terminal that takes nothing, that goes, is in the midst of a paste, or very narrow; a history that is locked."""
import fcntl
import os
import signal
import time

from helper import ASKED, TMP, Asked, Prompt
from terminal import LIMIT

PASTE, PASTED = "\x1b[200~", "\x1b[201~"
asked = Asked()


def begin(action):
    p = Prompt(columns=120)
    p.do('probe "%s":alpha < n = count(); %s >' % (ASKED, action))
    return p


def ends(p):
    """Waits for its end, reading nothing."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        pid, status = os.waitpid(p.pid, os.WNOHANG)
        if pid:
            p.status = os.waitstatus_to_exitcode(status)
            return
        time.sleep(0.05)
    p.fail("it does not end")


def fill(p):
    """Until events wait for a reader: nobody looks at the terminal."""
    asked.do("pace 20000 1")
    time.sleep(0.3)


# Nobody reads: what ends a session ends it, and so does the end of the terminal.
for sig in signal.SIGTERM, signal.SIGHUP:
    p = begin("print(arg0, arg0, arg0, arg0)")
    fill(p)
    os.kill(p.pid, sig)
    ends(p)
    p.equal(p.status, 0)
p = begin("print(arg0, arg0, arg0, arg0)")
fill(p)
os.close(p.fd)
ends(p)
p.equal(p.status, 0)

# Neither does a list that nobody reads hold up the end.
p = Prompt()
p.line("list libc:*")
time.sleep(1)
os.kill(p.pid, signal.SIGTERM)
ends(p)
p.equal(p.status, 0)

# A paste is one text, that is taken at Enter; its newlines are part of it.
p = begin("print(arg0:s32)")
p.type(PASTE + "probe %s:beta <\r  bs = count()\r>" % ASKED + PASTED)
p.wait_last(r">", seconds=LIMIT)
p.line("")
p.wait_last(r"up> ?")
asked.do("beta 3")
p.equal(p.do("bs.count"), "3")

# While the end of a paste does not come, events are shown; Ctrl-C gives it up.
p.type(PASTE + "1 + ")
p.read(0.3)
asked.do("alpha 3")
p.wait("an event meanwhile", r"arg0:s32=3$")
p.type("2" + PASTED)
p.wait_last(r"up> 1 \+ 2")
p.line("")
p.wait("the value", r"^3$", p.mark() - 1)
p.type(PASTE + "junk ")
p.read(0.3)
p.type("\x03")
p.read(0.3)
p.equal(p.do("1 + 1"), "2")

# A long one, in one piece.
p.type(PASTE)
text = "40 + 2  # " + "long " * 24000
while text:
    p.type(text[:1000])
    p.read(0)
    text = text[1000:]
p.type(PASTED)
p.read(0.5)
first = p.mark()
p.line("")
p.wait("the sum", r"^42$", first - 3)
p.settle(first)

# A session ends in a paste, too.
p.type(PASTE + "junk ")
p.read(0.3)
os.kill(p.pid, signal.SIGTERM)
p.equal(p.end(), 0)
p = begin("print(arg0)")
p.type(PASTE + "junk ")
p.read(0.3)
os.close(p.fd)
ends(p)
p.equal(p.status, 0)
p.equal(asked.end(), 0)

# No width of the window harms.
for columns in 1, 2, 3, 5, 9:
    p = Prompt(columns=120)
    p.resize(1, columns)
    os.kill(p.pid, signal.SIGWINCH)
    p.read(0.2)
    p.type("1 + 1\r")
    p.read(0.3)
    p.type("li\t\t\x15")
    p.read(0.3)
    p.type("\x04")
    p.equal(p.end(), 0)

# Nor does a history that is no text, or that somebody keeps locked.
os.makedirs(TMP + "/state/uptick")
with open(TMP + "/state/uptick/history", "wb") as history:
    history.write(b"1 + 4\n\x1b]0;title\x07\n\xff\n\xc2\x9b1m\n")
    history.flush()
    fcntl.flock(history, fcntl.LOCK_EX)
    p = Prompt(env={"XDG_STATE_HOME": TMP + "/state"})
    p.type("\x1b[A")
    p.wait_last(r"up> 1 \+ 4")
    p.type("\x15")
    p.equal(p.do("1 + 5"), "6")
    p.equal(p.leave(), 0)
with open(TMP + "/state/uptick/history", "rb") as history:
    p.equal(history.read().endswith(b"\n1 + 5\n"), True)
