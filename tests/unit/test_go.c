/*
 * Programs in Go: files that say that they are, of what release, with and without marks of where
 * their code lies, then damaged ones; and their names.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "lang/source_go.h"
#include "runtime/elf_go.h"
#include "runtime/elf_gotab.h"
#include "tests/unit/elf_helpers.h"

/* ---- files ---- */

static char folder[] = "/tmp/up_go_XXXXXX"; /* where the files of this part are */

/* What goes into .go.buildinfo behind its first 14 bytes. */
#define INLINE_VERSION(text) ".byte 8,2\n .zero 16\n .byte 1f-0f\n 0: .ascii \"" text "\"\n 1:\n"

#define CODE                                                                             \
	".text\n .type before,@function\n before: ret\n .size before,.-before\n"         \
	".type runtime.text,@function\n runtime.text:\n"                                 \
	".type main.work,@function\n main.work: ret\n .size main.work,.-main.work\n"     \
	".type x_cgo_init,@function\n x_cgo_init: ret\n .size x_cgo_init,.-x_cgo_init\n" \
	".type main.sum.abi0,@function\n main.sum.abi0: ret\n"                           \
	".size main.sum.abi0,.-main.sum.abi0\n"                                          \
	".type runtime.etext,@function\n runtime.etext:\n"                               \
	".globl _start\n .type _start,@function\n _start: ret\n .size _start,.-_start\n"

/* Makes the file `name` from assembly; its code is the above. `how`: -pie, -no-pie. */
static bool make_as(const char *how, const char *name, const char *assembly)
{
	char path[100], command[300];

	snprintf(path, sizeof(path), "%s/%s.s", folder, name);
	FILE *f = fopen(path, "w");
	if (!f)
		return false;
	fputs(CODE, f);
	fputs(".section .go.buildinfo,\"aw\"\n .byte 0xff\n .ascii \" Go buildinf:\"\n", f);
	fputs(assembly, f);
	fclose(f);
	snprintf(command, sizeof(command), "cd %s && gcc -nostdlib %s -o %s %s.s", folder, how,
		 name, name);
	return run(command);
}

static bool make(const char *name, const char *assembly)
{
	return make_as("-no-pie", name, assembly);
}

static const struct up_object *open_made(const char *name)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return open_object(path);
}

static enum up_calling calling_of(const struct up_object *o, const char *function)
{
	struct up_query q = { UP_QUERY_EXACT, function, NULL };
	struct found f = { 0 };

	CHECK(up->find(up->ctx, o, &q, note, &f, &why) == 0 && f.nr);
	return up->calling(up->ctx, o, f.last.addr);
}

static void check_release(const char *name, const char *assembly, unsigned goid_off,
			  enum up_calling calling)
{
	const struct up_object *o = make(name, assembly) ? open_made(name) : NULL;

	CHECK(o && o->is_go && o->goid_off == goid_off);
	if (!o)
		return;
	CHECK(calling_of(o, "main.work") == calling);
	CHECK(calling_of(o, "main.sum.abi0") == UP_CALLING_GO_STACK);
	CHECK(calling_of(o, "x_cgo_init") == UP_CALLING_C);
	CHECK(calling_of(o, "before") == UP_CALLING_C);
	CHECK(calling_of(o, "_start") == UP_CALLING_C);
}

/* A file of before 1.18 has pointers to Go strings. */
#define OLD_VERSION(text)                                                                          \
	".byte 8,0\n .quad string, 0\n .data\n string: .quad text, 2f-text\n text: .ascii \"" text \
	"\"\n 2:\n"

static void check_releases(void)
{
#if defined(__x86_64__)
	check_release("go119", INLINE_VERSION("go1.19.8"), 152, UP_CALLING_GO);
	check_release("go117", OLD_VERSION("go1.17"), 152, UP_CALLING_GO);
	check_release("go116", OLD_VERSION("go1.16.15"), 0, UP_CALLING_GO_STACK);
	check_release("go123", INLINE_VERSION("go1.23rc1 X:boringcrypto"), 160, UP_CALLING_GO);
	check_release("go125", INLINE_VERSION("go1.25.3"), 152, UP_CALLING_GO);
	/* What is not known yet, or not released, may have its structures otherwise. */
	check_release("go199", INLINE_VERSION("go1.99"), 0, UP_CALLING_GO);
	check_release("devel", INLINE_VERSION("devel go1.24-0123abcd"), 0, UP_CALLING_GO);
	/* No version can be made out, and there is no table of functions. */
	check_release("long", ".byte 8,2\n .zero 16\n .byte 0x80,0x80,0x80,0x80\n", 0,
		      UP_CALLING_GO_STACK);
	check_release("short", ".byte 8\n", 0, UP_CALLING_GO_STACK);
	check_release("lost", ".byte 8,0\n .quad 0x10, 0\n", 0, UP_CALLING_GO_STACK);
	/* It tells that the release is 1.20 or later. */
	check_release("table",
		      ".byte 8\n .section .gopclntab,\"a\"\n .long 0xfffffff1\n .zero 12\n", 0,
		      UP_CALLING_GO);
#endif
	CHECK(!open_object("/bin/true")->is_go);
}

