/* The checker's calls of built-in functions. */
#include "lang/check.h"
#include "lang/functions.h"

#include <string.h>

static struct up_type poison(struct up_node *n)
{
	return n->type = UP_TYPE_POISON;
}

static bool is_wide_unsigned(struct up_type t)
{
	return t.ty == TY_INT && t.bits == 64 && !t.is_signed;
}

static bool fits(char kind, struct up_type t)
{
	switch (kind) {
	case 'n':
		return t.ty == TY_INT || t.ty == TY_FLOAT;
	case 'i':
		return t.ty == TY_INT;
	case 'b':
		return t.ty == TY_STR || t.ty == TY_BYTES;
	default:
		return t.ty == TY_STR;
	}
}

static const char *kind_text(char kind)
{
	return kind == 'n'   ? "a number"
	       : kind == 'i' ? "an integer"
	       : kind == 'b' ? "a string or bytes"
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
	else if (arg->type.ty == TY_STR)
		up_diag_hint(cx->ds, "the number that a text begins with is int(%s)",
			     up_source_label(cx->ds, cx->ds->arena, arg->span));
	else if (arg->type.ty == TY_FLOAT)
		up_diag_hint(cx->ds, ":s64 behind a floating-point number cuts it to an integer");
	return false;
}

/* What several numbers become together: C's conversions. */
static struct up_type together(const struct up_node *args)
{
	struct up_type t = args->type;

	for (const struct up_node *a = args; a; a = a->next) {
		if (a->type.ty == TY_FLOAT)
			return UP_TYPE_FLOAT;
		if (a->type.bits == t.bits && a->type.show == t.show &&
		    a->type.is_signed == t.is_signed)
			continue;
		bool is_unsigned = is_wide_unsigned(a->type) || is_wide_unsigned(t);
		bool is_time = a->type.show == UP_SHOW_NS || t.show == UP_SHOW_NS;

		t = is_unsigned ? UP_TYPE_U64 : UP_TYPE_S64;
		if (is_time)
			t.show = UP_SHOW_NS;
	}
	return t;
}

static struct up_type result_type(const struct up_fn_row *row, const struct up_node *args)
{
	switch (row->result) {
	case 'n':
		return together(args);
	case '1':
		return args->type;
	case 'i':
		return UP_TYPE_S64;
	default:
		return UP_TYPE_STR;
	}
}

struct up_type up_check_fn(struct up_check *cx, struct up_node *n, const struct up_fn_row *row)
{
	unsigned nr = up_count_nodes(n->call.args), i = 0;
	size_t last = strlen(row->args) - 1;

	if (!up_check_list(cx, n->call.args))
		return poison(n);
	if (nr < row->min_args || nr > row->max_args) {
		up_error(cx->ds, n->span, E_ARG_COUNT, "`%s` is written %s", row->name, row->form);
		return poison(n);
	}
	for (const struct up_node *a = n->call.args; a; a = a->next, i++)
		if (!check_arg(cx, row, row->args[i < last ? i : last], a))
			return poison(n);
	if (row == &up_fn_rows[FN_SYM] && cx->where == UP_AT_BLOCK) {
		up_error(cx->ds, n->span, E_NO_HIT,
			 "the names of addresses are a process's, and this block has none");
		return poison(n);
	}
	n->sem = SEM_FN;
	n->ref = (uint32_t)(row - up_fn_rows);
	return n->type = result_type(row, n->call.args);
}
