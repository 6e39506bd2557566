# The modules heap, thread, io and dns of the standard library: exact counts on a program whose calls are known.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program getent
cd "$TMP"

# heap: what t_libc allocates and gives back, told apart by sizes that nobody else asks for.
run_up -c "$TARGETS/t_libc" -e 'use heap
	probe heap.alloc when (size >= 70001 && size <= 70005) < n = count() by size; live[ptr] = size; total = sum(size) >
	probe heap.free < if (live[ptr]) < delete live[ptr] > >
	on end < for p in live < left += live[p] > printf("left %d bytes in %d blocks\n", left, len(live)) >'
expect_status 0
expect_line '^ +70001 +3$'
expect_line '^ +70002 +2$'
expect_line '^ +70004 +1$'
expect_line '^left 70002 bytes in 1 blocks$'
expect_no_line 'leaves out' err

# thread: a mutex that is held for 30 ms, a thread and its end. The first hit of a process takes long, too.
run_up -c "$TARGETS/t_libc" -e 'use thread
	probe thread.lock < if (seen && ns > 25ms) < waited = count() > seen = 1 >
	probe thread.create < made = count() > probe thread.join < joined = count() >
	probe thread.wait < conds = count() >'
expect_status 0
expect_line '^waited = 1$'
expect_line '^made = 1$'
expect_line '^joined = 1$'
expect_line '^conds = 1$'

# io: a file that is written and read.
run_up -c "$TARGETS/t_libc" -e 'use io
	probe io.open when (path ~ "*/t_libc.data") < print(path, result) >
	probe io.open when (path ~ "*/t_libc.none") < none = count() by result >
	probe io.write when (size == 1234) < written = sum(result) >
	probe io.read when (size == 5000) < got = sum(result) >'
expect_status 0
expect_count 2 'io.open return path=".*/t_libc.data" result=[0-9]+$'
expect_line '^ +-1 +1$'
expect_line '^written = 1234$'
expect_line '^got = 1234$'

# dns
run_up -c 'getent ahosts localhost' -e 'use dns
	probe dns.lookup < printf("%s %d %d\n", name, result, ns > 0) >'
expect_status 0
expect_line '^localhost 0 1$'

nothing_left
