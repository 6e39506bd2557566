# Aggregates on real calls: what each makes of the fifteen calls of fib(5), as text, JSON and CSV.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

# fib(5) calls itself with 5 4 3 3 2 2 2 1 1 1 1 1 0 0 0; the results of 2 and 1 are 1.
run_up -o "$TMP/hits" -e 'probe ./t_add:fib < n = count(); all = sum(arg0:s32); mean = avg(arg0:s32); least = min(arg0:s32)
		most = max(arg0:s32); s = stats(arg0:s32); q = quantile(arg0:s32); u = uniq(arg0:s32); one = uniq(func); f = first(arg0:s32)
		l = last(comm); h = hist(arg0:s32); lh = lhist(arg0:s32, 1, 4, 1) >
	on return < back = sum(retval:s32) by entry.arg0:s32 top 3 >' -c './t_add fib'
expect_status 0
expect_line '^30 hits handled, 0 filtered, 0 lost in ' err
expect_eq "text" "$(cat "$TMP/hits")" 'n = 15
all = 26
mean = 1.73333
least = 0
most = 5

s
  count      avg  min  max   stddev  sum
     15  1.73333    0    5  1.43604   26

q
  count  p50  p90  p99  p99.9  max
     15    1    4    5      5    5
u = 6
one = 1
f = 5
l = "t_add"

h
  [0]     3  ████████████████████████████████████
  [1]     5  ████████████████████████████████████████████████████████████
  [2, 4)  5  ████████████████████████████████████████████████████████████
  [4, 8)  2  ████████████████████████

lh
  (..., 1)  3  ████████████████████████████████████
  [1]       5  ████████████████████████████████████████████████████████████
  [2]       3  ████████████████████████████████████
  [3]       2  ████████████████████████
  [4, ...)  2  ████████████████████████

back by entry.arg0:s32
  1  5
  5  5
  3  4
  and 3 more'

LC_ALL=C run_up -q -o "$TMP/hits" -e 'probe ./t_add:fib < h = hist(arg0:s32) >' -c './t_add fib'
expect_eq "without Unicode" "$(sed -n 3p "$TMP/hits")" '  [0]     3  ####################################'

run_up -f json -q -o "$TMP/hits" -e 'probe ./t_add:fib < h = hist(arg0:s32) by func; s = stats(arg0:s32); r = rate() >' -c './t_add fib'
expect_status 0
expect_eq "json histogram" "$(head -n 1 "$TMP/hits")" '{"type":"aggregation","name":"h","aggregate":"hist","rows":[{"key":{"func":"fib"},"value":15,"buckets":[{"lo":0,"hi":1,"count":3},{"lo":1,"hi":2,"count":5},{"lo":2,"hi":4,"count":5},{"lo":4,"hi":8,"count":2}]}],"total_rows":1}'
expect_eq "json stats" "$(sed -n 2p "$TMP/hits" | sed 's/"stddev":1.43604[0-9]*/"stddev":1.436/')" \
	'{"type":"aggregation","name":"s","aggregate":"stats","value":{"count":15,"avg":1.7333333333333334,"min":0,"max":5,"stddev":1.436,"sum":26}}'

# A rate is that of the whole time.
rate=$(sed -n 's/.*"aggregate":"rate","value":\([0-9.e+]*\)}$/\1/p' "$TMP/hits")
seconds=$(sed -n 's/.*"seconds":\([0-9.e-]*\)}$/\1/p' "$TMP/hits")
awk -v rate="$rate" -v seconds="$seconds" 'BEGIN { hits = rate * seconds; exit !(hits > 14.999 && hits < 15.001) }' ||
	fail "a rate of $rate in $seconds s is not 15 hits"

run_up -f csv -q -o "$TMP/hits" -e 'probe ./t_add:fib when (arg0:s32 > 3) < s = quantile(arg0:s32) by comm; h = hist(arg0:s32); print(arg0:s32, func) >' \
	-c './t_add fib'
expect_status 0
expect_eq "csv" "$(sed 's/^[0-9]\{6,\},[^,]*,t_add,[0-9]*/TIME,WALL,t_add,TID/' "$TMP/hits")" 'time,wall,comm,tid,probe,return,arg0:s32,func
TIME,WALL,t_add,TID,t_add:fib,false,5,fib
TIME,WALL,t_add,TID,t_add:fib,false,4,fib

comm,s.count,s.p50,s.p90,s.p99,s.p999,s.max
t_add,2,4,5,5,5,5

h.lo,h.hi,h.count
4,8,2'

nothing_left
