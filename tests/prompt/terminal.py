"""A terminal with a person at it: a program in a pseudo-terminal, what it shows, and typing.

What the program writes goes through a small model of a terminal, so that a test can look at the lines as a person
sees them: `lines` are all lines that there ever were, the last ones being those on the screen. Knows nothing of uptick.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

LIMIT = float(os.environ.get("WAIT_LIMIT", "20"))  # seconds for one wait


class Screen:
    """What a terminal shows. Lines never leave; the cursor's line counts from the top of the screen."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [[]]
        self.row, self.column = 0, 0
        self.rest = b""
        self.strange = []  # sequences that are not known here

    def text(self):
        return ["".join(line).rstrip() for line in self.lines]

    def put(self, char):
        if self.column >= self.columns:
            self.column = 0
            self.down()
        line = self.lines[self.row]
        line.extend(" " * (self.column + 1 - len(line)))
        line[self.column] = char
        self.column += 1

    def down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])

    def erase_line(self, how):
        line = self.lines[self.row]
        if how == 0:
            del line[self.column:]
        elif how == 2:
            line.clear()

    def erase_below(self):
        self.erase_line(0)
        del self.lines[self.row + 1:]

    def control(self, numbers, kind):
        n = numbers[0] if numbers else 0
        top = max(0, len(self.lines) - self.rows)
        line = self.lines[self.row]
        if kind == "A":
            self.row = max(top, self.row - max(n, 1))
        elif kind == "B":
            self.row = min(len(self.lines) - 1, self.row + max(n, 1))
        elif kind == "C":
            self.column = min(self.columns - 1, self.column + max(n, 1))
        elif kind == "D":
            self.column = max(0, self.column - max(n, 1))
        elif kind == "G":
            self.column = max(n, 1) - 1
        elif kind == "K":
            self.erase_line(n)
        elif kind == "J":
            self.erase_below()
        elif kind == "P":
            del line[self.column:self.column + max(n, 1)]
        elif kind == "@":
            line[self.column:self.column] = [" "] * max(n, 1)
        elif kind == "H":
            self.row = top + (max(n, 1) - 1)
            while self.row >= len(self.lines):
                self.lines.append([])
            self.column = (numbers[1] if len(numbers) > 1 else 1) - 1
        elif kind not in "mhl":
            self.strange.append(kind)

    def feed(self, data):
        text, self.rest = (self.rest + data), b""
        try:
            text = text.decode()
        except UnicodeDecodeError as e:
            if len(text) - e.start > 3:
                raise
            self.rest = text[e.start:]
            text = text[:e.start].decode()
        i = 0
        while i < len(text):
            c = text[i]
            if c == "\x1b":
                found = re.compile(r"\x1b\[[?]?([0-9;]*)([A-Za-z@])|\x1b[=>]").match(text, i)
                if not found:
                    self.rest = text[i:].encode() + self.rest
                    return
                if found.group(2):
                    self.control([int(n) for n in found.group(1).split(";") if n], found.group(2))
                i = found.end()
                continue
            if c == "\r":
                self.column = 0
            elif c == "\n":
                self.down()
            elif c == "\b":
                self.column = max(0, self.column - 1)
            elif c == "\t":
                self.column = min(self.columns - 1, self.column // 8 * 8 + 8)
            elif c >= " ":
                self.put(c)
            i += 1


class Terminal:
    def __init__(self, argv, rows=24, columns=80, term="xterm", env=None):
        self.screen = Screen(rows, columns)
        self.raw = b""
        self.status = None
        environment = dict(os.environ, TERM=term, **(env or {}))
        environment.pop("COLUMNS", None)
        environment.pop("LINES", None)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.execvpe(argv[0], argv, environment)
            finally:
                os._exit(127)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.rows, self.screen.columns = rows, columns

    def read(self, seconds):
        """Takes in what comes within so many seconds; false at the end of the program."""
        end = time.monotonic() + seconds
        while True:
            left = max(0, end - time.monotonic())
            if not select.select([self.fd], [], [], left)[0]:
                return True
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            if not data:
                return False
            self.raw += data
            self.screen.feed(data)

    def type(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        self.type(text + "\r")

    def wait(self, what, regex=None, since=0, seconds=LIMIT):
        """Waits until a line (from number `since` on) matches; returns the match."""
        pattern = re.compile(regex if regex is not None else re.escape(what))
        end = time.monotonic() + seconds
        while True:
            for line in self.screen.text()[since:]:
                found = pattern.search(line)
                if found:
                    return found
            if time.monotonic() > end:
                self.fail("waited in vain for: " + what)
            if not self.read(0.05):
                self.read(0)
                if not any(pattern.search(line) for line in self.screen.text()[since:]):
                    self.fail("it ended before: " + what)

    def mark(self):
        """The number of the line that the cursor is in: for `since`."""
        return self.screen.row

    def last(self):
        """The line that the cursor is in."""
        return self.screen.text()[self.screen.row]

    def wait_last(self, regex, seconds=LIMIT):
        """Waits until the cursor's line matches as a whole."""
        end = time.monotonic() + seconds
        while not re.fullmatch(regex, self.last()):
            if time.monotonic() > end:
                self.fail("the line is not: " + regex)
            self.read(0.05)

    def end(self, seconds=LIMIT):
        """Waits until the program has ended; its status."""
        end = time.monotonic() + seconds
        while self.status is None:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                self.fail("it does not end")
        return self.status

    def fail(self, message):
        print("FAIL: " + message, file=sys.stderr)
        print("--- the screen", file=sys.stderr)
        for line in self.screen.text()[-60:]:
            print("|" + line, file=sys.stderr)
        if self.status is None:
            os.kill(self.pid, signal.SIGTERM)
            for _ in range(100):
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    break
                try:
                    self.read(0.1)
                except OSError:
                    time.sleep(0.1)
        sys.exit(1)
