/*
 * Every byte of a part is decoded, one instruction after the other, so that nothing depends on
 * which of them can be reached. Where data stands between instructions that goes wrong, and mostly
 * shows: a jump leads into the middle of an instruction. Then nothing is believed.
 */
#include "runtime/elf_body.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf_switch.h"
#include "runtime/insn.h"

#define MAX_PIECE (64u << 10) /* bytes of code without a name that are looked at */
#define MAX_ASKED 16          /* functions that are read on behalf of one */
#define MAX_LEAPS 16384       /* jumps out of what is known, or to what is computed */

static void read_body(struct up_elf_body *b, const struct up_elf *e, struct up_elf_symbols *s,
		      uint64_t addr, bool is_asked);

/* ---- what is found ---- */

/* "name+0x10" of an address in or outside the function. */
static void put_place(struct up_elf_body *b, uint64_t addr)
{
	struct up_symbol f;

	if (!up_elf_symbols_at(b->s, addr, &f))
		up_buf_printf(&b->reason, "0x%" PRIx64, addr);
	else if (f.addr == addr)
		up_buf_printf(&b->reason, "%s", f.name);
	else
		up_buf_printf(&b->reason, "%s+0x%" PRIx64, f.name, addr - f.addr);
}

/* Keeps the first reason: text, a place, text, perhaps another place. */
static void give_up(struct up_elf_body *b, const char *before, uint64_t at, const char *behind,
		    uint64_t to)
{
	if (b->reason.len)
		return;
	up_buf_puts(&b->reason, before);
	put_place(b, at);
	up_buf_puts(&b->reason, behind);
	if (to)
		put_place(b, to);
}

static void tear(struct up_elf_body *b, const char *before, uint64_t at, const char *behind)
{
	b->is_torn = true;
	give_up(b, before, at, behind, 0);
}

static bool grow(struct up_elf_body *b, void *v, size_t size, size_t nr, size_t *cap)
{
	if (nr < *cap)
		return true;
	size_t more = *cap ? *cap * 2 : 16;
	void *new = reallocarray(*(void **)v, more, size);

	if (!new) {
		b->has_no_memory = true;
		return false;
	}
	*(void **)v = new;
	*cap = more;
	return true;
}

static void add_exit(struct up_elf_body *b, const struct up_elf_part *p, uint64_t addr,
		     bool is_tail)
{
	struct up_elf_span code = { p->code.s + (addr - p->start), p->end - addr };
	unsigned seen;

	if (up_insn_refusal(b->e->machine, code.s, code.len, &seen))
		give_up(b, "the kernel cannot probe the instruction at ", addr,
			", where it is left", 0);
	if (grow(b, &b->exits, sizeof(*b->exits), b->nr_exits, &b->cap_exits))
		b->exits[b->nr_exits++] = (struct up_exit){ addr, is_tail };
}

struct up_elf_part *up_elf_body_part(struct up_elf_body *b, uint64_t addr)
{
	for (unsigned i = 0; i < b->nr_parts; i++)
		if (addr >= b->parts[i].start && addr < b->parts[i].end)
			return &b->parts[i];
	return NULL;
}

static void set_bit(unsigned char *bits, uint64_t i)
{
	bits[i / 8] |= (unsigned char)(1u << i % 8);
}

