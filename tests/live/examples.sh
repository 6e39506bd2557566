# The scripts of examples/: run, on programs that are always there, and what they show is right.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program bash zsh ls cat sleep objdump cc script getent

cd "$TMP"
for source in "$EXAMPLES"/*.c; do
	cc -O0 -o "$(basename "$source" .c)" "$source"
done

# example NAME COMMAND [ARGS...]: runs a script of examples/ with a command; no hit may be lost, and the exit status, which
# is the command's, must be WANT's, or 0.
example()
{
	local name=$1 command=$2
	shift 2
	run_up -c "$command" "$EXAMPLES/$name.up" "$@"
	expect_status "${WANT:-0}"
	expect_line ', 0 lost in ' err
	expect_no_line 'could not be read|dropped' err
}

# --- of one's own programs: 20 jobs, of which 7 are tried again, 3 of them in vain ----------------------

example add ./add
expect_count 5 'add:add arg0:s32=-?[0-9]+ arg1:s32=-?[0-9]+$'
expect_line '^add\(2, 3\) = 5 after [0-9]+ ns$'

example arguments ./jobs ./jobs:job_new --lo=5 --hi=15 --step=5
expect_line '^  \(\.\.\., 5\) +4 '
expect_line '^  \[5, 10\) +5 '
expect_line '^  \[10, 15\) +5 '
expect_line '^  \[15, \.\.\.\) +6 '
expect_line '^largest = 20$'
expect_line '^different = 20$'

example between './jobs 19' ./jobs:job_new ./jobs:job_free
expect_line '^  main\+0x[0-9a-f]+ +16  '
expect_line '^  main\+0x[0-9a-f]+  3$'

example call-tree './calc 2*3' './calc:/^(evaluate|sum|product|atom|number)$/'
expect_eq "the tree" "$(sed 's/(.*//; s/ after.*//' "$TMP/out" | grep -v ' = 6$')" \
	'evaluate
  sum
    product
      atom
        number
        number = 0x2
      atom = 0x2
      atom
        number
        number = 0x3
      atom = 0x3
    product = 0x6
  sum = 0x6
evaluate = 0x6'

example callers ./jobs ./jobs:job_run
expect_line '^  jobs  main\+0x[0-9a-f]+ +20$'
expect_line '^  jobs  job_retry\+0x[0-9a-f]+ +7$'

example failures ./jobs './jobs:job_r*'
expect_line '^  job_run +-1  main\+0x[0-9a-f]+ +4$'
expect_line '^  job_run +-11  main\+0x[0-9a-f]+ +3$'
expect_line '^  job_run +-11  job_retry\+0x[0-9a-f]+ +3$'
expect_line '^  job_retry +-11  main\+0x[0-9a-f]+ +3$'

example fields './jobs 3'
expect_eq "the jobs" "$(cat "$TMP/out")" \
	'job 1      id 1 priority  1 cost 0.5 ms for alice
job 2      id 2 priority  0 cost 1.0 ms for alice, before job 1
job 3      id 3 priority -1 cost 1.5 ms for bob, before job 2
job 3      id 3 priority  0 cost 1.5 ms for bob, before job 2'

example first-calls ./jobs ./jobs:job_new --calls=3
expect_count 3 'jobs:job_new n=[123] arg0:x64=0x[123] '

example latency ./jobs './jobs:job_r*'
expect_line '^  job_run +27 .*ms$'
expect_line '^  job_retry +7 '

example latency-live './jobs 200' ./jobs:job_run --every=100ms
expect_line '^ +calls +median us +99 % us +longest us$'
expect_line '^ +[1-9][0-9]* +[0-9]+ +[1-9][0-9]{3,} +[1-9][0-9]{3,}$'

address=$(objdump -d loop --disassemble=sum_of_squares | sed -n 's/^ *\([0-9a-f]*\):.*imul.*/0x\1/p')
[ "$(uname -m)" != x86_64 ] || {
	example loop-index ./loop "$address"
	expect_eq "the indexes" "$(sed -n 's/.*reg.ax:s32=//p' "$TMP/out" | tr '\n' ' ')" '1 2 3 4 5 '
}

example rates './jobs 200' ./jobs:job_run ./jobs:job_retry --interval=100ms
expect_line '^ +\./jobs:job_run +\./jobs:job_retry$'
expect_line '^ +[1-9][0-9.]+ +[1-9][0-9.]+$'

example recursion "./calc '2*(3+4*(1+1))'" ./calc:sum
expect_line '^  0  1$'
expect_line '^  2  1$'
expect_count 1 '^ +1 +[0-9.]+ [mu]s '

