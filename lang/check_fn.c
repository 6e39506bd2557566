/* The checker's calls of built-in functions. */
#include "lang/check.h"
#include "lang/fold.h"
#include "lang/functions.h"

#include <string.h>

static bool fits(char kind, struct up_type t)
{
	switch (kind) {
	case 'n':
		return up_type_is_number(t);
	case 'i':
		return t.ty == TY_INT;
	case 'b':
		return t.ty == TY_STR || t.ty == TY_BYTES;
	case 'y':
		return t.ty == TY_BYTES;
	default:
		return t.ty == TY_STR;
	}
}

static const char *kind_text(char kind)
{
	return kind == 'n'   ? "a number"
	       : kind == 'i' ? "an integer"
	       : kind == 'b' ? "a string or bytes"
	       : kind == 'y' ? "bytes"
			     : "a string";
}

static bool check_arg(struct up_check *cx, const struct up_fn_row *row, char kind,
		      const struct up_node *arg)
{
	if (fits(kind, arg->type))
		return true;
	up_error(cx->ds, arg->span, E_TYPE, "`%s` takes %s here, not %s", row->name,
		 kind_text(kind), up_kind_name(arg->type));
	if ((kind == 's' || kind == 'b') && arg->type.ty == TY_INT)
		up_diag_hint(
			cx->ds,
			"if it is the address of text, write %s:string; its digits are dec(%s)",
			up_source_label(cx->ds, cx->ds->arena, arg->span),
			up_source_label(cx->ds, cx->ds->arena, arg->span));
	else if (kind == 'y')
		up_diag_hint(cx->ds, "read them at an address: (arg1 + 4):bytes[4]");
	else if (arg->type.ty == TY_STR)
		up_diag_hint(cx->ds, "the number that a text begins with is int(%s)",
			     up_source_label(cx->ds, cx->ds->arena, arg->span));
	else if (arg->type.ty == TY_FLOAT)
		up_diag_hint(cx->ds, ":s64 behind a floating-point number cuts it to an integer");
	return false;
}

/* What several numbers become together; nothing is known while all of them are unknown. */
static struct up_type together(const struct up_check *cx, const struct up_node *args)
{
	struct up_type t = UP_TYPE_UNKNOWN;
	bool is_open = false; /* is one of them unknown? */

	for (const struct up_node *a = args; a; a = a->next)
		is_open |= a->type.ty == TY_UNKNOWN;
	for (const struct up_node *a = args; a; a = a->next) {
		struct up_type next = is_open ? up_known_type(cx, a) : a->type;

		if (next.ty != TY_UNKNOWN)
			t = t.ty == TY_UNKNOWN ? next : up_either_type(t, next);
	}
	return t;
}

/* The first argument's, as wide as results are. */
static struct up_type widened(struct up_type t)
{
	struct up_type wide = up_arithmetic_type(t, UP_TYPE_S64);

	if (t.ty == TY_UNKNOWN)
		return t;
	if (t.show == UP_SHOW_NS)
		wide.show = UP_SHOW_NS;
	return wide;
}

static struct up_type result_type(const struct up_check *cx, const struct up_fn_row *row,
				  const struct up_node *args)
{
	switch (row->result) {
	case 'n':
		return together(cx, args);
	case '1':
		return widened(args->type);
	case 'i':
		return UP_TYPE_S64;
	default:
		return UP_TYPE_STR;
	}
}

/* False after a diagnostic. Of what is unknown yet nothing is said. */
static bool check_args(struct up_check *cx, struct up_node *n, const struct up_fn_row *row)
{
	unsigned nr = up_count_nodes(n->call.args), i = 0;
	size_t last = strlen(row->args) - 1;
	bool ok = true;

	for (struct up_node *a = n->call.args; a; a = a->next)
		ok &= up_check_expr(cx, a).ty != TY_POISON;
	if (!ok)
		return false;
	if (nr < row->min_args || nr > row->max_args)
		return up_error(cx->ds, n->span, E_ARG_COUNT, "`%s` is written %s", row->name,
				row->form);
	for (const struct up_node *a = n->call.args; a; a = a->next, i++)
		if (a->type.ty != TY_UNKNOWN &&
		    !check_arg(cx, row, row->args[i < last ? i : last], a))
			return false;
	return true;
}

struct up_type up_check_fn(struct up_check *cx, struct up_node *n, const struct up_fn_row *row)
{
	if (!check_args(cx, n, row))
		return up_poison(n);
	if (row == &up_fn_rows[FN_SYM] && cx->where == UP_AT_BLOCK) {
		up_error(cx->ds, n->span, E_NO_HIT,
			 "the names of addresses are a process's, and this block has none");
		return up_poison(n);
	}
	if (row == &up_fn_rows[FN_BUCKET] && up_is_const_zero(n->call.args->next))
		up_error(cx->ds, n->call.args->next->span, W_DIVISION_BY_ZERO,
			 "there are no multiples of 0; the result is always 0");
	n->sem = SEM_FN;
	n->ref = (uint32_t)(row - up_fn_rows);
	return n->type = result_type(cx, row, n->call.args);
}
