/* The verifier's view of registers: what each instruction reads and writes. */
#include <inttypes.h>
#include <string.h>

#include "lang/functions.h"
#include "lang/verify_int.h"

static bool has(const uint64_t *set, unsigned r)
{
	return set[r / 64] >> (r % 64) & 1;
}

static void put(uint64_t *set, unsigned r, bool is_in)
{
	uint64_t bit = (uint64_t)1 << (r % 64);

	set[r / 64] = is_in ? set[r / 64] | bit : set[r / 64] & ~bit;
}

/* What the bytes were borrowed from has changed. */
void up_verify_forget(struct up_verify_state *s)
{
	memcpy(s->written, s->keys, sizeof(s->written));
}

static bool reads_any(struct up_verify *v, const struct up_verify_state *s, unsigned r)
{
	if (r >= v->prog->nr_regs)
		return up_verify_bad(v, "register %u of %u is read", r, v->prog->nr_regs);
	return has(s->written, r) ||
	       up_verify_bad(v, "register %u is read before it is written", r);
}

static bool reads(struct up_verify *v, const struct up_verify_state *s, unsigned r, bool bytes)
{
	if (!reads_any(v, s, r))
		return false;
	return has(s->bytes, r) == bytes ||
	       up_verify_bad(v, "register %u holds %s", r, bytes ? "a number" : "bytes");
}

/* Values in a row of registers, of these types. */
static bool reads_list(struct up_verify *v, const struct up_verify_state *s, unsigned first,
		       const struct up_type *types, uint32_t nr)
{
	for (uint32_t k = 0; k < nr; k++)
		if (!reads(v, s, first + k, up_ty_has_bytes(types[k].ty)))
			return false;
	return true;
}

bool up_verify_write(struct up_verify *v, struct up_verify_state *s, unsigned r, bool bytes)
{
	if (r >= v->prog->nr_regs)
		return up_verify_bad(v, "register %u of %u is written", r, v->prog->nr_regs);
	if (has(s->keys, r))
		return up_verify_bad(v, "register %u is the key of a loop", r);
	put(s->written, r, true);
	put(s->bytes, r, bytes);
	return true;
}

/* ---- what is read and written ---- */

static bool var_has_bytes(const struct up_plan *p, unsigned i)
{
	return up_ty_has_bytes(p->vars[i].type.ty);
}

static bool result_has_bytes(const struct up_plan *p, const struct up_insn *i)
{
	const struct up_plan_agg *a = &p->aggs[i->b];
	struct up_agg_cx cx = up_plan_agg_cx(a);

	return up_ty_has_bytes(a->row->field_type(i->d, &cx).ty);
}

static bool reads_printf(struct up_verify *v, const struct up_verify_state *s,
			 const struct up_insn *i)
{
	const struct up_plan_printf *f = &v->p->printfs[i->b];
	unsigned r = i->a;

	for (uint32_t k = 0; k < f->nr_pieces; k++)
		if (f->pieces[k].conv && !reads(v, s, r++, up_ty_has_bytes(f->pieces[k].type.ty)))
			return false;
	return r - i->a == f->nr ||
	       up_verify_bad(v, "%u values are formatted of %" PRIu32, r - i->a, f->nr);
}

/* The keys of a row, from register c on. */
static bool reads_keys(struct up_verify *v, const struct up_verify_state *s,
		       const struct up_insn *i)
{
	const struct up_plan *p = v->p;

	if (i->op == OP_RESULT || i->op == OP_DELGROUP)
		return reads_list(v, s, i->c, p->aggs[i->b].key_types, p->aggs[i->b].nr_keys);
	return reads_list(v, s, i->c, p->vars[i->b].key_types, p->vars[i->b].nr_keys);
}

static bool reads_agg(struct up_verify *v, const struct up_verify_state *s, const struct up_insn *i)
{
	const struct up_plan_agg *a = &v->p->aggs[i->b];

	return reads_list(v, s, i->a, a->key_types, a->nr_keys) &&
	       reads_list(v, s, i->a + a->nr_keys, a->arg_types, a->nr_args);
}

/* Of a function: from register a on, each as its row says. */
static bool reads_arguments(struct up_verify *v, const struct up_verify_state *s,
			    const struct up_insn *i)
{
	const char *kind = up_fn_rows[i->b].args;

	for (unsigned k = 0; k < i->c; k++) {
		if (!reads(v, s, i->a + k, *kind != 'n' && *kind != 'i'))
			return false;
		kind += kind[1] != 0;
	}
	return true;
}

