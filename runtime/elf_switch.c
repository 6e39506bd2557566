/* The idioms of compilers for switches, and what they use for calls through pointers. */
#include "runtime/elf_switch.h"

#include <string.h>

#include "runtime/elf_reloc.h"

#define MAX_ENTRIES 8 /* of a table that are looked at */

/* The instruction `back` before the jump, or NULL. */
static const struct up_native *before(const struct up_recent *r, unsigned back)
{
	if (back >= UP_SWITCH_RECENT || back >= r->nr)
		return NULL;
	const struct up_native *i = &r->v[(r->nr - 1 - back) % UP_SWITCH_RECENT];
	/* What stands before an instruction that does not go on does not lead here. */
	return back && (i->flow == UP_FLOW_JUMP || i->flow == UP_FLOW_RETURN ||
			i->flow == UP_FLOW_INDIRECT || i->flow == UP_FLOW_STOP)
		       ? NULL
		       : i;
}

/* Does it write to a register, by the forms that are looked for here? */
static bool writes(const struct up_x86 *x, int reg)
{
	if (x->map != UP_X86_ONE || x->is_vector)
		return false;
	switch (x->op) {
	case 0x03: /* add, movslq, mov, lea */
	case 0x2b:
	case 0x63:
	case 0x8b:
	case 0x8d:
		return x->reg == reg;
	case 0x01:
	case 0x29:
	case 0x89:
	case 0xc7:
		return x->mod == 3 && x->rm == reg;
	case 0x81: /* all but cmp */
	case 0x83:
		return x->mod == 3 && x->rm == reg && (x->reg & 7) != 7;
	default:
		return (x->op & 0xf8) == 0xb8 && ((x->op & 7) | (x->rex & 1) << 3) == reg;
	}
}

/* The latest instruction before the one `from` back that writes to a register, or NULL. */
static const struct up_native *find_writer(const struct up_recent *r, unsigned from, int reg,
					   unsigned *at)
{
	const struct up_native *i;

	for (unsigned back = from + 1; (i = before(r, back)); back++) {
		if (i->flow == UP_FLOW_CALL)
			return NULL;
		if (writes(&i->x86, reg)) {
			*at = back;
			return i;
		}
	}
	return NULL;
}

/* The address that an instruction puts into a register. */
static bool read_address(const struct up_native *i, uint64_t *out)
{
	const struct up_x86 *x = &i->x86;

	if (x->op == 0x8d && x->base == UP_X86_PC)
		*out = i->addr + i->len + (uint64_t)x->disp;
	else if ((x->op & 0xf8) == 0xb8 || (x->op == 0xc7 && x->mod == 3))
		*out = (uint64_t)x->imm;
	else
		return false;
	if (!x->is64 || ((x->op & 0xf8) == 0xb8 && !(x->rex & 8)))
		*out = (uint32_t)*out;
	return true;
}

enum entry { ENTRY_NONE, ENTRY_CODE, ENTRY_IMPORT, ENTRY_WRONG };

/* Entry `i` of a table of addresses. */
static enum entry read_entry(const struct up_elf *e, uint64_t table, unsigned i, uint64_t *out)
{
	unsigned word = e->is64 ? 8 : 4;
	struct up_elf_span span = up_elf_at_addr(e, table + i * word);
	bool is_import = false;

	*out = 0;
	if (!span.s || span.len < word)
		return ENTRY_WRONG;
	memcpy(out, span.s, word);
	if (!*out && !up_elf_reloc_value(e, table + i * word, out, &is_import))
		return is_import ? ENTRY_IMPORT : ENTRY_NONE;
	return up_elf_is_code(e, *out) ? ENTRY_CODE : ENTRY_WRONG;
}

/* What the first entries of a table of addresses lead to; those of functions may be empty. */
static enum up_lead judge_table(struct up_elf_body *b, uint64_t table)
{
	unsigned nr_outside = 0;
	enum entry entry;
	uint64_t to;

	for (unsigned i = 0; i < MAX_ENTRIES; i++) {
		entry = read_entry(b->e, table, i, &to);
		if (entry == ENTRY_IMPORT)
			return UP_LEAD_OUTSIDE;
		if (entry == ENTRY_WRONG)
			break;
		if (entry == ENTRY_CODE && to != b->addr && up_elf_body_part(b, to))
			return UP_LEAD_INSIDE;
		nr_outside += entry == ENTRY_CODE;
	}
	return nr_outside >= 2 ? UP_LEAD_OUTSIDE : UP_LEAD_UNKNOWN;
}

/* A jump to, or a load of, what memory at a place with an index holds. */
static enum up_lead judge_indexed(struct up_elf_body *b, const struct up_recent *r, unsigned at,
				  const struct up_x86 *x)
{
	uint64_t base = 0;

	if (x->base != UP_X86_NONE) {
		unsigned found;
		const struct up_native *i = find_writer(r, at, x->base, &found);

		if (!i)
			return UP_LEAD_UNKNOWN;
		/* Tables of a function's own places are at addresses that it knows. */
		if (!read_address(i, &base))
			return i->x86.op == 0x8b ? UP_LEAD_LOADED : UP_LEAD_UNKNOWN;
	}
	return judge_table(b, base + (uint64_t)x->disp);
}

/* A jump to, or a load of, what memory holds. */
static enum up_lead judge_memory(struct up_elf_body *b, const struct up_recent *r, unsigned at,
				 const struct up_x86 *x)
{
	if (x->index == UP_X86_NONE)
		return x->base == UP_X86_PC || x->base == UP_X86_NONE ? UP_LEAD_OUTSIDE
								      : UP_LEAD_LOADED;
	return x->scale == 1 ? UP_LEAD_LOADED : judge_indexed(b, r, at, x);
}

static enum up_lead judge_address(struct up_elf_body *b, const struct up_native *i)
{
	uint64_t to;

	if (!read_address(i, &to))
		return UP_LEAD_UNKNOWN;
	return up_elf_body_part(b, to) ? UP_LEAD_INSIDE : UP_LEAD_LOADED;
}

static enum up_lead judge_register(struct up_elf_body *b, const struct up_recent *r, int reg)
{
	unsigned at;
	const struct up_native *i = find_writer(r, 0, reg, &at);

	if (!i)
		return UP_LEAD_LOADED;
	switch (i->x86.op) {
	case 0x01: /* a distance from a table, added to its address */
	case 0x03:
	case 0x29:
	case 0x2b:
		return UP_LEAD_INSIDE;
	case 0x8b:
		return i->x86.mod == 3 ? UP_LEAD_LOADED : judge_memory(b, r, at, &i->x86);
	case 0x89:
		return UP_LEAD_LOADED;
	default:
		return judge_address(b, i);
	}
}

enum up_lead up_elf_lead(struct up_elf_body *b, const struct up_recent *r, enum up_stack stack)
{
	const struct up_native *jump = before(r, 0);
	const struct up_x86 *x = &jump->x86;

	/* Nothing but the return address may be on the stack when another function takes over. */
	if (stack == UP_STACK_OTHER)
		return UP_LEAD_INSIDE;
	if (jump->machine == UP_M_AARCH64)
		return UP_LEAD_UNKNOWN;
	if (x->segment == 0x3e) /* notrack */
		return UP_LEAD_INSIDE;
	enum up_lead lead = x->mod == 3 ? judge_register(b, r, x->rm) : judge_memory(b, r, 0, x);
	return lead == UP_LEAD_LOADED && stack == UP_STACK_UNKNOWN ? UP_LEAD_UNKNOWN : lead;
}
