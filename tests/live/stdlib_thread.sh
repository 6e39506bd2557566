# The module `thread` of the standard library: the locks, waits and threads of t_stdlib.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

# The C library takes locks of its own as well: the program's is the one that is given back for a condition.
run_up -e 'use thread
probe thread.create < printf("create %d %s\n", result, start) >
probe thread.exit < printf("exit %d\n", result) >
probe thread.join < printf("join %d\n", result) >
probe thread.lock when (ns > 50ms) < waited = count() by lock >
probe thread.lock < locks = count() by lock >
probe thread.trylock < printf("try %d\n", result) >
probe thread.unlock < unlocks = count() by lock >
probe thread.wait < printf("condition %d %d\n", result, (result || ns > 10ms)); given_back = count() by lock >
probe thread.wake < wakes = count() >
probe thread.read_lock < printf("read %d\n", result) >
probe thread.write_lock < printf("write %d\n", result) >
probe thread.semaphore < printf("semaphore %d\n", result) >
probe thread.barrier < printf("barrier %d\n", result) >' -c './t_stdlib thread'
expect_status 0
expect_line ', 0 lost in ' err
expect_eq "the calls" "$(grep -E '^[a-z]+ -?[0-9]' "$TMP/out" | sed 's/^\(create 0\) .*/\1/' | sort | uniq -c | sed 's/^ *//')" \
	'1 barrier -1
2 barrier 0
1 condition 0 1
1 condition 110 1
4 create 0
2 exit 0
4 join 0
3 read 0
2 semaphore 0
1 try 0
1 write 0'
# The program lives long enough for its first thread's function to be named.
expect_line '^create 0 t_stdlib:hold$'
expect_line '^wakes = 1$'
# Locked five times and tried once.
lock=$(sed -n '/^given_back by/,/^$/s/^ *\(0x[0-9a-f]*\)  *2$/\1/p' "$TMP/out")
expect_eq "locks" "$(sed -n "/^locks by/,/^\$/s/^ *$lock  *//p" "$TMP/out")" 5
expect_eq "waits" "$(sed -n "/^waited by/,/^\$/s/^ *$lock  *//p" "$TMP/out")" 2
expect_eq "unlocks" "$(sed -n "/^unlocks by/,/^\$/s/^ *$lock  *//p" "$TMP/out")" 6
nothing_left
