/*
 * A reader of .eh_frame. Every number is checked against the bytes that there are; loops end with
 * the bytes, and the stack of remembered states with its size.
 */
#include "runtime/elf_unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/elf_frames.h"

#define MAX_LEB 10           /* bytes of a number */
#define MAX_STATES 8         /* remembered, one in the other */
#define MAX_LETTERS 16       /* of a common entry: each entry that shares it reads them again */
#define MAX_RULES (64 << 10) /* bytes of instructions that are carried out for one function */

/* Bytes that are read one after the other. */
struct cursor {
	const unsigned char *s, *end;
	uint64_t addr;  /* of the byte at s */
	bool is_broken; /* something was not there */
};

static struct cursor open_span(struct up_elf_span span, uint64_t addr)
{
	return (struct cursor){ span.s, span.s ? span.s + span.len : NULL, addr, !span.s };
}

static uint64_t left(const struct cursor *c)
{
	return (uint64_t)(c->end - c->s);
}

static bool skip(struct cursor *c, uint64_t nr)
{
	if (c->is_broken || left(c) < nr) {
		c->is_broken = true;
		return false;
	}
	c->s += nr;
	c->addr += nr;
	return true;
}

/* A number of `size` bytes without a sign. */
static uint64_t take(struct cursor *c, unsigned size)
{
	const unsigned char *s = c->s;
	uint64_t v = 0;

	if (!skip(c, size))
		return 0;
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)s[i] << (8 * i);
	return v;
}

static uint64_t take_leb(struct cursor *c, bool is_signed)
{
	uint64_t v = 0, byte = 0x80;
	unsigned shift = 0;

	while (byte & 0x80) {
		byte = take(c, 1);
		if (c->is_broken || shift >= 7 * MAX_LEB) {
			c->is_broken = true;
			return 0;
		}
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	}
	if (is_signed && byte & 0x40 && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return v;
}

static uint64_t extend(uint64_t v, unsigned bytes)
{
	return bytes < 8 && v >> (8 * bytes - 1) ? v | ~(uint64_t)0 << (8 * bytes) : v;
}

/* A number in one of the encodings' forms. */
static uint64_t take_form(const struct up_elf *e, struct cursor *c, unsigned encoding)
{
	unsigned word = e->is64 ? 8 : 4;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return take(c, word);
	case DW_EH_PE_udata2:
		return take(c, 2);
	case DW_EH_PE_udata4:
		return take(c, 4);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return take(c, 8);
	case DW_EH_PE_sdata2:
		return extend(take(c, 2), 2);
	case DW_EH_PE_sdata4:
		return extend(take(c, 4), 4);
	case DW_EH_PE_uleb128:
		return take_leb(c, false);
	case DW_EH_PE_sleb128:
		return take_leb(c, true);
	default:
		c->is_broken = true;
		return 0;
	}
}

/* An address; 0 for none. Those relative to something else than themselves are not written here. */
static uint64_t take_address(const struct up_elf *e, struct cursor *c, unsigned encoding)
{
	uint64_t at = c->addr;

	if (encoding == DW_EH_PE_omit)
		return 0;
	uint64_t v = take_form(e, c, encoding);
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		v = v ? v + at : 0;
	else if (encoding & 0x70)
		c->is_broken = true;
	return e->is64 ? v : (uint32_t)v;
}

/*
 * The entry that starts at addr, without its length: a cursor over the rest of it. False at the end
 * of the table.
 */
static bool open_entry(const struct up_elf *e, uint64_t addr, struct cursor *out, uint64_t *next)
{
	struct cursor c = open_span(up_elf_at_addr(e, addr), addr);
	uint64_t len = take(&c, 4);

	if (len == 0xffffffff)
		len = take(&c, 8);
	if (c.is_broken || !len || len > left(&c))
		return false;
	c.end = c.s + len;
	*out = c;
	*next = c.addr + len;
	return true;
}

/* What a common entry says, as far as it is needed. */
struct common {
	bool has_data;   /* entries have a length of their own data */
	uint8_t lsda;    /* the encoding of the address of an LSDA */
	bool is_strange; /* something that is not known */
};

static void read_augmentation(const struct up_elf *e, const char *letters, struct cursor *c,
			      struct up_elf_frame *f, struct common *o)
{
	uint64_t len = take_leb(c, false);
	struct cursor data = *c;

	if (!skip(c, len))
		return;
	data.end = c->s;
	for (; *letters; letters++) {
		if (*letters == 'R') {
			f->encoding = (uint8_t)take(&data, 1);
		} else if (*letters == 'L') {
			o->lsda = (uint8_t)take(&data, 1);
		} else if (*letters == 'P') {
			take_form(e, &data, (unsigned)take(&data, 1));
		} else if (*letters != 'S' && *letters != 'B') {
			o->is_strange = true;
		}
	}
	c->is_broken = c->is_broken || data.is_broken;
}

