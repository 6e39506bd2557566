# The module `dns` of the standard library: names that are looked up without a network.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program getent
cd "$TARGETS"

# What a name resolves to is the machine's affair; that each call is seen once is not.
./t_stdlib dns || skip "this machine does not know localhost"
run_up -e 'use dns
probe dns.lookup < printf("%s %s\n", func, name); failed = sum(if (result) 1 else 0) by name; took = sum(ns) >
probe dns.reverse < printf("%s %s\n", func, address) >' -c './t_stdlib dns'
expect_status 0
expect_line ', 0 lost in ' err
expect_eq "lookups" "$(sed '/^$/,$d' "$TMP/out")" 'getaddrinfo localhost
getaddrinfo bad..name
getaddrinfo 127.0.0.1
gethostbyname localhost
gethostbyname2 localhost
gethostbyname_r localhost
getnameinfo 127.0.0.1
gethostbyaddr 127.0.0.1'
expect_line '^  bad\.\.name +1$'
expect_line '^  localhost +0$'
expect_line '^took = [1-9]'

run_up -e 'use dns
probe dns.lookup when (!result) < names = count() by name >' -c 'getent ahosts 127.0.0.1'
expect_status 0
expect_line '^  127\.0\.0\.1 +1$'
nothing_left
