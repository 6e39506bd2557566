# The module `postgres` of the standard library, on calls of libpq without a connection: it says no to each of them.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
export PATH=/usr/bin:/bin:$PATH
need_program python3
python3 -c 'import ctypes; ctypes.CDLL("libpq.so.5")' 2>/dev/null || fail "libpq is missing"

cat >"$TMP/work.py" <<'EOP'
import ctypes
pq = ctypes.CDLL("libpq.so.5")
pq.PQexec(None, b"select 1")
pq.PQexecParams(None, b"select $1", 0, None, None, None, None, 0)
pq.PQprepare(None, b"named", b"select 2", 0, None)
pq.PQexecPrepared(None, b"named", 0, None, None, None, 0)
pq.PQsendQuery(None, b"select 3")
pq.PQsendQueryParams(None, b"select 4", 0, None, None, None, None, 0)
EOP
run_up -e 'use postgres
	probe postgres.query < printf("query %s %d %d\n", sql, ok, (ns > 0)) >
	probe postgres.prepare < printf("prepare %s: %s %d\n", name, sql, ok) >
	probe postgres.send < printf("send %s %d\n", sql, ok) >' -c "python3 $TMP/work.py"
expect_status 0
expect_eq "statements" "$(cat "$TMP/out")" 'query select 1 0 1
query select $1 0 1
prepare named: select 2 0
query named 0 1
send select 3 0
send select 4 0'
expect_line ' 0 lost in ' err
nothing_left
