/* The checker's statements, and the actions: print, printf, show, clear, stop. */
#include "lang/check.h"
#include "lang/functions.h"

#include <string.h>

bool up_check_list(struct up_check *cx, struct up_node *list)
{
	bool ok = true;

	for (; list; list = list->next)
		ok &= !up_is_poison(up_check_expr(cx, list));
	return ok;
}

void up_check_describe(struct up_check *cx, const struct up_node *list, const char ***labels,
		       struct up_type **types)
{
	unsigned nr = up_count_nodes(list), i = 0;

	*labels = up_newn(cx->plan_arena, const char *, nr);
	*types = up_newn(cx->plan_arena, struct up_type, nr);
	for (; list; list = list->next, i++) {
		(*labels)[i] = up_source_label(cx->ds, cx->plan_arena, list->span);
		(*types)[i] = list->type;
	}
}

/* Numbers a print or printf, of which there are `nr` so far; says so when it is the first too many.
 */
static void number_print(struct up_check *cx, struct up_node *call, enum up_sem sem, size_t nr)
{
	call->sem = sem;
	call->ref = (uint32_t)nr;
	if (nr == UP_PRINTS_MAX)
		up_error(cx->ds, call->span, E_LIMIT, "a script has at most %d calls of %s",
			 UP_PRINTS_MAX, call->call.name);
}

static void check_print(struct up_check *cx, struct up_node *call)
{
	struct up_plan_print p = { .nr = up_count_nodes(call->call.args) };

	up_check_list(cx, call->call.args);
	if (cx->ds->muted)
		return;
	up_check_describe(cx, call->call.args, &p.labels, &p.types);
	number_print(cx, call, SEM_PRINT, cx->prints.nr);
	up_vec_push(cx->plan_arena, &cx->prints, p);
}

static void check_printf(struct up_check *cx, struct up_node *call)
{
	struct up_plan_printf p = { 0 };
	struct up_node *fmt = call->call.args;

	if (!fmt || fmt->kind != ND_STR) {
		up_error(cx->ds, call->span, E_FORMAT, "printf begins with a format in quotes");
		up_diag_hint(cx->ds, "as in printf(\"%%d %%s\\n\", arg0, comm)");
		up_check_list(cx, fmt);
		return;
	}
	up_check_list(cx, fmt->next);
	if (cx->ds->muted || !up_check_format(cx, fmt, fmt->next, &p))
		return;
	number_print(cx, call, SEM_PRINTF, cx->printfs.nr);
	up_vec_push(cx->plan_arena, &cx->printfs, p);
}

static void check_stop(struct up_check *cx, struct up_node *call)
{
	struct up_node *code = call->call.args;

	up_check_list(cx, code);
	if (up_count_nodes(code) > 1)
		up_error(cx->ds, call->span, E_ARG_COUNT, "stop takes one exit status, or nothing");
	else if (code && code->type.ty != TY_INT && code->type.ty != TY_POISON)
		up_error(cx->ds, code->span, E_TYPE, "an exit status is a number");
	call->sem = SEM_STOP;
}

static void check_show(struct up_check *cx, struct up_node *call)
{
	up_check_store_call(cx, call, SEM_SHOW);
}

static void check_clear(struct up_check *cx, struct up_node *call)
{
	up_check_store_call(cx, call, SEM_CLEAR);
}

const struct up_action_row up_action_rows[] = {
	{ "print", "print(v, ...)", check_print,
	  "one line: when, who, where, then each value with its source text as label" },
	{ "printf", "printf(\"format\", v, ...)", check_printf, "exactly what the format says" },
	{ "show", "show(x)", check_show,
	  "shows an aggregation, a table or a variable now, as aggregations are shown at the end" },
	{ "clear", "clear(x)", check_clear,
	  "empties an aggregation or a table, makes a variable 0 or \"\"; an aggregation that was "
	  "cleared and gathered nothing since is not shown at the end" },
	{ "stop", "stop(), stop(code)", check_stop,
	  "ends the run after this block, with that exit status (0 to 255)" },
	{ NULL, NULL, NULL, NULL },
};

