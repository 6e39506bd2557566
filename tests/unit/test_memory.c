/* Memory of traced programs that is read late: of a living process, at its ends, and from a file.
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lang/opcodes.h"
#include "runtime/elf_dynamic.h"
#include "runtime/fileid.h"
#include "runtime/vm.h"
#include "tests/unit/unit.h"

#define PAGE 4096u
#define INT3 0xcc

/* Two pages that a child shares with us, and one behind them that it cannot read. */
static char *pages;
static pid_t child;
static struct up_plan_site site = { .path = "/nonexistent", .machine = UP_M_I386 };
static struct up_plan_prog prog;
static struct up_plan plan = {
	.sites = &site, .nr_sites = 1, .progs = &prog, .nr_progs = 1, .reads_late = true
};

static void start_child(void)
{
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(pages != MAP_FAILED && !mprotect(pages + 2 * PAGE, PAGE, PROT_NONE));
	pages[0] = (char)INT3;
	child = fork();
	if (!child)
		for (;;)
			pause();
}

static void end_child(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static uint64_t address(size_t at)
{
	return (uintptr_t)pages + at;
}

static struct up_value peek(struct up_vm *vm, unsigned what, unsigned unit, uint16_t len,
			    uint64_t addr)
{
	struct up_hit hit = { .tid = child, .place = address(0) };
	struct up_insn i = { .op = OP_PEEK, .c = (uint16_t)(what | unit << 8), .d = len };

	return up_vm_peek(vm, &hit, &i, addr);
}

/* What another hit sees. */
static struct up_value peek_anew(struct up_vm *vm, unsigned what, unsigned unit, uint16_t len,
				 uint64_t addr)
{
	vm->nr_mended = vm->nr_peeked = 0;
	return peek(vm, what, unit, len, addr);
}

static bool is(struct up_value v, const char *want, uint32_t flags)
{
	return v.flags == flags && v.len == strlen(want) && !memcmp(v.p, want, v.len);
}

static void test_numbers(struct up_vm *vm)
{
	memcpy(pages + 8, "\x01\x82\x03\x84\x05\x86\x07\x88", 8);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 1, address(9)).u == 0x82);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 2, address(8)).u == 0x8201);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 4, address(8)).u == 0x84038201);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 8, address(8)).u == 0x8807860584038201);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 8, address(2 * PAGE - 8)).flags == 0);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 8, address(2 * PAGE - 7)).flags == UP_VALUE_FAULT);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 1, address(2 * PAGE)).flags == UP_VALUE_FAULT);
	CHECK(peek_anew(vm, UP_PEEK_NUMBER, 0, 1, 0).flags == UP_VALUE_FAULT);
}

static void test_text(struct up_vm *vm)
{
	strcpy(pages + 16, "some text");
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(16)), "some text", 0));
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 9, address(16)), "some text", 0));
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 8, address(16)), "some tex", UP_VALUE_CUT));
	CHECK(is(peek_anew(vm, UP_PEEK_CHARS, 0, 8, address(16)), "some tex", 0));
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(25)), "", 0));
	/* Over the end of a page, and to the end of what is mapped. */
	strcpy(pages + PAGE - 4, "over the end");
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(PAGE - 4)), "over the end", 0));
	memcpy(pages + 2 * PAGE - 3, "end", 3);
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(2 * PAGE - 3)), "end", UP_VALUE_CUT));
	CHECK(is(peek_anew(vm, UP_PEEK_CHARS, 0, 4, address(2 * PAGE - 3)), "end", UP_VALUE_CUT));
	CHECK(is(peek_anew(vm, UP_PEEK_CHARS, 0, 3, address(2 * PAGE - 3)), "end", 0));
	CHECK(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(2 * PAGE)).flags == UP_VALUE_FAULT);
}

static void test_blocks(struct up_vm *vm)
{
	memcpy(pages + 2 * PAGE - 7, "abcdefg", 7);
	CHECK(is(peek_anew(vm, UP_PEEK_BYTES, 0, 7, address(2 * PAGE - 7)), "abcdefg", 0));
	CHECK(is(peek_anew(vm, UP_PEEK_BYTES, 0, 9, address(2 * PAGE - 7)), "abcdefg",
		 UP_VALUE_CUT));
	/* Whole elements only. */
	CHECK(is(peek_anew(vm, UP_PEEK_ARRAY, 2, 8, address(2 * PAGE - 7)), "abcdef",
		 UP_VALUE_CUT));
	CHECK(is(peek_anew(vm, UP_PEEK_ARRAY, 4, 4, address(2 * PAGE - 4)), "defg", 0));
	CHECK(peek_anew(vm, UP_PEEK_ARRAY, 8, 16, address(2 * PAGE - 7)).flags == UP_VALUE_FAULT);
}

