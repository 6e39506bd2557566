/* The verifier's view of single instructions: operands in their ranges, and what belongs to them.
 */
#include <inttypes.h>

#include "lang/functions.h"
#include "lang/verify_int.h"

#define MAX_FETCHED 4096 /* bytes that are read at one address, at most */

const char *const up_verify_kinds[] = {
#define UP_OPCODE(op, name, operands) operands,
#include "lang/opcodes.def"
#undef UP_OPCODE
};

static const char *const names_of[] = {
#define UP_OPCODE(op, name, operands) name,
#include "lang/opcodes.def"
#undef UP_OPCODE
};

bool up_verify_bad(struct up_verify *v, const char *fmt, ...)
{
	const struct up_insn *i = &v->prog->code[v->at];
	va_list ap;

	up_buf_printf(v->why, "instruction %" PRIu32 " (%s): ", v->at,
		      i->op < OP_COUNT ? names_of[i->op] : "unknown");
	va_start(ap, fmt);
	up_buf_vprintf(v->why, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- operands ---- */

static bool below(struct up_verify *v, const char *what, uint64_t n, uint64_t nr)
{
	if (n < nr)
		return true;
	return up_verify_bad(v, "%s %" PRIu64 " of %" PRIu64, what, n, nr);
}

static bool check_arg(struct up_verify *v, unsigned i)
{
	if (!v->event)
		return up_verify_bad(v, "a block without a hit has no event");
	return below(v, "event argument", i, v->event->nr_args);
}

/* A number has no bytes: it must not be taken for a text that is somewhere. */
static bool check_const(struct up_verify *v, uint32_t i, bool is_text)
{
	if (!below(v, "constant", i, v->p->nr_consts))
		return false;
	const struct up_value *c = &v->p->consts[i];
	return (!c->flags && (!c->len || (is_text && c->p))) ||
	       up_verify_bad(v, "constant %" PRIu32 " is of another kind", i);
}

static bool check_store(struct up_verify *v, unsigned store)
{
	if (up_store_is_agg(store))
		return below(v, "aggregation", up_store_index(store), v->p->nr_aggs);
	return below(v, "variable", up_store_index(store), v->p->nr_vars);
}

/* An operand that is neither a register nor a jump's target. */
static bool check_operand(struct up_verify *v, char kind, const struct up_insn *i, unsigned n)
{
	switch (kind) {
	case 'k':
	case 'q':
	case 'z':
		return check_const(v, up_insn_wide(i), kind == 'z');
	case 'f':
		return check_arg(v, n);
	case 's':
		return below(v, "text of a place", n, UP_SITE_OFFSET + 1u) &&
		       (v->event || up_verify_bad(v, "a block without a hit has no place"));
	case 'x':
		return below(v, "value of a hit", n, UP_CX_DEPTH + 1u);
	case 't':
		return below(v, "width", n & 0xff, 65);
	case 'P':
		return below(v, "print", n, v->p->nr_prints);
	case 'F':
		return below(v, "printf", n, v->p->nr_printfs);
	case 'G':
		return below(v, "aggregation", n, v->p->nr_aggs);
	case 'V':
		return below(v, "variable", n, v->p->nr_vars);
	case 'S':
		return check_store(v, n);
	case 'C':
		return below(v, "function", n, FN_COUNT);
	case 'i':
		return below(v, "loop", n, UP_LOOPS_MAX);
	default:
		return true;
	}
}

static bool check_ranges(struct up_verify *v, const struct up_insn *i)
{
	const unsigned n[] = { i->a, i->b, i->c };
	const char *kinds = up_verify_kinds[i->op];

	for (unsigned k = 0; k < 3 && kinds[k]; k++)
		if (!check_operand(v, kinds[k], i, n[k]))
			return false;
	return true;
}

/* ---- what an instruction does beyond its operands ---- */

static bool check_pieces(struct up_verify *v, const struct up_insn *i)
{
	uint32_t bytes = 0, arg = i->b;
	uint32_t want = i->d + (i->op == OP_TEXT ? 1u : 0u); /* the NUL */
	bool counted = i->op != OP_ARRAY;

	if (!counted && !up_verify_is_width(i->c))
		return up_verify_bad(v, "elements of %u bytes", i->c);
	if (want > MAX_FETCHED)
		return up_verify_bad(v, "%u bytes are more than are read at once", want);
	for (unsigned k = 0; counted ? k < i->c : bytes < want; k++, arg++) {
		if (!check_arg(v, arg))
			return false;
		if (!v->event->args[arg].size)
			return up_verify_bad(v, "event argument %u is no number", arg);
		bytes += v->event->args[arg].size;
	}
	return bytes >= want || up_verify_bad(v, "%u bytes are read of %u", want, bytes);
}

static bool check_number_arg(struct up_verify *v, const struct up_insn *i)
{
	return up_verify_is_width(v->event->args[i->b].size) ||
	       up_verify_bad(v, "event argument %u is no number", i->b);
}

static bool check_string_arg(struct up_verify *v, const struct up_insn *i)
{
	return !v->event->args[i->b].size ||
	       up_verify_bad(v, "event argument %u is no string", i->b);
}

static bool check_scope(struct up_verify *v, const struct up_insn *i)
{
	enum up_var_scope scope = v->p->vars[i->b].scope;
	bool is_thread = i->op == OP_TVAR || i->op == OP_SETTVAR;
	bool is_row = i->op == OP_ROW || i->op == OP_SETROW || i->op == OP_DELROW;
	enum up_var_scope want = is_thread ? UP_VAR_THREAD : is_row ? UP_VAR_TABLE : UP_VAR_GLOBAL;

	if (is_thread && !v->event)
		return up_verify_bad(v, "a block without a hit has no thread");
	return scope == want ||
	       up_verify_bad(v, "the variable `%s` is of another scope", v->p->vars[i->b].name);
}

/* The size of what is read late, and how it is taken. */
static bool check_peek(struct up_verify *v, const struct up_insn *i)
{
	unsigned what = i->c & 0xff, unit = i->c >> 8;

	if (!v->event)
		return up_verify_bad(v, "a block without a hit has no program to read");
	if (!below(v, "way of reading", what, UP_PEEK_ARRAY + 1u))
		return false;
	if (what == UP_PEEK_NUMBER ? !up_verify_is_width(i->d) : i->d > MAX_FETCHED)
		return up_verify_bad(v, "%u bytes are read", i->d);
	return (what == UP_PEEK_ARRAY ? up_verify_is_width(unit) : !unit) ||
	       up_verify_bad(v, "elements of %u bytes", unit);
}

/* What is kept with a call. Only an entry keeps: what a return finds may be gone at the next. */
static bool check_slot(struct up_verify *v, const struct up_insn *i)
{
	enum up_pairing calls = v->prog->calls;

	if (calls == UP_CALLS_NONE || (i->op == OP_SAVE && calls != UP_CALLS_ENTER))
		return up_verify_bad(v, "there is no call");
	return calls != UP_CALLS_ENTER || below(v, "slot", i->b, v->prog->nr_saved);
}

/* Only globals and tables can be shown and cleared; only tables have rows. */
static bool check_shown(struct up_verify *v, const struct up_insn *i)
{
	if (up_store_is_agg(i->b))
		return true;
	const struct up_plan_var *var = &v->p->vars[up_store_index(i->b)];
	bool has_rows = i->op == OP_LEN || i->op == OP_LOOP;
	return var->scope == UP_VAR_TABLE || (!has_rows && var->scope == UP_VAR_GLOBAL) ||
	       up_verify_bad(v, "the variable `%s` is of another scope", var->name);
}

static bool check_result(struct up_verify *v, const struct up_insn *i)
{
	return below(v, "result", i->d, v->p->aggs[i->b].row->nr_fields);
}

static bool check_call(struct up_verify *v, const struct up_insn *i)
{
	const struct up_fn_row *f = &up_fn_rows[i->b];

	if (i->b == FN_SYM)
		return up_verify_bad(v, "this function has an instruction of its own");
	return (i->c >= f->min_args && i->c <= f->max_args) ||
	       up_verify_bad(v, "%u arguments", i->c);
}

static bool check_more(struct up_verify *v, const struct up_insn *i)
{
	switch (i->op) {
	case OP_ARG:
		return check_number_arg(v, i);
	case OP_ARGSTR:
		return check_string_arg(v, i);
	case OP_TEXT:
	case OP_CHARS:
	case OP_BYTES:
	case OP_ARRAY:
		return check_pieces(v, i);
	case OP_VAR:
	case OP_SETVAR:
	case OP_TVAR:
	case OP_SETTVAR:
	case OP_ROW:
	case OP_SETROW:
	case OP_DELROW:
		return check_scope(v, i);
	case OP_SAVE:
	case OP_SAVED:
		return check_slot(v, i);
	case OP_PEEK:
		return check_peek(v, i);
	case OP_SYM:
		return v->event ||
		       up_verify_bad(v, "a block without a hit has no program to look into");
	case OP_LEN:
	case OP_LOOP:
	case OP_SHOW:
	case OP_CLEAR:
		return check_shown(v, i);
	case OP_RESULT:
		return check_result(v, i);
	case OP_NEXT:
		return below(v, "loop", i->d, UP_LOOPS_MAX);
	case OP_CALL:
		return check_call(v, i);
	default:
		return true;
	}
}

bool up_verify_operands(struct up_verify *v, const struct up_insn *i)
{
	return check_ranges(v, i) && check_more(v, i);
}