/* Words of other tracers, and what is written here. */
const char *up_foreign_word(const char *name)
{
	static const char *const words[][2] = {
		{ "exit", "to end the run write stop()" },
		{ "str", "the text that arg0 points to is arg0:string, a number as text dec(x)" },
		{ "kstr", "the text that arg0 points to is arg0:string" },
		{ "ustr", "the text that arg0 points to is arg0:string" },
		{ "buf", "N bytes at arg0 are arg0:bytes[N]" },
		{ "strlen", "the bytes of a string are len(s)" },
		{ "length", "the bytes of a string are len(s)" },
		{ "strcmp", "strings are compared with == and !=" },
		{ "strncmp",
		  "strings are compared with ==, with a glob by s ~ \"abc*\", in part by "
		  "substr(s, 0, 3) == \"abc\"" },
		{ "strcontains", "write s ~ \"*part*\"" },
		{ "contains", "write s ~ \"*part*\"" },
		{ "startswith", "write s ~ \"part*\"" },
		{ "has_prefix", "write s ~ \"part*\"" },
		{ "endswith", "write s ~ \"*part\"" },
		{ "strstr", "index(s, t) is where t stands first in s" },
		{ "strpos", "index(s, t) is where t stands first in s" },
		{ "isinstr", "write s ~ \"*part*\"" },
		{ "strjoin", "strings are joined with +" },
		{ "strcat", "strings are joined with +" },
		{ "sprintf", "strings are joined with +, numbers as text are dec(x) and hex(x)" },
		{ "tostring", "a number as text is dec(x) or hex(x)" },
		{ "strtok", "the n-th part of s is split(s, \" \", n)" },
		{ "tolower", "write lower(s)" },
		{ "toupper", "write upper(s)" },
		{ "strip", "write trim(s)" },
		{ "atoi", "the number that a text begins with is int(s)" },
		{ "strtol", "the number that a text begins with is int(s)" },
		{ "strtoull", "the number that a text begins with is int(s)" },
		{ "inet_ntop", "write ntop(b), as in ntop((arg1 + 4):bytes[4])" },
		{ "inet_ntoa", "write ntop(b), as in ntop((arg1 + 4):bytes[4])" },
		{ "bswap", "ntohs(x) and ntohl(x) turn round 16 and 32 bits" },
		{ "ctime", "write strftime(\"%c\", time)" },
		{ "log2", "hist(x) counts by powers of two" },
		{ "ksym", "an address as function+offset is sym(address)" },
		{ "symname", "an address as function+offset is sym(address)" },
		{ "usym", "an address as function+offset is arg0:sym" },
		{ "quantize", "a power-of-two histogram is hist(x)" },
		{ "lquantize", "a linear histogram is lhist(x, lo, hi, step)" },
		{ "stddev", "stats(x) has the standard deviation" },
		{ "hist_log", "a power-of-two histogram is hist(x)" },
		{ "hist_linear", "a linear histogram is lhist(x, lo, hi, step)" },
		{ "trace", "write print(...)" },
		{ "echo", "write print(...)" },
		{ "nsecs", "the time in ns is `time`" },
		{ "args", "the arguments are arg0, arg1, ..." },
		{ "uid", "who a process belongs to cannot be asked for" },
		{ "curtask", "the thread is `tid`" },
		{ NULL, NULL },
	};

	for (size_t i = 0; words[i][0]; i++)
		if (!strcmp(words[i][0], name))
			return words[i][1];
	return NULL;
}

static void unknown_action(struct up_check *cx, struct up_node *call)
{
	struct up_nearest near;
	const char *name = call->call.name;

	if (up_fn_find(name)) {
		up_error(cx->ds, call->span, E_NOT_ACTION,
			 "this computes a value and does nothing with it");
		up_diag_hint(cx->ds, "to see it: print(%s)",
			     up_source_label(cx->ds, cx->ds->arena, call->span));
		return;
	}
	up_error(cx->ds, call->call.name_span, E_UNKNOWN_FUNCTION,
		 "there is no action or aggregation `%s`", name);
	if (up_foreign_word(name)) {
		up_diag_hint(cx->ds, "%s", up_foreign_word(name));
		return;
	}
	up_nearest_init(&near, name, strlen(name));
	for (const struct up_action_row *r = up_action_rows; r->name; r++)
		up_nearest_offer(&near, r->name, strlen(r->name));
	for (const struct up_agg_row *const *r = cx->env->aggs; *r; r++)
		up_nearest_offer(&near, (*r)->name, strlen((*r)->name));
	up_diag_nearest(cx->ds, &near);
}

/* ---- statements ---- */

/* `by` and `top` belong to aggregations. */
static void check_no_keys(struct up_check *cx, const struct up_node *act)
{
	const struct up_node *what = act->act.by ? act->act.by : act->act.top;

	if (what)
		up_error(cx->ds, what->span, E_AGGREGATE,
			 "`by` and `top` belong behind an aggregation");
}

static void check_do(struct up_check *cx, struct up_node *act)
{
	struct up_node *call = act->act.rhs;

	if (call->kind != ND_CALL) {
		up_check_expr(cx, call);
		up_error(cx->ds, call->span, E_NOT_ACTION,
			 "this computes a value and does nothing with it");
		up_diag_hint(cx->ds, "to see it: print(%s)",
			     up_source_label(cx->ds, cx->ds->arena, call->span));
		return;
	}
	if (up_check_agg(cx, act))
		return;
	for (const struct up_action_row *r = up_action_rows; r->name; r++)
		if (!strcmp(r->name, call->call.name)) {
			check_no_keys(cx, act);
			r->check(cx, call);
			return;
		}
	up_check_list(cx, call->call.args);
	up_check_list(cx, act->act.by);
	unknown_action(cx, call);
}

static void check_assign(struct up_check *cx, struct up_node *act)
{
	if (up_check_agg(cx, act))
		return;
	check_no_keys(cx, act);
	up_check_assign_var(cx, act);
}

static void check_stmt(struct up_check *cx, struct up_node *n)
{
	switch (n->kind) {
	case ND_DO:
		check_do(cx, n);
		break;
	case ND_ASSIGN:
		check_assign(cx, n);
		break;
	case ND_IF:
		up_check_cond(cx, n->cond.cond);
		up_check_block(cx, n->cond.then);
		if (n->cond.els && n->cond.els->kind == ND_IF)
			check_stmt(cx, n->cond.els);
		else if (n->cond.els)
			up_check_block(cx, n->cond.els);
		break;
	case ND_DELETE:
		up_check_delete(cx, n);
		break;
	case ND_FOR:
		up_check_for(cx, n);
		break;
	default:
		break;
	}
}

void up_check_block(struct up_check *cx, struct up_node *block)
{
	for (struct up_node *n = block->block.stmts; n && !cx->is_full; n = n->next)
		check_stmt(cx, n);
}
