# The module `io` of the standard library: each call of t_stdlib counts once, with its descriptor, bytes and address.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program cat
program=$TARGETS/t_stdlib
cd "$TMP"

run_up -e 'use io
probe io.open < printf("open %s %d %x\n", path, fd, flags & 3) >
probe io.read < printf("read %d %d %d %d\n", fd, size, bytes, result) >
probe io.write < printf("write %d %d %d %d\n", fd, size, bytes, result) >
probe io.copy < printf("copy %d %d %d %d\n", from, fd, size, bytes) >
probe io.sync < printf("sync %d %d\n", fd, result); synced = sum(ns) >
probe io.close < printf("close %d %d\n", fd, result) >' -c "$program io"
expect_status 0
expect_line ', 0 lost in ' err
expect_no_line 'could not be read' err
expect_eq "files" "$(sed '/^$/,$d; / = /d' "$TMP/out")" 'open t_stdlib.1 3 2
open t_stdlib.2 4 2
open /nowhere/t_stdlib -1 0
write 3 100 100 100
write 3 100 100 100
write 3 100 100 100
write 3 50 50 50
write 3 0 70 70
write -1 10 0 -1
sync 3 0
sync 3 0
read 3 100 100 100
read 3 60 60 60
read 3 0 70 70
read 3 1000 200 200
read 3 1000 0 0
read -1 10 0 -1
copy 3 4 80 80
close 4 0
open t_stdlib.2 4 0
read 4 4096 80 80
close 4 0
close 3 0
close -1 -1'
expect_line '^synced = [1-9]'

run_up -e 'use io
probe io.bind, io.connect < printf("%d %s %d %d\n", family, address, port, result) >
probe io.accept < printf("accept %d\n", fd - listener) >
probe io.read < received = sum(bytes); reads = count() >
probe io.write when (fd != 1) < sent = sum(bytes) >
probe io.wait < printf("wait %d\n", result) >' -c "$program socket"
expect_status 0
port=$(sed -n 's/^port //p' "$TMP/out")
expect_eq "sockets" "$(sed '/^port/d; /^$/,$d; / = /d' "$TMP/out")" "2 127.0.0.1 0 0
2 127.0.0.1 $port 0
accept 2
wait 0
wait 1
10 2001:db8::12ab 9 -1
1 /nowhere/t_stdlib.socket 0 -1"
expect_line '^received = 70$'
expect_line '^reads = 3$'
expect_line '^sent = 70$'

# Programs of the machine.
printf '12345678' >eight
run_up -e 'use io
probe io.open when (path ~ "*eight") < opened = count() >
probe io.write when (fd == 1) < written = sum(bytes) >
probe io.copy when (fd == 1) < written = sum(bytes) >' -c 'cat eight eight'
expect_status 0
expect_line 'opened = 2$'
expect_line '^written = 16$'
nothing_left
