/* Collecting diagnostics. Rendering is in diag_text.c and diag_json.c. */
#include "lang/diag.h"

#include <ctype.h>
#include <string.h>

#include "lang/resolve.h"

static const struct row {
	const char *name;          /* the tag's spelling in C */
	enum up_severity severity; /* of every diagnostic with it */
	const char *summary;       /* for reference pages */
} rows[] = {
#define UP_DIAG(tag, severity, summary) { #tag, severity, summary },
#include "lang/diag.def"
#undef UP_DIAG
};

/* The same bytes of a text, whatever they are used for. */
static bool same_place(const struct up_diags *ds, struct up_span a, struct up_span b)
{
	const struct up_source *list = ds->sources->list.v;

	return a.off == b.off && a.len == b.len &&
	       (a.src == b.src || list[a.src].origin == list[b.src].origin);
}

static bool is_repeated(const struct up_diags *ds, struct up_span span, enum up_diag_tag tag)
{
	for (size_t i = 0; i < ds->list.nr; i++) {
		const struct up_diag *d = &ds->list.v[i];

		if (d->tag == tag && same_place(ds, d->span, span))
			return true;
	}
	return false;
}

/* The diagnostic that hint and note go to: none when the last one was not kept. */
static struct up_diag *last_kept(struct up_diags *ds)
{
	return ds->last_kept && ds->list.nr ? &ds->list.v[ds->list.nr - 1] : NULL;
}

bool up_error(struct up_diags *ds, struct up_span span, enum up_diag_tag tag, const char *fmt, ...)
{
	struct up_diag d = { .tag = tag, .severity = rows[tag].severity, .span = span };
	bool is_error = d.severity == UP_SEV_ERROR;
	va_list ap;

	ds->last_kept = false;
	if (ds->muted || is_repeated(ds, span, tag))
		return false;
	unsigned *nr = is_error ? &ds->nr_errors : &ds->nr_warnings;
	if ((*nr)++ >= UP_DIAG_MAX)
		return false;
	va_start(ap, fmt);
	d.msg = up_arena_vprintf(ds->arena, fmt, ap);
	va_end(ap);
	d.has_note = up_source_use(ds->sources, span, &d.note_span);
	d.note = d.has_note ? "used here" : NULL;
	up_vec_push(ds->arena, &ds->list, d);
	ds->last_kept = true;
	return false;
}

void up_diag_hint(struct up_diags *ds, const char *fmt, ...)
{
	struct up_diag *d = last_kept(ds);
	va_list ap;

	if (!d)
		return;
	va_start(ap, fmt);
	d->hint = up_arena_vprintf(ds->arena, fmt, ap);
	va_end(ap);
}

void up_diag_note(struct up_diags *ds, struct up_span span, const char *fmt, ...)
{
	struct up_diag *d = last_kept(ds);
	va_list ap;

	if (!d)
		return;
	va_start(ap, fmt);
	d->has_note = true;
	d->note_span = span;
	d->note = up_arena_vprintf(ds->arena, fmt, ap);
	va_end(ap);
}

bool up_diag_nearest(struct up_diags *ds, const struct up_nearest *near)
{
	struct up_buf b = { 0 };
	bool any = up_nearest_list(near, &b);

	if (any)
		up_diag_hint(ds, "did you mean %s?", b.s);
	up_buf_fini(&b);
	return any;
}

bool up_diag_why(struct up_diags *ds, struct up_span span, enum up_diag_tag tag, struct up_why *why)
{
	up_error(ds, span, tag, "%s", why->msg.s ? why->msg.s : "out of memory");
	if (why->hint.len)
		up_diag_hint(ds, "%s", why->hint.s);
	up_why_fini(why);
	return false;
}

const char *up_diag_tag_name(enum up_diag_tag tag, char name[UP_TAG_NAME_MAX])
{
	char *to = name;

	for (const char *s = rows[tag].name + 2; *s && to < name + UP_TAG_NAME_MAX - 1; s++)
		*to++ = *s == '_' ? '-' : (char)tolower((unsigned char)*s);
	*to = 0;
	return name;
}

bool up_diag_is_error(enum up_diag_tag tag)
{
	return rows[tag].severity == UP_SEV_ERROR;
}

const char *up_diag_summary(enum up_diag_tag tag)
{
	return rows[tag].summary;
}