static bool has_bit(const unsigned char *bits, uint64_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

bool up_elf_body_is_aim(struct up_elf_body *b, uint64_t addr)
{
	const struct up_elf_part *p = up_elf_body_part(b, addr);

	return p && has_bit(p->aims, addr - p->start);
}

bool up_elf_body_insn(struct up_elf_body *b, uint64_t addr, struct up_native *out)
{
	const struct up_elf_part *p = up_elf_body_part(b, addr);

	return p && up_native_read(b->e->machine, p->code.s + (addr - p->start), p->end - addr,
				   addr, out);
}

/* ---- parts ---- */

/* Adds a part; NULL, with a reason, when it cannot be had. */
static struct up_elf_part *add_part(struct up_elf_body *b, uint64_t start, uint64_t end)
{
	struct up_elf_part *p = &b->parts[b->nr_parts];
	struct up_elf_span code = up_elf_at_addr(b->e, start);
	uint64_t len = end - start;

	if (end <= start || len > code.len || !code.s || !up_elf_is_code(b->e, start)) {
		tear(b, "the code of ", start, " is not in the file");
		return NULL;
	}
	for (unsigned i = 0; i < b->nr_parts; i++)
		if (start < b->parts[i].end && end > b->parts[i].start) {
			tear(b, "the code around ", start, " belongs to two of its parts");
			return NULL;
		}
	if (b->nr_parts == UP_BODY_MAX_PARTS || len > UP_BODY_MAX_BYTES - b->nr_bytes) {
		tear(b, "", b->addr, " is too large");
		return NULL;
	}
	*p = (struct up_elf_part){ .start = start, .end = end, .code = { code.s, len } };
	p->starts = calloc(1, len / 8 + 1);
	p->aims = calloc(1, len / 8 + 1);
	p->has_frame = up_elf_frame_at(b->e, start, &p->frame);
	b->nr_parts++;
	b->nr_bytes += len;
	if (!p->starts || !p->aims) {
		b->has_no_memory = true;
		return NULL;
	}
	return p;
}

/* By its symbol, else by the unwinder's table. */
bool up_elf_body_extent(const struct up_elf *e, struct up_elf_symbols *s, uint64_t addr,
			uint64_t *end)
{
	struct up_elf_frame f;
	struct up_symbol sym;

	if (up_elf_symbols_at(s, addr, &sym) && sym.addr == addr && sym.size) {
		*end = addr + sym.size;
		return *end > addr;
	}
	if (!up_elf_frame_at(e, addr, &f) || f.start != addr)
		return false;
	*end = f.end;
	return true;
}

bool up_elf_leads_into(const struct up_elf *e, uint64_t start, uint64_t end, uint64_t from,
		       uint64_t to)
{
	struct up_elf_span code = up_elf_at_addr(e, start);
	struct up_native i;

	if (end - start > code.len)
		return false;
	for (uint64_t at = start; at < end; at += i.len) {
		if (!up_native_read(e->machine, code.s + (at - start), end - at, at, &i))
			return false;
		if (i.has_target && i.flow != UP_FLOW_CALL && i.target > from && i.target <= to)
			return true;
	}
	return false;
}

/* ---- jumps out of the parts that are known ---- */

/* NAME.cold and NAME.cold.0 of compilers, NAME.warm of BOLT. */
static bool is_cold(const char *name)
{
	const char *at = strstr(name, ".cold");

	if (!at)
		at = strstr(name, ".warm");
	return at && at != name && (!at[5] || at[5] == '.');
}

static bool is_stub(const struct up_elf *e, uint64_t addr)
{
	struct up_elf_section s;

	return up_elf_section_at(e, addr, &s) && !strncmp(s.name, ".plt", 4);
}

/* What stands where a jump leads. */
struct landing {
	bool is_stub; /* of a call of an imported function */
	bool has_symbol, has_frame;
	struct up_symbol symbol;
	struct up_elf_frame frame;
	bool is_start; /* of what it belongs to */
};

static void look_at(const struct up_elf_body *b, uint64_t to, struct landing *l)
{
	l->is_stub = is_stub(b->e, to);
	l->has_symbol = up_elf_symbols_at(b->s, to, &l->symbol);
	l->has_frame = up_elf_frame_at(b->e, to, &l->frame);
	l->is_start = l->is_stub ||
		      (l->has_symbol ? l->symbol.addr == to : l->has_frame && l->frame.start == to);
}

/* Does code jump back to behind the function's entry, as parts do and other functions do not? */
static bool leads_back(const struct up_elf_body *b, const struct up_elf_frame *f)
{
	const struct up_elf_part *p = &b->parts[0];

	return f->end - f->start <= MAX_PIECE &&
	       up_elf_leads_into(b->e, f->start, f->end, p->start, p->end - 1);
}

/*
 * Is it a part of the function that was moved away? `stack` is that at the jump. What has no name
 * and is jumped to on a condition is taken for one. Were it another function, which compilers
 * hardly ever do, then its returns are still those of this function, and the others have no call
 * here.
 */
static bool is_moved(const struct up_elf_body *b, const struct landing *l,
		     const struct up_native *jump, enum up_stack stack)
{
	if (l->is_stub)
		return false;
	if (l->has_symbol)
		return is_cold(l->symbol.name);
	return l->has_frame &&
	       (jump->flow == UP_FLOW_BRANCH || stack == UP_STACK_OTHER ||
		up_elf_stack_at(b->e, &l->frame, l->frame.start) == UP_STACK_OTHER ||
		leads_back(b, &l->frame));
}

/* Is it a function that never returns? */
static bool is_final(struct up_elf_body *b, const struct landing *l, uint64_t addr)
{
	if (b->is_asked || l->is_stub || b->nr_asked == MAX_ASKED)
		return false;
	struct up_elf_body *other = calloc(1, sizeof(*other));
	if (!other)
		return false;
	b->nr_asked++;
	read_body(other, b->e, b->s, addr, true);
	bool is_final = !other->reason.len && !other->reason.failed && !other->nr_exits;
	up_elf_body_fini(other);
	free(other);
	return is_final;
}

static bool add_moved(struct up_elf_body *b, const struct landing *l)
{
	if (l->has_symbol && l->symbol.size)
		return add_part(b, l->symbol.addr, l->symbol.addr + l->symbol.size);
	return l->has_frame && add_part(b, l->frame.start, l->frame.end);
}

/* Each is looked up in tables of any size. */
static bool may_leap(struct up_elf_body *b)
{
	if (b->nr_leaps++ < MAX_LEAPS)
		return true;
	tear(b, "", b->addr, " is left at too many places");
	return false;
}

static void judge_leap(struct up_elf_body *b, const struct up_elf_part *from,
		       const struct up_native *i, enum up_stack stack)
{
	struct landing l;

	look_at(b, i->target, &l);
	if (is_moved(b, &l, i, stack) && add_moved(b, &l)) {
		struct up_elf_part *p = up_elf_body_part(b, i->target);

		if (p)
			set_bit(p->aims, i->target - p->start);
		else
			tear(b, "the jump at ", i->addr, " leads nowhere");
	} else if (!l.is_start) {
		give_up(b, "the jump at ", i->addr, " leads into another function, to ", i->target);
	} else if (stack == UP_STACK_OTHER) {
		give_up(b, "the jump at ", i->addr, " keeps its stack on the way to ", i->target);
	} else if (i->flow == UP_FLOW_BRANCH) {
		if (is_final(b, &l, i->target))
			return;
		give_up(b, "the conditional jump at ", i->addr, " leads to another function, ",
			i->target);
	} else {
		add_exit(b, from, i->addr, true);
	}
}

/* ---- instructions ---- */

static enum up_stack stack_at(const struct up_elf_body *b, const struct up_elf_part *p,
			      uint64_t addr)
{
	return p->has_frame ? up_elf_stack_at(b->e, &p->frame, addr) : UP_STACK_UNKNOWN;
}

static void take_jump(struct up_elf_body *b, const struct up_elf_part *from,
		      const struct up_native *i)
{
	struct up_elf_part *to = up_elf_body_part(b, i->target);

	if (to)
		set_bit(to->aims, i->target - to->start);
	else if (may_leap(b))
		judge_leap(b, from, i, stack_at(b, from, i->addr));
}

static void take_indirect(struct up_elf_body *b, const struct up_elf_part *p,
			  const struct up_recent *r, uint64_t addr)
{
	if (!may_leap(b))
		return;
	switch (up_elf_lead(b, r, stack_at(b, p, addr))) {
	case UP_LEAD_INSIDE:
		b->has_switch = true;
		break;
	case UP_LEAD_OUTSIDE:
		add_exit(b, p, addr, true);
		break;
	case UP_LEAD_LOADED:
		if (grow(b, &b->loads, sizeof(*b->loads), b->nr_loads, &b->cap_loads))
			b->loads[b->nr_loads++] = addr;
		add_exit(b, p, addr, true);
		break;
	case UP_LEAD_UNKNOWN:
		b->has_switch = true;
		give_up(b, "the jump at ", addr, " may lead out of it or not", 0);
	}
}

/* Does it take the address of a place in the function, as for a computed goto? */
static bool takes_label(struct up_elf_body *b, const struct up_native *i)
{
	const struct up_x86 *x = &i->x86;

	if (i->machine == UP_M_AARCH64 || x->map != UP_X86_ONE || x->op != 0x8d ||
	    x->base != UP_X86_PC)
		return false;
	uint64_t to = i->addr + i->len + (uint64_t)x->disp;
	return to != b->addr && up_elf_body_part(b, to);
}

static void take_insn(struct up_elf_body *b, const struct up_elf_part *p, const struct up_recent *r,
		      const struct up_native *i)
{
	switch (i->flow) {
	case UP_FLOW_RETURN:
		add_exit(b, p, i->addr, false);
		break;
	case UP_FLOW_JUMP:
	case UP_FLOW_BRANCH:
		take_jump(b, p, i);
		break;
	case UP_FLOW_INDIRECT:
		take_indirect(b, p, r, i->addr);
		break;
	case UP_FLOW_ODD:
		give_up(b, "the instruction at ", i->addr, " leaves it in an unusual way", 0);
		break;
	default:
		if (takes_label(b, i))
			b->has_labels = true;
	}
}

/* Can code go on behind an instruction, into what stands there? */
static bool runs_on(const struct up_native *i)
{
	if (i->flow != UP_FLOW_ON)
		return i->flow == UP_FLOW_BRANCH;
	/* A system call need not come back. */
	return i->machine == UP_M_AARCH64 || i->x86.map != UP_X86_0F || i->x86.op != 0x05;
}

static void read_part(struct up_elf_body *b, const struct up_elf_part *p)
{
	struct up_recent recent = { .nr = 0 };
	uint64_t at = p->start, last = at;
	bool goes_on = false;

	while (at < p->end && !b->is_torn && !b->has_no_memory) {
		struct up_native *i = &recent.v[recent.nr++ % UP_SWITCH_RECENT];

		if (!up_native_read(b->e->machine, p->code.s + (at - p->start), p->end - at, at,
				    i)) {
			tear(b, "the bytes at ", at, " are no instruction that is known");
			return;
		}
		set_bit(p->starts, at - p->start);
		take_insn(b, p, &recent, i);
		if (!up_insn_is_idle(b->e->machine, i->s, i->len)) {
			goes_on = runs_on(i);
			last = at;
		}
		at += i->len;
	}
	if (goes_on)
		give_up(b, "the code behind ", last, " belongs to another function", 0);
}

/* ---- the whole ---- */

/* Jumps that skip a lock prefix are the one kind that leads into an instruction. */
static bool skips_lock(const struct up_elf_part *p, uint64_t i)
{
	return i && p->code.s[i - 1] == 0xf0 && has_bit(p->starts, i - 1);
}

static void check_aims(struct up_elf_body *b, const struct up_elf_part *p)
{
	for (uint64_t byte = 0; byte <= (p->end - p->start) / 8; byte++) {
		unsigned wrong = p->aims[byte] & ~(unsigned)p->starts[byte];

		for (unsigned k = 0; wrong >> k; k++) {
			uint64_t i = byte * 8 + k;

			if (wrong >> k & 1 && !skips_lock(p, i)) {
				tear(b, "a jump leads into the instruction around ", p->start + i,
				     "");
				return;
			}
		}
	}
}

static int by_address(const void *a, const void *b)
{
	const struct up_exit *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void finish(struct up_elf_body *b)
{
	for (unsigned i = 0; i < b->nr_parts && !b->is_torn; i++)
		check_aims(b, &b->parts[i]);
	if (b->nr_loads && b->has_labels) {
		b->has_switch = true;
		give_up(b, "the jump at ", b->loads[0], " may lead to one of its own places", 0);
	}
	if (b->nr_exits)
		qsort(b->exits, b->nr_exits, sizeof(*b->exits), by_address);
}

static void read_body(struct up_elf_body *b, const struct up_elf *e, struct up_elf_symbols *s,
		      uint64_t addr, bool is_asked)
{
	uint64_t end;

	*b = (struct up_elf_body){ .e = e, .s = s, .addr = addr, .is_asked = is_asked };
	if (e->machine == UP_M_OTHER) {
		tear(b, "the processor of ", addr, " is not known");
		return;
	}
	if (!up_elf_body_extent(e, s, addr, &end)) {
		tear(b, "where ", addr, " ends is not known");
		return;
	}
	add_part(b, addr, end);
	for (unsigned i = 0; i < b->nr_parts && !b->is_torn && !b->has_no_memory; i++)
		read_part(b, &b->parts[i]);
	if (b->has_no_memory)
		tear(b, "there is no memory to read ", addr, "");
	else
		finish(b);
}

void up_elf_body_read(struct up_elf_body *b, const struct up_elf *e, struct up_elf_symbols *s,
		      uint64_t addr)
{
	read_body(b, e, s, addr, false);
}

void up_elf_body_fini(struct up_elf_body *b)
{
	for (unsigned i = 0; i < b->nr_parts; i++) {
		free(b->parts[i].starts);
		free(b->parts[i].aims);
	}
	free(b->exits);
	free(b->loads);
	up_buf_fini(&b->reason);
	*b = (struct up_elf_body){ .nr_parts = 0 };
}