example sequence ./jobs './jobs:job_*'
expect_line '^  job_new +job_run +20$'
expect_line '^  job_free +job_free +15$'
expect_line '^  job_run +job_retry +7$'
expect_line '^  job_new +job_run +[0-9.]+ [mun]s$'

# Nine of them sleep for 2 ms or longer, and on a busy machine others may take as long.
example slow-calls ./jobs ./jobs:job_run --over=2ms
slow=$(grep -cE '^jobs\[[0-9]+\] job_run took ([2-9]|[1-9][0-9]+)[0-9]{3} us$' "$TMP/out" || true)
[ "$slow" -ge 9 ] || fail "$slow slow calls instead of 9 or more"
expect_line "^  jobs +job_run +$slow "

# --- of programs that every machine has ---------------------------------------------------------------

WANT=4 example exits 'sh -c "ls /nowhere; exit 4"'
expect_line '^ls\[[0-9]+\] exit\(2\) from __libc_start_call_main'
expect_line '^sh\[[0-9]+\] _?exit\(4\) from '

example getenv 'env UP_EXAMPLE=here sh -c "ls /"'
expect_line '^ls +[A-Z_]+ is not set$'
expect_line '^ls +LC_ALL=C.UTF-8$'

example malloc-by-size 'ls /'
expect_line '^asked by comm$'
expect_line '^ls \([1-9][0-9]*\)$'

example signals "bash -c 'sleep 5 & kill \$!'"
expect_line '^bash\[[0-9]+\] sends signal 15 to process [0-9]+$'

example sleeps 'sleep 0.02'
slept=$(sed -nE 's/^sleep\[[0-9]+\] slept ([0-9]+) us, asked for 20000 us$/\1/p' "$TMP/out")
[ "${slept:-0}" -ge 20000 ] || fail "slept ${slept:-no} us instead of 20000 or more"
expect_line '^  sleep +1 '

example top-functions 'zsh -fc "a=1"' 'zsh:*hash*'
expect_line '^  hasher +[1-9][0-9]*$'

example who-opens 'cat /etc/hostname'
expect_line '^cat +open +/etc/hostname$'

example writes "bash -c 'for i in 1 2 3 4; do echo 1234567; sleep 0.05; done'" --interval=50ms
expect_line '^bash +(8|16) bytes in +[12] calls$'

example zsh-zfree 'zsh -fc "a=1"'
expect_line 'zsh:zfree ip=0x[0-9a-f]+ reg.ax=0x[0-9a-f]+$'
expect_line '^zsh:zfree return: count\(\) = [1-9][0-9]*$'

nothing_left

# --- those that use the standard library ---------------------------------------------------------------

example heap-users 'sort /etc/passwd -o /dev/null'
expect_line '^  sort  [1-9][0-9]+$'
expect_line '^sort \([1-9][0-9]*\)$'

cp "$TARGETS/t_heap" "$TARGETS/t_stdlib" .
example leaks ./t_heap
expect_line '^  [0-9]+  [^ ]+  3000$'
expect_line '^  [0-9]+  [^ ]+  3$'

example lock-waits './t_stdlib thread' --over=50ms
expect_line '^  t_stdlib  0x[0-9a-f]+  [^ ]+ +2 '
lock=$(sed -nE 's/^  t_stdlib  (0x[0-9a-f]+)  [^ ]+ +2 .*/\1/p' "$TMP/out")
expect_count 2 "^  $lock  [1-9][0-9]*  [0-9.]+ ms\$"

example slow-lookups 'getent ahosts 127.0.0.1' --over=0s
expect_line '^getent +[0-9]+\.[0-9]  127\.0\.0\.1$'

printf 'one\n' >input
example io-latency 'sort input'
expect_line '^  sort  [0-9]+  input  4$'
expect_line '^  sort  1  ""  4$'

WANT=3 example processes "bash -c '/bin/true 1; /bin/false; exit 3'"
expect_line '^[0-9]+ +bash +starts /bin/true 1$'
expect_line '^[0-9]+ +false +ends with 1$'
expect_line '^  bash   3  1$'

WANT=1 example missing-files 'cat /nowhere/some-file'
expect_line '^  cat  /nowhere/some-file +1$'

# Lines typed at a terminal.
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "this machine has no pseudo-terminals"
cat >type <<'EOF'
#!/bin/sh
printf ': one\n: two  three\nexit\n' | script -qc 'bash --norc --noprofile -i' /dev/null >terminal
EOF
chmod +x type
example bash-commands ./type
expect_count 1 '^[0-9]+ : one$'
expect_eq "lines typed" "$(sed -E 's/^[0-9]+ //' "$TMP/out")" ': one
: two  three
exit'
nothing_left
