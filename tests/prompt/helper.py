"""What the tests of the prompt share: uptick in a terminal, and a program that does what it is asked."""
import os
import re
import subprocess
import sys

from terminal import Terminal

UPTICK = os.environ["UPTICK"]
TARGETS = os.environ["TARGETS"]
TMP = os.environ["TMP"]
ASKED = TARGETS + "/t_asked"
PROMPT = r"up( \[\w+\])?> ?"


class Asked:
    """The program t_asked."""

    def __init__(self, path=ASKED):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()

    def wait(self):
        assert self.process.stdout.readline() == "done\n"

    def do(self, what):
        self.ask(what)
        self.wait()

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


class Prompt(Terminal):
    """uptick without a program."""

    def __init__(self, *args, **kwargs):
        super().__init__([UPTICK, *args], **kwargs)
        self.wait_last(PROMPT)

    def do(self, text):
        """Types a line and returns what is shown until the next prompt."""
        first = self.mark()
        self.line(text)
        self.settle(first)
        shown = self.screen.text()[first + 1:self.mark()]
        return "\n".join(shown)

    def settle(self, first):
        """Waits until a prompt stands in a line below `first`."""
        import time
        from terminal import LIMIT
        end = time.monotonic() + LIMIT
        while not (self.mark() > first and re.fullmatch(PROMPT, self.last())):
            if time.monotonic() > end:
                self.fail("no prompt")
            if not self.read(0.05):
                self.fail("it ended")

    def more(self, text):
        """Types a line of an input that goes on, and waits for the next line's prompt."""
        first = self.mark()
        self.line(text)
        while not (self.mark() > first and re.fullmatch(r"\.\.> ?", self.last())):
            if not self.read(0.05):
                self.fail("it ended")

    def hits(self, number):
        """Of a declaration, as `probes` says."""
        found = re.search(r"^ *%d +(on|off) +\d+ +(\d+)" % number, self.do("probes"), re.M)
        if not found:
            self.fail("no declaration %d" % number)
        return int(found.group(2))

    def leave(self):
        self.type("\x04")
        status = self.end()
        self.check_raw()
        return status

    def check_raw(self):
        """Nothing was sent that the model of a terminal does not know."""
        self.equal(self.screen.strange, [])

    def equal(self, got, want):
        if got != want:
            self.fail("got  %r\n      want %r" % (got, want))

    def holds(self, text, regex):
        if not re.search(regex, text, re.M):
            self.fail("no %r in:\n%s" % (regex, text))
