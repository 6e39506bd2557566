# The module `file` of the standard library: each name that t_stdlib uses counts once.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program mkdir mv rm
program=$TARGETS/t_stdlib
cd "$TMP"

run_up -e 'use file
probe file.remove < printf("remove %s %d\n", path, result) >
probe file.rename < printf("rename %s %s %d\n", from, path, result) >
probe file.link < printf("link %s %s %d\n", from, path, result) >
probe file.mkdir < printf("mkdir %s %o %d\n", path, mode, result) >
probe file.stat < printf("stat %s %d\n", path, result) >
probe file.access < printf("access %s %d %d\n", path, mode, result) >
probe file.readlink < printf("readlink %s %d\n", path, result) >
probe file.chmod < printf("chmod %s %o %d\n", path, mode, result) >
probe file.fopen < printf("fopen %s %s %d\n", path, mode, result) >
probe file.chdir < printf("chdir %s %d\n", path, result) >' -c "$program file"
expect_status 0
expect_line ', 0 lost in ' err
expect_eq "names" "$(cat "$TMP/out")" 'mkdir t_stdlib.d 700 0
mkdir t_stdlib.d/1 700 0
chdir t_stdlib.d 0
fopen a w 0
fopen /nowhere/b r -1
link a b 0
link a c 0
readlink c 0
stat a 0
stat c 0
stat b 0
stat /nowhere -1
stat a 0
access a 4 0
access /nowhere 4 -1
chmod a 640 0
rename a d 0
rename d e 0
rename e f 0
remove b 0
remove c 0
remove f 0
remove 1 0
remove /nowhere -1
chdir .. 0
remove t_stdlib.d -1
remove t_stdlib.d 0'

# Programs of the machine.
run_up -e 'use file
probe file.mkdir, file.rename, file.remove when (!result) < printf("%s %s\n", comm, path) >
probe file.opendir < opened = count() by path >' -c 'sh -c "mkdir one; mv one two; rm -r two; ls /etc >/dev/null"'
expect_status 0
expect_eq "programs" "$(sed '/^$/,$d' "$TMP/out")" 'mkdir one
mv two
rm two'
expect_line '^  /etc +1$'
nothing_left
