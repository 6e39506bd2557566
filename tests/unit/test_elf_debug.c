/*
 * Symbols from debug files and .gnu_debugdata, call stubs, and constants among code, in programs
 * that are made on the spot with the compiler and binutils. Then damaged ones.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/elf_helpers.h"

#if defined(__x86_64__)
/* ---- symbols from elsewhere ---- */

static char folder[] = "/tmp/up_elf_XXXXXX"; /* where the files of this part are */

/* Runs a command in the folder, quietly. */
static bool run_there(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static bool run_there(const char *fmt, ...)
{
	struct up_buf b = { 0 };
	va_list ap;

	up_buf_printf(&b, "cd %s && { ", folder);
	va_start(ap, fmt);
	up_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	up_buf_puts(&b, "; } >/dev/null 2>&1");
	bool ok = b.s && run(b.s);
	up_buf_fini(&b);
	return ok;
}

/* A fresh resolver, so that nothing is remembered of files that have changed. */
static const struct up_object *open_fresh(const char *file, const char *root)
{
	struct up_elf_options opt = { .root = root };
	char path[100];

	up_elf_resolver_free(resolver);
	resolver = up_elf_resolver_new(&opt);
	up = up_elf_resolver_iface(resolver);
	snprintf(path, sizeof(path), "%s%s", root ? "" : folder, file);
	return open_object(path);
}

/* Where the resolver finds a local function, 0 when it does not. */
static uint64_t find_hidden(const char *file, const char *root)
{
	const struct up_object *o = open_fresh(file, root);
	struct up_query q = { UP_QUERY_EXACT, "up_hidden", NULL };
	struct up_query glob = { UP_QUERY_GLOB, "up_hid*", NULL };
	struct found f = { 0 }, g = { 0 };
	struct up_symbol s;

	CHECK(o && up->find(up->ctx, o, &glob, note, &g, &why) == 0);
	CHECK(o && up->find(up->ctx, o, &q, note, &f, &why) == 0);
	CHECK(!f.nr == !g.nr && (!f.nr || f.last.addr == g.last.addr));
	if (!f.nr)
		return 0;
	CHECK(f.last.kind == UP_SYM_FUNC && up->can_probe(up->ctx, o, f.last.addr, &why));
	o = open_fresh(file, root);
	CHECK(up->func_at(up->ctx, o, f.last.addr + 2, &s) && !strcmp(s.name, "up_hidden"));
	return f.last.addr;
}

/* By .gnu_debuglink: beside the program, in .debug, and below /usr/lib/debug; with the right sum.
 */
static void check_link(uint64_t addr)
{
	CHECK(run_there("cp whole prog && objcopy --only-keep-debug prog prog.dbg && "
			"objcopy --strip-all -R .note.gnu.build-id --add-gnu-debuglink=prog.dbg "
			"prog"));
	CHECK(find_hidden("/prog", NULL) == addr);
	CHECK(run_there("mkdir .debug && mv prog.dbg .debug/"));
	CHECK(find_hidden("/prog", NULL) == addr);
	CHECK(run_there("mkdir -p root/opt root/usr/lib/debug/opt && cp prog root/opt/ && "
			"mv .debug/prog.dbg root/usr/lib/debug/opt/"));
	CHECK(find_hidden("/prog", NULL) == 0);
	char root[100];
	snprintf(root, sizeof(root), "%s/root", folder);
	CHECK(find_hidden("/opt/prog", root) == addr);
	CHECK(run_there("echo >>root/usr/lib/debug/opt/prog.dbg"));
	CHECK(find_hidden("/opt/prog", root) == 0);
	CHECK(run_there("rm -r root .debug"));
}

/* By build id, below the root. */
static void check_build_id(uint64_t addr)
{
	char root[100];

	snprintf(root, sizeof(root), "%s/root", folder);
	CHECK(run_there("cp whole prog && objcopy --only-keep-debug prog prog.dbg && "
			"strip prog && mkdir -p root/opt && mv prog root/opt/ && "
			"id=$(readelf -n prog.dbg | sed -n 's/.*Build ID: //p') && "
			"d=root/usr/lib/debug/.build-id/${id%%${id#??}} && mkdir -p $d && "
			"mv prog.dbg $d/${id#??}.debug"));
	CHECK(find_hidden("/opt/prog", root) == addr);
	CHECK(run_there("f=$(ls root/usr/lib/debug/.build-id/*/*) && cp /bin/true $f"));
	CHECK(find_hidden("/opt/prog", root) == 0); /* not the same build */
	CHECK(run_there("rm -r root"));
}

/* .gnu_debugdata: an ELF file with a symbol table only, packed. */
static void check_packed(uint64_t addr)
{
	if (!run_there("xz --version")) {
		printf("elf: xz is not installed: .gnu_debugdata is not tested\n");
		return;
	}
	CHECK(run_there("cp whole prog && objcopy --only-keep-debug prog mini && "
			"objcopy -S --remove-section .gdb_index --remove-section .comment "
			"--keep-symbol=up_hidden mini mini2 && "
			"xz -f mini2 && objcopy --strip-all -R .note.gnu.build-id "
			"--add-section .gnu_debugdata=mini2.xz prog"));
	CHECK(find_hidden("/prog", NULL) == addr);
	CHECK(run_there("cp prog packed"));
	CHECK(run_there("dd if=/dev/zero of=mini2.xz bs=1 seek=40 count=60 conv=notrunc && "
			"objcopy --update-section .gnu_debugdata=mini2.xz prog"));
	CHECK(find_hidden("/prog", NULL) == 0);
}

/* What has all its names is not searched for more; what lacks one is. */
static void check_partial(uint64_t addr)
{
	CHECK(run_there("cp whole prog && objcopy --only-keep-debug prog prog.dbg && "
			"objcopy --strip-debug -N up_hidden -R .note.gnu.build-id "
			"--add-gnu-debuglink=prog.dbg prog"));
	const struct up_object *o = open_fresh("/prog", NULL);
	struct up_query q = { UP_QUERY_EXACT, "up_hidden", NULL };
	struct found f = { 0 };
	CHECK(o && up->find(up->ctx, o, &q, note, &f, &why) == 0);
	CHECK(f.nr >= 1 && f.last.addr == addr);
}

static void check_debug_files(void)
{
	if (!mkdtemp(folder) ||
	    !run_there("echo 'static __attribute__((noinline,noclone)) int up_hidden(int a) "
		       "{ __asm__ volatile(\"\"); return a * 3; } int main(int n, char **v) "
		       "{ (void)v; return up_hidden(n); }' >w.c && "
		       "cc -g -O1 -Wl,--build-id -o whole w.c && objcopy --version")) {
		printf("elf: no compiler or binutils: debug files are not tested\n");
		return;
	}
	uint64_t addr = find_hidden("/whole", NULL);
	CHECK(addr);
	check_link(addr);
	check_build_id(addr);
	check_packed(addr);
	check_partial(addr);
}

/* ---- stubs and constants among code ---- */

/* Every stub that objdump names is told to be that function's. */
static unsigned check_stubs(const char *file)
{
	const struct up_object *o = open_fresh(file, NULL);
	char command[300], line[500], name[300], want[400];
	unsigned long addr;
	unsigned nr = 0;

	snprintf(command, sizeof(command), "objdump -d %s%s 2>/dev/null", folder, file);
	FILE *p = popen(command, "r");
	while (p && fgets(line, sizeof(line), p)) {
		char *at = strstr(line, "@plt>:\n");

		if (!at || sscanf(line, "%lx <%299[^@]", &addr, name) != 2)
			continue;
		snprintf(want, sizeof(want), "0x%lx is the call stub of %s, not the function", addr,
			 name);
		CHECK(!up->can_probe(up->ctx, o, addr, &why) && says(want));
		CHECK(strstr(why.hint.s, name));
		nr++;
	}
	if (p)
		pclose(p);
	return nr;
}

static void check_plt(void)
{
	static const char *const flags[] = { "-Wl,-z,lazy -fcf-protection=none",
					     "-Wl,-z,lazy -fcf-protection=full -Wl,-z,ibtplt",
					     "-Wl,-z,now", "-no-pie -Wl,-z,lazy" };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!run_there(
			    "echo '#include <stdlib.h>\n#include <stdio.h>\n"
			    "int main(void) { puts(getenv(\"A\")); return (int)(long)malloc(3);}' "
			    ">p.c && cc %s -O1 -o plt p.c",
			    flags[i]))
			continue;
		CHECK(check_stubs("/plt") >= 3);
		CHECK(!strncmp(why.hint.s, "probe lib", 9) || strstr(why.hint.s, "__cxa"));
	}
}

