# The module `heap` of the standard library: every block of t_heap counts once, whatever allocates it.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
cd "$TARGETS"

# Of 33 blocks 30 are freed; the three others have 1000 bytes each.
run_up -e 'use heap
probe heap.alloc < given = count() by size, func; bytes = sum(size); blocks = count() >
probe heap.free < freed = count() by func; frees = count() >
probe heap.resize < resized = sum(size); moves = sum(if (ptr == from) 0 else 1) >' -c ./t_heap
expect_status 0
expect_line ', 0 lost in ' err
expect_eq "what was given" "$(sed -n '/^given by/,/^[b$]/s/^  *//p' "$TMP/out" | sed 's/  */ /g' | sort -n)" "8 malloc 1
1000 malloc 3
5001 malloc 10
6006 calloc 5
7001 malloc 1
8001 realloc 1
8960 aligned_alloc 2
8960 malloc 1
9001 malloc 1
9001 posix_memalign 3
9003 aligned_alloc 1
9004 valloc 1
108001 realloc 1
208001 realloc 1
308001 realloc 1"
expect_line '^bytes = 802944$'
expect_line '^blocks = 33$'
expect_line '^frees = 30$'
expect_line '^ +free +26$'
expect_line '^ +realloc +4$'
expect_line '^resized = 632004$'
expect_line '^moves = [1-4]$'

# What is left when every pointer is followed: three blocks of 1000 bytes.
run_up -e 'use heap
probe heap.alloc when (ptr != 0) < kept[ptr] = size >
probe heap.free < delete kept[ptr] >
on end < for p in kept < printf("%d\n", kept[p]) > >' -c ./t_heap
expect_status 0
expect_eq "what is left" "$(tr '\n' ' ' <"$TMP/out")" '1000 1000 1000 '

# A program of the machine: it allocates, and it frees nothing that it did not get.
run_up -e 'use heap
probe heap.alloc < got[ptr] = size >
probe heap.free < if (!got[ptr]) < print("unknown", ptr) > delete got[ptr]; frees = count() >' -c 'sort /etc/passwd -o /dev/null'
expect_status 0
expect_no_line unknown
expect_line '^frees = [1-9][0-9]*$'
nothing_left
