# The module `sqlite` of the standard library, on statements given to sqlite3.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program sqlite3 ldd
[[ $(ldd "$(command -v sqlite3)") == *libsqlite3* ]] || fail "sqlite3 does not load libsqlite3"

run_up -e 'use sqlite
	probe sqlite.prepare when (sql ~ "*nope*" || sql ~ "*into t*") < printf("prepare %s\n", sql) >
		on return < printf("prepared %d %d\n", result, (ns > 0)) >
	probe sqlite.exec when (sql ~ "*tbl_name=*") < printf("exec\n") > on return < printf("exec done %d\n", result) >
	probe sqlite.step when (!(sql ~ "*sqlite_master*")) < printf("step %s\n", sql) > on return < printf("row %d\n", (result == 100)) >' \
	-c "sqlite3 -init /dev/null -bail :memory: 'create table t(a)' 'insert into t values (1),(2)' 'select a from t' 'select nope'"
expect_status 1
expect_eq "statements" "$(grep -vE '^[12]$' "$TMP/out")" "step create table t(a)
exec
exec done 0
row 0
prepare insert into t values (1),(2)
prepared 0 1
step insert into t values (1),(2)
row 0
step select a from t
row 1
step select a from t
row 1
step select a from t
row 0
prepare select nope
prepared 1 1"
expect_line ' 0 lost in ' err
expect_no_line 'could not be read' err

# The example: with every time too long each statement is shown with its rows.
run_up -c "sqlite3 :memory: 'create table t(a); insert into t values (1),(2); select a from t'" "$EXAMPLES/slow-sql.up" --over=0s
expect_status 0
expect_line '^sqlite3\[[0-9]+\] +[0-9]+ us +2 rows  select a from t$'
expect_line '^  select a from t +1 +[0-9]+ '
nothing_left
