/*
 * Where functions are left, and where their entry can be probed: functions by hand, each with what
 * must be found.
 */
#include <inttypes.h>

#include "tests/unit/elf_helpers.h"

#if defined(__x86_64__)

#define FUNCTION(name, code)                                                           \
	".text\n.globl " #name "\n.type " #name ",@function\n.p2align 4\n" #name ":\n" \
	".cfi_startproc\n" code ".cfi_endproc\n.size " #name ",.-" #name "\n.byte 0xcc\n"

/* A part that the compiler has moved away. */
#define PART(name, label, code)                                                  \
	".type " name ",@function\n" name ":\n" label ":\n.cfi_startproc\n" code \
	".cfi_endproc\n.size " name ",.-" name "\n.byte 0xcc\n"

__asm__(FUNCTION(up_flow_plain, "endbr64; push %rbp; mov %rsp,%rbp; pop %rbp; ret\n"));
__asm__(FUNCTION(up_flow_rets, "test %edi,%edi; je 1f; ret $8; 1: rep ret\n"));
__asm__(FUNCTION(up_flow_tail,
		 "mov %rdi,%rax; test %edi,%edi; je 1f; jmp up_flow_plain; 1: ret\n"));
__asm__(FUNCTION(up_flow_import, "xor %eax,%eax; jmp *up_flow_slot(%rip)\n"));
__asm__(FUNCTION(up_flow_cond, "test %edi,%edi; je up_flow_plain; ret\n"));
__asm__(FUNCTION(up_flow_stop, "ud2\n"));
__asm__(FUNCTION(up_flow_final, "test %edi,%edi; je up_flow_stop; ret\n"));
__asm__(FUNCTION(up_flow_moved,
		 "push %rbx; .cfi_adjust_cfa_offset 8; test %edi,%edi; je up_flow_away; "
		 ".globl up_flow_back; up_flow_back: pop %rbx; .cfi_adjust_cfa_offset -8; "
		 "ret\n"));
__asm__(FUNCTION(up_flow_middle, "jmp up_flow_plain+5\n"));
__asm__(FUNCTION(up_flow_frame, "push %rbx; .cfi_adjust_cfa_offset 8; jmp up_flow_plain\n"));
__asm__(FUNCTION(up_flow_on, "xor %eax,%eax; inc %eax\n"));
__asm__(FUNCTION(up_flow_bad, "je 1f; .byte 0x06; 1: ret\n"));
__asm__(FUNCTION(up_flow_inside, "je 1f+1; 1: mov $1,%eax; ret\n"));
__asm__(FUNCTION(up_flow_lock, "je 1f+1; 1: lock incl (%rdi); ret\n"));
__asm__(FUNCTION(up_flow_far, "lret\n"));
__asm__(FUNCTION(up_flow_switch,
		 "lea 1f(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; "
		 "2: ret; .pushsection .rodata; .p2align 2; 1: .long 2b-1b; .popsection\n"));
__asm__(FUNCTION(up_flow_notrack, "push %rbx; notrack jmp *%rdi; ret\n"));
__asm__(FUNCTION(up_flow_table,
		 "lea up_flow_labels(%rip),%rcx; jmp *(%rcx,%rdi,8); up_flow_label: ret\n"));
__asm__(FUNCTION(up_flow_calls, "lea up_flow_others(%rip),%rcx; jmp *(%rcx,%rdi,8)\n"));
__asm__(FUNCTION(up_flow_virtual, "mov (%rdi),%rax; jmp *0x10(%rax)\n"));
__asm__(FUNCTION(up_flow_goto, "lea 1f(%rip),%rax; mov %rax,(%rsi); jmp *(%rdi); 1: ret\n"));
__asm__(FUNCTION(up_flow_inner, "push %rbx; .cfi_adjust_cfa_offset 8; jmp *(%rdi); pop %rbx; "
				".cfi_adjust_cfa_offset -8; ret\n"));