/* ---- stripped programs ---- */

/* A header of 1.20 with three functions, two of one name of which one is assembly. */
#define TABLE(section)                                                           \
	".byte 8\n .section " section "\n t: .long 0xfffffff1\n .byte 0,0,1,8\n" \
	" .quad 3, 0, runtime.text, names-t, 0, 0, 0, funcs-t\n"                 \
	"names: .byte 0\n n1: .asciz \"main.work\"\n n2: .asciz \"main.sum\"\n"  \
	"funcs: .long 0, f1-funcs, 1, f2-funcs, 2, f3-funcs, 3\n"                \
	"f1: .long 0, n1-names\n .zero 33\n .byte 0\n"                           \
	"f2: .long 1, n2-names\n .zero 33\n .byte 4\n"                           \
	"f3: .long 2, n2-names\n .zero 33\n .byte 0\n"

static unsigned count(const struct up_object *o, const char *name, uint64_t *addr)
{
	struct up_query q = { UP_QUERY_EXACT, name, NULL };
	struct found f = { 0 };

	CHECK(up->find(up->ctx, o, &q, note, &f, &why) == 0);
	*addr = f.last.addr;
	return f.nr;
}

static void check_stripped(const char *how, const char *name, const char *table)
{
	char command[100];
	uint64_t work, sum, behind, etext;
	struct up_symbol s;

	CHECK(make_as(how, name, table));
	snprintf(command, sizeof(command), "strip %s/%s", folder, name);
	CHECK(run(command));
	const struct up_object *o = open_made(name);
	if (!o)
		return;
	CHECK(count(o, "main.work", &work) == 1);
	CHECK(count(o, "main.sum", &sum) == 1);
	CHECK(count(o, "main.sum.abi0", &behind) == 1 && count(o, "runtime.etext", &etext) == 1);
	CHECK(behind == work + 1 && sum == work + 2 && etext == work + 3);
	CHECK(count(o, "main.none", &etext) == 0);
	CHECK(up->func_at(up->ctx, o, sum, &s) && !strcmp(s.name, "main.sum") && s.size == 1);
	CHECK(up->calling(up->ctx, o, work) == UP_CALLING_GO);
	CHECK(up->calling(up->ctx, o, behind) == UP_CALLING_GO_STACK);
	CHECK(up->calling(up->ctx, o, work - 1) == UP_CALLING_C);
	CHECK(up->calling(up->ctx, o, work + 3) == UP_CALLING_C);
}

/* Numbers that lead out of the table. */
static void check_wrong_tables(void)
{
	static const char *const wrong[] = {
		"0, 0, 1, 88, 0, 0, 0, 96",       "-1, 0, 1, 88, 0, 0, 0, 96",
		"4000001, 0, 1, 88, 0, 0, 0, 96", "3, 0, 0, 88, 0, 0, 0, 96",
		"3, 0, 1, -1, 0, 0, 0, 96",       "3, 0, 1, 88, 0, 0, 0, -1",
		"1, 0, 1, 1 << 63, 0, 0, 0, 96",  "100, 0, 1, 88, 0, 0, 0, 96",
	};
	char text[300], name[20];
	uint64_t addr;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text),
			 ".byte 8\n .section .gopclntab,\"a\"\n .long 0xfffffff1\n .byte "
			 "0,0,1,8\n .quad %s\n .zero 60\n",
			 wrong[i]);
		snprintf(name, sizeof(name), "wrong%u", i);
		CHECK(make(name, text));
		snprintf(text, sizeof(text), "strip %s/%s", folder, name);
		CHECK(run(text));
		const struct up_object *o = open_made(name);
		CHECK(o && count(o, "main.work", &addr) == 0);
	}
}

