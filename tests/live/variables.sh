# Variables, tables, loops, timed and life-cycle blocks: on programs whose calls are known.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs

# fib(5) is 15 calls with arguments that are known; add() is called seven times.
cat >"$TMP/a.up" <<'UP'
on start < n = 0; printf("start %d %d\n", n, len(seen)) >
probe ./t_add:fib <
	n += 1
	seen[arg0] = seen[arg0] + 1
	deepest = max(arg0)
	hits = count() by arg0
	call.twice = arg0 * 2
	call.who = comm
	thread.calls += 1
> on return <
	if (call.twice != entry.arg0 * 2) < bad += 1 >
	if (call.who != comm) < bad += 1 >
	sums[call.who] += retval
>
on end <
	for k in seen < printf("fib(%d): %d times, %d counted\n", k, seen[k], hits[k].count) >
	delete seen[1]
	printf("%d calls, %d kinds, %d bad, deepest %d, sum %d, first %d\n", n, len(seen), bad, deepest, sums["t_add"], hits[5])
	for k in hits < for j in seen < if (k == j) < both += 1 > > >
	printf("both %d\n", both)
	show(seen)
	clear(hits); clear(seen)
	printf("empty %d %d\n", len(seen), len(hits))
>
UP
cd "$TARGETS"
run_up -c './t_add fib' "$TMP/a.up"
expect_status 0
expect_line '^start 0 0$'
expect_line '^fib\(5\): 1 times, 1 counted$'
expect_line '^fib\(3\): 2 times, 2 counted$'
expect_line '^fib\(1\): 5 times, 5 counted$'
expect_line '^15 calls, 5 kinds, 0 bad, deepest 5, sum 20, first 1$'
expect_line '^both 5$'
expect_line '^empty 0 0$'
expect_no_line '^hits'

# A variable of a thread is its own and ends with it: every new thread begins at 0.
run_up -c "./t_procs silent 'threads 3' 'threads 3'" -e '
	probe ./t_procs:work < thread.n += 1; most = max(thread.n); all += 1; last[tid] = thread.n >
	on end < printf("%d calls, at most %d, %d threads\n", all, most, len(last)) >'
expect_status 0
expect_line '^24 calls, at most 3, [4-8] threads$'

# Timed blocks: the interval is kept, what they show is cleared, stop() gives the exit status.
run_up -e 'probe ./t_add:add < hits = count() > on every 50ms < n += 1; printf("tick %d\n", n); if (n == 4) < stop(7) > >
	on end < printf("end\n") >'
expect_status 7
expect_count 4 '^tick'
expect_line '^end$'
expect_line '^0 hits handled' err

# A block may end the run before it begins.
run_up -e 'on start < printf("hello\n"); stop() >'
expect_status 0
expect_line '^hello$'

# What a timed block reads is what has been gathered by then: the sum of its readings is the number of calls.
run_up -c './t_burst 2000' -e '
	probe ./t_burst:draw < hits = count() >
	on every 5ms < ticks += 1; seen += hits.count; clear(hits) >
	on end < printf("%d in all, %d ticks\n", seen + hits.count, ticks) >'
expect_status 0
expect_line '^8000 in all, ([2-9]|[1-9][0-9]+) ticks$'
nothing_left
