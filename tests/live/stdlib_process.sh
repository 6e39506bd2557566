# The module `process` of the standard library: what t_stdlib and a shell start, and how it ends.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program bash true
cd "$TARGETS"
# A name without a folder is looked for in one place only.
export PATH=/bin

run_up -e 'use process
probe process.fork < printf("fork %d\n", (result > 0)) >
probe process.exec < printf("exec %s: %s\n", path, args) >
probe process.exec_failed < printf("failed %s\n", path) >
probe process.spawn < printf("spawn %s %s\n", path, argv0) >
probe process.command < printf("command %s %d\n", command, result) >
probe process.signal < printf("signal %d %d\n", signal, result) >
probe process.wait < printf("wait %d\n", (result > 0)) >
probe process.exit < exits = count() by comm, status >' -c './t_stdlib process'
expect_status 5
expect_line ', 0 lost in ' err
expect_no_line 'could not be read' err
# Parent and child take turns as they like.
expect_eq "processes" "$(sed '/^$/,$d' "$TMP/out" | sort | uniq -c | sed 's/^ *//')" '1 command exit 0 0
1 command exit 3 768
1 exec ./t_stdlib: ./t_stdlib process
1 exec /bin/sh: sh -c exit 0
1 exec /bin/sh: sh -c exit 3
2 exec /bin/true: true0 one two
1 exec /bin/true: true1 1 2 3 4 5 ...
1 exec /nowhere/true: true0 one two
1 failed /nowhere/true
3 fork 1
1 signal 10 0
1 signal 15 0
2 spawn /bin/sh sh
1 spawn /bin/true true1
1 spawn true true0
7 wait 1'
expect_eq "ends" "$(sed '1,/^exits by/d; s/^ *//; s/  */ /g' "$TMP/out")" 'true 0 3
sh 0 1
sh 3 1
t_stdlib 5 1
t_stdlib 7 1'

# What a shell starts, in the order in which it does.
run_up -e 'use process
probe process.exec < printf("%s\n", args) >' -c "bash -c '/bin/true one; /bin/true two 3; exec /bin/true'"
expect_status 0
expect_eq "a shell's commands" "$(tail -n 3 "$TMP/out")" '/bin/true one
/bin/true two 3
/bin/true'
nothing_left