/* The same in 32-bit code, whose stubs find their slots by a register or by address. */
static void check_plt32(void)
{
	static const char *const flags[] = { "-fPIC -shared", "-fPIC -shared -fno-plt",
					     "-no-pie -Wl,--unresolved-symbols=ignore-all" };

	for (size_t i = 0; i < 3; i++)
		if (run_there("echo 'int up_one(void); int up_two(void); int _start(void) "
			      "{ int (*volatile p)(void) = up_two; return up_one() + up_two() + "
			      "p(); }' "
			      ">q.c && echo 'int up_one(void) { return 1; } int up_two(void) "
			      "{ return 2; }' >r.c && "
			      "cc -m32 -fPIC -shared -nostdlib -o libr.so r.c && "
			      "cc -m32 -O1 -nostdlib %s -o plt32 q.c ./libr.so",
			      flags[i]))
			check_stubs("/plt32");
		else
			printf("elf: no 32-bit compiler: %s is not tested\n", flags[i]);
}

/* One executable segment for code and constants, as old linkers made them. */
static void check_constants(void)
{
	struct up_query q = { UP_QUERY_EXACT, "up_text", NULL };
	struct found f = { 0 };

	CHECK(run_there("echo 'const char up_text[] = \"text\"; __asm__(\".section .rodata; "
			"up_label: .byte 1,2,3; .text\"); int main(void) { return 0; }' >c.c && "
			"cc -Wl,-z,noseparate-code -o const c.c"));
	const struct up_object *o = open_fresh("/const", NULL);
	CHECK(o && up->find(up->ctx, o, &q, note, &f, &why) == 0 && f.nr == 1);
	uint64_t off;
	CHECK(up->to_offset(up->ctx, o, f.last.addr, &off) == UP_PLACE_CODE);
	CHECK(!up->can_probe(up->ctx, o, f.last.addr, &why));
	CHECK(says("is data, not code, in section \".rodata\""));
	q.pattern = "up_label";
	CHECK(up->find(up->ctx, o, &q, note, &f, &why) == 0 && f.last.kind == UP_SYM_DATA);
}

