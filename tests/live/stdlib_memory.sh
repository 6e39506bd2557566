# The module `memory` of the standard library.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

run_up -e 'use memory
const PAGE = 4KiB
probe memory.map when (size == 0 || size / PAGE > 100) < printf("map %d %d %d %d\n", size / PAGE, prot, fd, result) >
probe memory.protect < printf("protect %d %d %d\n", size / PAGE, (prot & MEMORY_EXEC), result) >
probe memory.advise < printf("advise %d %d %d\n", size / PAGE, advice, result) >
probe memory.remap < printf("remap %d %d\n", size / PAGE, result) >
probe memory.unmap < printf("unmap %d %d\n", size / PAGE, result) >
probe memory.grow when (size == 125 * PAGE) < printf("grow %d %d\n", size / PAGE, result) >' -c './t_stdlib memory'
expect_status 0
expect_line ', 0 lost in ' err
expect_eq "memory" "$(cat "$TMP/out")" 'map 123 1 -1 0
protect 123 4 0
advise 123 4 0
map 0 1 -1 -1
remap 124 0
unmap 124 0
grow 125 0'

# malloc() takes a large block from the kernel, and gives it back.
run_up -e 'use memory
probe memory.map when (!result && size > 200KiB) < print(size) >
probe memory.unmap when (size > 200KiB) < print(size) >' -c './t_heap'
expect_status 0
expect_count 1 'memory\.map return size=2[0-9]{5}$'
# By then it has grown.
expect_count 1 'memory\.unmap return size=3[0-9]{5}$'
nothing_left