__asm__(FUNCTION(up_flow_unsure, "lea up_flow_zeros(%rip),%rcx; jmp *(%rcx,%rax,8)\n"));
__asm__(FUNCTION(up_flow_loop, "dec %rdi; jne up_flow_loop; ret\n"));
__asm__(FUNCTION(up_flow_reached,
		 "xor %eax,%eax; 1: push %rbx; pop %rbx; dec %rdi; jne 1b; ret\n"));
__asm__(FUNCTION(up_flow_regs,
		 "mov %rsp,%r10; xor %eax,%eax; push %r12; push %rbx; sub $0x20,%rsp; "
		 "mov %rdi,%rbx; call up_flow_plain; add $0x20,%rsp; pop %rbx; pop %r12; "
		 "ret\n"));
__asm__(FUNCTION(up_flow_store, "mov %rsi,8(%rdi); push %rbx; pop %rbx; ret\n"));
__asm__(FUNCTION(up_flow_load, "mov 8(%rdi),%rax; push %rbx; pop %rbx; ret\n"));
__asm__(FUNCTION(up_flow_go, "lea -0x40(%rsp),%r12; cmp 0x10(%r14),%r12; jbe 1f; sub $0x40,%rsp; "
			     "add $0x40,%rsp; ret; 1: mov %rax,8(%rsp); call up_flow_stop; "
			     "mov 8(%rsp),%rax; jmp up_flow_go\n"));
__asm__(FUNCTION(up_flow_sharer, "xor %eax,%eax; jmp up_flow_rest\n"));
__asm__(FUNCTION(up_flow_shared, "mov %rdi,%rax; up_flow_rest: cmp $1,%rax; je 1f; 1: ret\n"));
__asm__(PART("up_flow_moved.cold", "up_flow_away",
	     "test %esi,%esi; .cfi_def_cfa_offset 16; je up_flow_back; pop %rbx; "
	     ".cfi_def_cfa_offset 8; ret\n"));

__asm__(".data\n.p2align 3\nup_flow_slot: .quad exit\n"
	"up_flow_zeros: .skip 128\n"
	".section .data.rel.ro,\"aw\"\n.p2align 3\n"
	"up_flow_labels: .quad up_flow_label, up_flow_label\n"
	"up_flow_others: .quad 0, up_flow_plain, up_flow_tail\n.text\n");

static const struct function_row {
	const char *name;
	const char *exits;   /* "RT": a return, then a tail call; or NULL */
	const char *refusal; /* then: a part of the message */
	const char *entries; /* "+4 push sp 0 regs 0,": behind the entry */
} functions[] = {
	{ "up_flow_plain", "R", NULL, "+4 push 0 0," },
	{ "up_flow_rets", "RR", NULL, "+2 jump 0 200," },
	{ "up_flow_tail", "TR", NULL, "+5 jump 0 201," },
	{ "up_flow_import", "T", NULL, "" },
	{ "up_flow_cond", NULL,
	  "conditional jump at up_flow_cond+0x2 leads to another function, "
	  "up_flow_plain",
	  "+2 jump 0 200," },
	{ "up_flow_stop", "", NULL, "" },
	{ "up_flow_final", "R", NULL, "+2 jump 0 200," },
	{ "up_flow_moved", "RR", NULL, "" },
	{ "up_flow_middle", NULL, "leads into another function, to up_flow_plain+0x5", "" },
	{ "up_flow_frame", NULL, "keeps its stack on the way to up_flow_plain", "" },
	{ "up_flow_on", NULL, "the code behind up_flow_on+0x2 belongs to another function", "" },
	{ "up_flow_bad", NULL, "bytes at up_flow_bad+0x2 are no instruction", "" },
	{ "up_flow_inside", NULL, "a jump leads into the instruction around up_flow_inside+0x3",
	  "" },
	{ "up_flow_lock", "R", NULL, "" },
	{ "up_flow_far", NULL, "up_flow_far leaves it in an unusual way", "" },
	{ "up_flow_switch", "R", NULL, "" },
	{ "up_flow_notrack", "R", NULL, "" },
	{ "up_flow_table", "R", NULL, "" },
	{ "up_flow_calls", "T", NULL, "" },
	{ "up_flow_virtual", "T", NULL, "" },
	{ "up_flow_goto", NULL, "up_flow_goto+0xa may lead to one of its own places", "" },
	{ "up_flow_inner", "R", NULL, "" },
	{ "up_flow_unsure", NULL, "up_flow_unsure+0x7 may lead out of it or not", "" },
	{ "up_flow_loop", "R", NULL, "+3 jump 0 220," },
	{ "up_flow_reached", "R", NULL, "" },
	{ "up_flow_regs", "R", NULL, "+5 push 0 8201,+7 push 8 8201,+15 call 48 8203," },
	{ "up_flow_store", "R", NULL, "" },
	{ "up_flow_load", "R", NULL, "" },
	{ "up_flow_go", "R", NULL, "+11 instruction 0 20200!," },
	{ "up_flow_sharer", NULL, "leads into another function, to up_flow_shared+0x3",
	  "+2 jump 0 201," },
	{ "up_flow_shared", "R", NULL, "" },
};

