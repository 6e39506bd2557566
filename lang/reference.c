/* The reference: tables over the rows of the language. */
#include "lang/reference.h"

#include <string.h>

#include "lang/check.h"
#include "lang/functions.h"
#include "lang/keywords.h"
#include "lang/types.h"
#include "lang/values.h"

/* ---- the rows of each table ---- */

/* A type as the language writes it. */
static const char *type_word(struct up_type t)
{
	if (t.ty == TY_STR)
		return "string";
	if (t.ty != TY_INT)
		return NULL;
	return t.show == UP_SHOW_HEX ? "x64" : t.is_signed ? "s64" : "u64";
}

static bool keyword_entry(const struct up_agg_row *const *aggs, unsigned i, struct up_ref_entry *e,
			  struct up_buf *scratch)
{
	(void)aggs;
	(void)scratch;
	for (const struct up_keyword_row *r = up_keyword_rows; r->text; r++)
		if (r->form && !i--) {
			*e = (struct up_ref_entry){ r->text, r->form, NULL, r->help };
			return true;
		}
	return false;
}

static bool value_entry(const struct up_agg_row *const *aggs, unsigned i, struct up_ref_entry *e,
			struct up_buf *scratch)
{
	const struct up_val_form *f = up_val_forms;

	(void)aggs;
	(void)scratch;
	for (; f->form; f++)
		if (!i--) {
			*e = (struct up_ref_entry){ f->name, f->form, f->type, f->help };
			return true;
		}
	if (i >= VAL_COUNT)
		return false;
	const struct up_val_row *r = &up_val_rows[i];
	*e = (struct up_ref_entry){ r->name, r->name, type_word(r->type), r->help };
	return true;
}

static bool type_entry(const struct up_agg_row *const *aggs, unsigned i, struct up_ref_entry *e,
		       struct up_buf *scratch)
{
	const struct up_type_row *r = up_type_rows;

	(void)aggs;
	(void)scratch;
	for (; r->name; r++)
		if (!i--) {
			*e = (struct up_ref_entry){ r->name, r->name, NULL, r->help };
			return true;
		}
	for (const struct up_type_form *f = up_type_forms; f->form; f++)
		if (!i--) {
			*e = (struct up_ref_entry){ f->name, f->form, NULL, f->help };
			return true;
		}
	return false;
}

static bool aggregate_entry(const struct up_agg_row *const *aggs, unsigned i,
			    struct up_ref_entry *e, struct up_buf *scratch)
{
	for (unsigned k = 0; k < i; k++)
		if (!aggs[k])
			return false;
	if (!aggs[i])
		return false;
	up_buf_reset(scratch);
	for (unsigned f = 0; f < aggs[i]->nr_fields; f++)
		up_buf_printf(scratch, "%s%s", f ? " " : "", aggs[i]->fields[f].name);
	*e = (struct up_ref_entry){ aggs[i]->name, aggs[i]->signature, scratch->s, aggs[i]->help };
	return true;
}

static bool action_entry(const struct up_agg_row *const *aggs, unsigned i, struct up_ref_entry *e,
			 struct up_buf *scratch)
{
	(void)aggs;
	(void)scratch;
	for (const struct up_action_row *r = up_action_rows; r->name; r++)
		if (!i--) {
			*e = (struct up_ref_entry){ r->name, r->form, NULL, r->help };
			return true;
		}
	return false;
}

static bool function_entry(const struct up_agg_row *const *aggs, unsigned i, struct up_ref_entry *e,
			   struct up_buf *scratch)
{
	(void)aggs;
	(void)scratch;
	if (i >= FN_COUNT)
		return false;
	const struct up_fn_row *r = &up_fn_rows[i];
	*e = (struct up_ref_entry){ r->name ? r->name : "+", r->form, NULL, r->help };
	return true;
}

static bool diag_entry(const struct up_agg_row *const *aggs, unsigned i, struct up_ref_entry *e,
		       struct up_buf *scratch)
{
	char name[UP_TAG_NAME_MAX];

	(void)aggs;
	if (i >= E_COUNT)
		return false;
	up_buf_reset(scratch);
	up_buf_puts(scratch, up_diag_tag_name((enum up_diag_tag)i, name));
	size_t len = scratch->len;
	up_buf_putc(scratch, 0);
	up_buf_printf(scratch, "%s%s", up_diag_summary((enum up_diag_tag)i),
		      up_diag_is_error((enum up_diag_tag)i) ? "" : " (a warning)");
	if (!scratch->s)
		return false;
	*e = (struct up_ref_entry){ scratch->s, scratch->s, NULL, scratch->s + len + 1 };
	return true;
}

const struct up_ref_table up_ref_tables[] = {
	{ "words", "Words", { "word", NULL, "is" }, keyword_entry },
	{ "values", "Values", { "value", "type", "is" }, value_entry },
	{ "types", "Types", { "type", NULL, "is" }, type_entry },
	{ "actions", "Actions", { "action", NULL, "does" }, action_entry },
	{ "aggregates", "Aggregates", { "aggregate", "results by name", "is" }, aggregate_entry },
	{ "functions", "Functions", { "function", NULL, "is" }, function_entry },
	{ "diagnostics", "Diagnostics", { "tag", NULL, "is" }, diag_entry },
	{ NULL, NULL, { NULL, NULL, NULL }, NULL },
};