/* A common entry; the cursor stands behind its zero. */
static bool read_common(const struct up_elf *e, struct cursor *c, struct up_elf_frame *f,
			struct common *o)
{
	unsigned version = (unsigned)take(c, 1);
	const char *letters = (const char *)c->s;
	uint64_t room = left(c) < MAX_LETTERS ? left(c) : MAX_LETTERS;
	const void *end = c->is_broken ? NULL : memchr(c->s, 0, room);

	*o = (struct common){ .lsda = DW_EH_PE_omit };
	if (!end || (version != 1 && version != 3))
		return false;
	skip(c, strlen(letters) + 1);
	f->code_align = take_leb(c, false);
	f->data_align = (int64_t)take_leb(c, true);
	if (version == 1)
		take(c, 1);
	else
		take_leb(c, false);
	if (*letters == 'z') {
		o->has_data = true;
		read_augmentation(e, letters + 1, c, f, o);
	} else if (*letters) {
		return false;
	}
	f->common = (struct up_elf_span){ c->s, left(c) };
	return !c->is_broken && !o->is_strange;
}

/* The entry at addr, which describes code; reads its common entry too. */
static bool read_frame(const struct up_elf *e, uint64_t addr, struct up_elf_frame *f)
{
	struct cursor c, common_cursor;
	struct common o;
	uint64_t next;

	*f = (struct up_elf_frame){ .code_align = 1 };
	if (!open_entry(e, addr, &c, &next))
		return false;
	uint64_t at = c.addr, back = take(&c, 4);
	if (c.is_broken || !back || !open_entry(e, at - back, &common_cursor, &next) ||
	    take(&common_cursor, 4) || !read_common(e, &common_cursor, f, &o))
		return false;
	f->start = take_address(e, &c, f->encoding);
	f->end = f->start + take_form(e, &c, f->encoding & 0x0f);
	if (o.has_data) {
		uint64_t len = take_leb(&c, false);
		struct cursor data = c;

		if (!skip(&c, len))
			return false;
		data.end = c.s;
		f->lsda = take_address(e, &data, o.lsda);
		c.is_broken = c.is_broken || data.is_broken;
	}
	f->own = (struct up_elf_span){ c.s, left(&c) };
	return !c.is_broken && f->end > f->start;
}

/* Calls fn for each frame of the table, described at `entry`; false from it ends the walk. */
typedef bool frame_fn(void *arg, const struct up_elf_frame *f, uint64_t entry);

static void each_frame(const struct up_elf *e, frame_fn *fn, void *arg)
{
	struct up_elf_section s;
	struct up_elf_frame f;
	struct cursor c;
	uint64_t next;

	if (!up_elf_section_named(e, ".eh_frame", &s))
		return;
	for (uint64_t at = s.addr; at - s.addr < s.size && open_entry(e, at, &c, &next); at = next)
		if (take(&c, 4) && read_frame(e, at, &f) && !fn(arg, &f, at))
			return;
}

