"""Completion knows where it stands; the history lasts."""
import os
import re
import shutil
import subprocess

from helper import ASKED, TARGETS, TMP, Asked, Prompt

os.environ["XDG_STATE_HOME"] = TMP + "/state"
os.environ["UPTICK_PATH"] = "/nowhere:" + TMP + "/modules"
os.makedirs(TMP + "/modules")
open(TMP + "/modules/mine.up", "w").write("""
fn twice(n) = n * 2
point mine.alpha = %s:alpha < fifth = arg4 > on return < answer = retval >
""" % ASKED)
p = Prompt(columns=160)


def becomes(want):
    """Is that the line, within a second?"""
    for _ in range(20):
        p.read(0.05)
        if p.last().rstrip() == want:
            return True
    return False


def completes(text, want):
    """Tab behind the text makes it `want`; a slow machine's is not ready with all names at once."""
    for _ in range(20):
        p.type(text + "\t")
        if becomes("up> " + want.rstrip()):
            break
        p.type("\x15")
        p.wait_last(r"up> ?")
    p.wait_last(r"up> " + re.escape(want.rstrip()))
    p.read(0.05)
    p.equal(p.screen.column, len("up> " + want))
    p.type("\x15")
    p.wait_last(r"up> ?")


def lists(text, *wanted, without=()):
    """Tab twice behind the text shows these words, and not those."""
    first = p.mark()
    p.type(text + "\t\t")
    for word in wanted:
        p.wait(word, r"(^|\s)%s(\s|$)" % re.escape(word), first)
    p.read(0.1)
    shown = " ".join(p.screen.text()[first:p.mark()]).split()
    for word in without:
        p.equal(word in shown, False)
    p.type("\x15")
    p.wait_last(r"up> ?")


target = "probe %s:alpha " % ASKED
completes("pro", "probe")  # or probes
completes("probe ", "probe ")
completes("disa", "disable ")
completes("probe %s/t_aske" % TARGETS, "probe %s/t_asked:" % TARGETS)
completes("probe %s:alp" % ASKED, target)
completes("probe libstdc+", "probe libstdc++:")
NAMED = TMP + "/named"
shutil.copy(ASKED, NAMED)
completes("probe %s:alp" % NAMED, "probe %s:alpha " % NAMED)
shutil.copy(TARGETS + "/t_version2", TMP + "/new")
os.rename(TMP + "/new", NAMED)
p.do("reload")
completes("probe %s:padd" % NAMED, "probe %s:padding " % NAMED)
completes("probe libc:mallopt,libc:mallinf", "probe libc:mallopt,libc:mallinfo")
lists("probe libc:mallo", "malloc", "mallopt")
completes(target + "wh", target + "when ")
completes(target + "< print(com", target + "< print(comm ")
completes(target + "< print(retv", target + "< print(retv")
completes(target + "on return < print(retv", target + "on return < print(retval ")
completes(target + "on ret", target + "on return ")
completes(target + "< print(arg0:us", target + "< print(arg0:ustring ")
completes(target + "< x = reg.flag", target + "< x = reg.flags ")
completes("print(subs", "print(substr(")
lists("su", "sum(x)")
completes("elaps", "elaps")
completes("use thr", "use thread ")

# What the program has.
p.do("probe %s:alpha < sizes = quantile(arg0) by comm; seen[arg0] = time > on return < thread.depth_now = 1 >" % ASKED)
p.do("fn doubled(n) = n * 2")
completes("print(siz", "print(sizes ")
completes("len(se", "len(seen[")
completes("doub", "doubled(")
lists('sizes["x"].p', "p50", "p90", "p99", "p999")
completes("delete t[thread.dep", "delete t[thread.depth_now ")
lists("disable ", "1", "2")
completes("show siz", "show sizes ")
os.makedirs(TMP + "/folder")
open(TMP + "/folder/one_script.up", "w").write("probe %s:beta < count() >\n" % ASKED)
completes("load %s/folder/one" % TMP, "load %s/folder/one_script.up " % TMP)
completes("help quant", "help quantile ")
named = Asked()
first = p.mark()
p.type("attach \t\t\t")
p.wait("the process and its name", r"(^|\s)%d t_asked(\s|$)" % named.pid, first)
p.type("\x15")
p.wait_last(r"up> ?")
p.equal(named.end(), 0)
p.holds(p.do("a = quantil(3)"), "did you mean `quantile`")