static void check_damage(const char *name, unsigned rounds)
{
	char path[100];
	size_t size;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unsigned char *whole = read_file(path, &size);

	CHECK(size > 0);
	rng = 0x9e3779b97f4a7c15;
	for (unsigned i = 0; i < rounds && size; i++) {
		unsigned char *b = malloc(size);
		struct up_elf_gotab tab;
		struct up_elf_go go;

		memcpy(b, whole, size);
		damage(b, size);
		struct up_elf *e = up_elf_open_bytes(b, size, "it", NULL);
		struct up_elf_symbols *s = e ? up_elf_symbols_new(e) : NULL;
		if (s) {
			up_elf_go_read(e, s, &go);
			if (up_elf_gotab_read(e, &tab))
				up_elf_gotab_fini(&tab);
			up_elf_go_calling(e, &go, go.from, "main.work");
		}
		up_elf_symbols_free(s);
		up_elf_free(e);
		free(b);
	}
	free(whole);
}

/* ---- names ---- */

static enum up_match match(const char *written, const char *symbol)
{
	struct up_go_name n;

	up_go_name_init(&n, written, strlen(written));
	enum up_match m = up_go_name_match(&n, symbol);
	up_go_name_fini(&n);
	return m;
}

static void check_names(void)
{
	CHECK(match("main.f", "main.f") == UP_MATCH_EXACT);
	CHECK(match("main.f", "main.f2") == UP_MATCH_NOT);
	CHECK(match("f", "main.f") == UP_MATCH_NOT);
	CHECK(match("main.(*T).M", "main.(*T).M") == UP_MATCH_EXACT);
	CHECK(match("main.T.M", "main.(*T).M") == UP_MATCH_LOOSE);
	CHECK(match("http.(*conn).serve", "net/http.(*conn).serve") == UP_MATCH_EXACT);
	CHECK(match("c/d.F", "a/b/c/d.F") == UP_MATCH_EXACT);
	CHECK(match("http.T.M", "net/http.T.M") == UP_MATCH_EXACT);
	CHECK(match("http.T.M", "net/http.(*T).M") == UP_MATCH_LOOSE);
	CHECK(match("d.F[...]", "a/d.F[net/http.X]") == UP_MATCH_EXACT);
	CHECK(match("http.X]", "a/d.F[net/http.X]") == UP_MATCH_NOT);
	CHECK(match("ttp.(*conn).serve", "net/http.(*conn).serve") == UP_MATCH_NOT);
	CHECK(match("gopkg.in/yaml.v3.F", "gopkg.in/yaml%2ev3.F") == UP_MATCH_EXACT);
	CHECK(match("yaml.v3.F", "gopkg.in/yaml%2ev3.F") == UP_MATCH_EXACT);
	CHECK(match("a%.F", "a%.F") == UP_MATCH_EXACT);
	CHECK(match("main.f[...]", "main.f[int]") == UP_MATCH_EXACT);
	CHECK(match("main.f[...].func1", "main.f[go.shape.[]int_0].func1") == UP_MATCH_EXACT);
	CHECK(match("main.f[...]", "main.f[int].func1") == UP_MATCH_NOT);
	CHECK(match("main.f", "main.f[go.shape.struct { net/http.a [2]int }_0]") == UP_MATCH_LOOSE);
	CHECK(match("main.f[int]", "main.f[int8]") == UP_MATCH_NOT);
	CHECK(match("main.(*T[...]).M", "main.(*T[go.shape.int_0]).M") == UP_MATCH_EXACT);
	CHECK(match("main.f", "main.f[unclosed") == UP_MATCH_LOOSE);
	CHECK(match("main.f", "main.f.abi0") == UP_MATCH_NOT);
	CHECK(match("", "") == UP_MATCH_NOT && match("", "[x]") == UP_MATCH_NOT);
	CHECK(match("runtime.text", "runtime.text") == UP_MATCH_NOT);
}

int main(void)
{
	struct up_elf_options opt = { 0 };

	resolver = up_elf_resolver_new(&opt);
	up = up_elf_resolver_iface(resolver);
	CHECK(mkdtemp(folder));
	check_releases();
#if defined(__x86_64__)
	check_stripped("-no-pie", "stripped", TABLE(".gopclntab,\"a\""));
	check_stripped("-pie", "stripped-pie", TABLE(".gopclntab,\"aw\""));
	check_wrong_tables();
	check_damage("stripped", 5000);
	check_damage("go119", 1500);
	check_damage("go117", 1500);
#endif
	check_names();
	char command[100];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CHECK(run(command));
	up_elf_resolver_free(resolver);
	up_buf_fini(&why.msg);
	up_buf_fini(&why.hint);
	return unit_report("go");
}