static bool gather(void *arg, const struct up_elf_frame *f, uint64_t entry)
{
	struct up_elf_gathered *g = arg;

	/* Powers of two: it is full then. */
	if (!(g->nr_frames & (g->nr_frames - 1))) {
		size_t cap = g->nr_frames ? g->nr_frames * 2 : 1;
		struct up_elf_described *v = reallocarray(g->frames, cap, sizeof(*v));

		if (!v)
			return false;
		g->frames = v;
	}
	g->frames[g->nr_frames++] = (struct up_elf_described){ f->start, entry };
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct up_elf_described *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Static programs have no sorted table: one is made. False when nothing starts at or before addr.
 */
static bool find_gathered(const struct up_elf *e, uint64_t addr, uint64_t *start, uint64_t *entry)
{
	struct up_elf_gathered *g = e->more;
	size_t lo = 0, hi;

	if (!g->has_frames) {
		g->has_frames = true;
		each_frame(e, gather, g);
		if (g->nr_frames)
			qsort(g->frames, g->nr_frames, sizeof(*g->frames), by_start);
	}
	for (hi = g->nr_frames; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->frames[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*start = g->frames[lo - 1].start;
	*entry = g->frames[lo - 1].entry;
	return true;
}

bool up_elf_frame_at(const struct up_elf *e, uint64_t addr, struct up_elf_frame *out)
{
	uint64_t start, entry;
	bool is_found = e->eh_frame.filesz ? up_elf_frame_find(e, addr, &start, &entry)
					   : find_gathered(e, addr, &start, &entry);

	return is_found && read_frame(e, entry, out) && out->start == start && addr < out->end;
}

/* ---- where the stack pointer is ---- */

/* The rule for the canonical frame address: what sp was before the call. */
struct rule {
	bool is_known;
	uint64_t reg;
	uint64_t offset;
};

struct state {
	struct rule now;
	struct rule saved[MAX_STATES];
	unsigned nr_saved;
	uint64_t at; /* up to where code is described */
};

static void skip_block(struct cursor *c)
{
	skip(c, take_leb(c, false));
}

static void save(struct state *s, struct cursor *c)
{
	if (s->nr_saved == MAX_STATES)
		c->is_broken = true;
	else
		s->saved[s->nr_saved++] = s->now;
}

static void restore(struct state *s, struct cursor *c)
{
	if (!s->nr_saved)
		c->is_broken = true;
	else
		s->now = s->saved[--s->nr_saved];
}

/* Instructions that have nothing to do with the rule: only their operands count. */
static void skip_other(struct cursor *c, unsigned op)
{
	switch (op) {
	case DW_CFA_nop:
	case 0x2d: /* DW_CFA_GNU_window_save, DW_CFA_AARCH64_negate_ra_state */
		break;
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_GNU_args_size:
		take_leb(c, false);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset_sf:
	case DW_CFA_GNU_negative_offset_extended:
		take_leb(c, false);
		take_leb(c, false);
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		take_leb(c, false);
		skip_block(c);
		break;
	default:
		c->is_broken = true;
	}
}

static void set_rule(struct state *s, struct cursor *c, unsigned op, int64_t data_align)
{
	bool is_scaled = op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf;

	if (op == DW_CFA_def_cfa_expression) {
		skip_block(c);
		s->now.is_known = false;
		return;
	}
	if (op != DW_CFA_def_cfa_offset && op != DW_CFA_def_cfa_offset_sf)
		s->now.reg = take_leb(c, false);
	if (op != DW_CFA_def_cfa_register)
		s->now.offset = take_leb(c, is_scaled) * (is_scaled ? (uint64_t)data_align : 1);
	if (op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf)
		s->now.is_known = true;
}

/* How far an instruction moves on, in units of code; false for all others. */
static bool take_advance(struct cursor *c, unsigned op, uint64_t *by)
{
	if ((op & 0xc0) == DW_CFA_advance_loc)
		*by = op & 0x3f;
	else if (op == DW_CFA_advance_loc1)
		*by = take(c, 1);
	else if (op == DW_CFA_advance_loc2)
		*by = take(c, 2);
	else if (op == DW_CFA_advance_loc4)
		*by = take(c, 4);
	else
		return false;
	return true;
}

static void execute(struct state *s, struct cursor *c, unsigned op, int64_t data_align)
{
	if ((op & 0xc0) == DW_CFA_offset) {
		take_leb(c, false);
		return;
	}
	if ((op & 0xc0) == DW_CFA_restore)
		return;
	switch (op) {
	case DW_CFA_remember_state:
		save(s, c);
		break;
	case DW_CFA_restore_state:
		restore(s, c);
		break;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		set_rule(s, c, op, data_align);
		break;
	default:
		skip_other(c, op);
	}
}

/* Carries instructions out up to an address; false when they are broken. */
static bool run_to(struct state *s, const struct up_elf_frame *f, struct up_elf_span code,
		   uint64_t addr)
{
	struct cursor c = open_span(code, 0);
	uint64_t by;

	while (!c.is_broken && left(&c)) {
		unsigned op = (unsigned)take(&c, 1);

		if (!take_advance(&c, op, &by)) {
			execute(s, &c, op, f->data_align);
			continue;
		}
		if (by * f->code_align > addr - s->at)
			return true;
		s->at += by * f->code_align;
	}
	return !c.is_broken;
}

enum up_stack up_elf_stack_at(const struct up_elf *e, const struct up_elf_frame *f, uint64_t addr)
{
	struct state s = { .at = f->start };
	uint64_t word = e->is64 ? 8 : 4, sp = e->is64 ? 7 : 4;

	if ((e->machine != UP_M_X86_64 && e->machine != UP_M_I386) ||
	    f->common.len + f->own.len > MAX_RULES)
		return UP_STACK_UNKNOWN;
	if (addr < f->start || addr >= f->end || !run_to(&s, f, f->common, f->start) ||
	    !run_to(&s, f, f->own, addr) || !s.now.is_known)
		return UP_STACK_UNKNOWN;
	return s.now.reg == sp && s.now.offset == word ? UP_STACK_ENTRY : UP_STACK_OTHER;
}

/* ---- handlers ---- */

/* Does a language-specific data area have types to catch? Its third field says where. */
static bool has_types(const struct up_elf *e, uint64_t lsda)
{
	struct cursor c = open_span(up_elf_at_addr(e, lsda), lsda);
	unsigned base = (unsigned)take(&c, 1);

	if (base != DW_EH_PE_omit)
		take_form(e, &c, base);
	return take(&c, 1) != DW_EH_PE_omit && !c.is_broken;
}

/* What a search for handlers has found. */
struct handlers {
	const struct up_elf *e;
	bool is_found;
};

static bool has_none(void *arg, const struct up_elf_frame *f, uint64_t entry)
{
	struct handlers *h = arg;

	(void)entry;
	h->is_found = f->lsda && has_types(h->e, f->lsda);
	return !h->is_found;
}

bool up_elf_has_handlers(const struct up_elf *e)
{
	struct handlers h = { e, false };

	each_frame(e, has_none, &h);
	return h.is_found;
}