# What modules define: those that are used, nothing else.
lists("probe sh", without=["shell.command"])
p.do("use shell")
completes("probe shell.c", "probe shell.command ")
completes("probe shell.command < print(pid, li", "probe shell.command < print(pid, line ")
completes("use mi", "use mine ")
p.do("use mine")
completes("probe mine.al", "probe mine.alpha ")
completes("probe mine.alpha on return < print(answ", "probe mine.alpha on return < print(answer ")
completes("probe mine.alpha < print(twic", "probe mine.alpha < print(twice(")
completes(target + "< print(fif", target + "< print(fif")
completes(target + "< big = arg0 * 1000; print(bi", target + "< big = arg0 * 1000; print(big ")

# So many names that gathering them takes a while; what is typed meanwhile is shown.
with open(TMP + "/many.s", "w") as source:
    for i in range(150000):
        source.write(".globl function_%06d\n.type function_%06d, @function\nfunction_%06d: ret\n"
                     ".size function_%06d, 1\n" % (i, i, i, i))
subprocess.run(["gcc", "-shared", "-nostdlib", "-o", TMP + "/many.so", TMP + "/many.s"], check=True)
p.type("probe %s/many.so:function_12345\t" % TMP)
p.type(" < x")
p.wait_last(r"up> probe .*/many\.so:function_12345[0-9]?.*< x")
p.type("\x15")
p.wait_last(r"up> ?")
for _ in range(100):
    p.type("probe %s/many.so:function_14999\t\t" % TMP)
    p.read(0.2)
    if "function_149990" in p.screen.text()[-3]:
        break
    p.type("\x15")
    p.wait_last(r"up> ?")
else:
    p.fail("the names do not come")
p.type("7\t")
p.wait_last(r"up> probe .*/many\.so:function_149997 ?")
p.type("\x15")
p.wait_last(r"up> ?")

# In a block of several lines, and while events stream.
p.do("delete 1")
p.do("probe %s:beta < print(arg0:s32) >" % ASKED)
# Processes go by number and by name, programs by name.
os.symlink(shutil.which("sleep"), TMP + "/seen_%d" % os.getpid())
os.symlink(shutil.which("sleep"), TMP + "/seeo_%d" % os.getpid())
ones = [subprocess.Popen([TMP + "/see%s_%d" % (which, os.getpid()), "100"]) for which in "no"]
completes("attach seen_%d" % os.getpid(), "attach %d " % ones[0].pid)
lists("attach see", "seen_%d" % os.getpid(), "seeo_%d" % os.getpid(), str(ones[0].pid))
p.type("attach see\t")
p.wait_last("up> attach see ?")
p.type("\x15")
p.wait_last(r"up> ?")
for one in ones:
    one.kill()
    one.wait()
completes("run sqlite", "run sqlite3 ")
completes("run sqlite3 %s/t_aske" % TARGETS, "run sqlite3 %s/t_asked " % TARGETS)
completes("run %s/t_aske" % TARGETS, "run %s/t_asked " % TARGETS)

completes("help sqli", "help sqlite ")

asked = Asked()
p.more("probe %s:alpha" % ASKED)
p.more("<")
asked.do("beta 3")
p.wait("the hits", r"arg0:s32=3$")
p.type("  print(com\t")
p.wait_last(r"\.\.>   print\(comm ?")
p.type(")\r")
p.wait_last(r"\.\.> ?")
p.equal(p.do(">").strip(), "")
asked.do("alpha 1")
p.wait("a hit", r"comm=\"t_asked\"$")
p.equal(asked.end(), 0)

# What was typed is there again in the next session, as it was.
history = TMP + "/state/uptick/history"
p.do('"back\\\\slash"')
p.equal(p.leave(), 0)
p.equal(os.stat(history).st_mode & 0o777, 0o600)
p.equal(open(history).read().splitlines()[-2:],
        ["probe %s:alpha\\n<\\n  print(comm )\\n>" % ASKED, '"back\\\\\\\\slash"'])
p = Prompt(columns=160)
p.type("\x1b[A")
p.wait_last(r'up> "back\\\\slash"')
p.type("\r")
p.wait("its value", r'^"back\\\\slash"$')
p.type("\x12doubled(n")
p.wait("what was sought", r"fn doubled\(n\) = n \* 2")
p.type("\r")
p.settle(-1)
p.equal(p.do("doubled(4)"), "8")
p.equal(p.leave(), 0)

# A home that is not there is not made.
del os.environ["XDG_STATE_HOME"]
os.environ["HOME"] = TMP + "/home"
for is_there in (False, True):
    if is_there:
        os.mkdir(TMP + "/home")
    p = Prompt(columns=160)
    p.equal(p.do("1"), "1")
    p.equal(p.leave(), 0)
    p.equal(os.path.exists(TMP + "/home"), is_there)
p.equal(open(TMP + "/home/.local/state/uptick/history").read(), "1\n")