/* ---- damage ---- */

/* Damaged files with packed symbols and with a debug file, through everything that reads those. */
static void check_damaged_debug(unsigned rounds)
{
	struct up_query q = { UP_QUERY_EXACT, "up_hidden", NULL };
	char path[100];
	size_t size;

	snprintf(path, sizeof(path), "%s/packed", folder);
	unsigned char *whole = read_file(path, &size), *b = malloc(size + 1);
	for (unsigned i = 0; i < rounds && size; i++) {
		struct found f = { 0 };

		memcpy(b, whole, size);
		damage(b, size);
		FILE *to = fopen(path, "wb");
		CHECK(to && fwrite(b, 1, size, to) == size);
		if (to)
			fclose(to);
		struct up_elf_options opt = { 0 };
		struct up_elf_resolver *r = up_elf_resolver_new(&opt);
		const struct up_resolver *all = up_elf_resolver_iface(r);
		const struct up_object *o = all->open(all->ctx, path, &why);
		if (o)
			all->find(all->ctx, o, &q, note, &f, &why);
		up_elf_resolver_free(r);
	}
	free(whole);
	free(b);
}

static void check_all(unsigned rounds)
{
	check_debug_files();
	check_plt();
	check_plt32();
	check_constants();
	check_damaged_debug(rounds);
	run_there("rm -rf %s", folder);
}
#else
static void check_all(unsigned rounds)
{
	(void)rounds;
	printf("elf_debug: made for x86-64: not tested\n");
}
#endif

int main(int argc, char **argv)
{
	check_all(argc > 1 ? (unsigned)atoi(argv[1]) : 120);
	up_elf_resolver_free(resolver);
	up_buf_fini(&why.msg);
	up_buf_fini(&why.hint);
	return unit_report("elf_debug");
}
