"""uptick or its helper process is killed by force at the prompt: nothing is left, and the traced program goes on."""
import os
import signal
import termios
import time

from helper import ASKED, TARGETS, Asked, Prompt
from terminal import LIMIT

TRACING = "/sys/kernel/tracing"


def begin(asked):
    """A prompt whose probes are being hit, some of them several under one event."""
    p = Prompt(columns=120)
    p.tty = os.open("/proc/%d/fd/0" % p.pid, os.O_RDWR | os.O_NOCTTY)
    p.do("probe %s:f_0* < places = count() >" % (TARGETS + "/t_many"))
    p.do("probe %s:alpha < n = count() > on return < back = count() >" % ASKED)
    p.do("probe %s:beta < print(arg0) >" % ASKED)
    p.do("disable 3")
    asked.ask("pace 2000 500")
    p.read(0.2)
    return p


def helper_of(p):
    with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as children:
        for child in children.read().split():
            with open("/proc/%s/comm" % child) as comm:
                if comm.read().strip() == "uptick-keeper":
                    return int(child)
    return p.fail("there is no helper process")


def is_clean(pid):
    if os.path.exists("%s/instances/uptick_%d" % (TRACING, pid)):
        return False
    with open(TRACING + "/uprobe_events") as events:
        return ":uptick_%d/" % pid not in events.read()


def check_clean(p):
    end = time.monotonic() + LIMIT
    while not is_clean(p.pid):
        if time.monotonic() > end:
            p.fail("something of it is left")
        time.sleep(0.05)


asked = Asked()

# Without its helper the session cannot go on: it says so, and the terminal is as it was before.
p = begin(asked)
p.type("n.cou")
p.wait_last(r"up( \[losing\])?> n\.cou")
os.kill(helper_of(p), signal.SIGKILL)
p.equal(p.end(), 1)
p.wait("the message", r"^the helper process that keeps the probes has died$")
mode = termios.tcgetattr(p.tty)[3]
p.equal(mode & (termios.ICANON | termios.ECHO), termios.ICANON | termios.ECHO)
os.close(p.tty)
check_clean(p)
asked.wait()
asked.do("alpha 3")

# The helper outlives the session, and takes everything out.
p = begin(asked)
os.kill(p.pid, signal.SIGKILL)
p.equal(p.end(), -signal.SIGKILL)
os.close(p.tty)
check_clean(p)
asked.wait()
asked.do("alpha 3")
p.equal(asked.end(), 0)