const struct up_ref_table *up_ref_find(const char *name)
{
	for (const struct up_ref_table *t = up_ref_tables; t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

/* ---- forms ---- */

/* In code quotes; the bars would end a cell. */
static void cell(struct up_buf *out, const char *s, bool is_code)
{
	up_buf_puts(out, is_code && *s ? "`" : "");
	for (; *s; s++)
		if (*s == '|')
			up_buf_puts(out, "\\|");
		else
			up_buf_putc(out, *s);
	if (is_code && out->s && out->s[out->len - 1] != ' ')
		up_buf_putc(out, '`');
}

static void row(struct up_buf *out, const struct up_ref_table *t, const struct up_ref_entry *e)
{
	up_buf_puts(out, "| ");
	cell(out, e->form, true);
	up_buf_puts(out, " | ");
	if (t->head[1]) {
		cell(out, e->more ? e->more : "", false);
		up_buf_puts(out, " | ");
	}
	cell(out, e->help, false);
	up_buf_puts(out, " |\n");
}

void up_ref_markdown(const struct up_ref_table *t, const struct up_agg_row *const *aggs,
		     struct up_buf *out)
{
	struct up_buf scratch = { 0 };
	struct up_ref_entry e;

	up_buf_printf(out, "| %s | ", t->head[0]);
	if (t->head[1])
		up_buf_printf(out, "%s | ", t->head[1]);
	up_buf_printf(out, "%s |\n| --- | %s--- |\n", t->head[2], t->head[1] ? "--- | " : "");
	for (unsigned i = 0; t->entry(aggs, i, &e, &scratch); i++)
		row(out, t, &e);
	up_buf_fini(&scratch);
}

void up_roff(struct up_buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '-' ||
		    ((*s == '.' || *s == '\'') && (!out->len || out->s[out->len - 1] == '\n')))
			up_buf_puts(out, *s == '\\'  ? "\\e"
					 : *s == '-' ? "\\-"
					 : *s == '.' ? "\\&."
						     : "\\(aq");
		else if (*s == '\'')
			up_buf_puts(out, "\\(aq");
		else
			up_buf_putc(out, *s);
	}
}

void up_ref_man(const struct up_ref_table *t, const struct up_agg_row *const *aggs,
		struct up_buf *out)
{
	struct up_buf scratch = { 0 };
	struct up_ref_entry e;

	up_buf_puts(out, ".SH ");
	for (const char *s = t->title; *s; s++)
		up_buf_putc(out, *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s);
	up_buf_putc(out, '\n');
	for (unsigned i = 0; t->entry(aggs, i, &e, &scratch); i++) {
		up_buf_puts(out, ".TP\n.B ");
		up_roff(out, e.form);
		up_buf_putc(out, '\n');
		if (e.more)
			up_buf_printf(out, "(%s) ", e.more);
		up_roff(out, e.help);
		up_buf_putc(out, '\n');
	}
	up_buf_fini(&scratch);
}

bool up_ref_word(const char *word, const struct up_agg_row *const *aggs, struct up_buf *out)
{
	struct up_buf scratch = { 0 };
	struct up_ref_entry e;
	bool found = false;

	for (const struct up_ref_table *t = up_ref_tables; t->name; t++)
		for (unsigned i = 0; t->entry(aggs, i, &e, &scratch); i++) {
			if (strcmp(e.name, word))
				continue;
			found = true;
			up_buf_printf(out, "%s  (%s)\n    %s\n", e.form, t->name, e.help);
			if (e.more)
				up_buf_printf(out, "    %s: %s\n", t->head[1], e.more);
		}
	up_buf_fini(&scratch);
	return found;
}

void up_ref_words(const struct up_agg_row *const *aggs, struct up_buf *out)
{
	struct up_buf scratch = { 0 };
	struct up_ref_entry e;

	for (const struct up_ref_table *t = up_ref_tables; t->name; t++) {
		size_t column = 0;

		up_buf_printf(out, "%s\n   ", t->title);
		for (unsigned i = 0; t->entry(aggs, i, &e, &scratch); i++) {
			column += strlen(e.name) + 1;
			if (column > 74) {
				up_buf_puts(out, "\n   ");
				column = strlen(e.name) + 1;
			}
			up_buf_printf(out, " %s", e.name);
		}
		up_buf_puts(out, "\n");
	}
	up_buf_fini(&scratch);
}

void up_ref_offer(const struct up_agg_row *const *aggs, struct up_nearest *near)
{
	struct up_buf scratch = { 0 };
	struct up_ref_entry e;

	/* Only rows with names that last: those of diagnostics are put together. */
	for (const struct up_ref_table *t = up_ref_tables; t->name; t++)
		for (unsigned i = 0; t->entry(aggs, i, &e, &scratch) && e.name != scratch.s; i++)
			up_nearest_offer(near, e.name, strlen(e.name));
	up_buf_fini(&scratch);
}