static bool note_letter(void *arg, const struct up_exit *e)
{
	up_buf_putc(arg, e->is_tail ? 'T' : 'R');
	return true;
}

/* The places behind the entry, as the rows write them. */
static void put_entries(struct up_buf *out, const struct up_object *o, uint64_t addr)
{
	struct up_entry_at at[UP_MAX_ENTRIES];
	unsigned nr = up->entries(up->ctx, o, addr, at, UP_MAX_ENTRIES);

	CHECK(nr >= 1 && at[0].addr == addr && !at[0].is_needed);
	for (unsigned i = 1; i < nr; i++)
		up_buf_printf(out, "+%" PRIu64 " %s %u %" PRIx64 "%s,", at[i].addr - addr,
			      at[i].insn, at[i].sp_lower, at[i].regs, at[i].is_needed ? "!" : "");
}

static void check_function(const struct up_object *o, const struct function_row *r)
{
	struct up_query q = { UP_QUERY_EXACT, r->name, NULL };
	struct up_buf exits = { 0 }, entries = { 0 };
	struct up_why w = { .harm = UP_HARM_NONE };
	struct found f = { 0 };

	up->find(up->ctx, o, &q, note, &f, &why);
	bool is_known = f.nr && up->exits(up->ctx, o, f.last.addr, note_letter, &exits, &w);
	if (f.nr)
		put_entries(&entries, o, f.last.addr);
	bool is_right = f.nr && is_known == !r->refusal &&
			(is_known ? !strcmp(exits.s ? exits.s : "", r->exits)
				  : w.msg.s && strstr(w.msg.s, r->refusal)) &&
			!strcmp(entries.s ? entries.s : "", r->entries);
	if (!is_right)
		fprintf(stderr, "%s: %s %s; entries %s\n", r->name, is_known ? "exits" : "refused",
			is_known ? exits.s : w.msg.s, entries.s);
	CHECK(is_right);
	up_buf_fini(&exits);
	up_buf_fini(&entries);
	up_why_fini(&w);
}

static void check_functions(void)
{
	const struct up_object *o = open_object("/proc/self/exe");

	for (size_t i = 0; o && i < sizeof(functions) / sizeof(functions[0]); i++)
		check_function(o, &functions[i]);
}

#endif

int main(void)
{
#if defined(__x86_64__)
	struct up_elf_options opt = { .nop5 = UP_NOP5_HARMS };

	resolver = up_elf_resolver_new(&opt);
	up = up_elf_resolver_iface(resolver);
	check_functions();
	up_why_fini(&why);
	up_elf_resolver_free(resolver);
#endif
	return unit_report("flow_hand");
}