static bool takes_bytes(unsigned op)
{
	return op == OP_STREQ || op == OP_STRNE || op == OP_STRMATCH || op == OP_STRTRUTH;
}

/* Registers b and c, of an instruction without a rule of its own. */
static bool reads_sources(struct up_verify *v, const struct up_verify_state *s,
			  const struct up_insn *i)
{
	const char *kinds = up_verify_kinds[i->op];
	bool bytes = takes_bytes(i->op);

	return (kinds[1] != 'r' || reads(v, s, i->b, bytes)) &&
	       (kinds[2] != 'r' || reads(v, s, i->c, bytes));
}

static bool check_reads(struct up_verify *v, const struct up_verify_state *s,
			const struct up_insn *i)
{
	const struct up_plan *p = v->p;

	switch (i->op) {
	case OP_MOVE:
		return reads_any(v, s, i->b);
	case OP_HEAD:
		return reads(v, s, i->b, true) && reads(v, s, i->c, false);
	case OP_GUARD:
		return reads_any(v, s, i->a) && reads(v, s, i->b, false);
	case OP_TEXT:
	case OP_CHARS:
	case OP_BYTES:
	case OP_ARRAY:
		return reads(v, s, i->a + 1u, false);
	case OP_JUMPZ:
	case OP_JUMPNZ:
	case OP_STOP:
		return reads(v, s, i->a, false);
	case OP_SAVE:
		return reads(v, s, i->a, i->c);
	case OP_SETVAR:
	case OP_SETTVAR:
		return reads(v, s, i->a, var_has_bytes(p, i->b));
	case OP_SETROW:
		return reads(v, s, i->a, var_has_bytes(p, i->b)) && reads_keys(v, s, i);
	case OP_ROW:
	case OP_DELROW:
	case OP_RESULT:
	case OP_DELGROUP:
		return reads_keys(v, s, i);
	case OP_PRINT:
		return reads_list(v, s, i->a, p->prints[i->b].types, p->prints[i->b].nr);
	case OP_PRINTF:
		return reads_printf(v, s, i);
	case OP_AGG:
		return reads_agg(v, s, i);
	case OP_CALL:
		return reads_arguments(v, s, i);
	default:
		return reads_sources(v, s, i);
	}
}

/* Does it leave bytes in register a? */
static bool makes_bytes(const struct up_verify *v, const struct up_verify_state *s,
			const struct up_insn *i)
{
	switch (i->op) {
	case OP_SCONST:
	case OP_ARGSTR:
	case OP_TEXT:
	case OP_CHARS:
	case OP_BYTES:
	case OP_ARRAY:
	case OP_SYM:
	case OP_SITE:
	case OP_HEAD:
		return true;
	case OP_PEEK:
		return (i->c & 0xff) != UP_PEEK_NUMBER;
	case OP_SAVED:
		return i->c;
	case OP_VAR:
	case OP_TVAR:
	case OP_ROW:
		return var_has_bytes(v->p, i->b);
	case OP_RESULT:
		return result_has_bytes(v->p, i);
	case OP_CALL:
		return up_fn_rows[i->b].result == 's';
	case OP_MOVE:
		return has(s->bytes, i->b);
	case OP_GUARD:
		return has(s->bytes, i->a);
	default:
		return false;
	}
}

/* Instructions that write no register though their first operand is one, or not this way. */
static bool leaves_first(unsigned op)
{
	return op == OP_JUMPZ || op == OP_JUMPNZ || op == OP_SAVE || op == OP_STOP ||
	       op == OP_SETVAR || op == OP_SETTVAR || op == OP_SETROW || op == OP_PRINT ||
	       op == OP_PRINTF || op == OP_AGG || op == OP_NEXT;
}

static bool changes_stores(unsigned op)
{
	return op == OP_SETVAR || op == OP_SETTVAR || op == OP_SETROW || op == OP_DELROW ||
	       op == OP_DELGROUP || op == OP_CLEAR || op == OP_AGG || op == OP_SAVE ||
	       op == OP_ENTER;
}

bool up_verify_registers(struct up_verify *v, struct up_verify_state *s, const struct up_insn *i)
{
	if (!check_reads(v, s, i))
		return false;
	if (changes_stores(i->op))
		up_verify_forget(s);
	if (up_verify_kinds[i->op][0] != 'r' || leaves_first(i->op))
		return true;
	return up_verify_write(v, s, i->a, makes_bytes(v, s, i));
}
