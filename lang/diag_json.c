/* Diagnostics as JSON, one object a line. */
#include <string.h>

#include "lang/base/text.h"
#include "lang/diag.h"

static void add_string(struct up_buf *out, const char *name, const char *s)
{
	up_buf_printf(out, ",\"%s\":\"", name);
	up_text_json(out, s, strlen(s));
	up_buf_putc(out, '"');
}

static void add_diag(const struct up_diags *ds, const struct up_diag *d, struct up_buf *out)
{
	const struct up_source *s = &ds->sources->list.v[d->span.src];
	unsigned line, col, end_line, end_col;

	up_source_where(s, d->span.off, &line, &col);
	up_source_where(s, d->span.off + d->span.len, &end_line, &end_col);
	up_buf_puts(out, "{\"file\":\"");
	up_text_json(out, s->name, strlen(s->name));
	up_buf_printf(out, "\",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u", line,
		      col, end_line, end_col);
	add_string(out, "severity", d->severity == UP_SEV_WARNING ? "warning" : "error");
	add_string(out, "tag", up_diag_tag_name(d->tag, (char[UP_TAG_NAME_MAX]){ 0 }));
	add_string(out, "message", d->msg);
	if (d->hint)
		add_string(out, "hint", d->hint);
}

/* The note may stand in another file than the diagnostic. */
static void add_note(const struct up_diags *ds, const struct up_diag *d, struct up_buf *out)
{
	const struct up_source *s = &ds->sources->list.v[d->note_span.src];
	unsigned line, col;

	up_source_where(s, d->note_span.off, &line, &col);
	up_buf_puts(out, ",\"note\":{\"file\":\"");
	up_text_json(out, s->name, strlen(s->name));
	up_buf_printf(out, "\",\"line\":%u,\"column\":%u", line, col);
	add_string(out, "message", d->note);
	up_buf_putc(out, '}');
}

void up_diag_json(const struct up_diags *ds, struct up_buf *out)
{
	for (size_t i = 0; i < ds->list.nr; i++) {
		const struct up_diag *d = &ds->list.v[i];

		add_diag(ds, d, out);
		if (d->has_note)
			add_note(ds, d, out);
		up_buf_puts(out, "}\n");
	}
}