/* One hit sees the same each time. */
static void test_once(struct up_vm *vm)
{
	strcpy(pages + 64, "first");
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(64)), "first", 0));
	strcpy(pages + 64, "second");
	CHECK(is(peek(vm, UP_PEEK_TEXT, 0, 511, address(64)), "first", 0));
	CHECK(is(peek(vm, UP_PEEK_TEXT, 0, 3, address(64)), "fir", UP_VALUE_CUT));
	CHECK(is(peek(vm, UP_PEEK_CHARS, 0, 5, address(64)), "first", 0));
	CHECK(peek(vm, UP_PEEK_NUMBER, 0, 1, address(64)).u == 'f');
	CHECK(is(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(64)), "second", 0));
	/* More than there is room for is a fault, and nothing is overwritten. */
	struct up_value v = peek(vm, UP_PEEK_TEXT, 0, 511, address(64));
	for (size_t i = 0; i < 3 * vm->mended_size / PAGE; i++)
		peek(vm, UP_PEEK_BYTES, 0, PAGE, address(i * 8));
	CHECK(vm->nr_mended <= vm->mended_size && is(v, "second", 0));
	CHECK(peek(vm, UP_PEEK_BYTES, 0, PAGE, address(PAGE)).flags == UP_VALUE_FAULT);
}

/* Without the probe's breakpoint it is another program by now. */
static void test_another(struct up_vm *vm)
{
	strcpy(pages + 16, "text");
	pages[0] = 0x55;
	CHECK(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(16)).flags == UP_VALUE_FAULT);
	pages[0] = (char)INT3;
	CHECK(peek_anew(vm, UP_PEEK_TEXT, 0, 511, address(16)).flags == 0);
}

static void test_room(void)
{
	struct up_insn code[] = { { .op = OP_PEEK, .d = 100 },
				  { .op = OP_ARG, .d = 7 },
				  { .op = OP_PEEK, .d = 2048 },
				  { .op = OP_END } };
	struct up_plan_prog progs[] = { { .code = code, .nr_code = 2 },
					{ .code = code, .nr_code = 4 } };
	struct up_plan p = { .progs = progs, .nr_progs = 2 };

	CHECK(up_vm_peek_room(&p) == 101 + 2049);
}

/* ---- from the file ---- */

#if defined(__x86_64__)

#define TEXT_AT 0x8048000u
#define CONST_AT 0x8050000u
#define DATA_AT 0x8060000u

/* A 32-bit program: a page of code, one of constants, one of data, and a dynamic section. */
static void make_image(unsigned char *b, uint32_t tag)
{
	Elf32_Ehdr h = { .e_type = ET_DYN,
			 .e_machine = EM_386,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(h),
			 .e_ehsize = sizeof(h),
			 .e_phentsize = sizeof(Elf32_Phdr),
			 .e_phnum = 4 };
	Elf32_Phdr p[4] = { { PT_LOAD, 0x1000, TEXT_AT, 0, 0x1000, 0x1000, PF_R | PF_X, 1 },
			    { PT_LOAD, 0x2000, CONST_AT, 0, 0x100, 0x100, PF_R, 1 },
			    { PT_LOAD, 0x3000, DATA_AT, 0, 0x100, 0x100, PF_R | PF_W, 1 },
			    { PT_DYNAMIC, 0x3000, DATA_AT, 0, 16, 16, PF_R, 1 } };
	Elf32_Dyn d[2] = { { (Elf32_Sword)tag, { DF_TEXTREL } }, { DT_NULL, { 0 } } };

	memcpy(h.e_ident, ELFMAG "\1\1\1", 7);
	memset(b, 0, 4 * PAGE);
	memcpy(b, &h, sizeof(h));
	memcpy(b + sizeof(h), p, sizeof(p));
	strcpy((char *)b + 0x2010, "constant");
	memset(b + 0x20f8, 'x', 8);
	strcpy((char *)b + 0x3010, "variable");
	memcpy(b + 0x3000, d, sizeof(d));
}

static void test_constant(void)
{
	static unsigned char b[4 * PAGE];

	for (int i = 0; i < 3; i++) {
		make_image(b, (uint32_t[]){ DT_DEBUG, DT_TEXTREL, DT_FLAGS }[i]);
		struct up_elf *e = up_elf_open_bytes(b, sizeof(b), "test", NULL);

		CHECK(e);
		struct up_elf_span s = up_elf_constant_at(e, CONST_AT + 0x10);
		CHECK(s.s == b + 0x2010 && s.len == 0xf0);
		/* May the dynamic linker write everywhere? */
		struct up_elf_dynamic d;
		up_elf_dynamic_read(e, &d);
		CHECK(d.has_textrel == (i > 0));
		CHECK(!up_elf_constant_at(e, DATA_AT + 0x10).s);
		CHECK(!up_elf_constant_at(e, CONST_AT + 0x100).s);
		CHECK(!up_elf_constant_at(e, CONST_AT - 1).s);
		up_elf_free(e);
	}
}

/* The process has ended; it lay 0x4000 higher than the file says. */
static struct up_value read_gone(struct up_vm *vm, unsigned what, uint16_t len, uint64_t addr)
{
	struct up_hit hit = { .tid = child, .place = TEXT_AT + 0x10 + 0x4000 };
	struct up_insn i = { .op = OP_PEEK, .c = (uint16_t)what, .d = len };

	vm->nr_mended = vm->nr_peeked = 0;
	return up_vm_peek(vm, &hit, &i, addr + 0x4000);
}

static void test_file(void)
{
	char path[] = "/tmp/uptick-test-memory.XXXXXX";
	static unsigned char b[4 * PAGE];
	struct up_out out = { 0 };
	struct up_vm vm;
	struct stat st;
	int fd = mkstemp(path);

	make_image(b, DT_DEBUG);
	CHECK(fd >= 0 && write(fd, b, sizeof(b)) == (ssize_t)sizeof(b) && !fstat(fd, &st));
	close(fd);
	site = (struct up_plan_site){
		.path = path, .machine = UP_M_I386, .addr = TEXT_AT + 0x10, .id = up_file_id_of(&st)
	};
	CHECK(!up_vm_init(&vm, &plan, &out));
	CHECK(read_gone(&vm, UP_PEEK_TEXT, 511, CONST_AT + 0x10).flags == UP_VALUE_FAULT);
	up_memory_open(&vm.memory, &plan);
	/* What was opened stays, whatever has that name later. */
	CHECK(!unlink(path));
	CHECK(is(read_gone(&vm, UP_PEEK_TEXT, 511, CONST_AT + 0x10), "constant", 0));
	CHECK(read_gone(&vm, UP_PEEK_NUMBER, 4, CONST_AT + 0x10).u == 0x736e6f63);
	CHECK(read_gone(&vm, UP_PEEK_NUMBER, 4, CONST_AT + 0xfd).flags == UP_VALUE_FAULT);
	CHECK(is(read_gone(&vm, UP_PEEK_BYTES, 16, CONST_AT + 0xf8), "xxxxxxxx", UP_VALUE_CUT));
	CHECK(read_gone(&vm, UP_PEEK_TEXT, 511, DATA_AT + 0x10).flags == UP_VALUE_FAULT);
	/* Addresses have 32 bits. */
	CHECK(is(read_gone(&vm, UP_PEEK_TEXT, 511, (1ull << 32) + CONST_AT + 0x10), "constant", 0));
	/* A plan that has gained the file which is there now; the first one is still read. */
	char *constant = memmem(b, sizeof(b), "constant", 8);
	struct up_plan_site both[2] = { site, site };
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	memcpy(constant, "CONSTANT", 8);
	CHECK(fd >= 0 && write(fd, b, sizeof(b)) == (ssize_t)sizeof(b) && !fstat(fd, &st));
	close(fd);
	both[1].id = up_file_id_of(&st);
	plan.sites = both;
	plan.nr_sites = 2;
	up_memory_open(&vm.memory, &plan);
	CHECK(is(read_gone(&vm, UP_PEEK_TEXT, 511, CONST_AT + 0x10), "constant", 0));
	struct up_plan_site first = both[0];
	both[0] = both[1];
	CHECK(is(read_gone(&vm, UP_PEEK_TEXT, 511, CONST_AT + 0x10), "CONSTANT", 0));
	both[0] = first;
	plan.sites = &site;
	plan.nr_sites = 1;
	CHECK(!unlink(path));
	up_vm_fini(&vm);
	/* One that the dynamic linker may write into. */
	make_image(b, DT_TEXTREL);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, b, sizeof(b)) == (ssize_t)sizeof(b) && !fstat(fd, &st));
	close(fd);
	site.id = up_file_id_of(&st);
	CHECK(!up_vm_init(&vm, &plan, &out));
	up_memory_open(&vm.memory, &plan);
	CHECK(read_gone(&vm, UP_PEEK_TEXT, 511, CONST_AT + 0x10).flags == UP_VALUE_FAULT);
	CHECK(!unlink(path));
	up_vm_fini(&vm);
	/* Another file than the one that was compiled for. */
	site.id.ino++;
	CHECK(!up_vm_init(&vm, &plan, &out));
	up_memory_open(&vm.memory, &plan);
	CHECK(read_gone(&vm, UP_PEEK_TEXT, 511, CONST_AT + 0x10).flags == UP_VALUE_FAULT);
	up_vm_fini(&vm);
}

#else
static void test_constant(void)
{
}

static void test_file(void)
{
}
#endif

int main(void)
{
	struct up_out out = { 0 };
	struct up_vm vm;

	CHECK(!up_vm_init(&vm, &plan, &out));
	start_child();
	test_numbers(&vm);
	test_text(&vm);
	test_blocks(&vm);
	test_once(&vm);
	test_another(&vm);
	end_child();
	CHECK(peek_anew(&vm, UP_PEEK_TEXT, 0, 511, address(16)).flags == UP_VALUE_FAULT);
	up_vm_fini(&vm);
	test_room();
	test_constant();
	test_file();
	return unit_report("memory");
}
