/*
 * Diagnostics as text: where and what, the source line, a caret under the exact bytes, the note
 * likewise, the hint. Escapes whatever a terminal would obey.
 */
#include <stdio.h>
#include <string.h>

#include "lang/base/text.h"
#include "lang/diag.h"

#define LINE_COLUMNS 120  /* of a source line that are shown */
#define FEWEST_COLUMNS 20 /* of them, however narrow the terminal */
#define BESIDE_COLUMNS 7  /* what stands before and behind them, besides the line's number */

#define BOLD "\033[1m"
#define RED "\033[1;31m"
#define MAGENTA "\033[1;35m"
#define CYAN "\033[1;36m"
#define RESET "\033[0m"

struct renderer {
	const struct up_diags *ds; /* what is rendered */
	struct up_buf *out;        /* where to */
	bool colour;               /* with terminal colours? */
	int gutter;                /* columns of the line number */
};

static void set_colour(struct renderer *r, const char *seq)
{
	if (r->colour)
		up_buf_puts(r->out, seq);
}

/* Adds a message or hint; a newline in it stays one. */
static void add_text(struct renderer *r, const char *s, const char *indent)
{
	for (;;) {
		const char *nl = strchr(s, '\n');
		size_t len = nl ? (size_t)(nl - s) : strlen(s);

		up_text_message(r->out, s, len);
		up_buf_putc(r->out, '\n');
		if (!nl)
			return;
		up_buf_puts(r->out, indent);
		s = nl + 1;
	}
}

/* One character of a line as it is shown. */
struct glyph {
	char s[16];  /* its bytes, escaped where needed; a tab stays one */
	size_t len;  /* how many */
	size_t cols; /* columns it takes; a tab counts as 1, as it is repeated above the caret */
};

/* Reads the character at s[0..len); returns the bytes it takes there. */
static size_t read_glyph(const char *s, size_t len, struct glyph *g, struct up_buf *scratch)
{
	uint32_t cp;
	size_t n = up_utf8_decode(s, len, &cp);

	n += !n;
	up_buf_reset(scratch);
	if (*s == '\t')
		up_buf_putc(scratch, '\t');
	else
		up_text_escape(scratch, s, n, 0);
	g->len = scratch->failed || scratch->len > sizeof(g->s) ? 0 : scratch->len;
	memcpy(g->s, scratch->s ? scratch->s : "", g->len);
	g->cols = up_text_columns(g->s, g->len);
	return n;
}

/* The part of a line that is shown. */
struct window {
	const char *text;      /* the line */
	size_t len;            /* its bytes */
	size_t from, to;       /* what is shown of them */
	size_t mark, mark_len; /* what the caret points at, in bytes of the line */
	size_t columns;        /* that are shown at most */
};

/*
 * Cuts a long line around the mark: at most w->columns, and half of them before it. Looks at no
 * more bytes than that, however long the line.
 */
static void cut_line(struct window *w, struct up_buf *scratch)
{
	size_t from = w->mark, to, left = 0, cols = 0;
	struct glyph g;

	while (from && left < w->columns / 2) {
		size_t at = from - 1;

		while (at && from - at < 4 && ((unsigned char)w->text[at] & 0xc0) == 0x80)
			at--;
		read_glyph(w->text + at, from - at, &g, scratch);
		left += g.cols;
		from = at;
	}
	for (to = from; to < w->len && cols < w->columns; cols += g.cols)
		to += read_glyph(w->text + to, w->len - to, &g, scratch);
	while (from && to == w->len && cols < w->columns) { /* room is left: show more before */
		size_t at = from - 1;

		while (at && from - at < 4 && ((unsigned char)w->text[at] & 0xc0) == 0x80)
			at--;
		read_glyph(w->text + at, from - at, &g, scratch);
		cols += g.cols;
		from = at;
	}
	w->from = from;
	w->to = to;
}

static void add_gutter(struct renderer *r, unsigned line)
{
	set_colour(r, CYAN);
	if (line)
		up_buf_printf(r->out, " %*u | ", r->gutter, line);
	else
		up_buf_printf(r->out, " %*s | ", r->gutter, "");
	set_colour(r, RESET);
}

static void add_line(struct renderer *r, const struct window *w, struct up_buf *scratch)
{
	struct glyph g;

	if (w->from)
		up_buf_puts(r->out, "…");
	for (size_t i = w->from; i < w->to;) {
		i += read_glyph(w->text + i, w->len - i, &g, scratch);
		up_buf_add(r->out, g.s, g.len);
	}
	if (w->to < w->len)
		up_buf_puts(r->out, "…");
	up_buf_putc(r->out, '\n');
}

/* Blanks up to the mark (tabs stay tabs), then ^~~~ under it. */
static void add_caret(struct renderer *r, const struct window *w, const char *colour,
		      struct up_buf *scratch)
{
	struct glyph g;
	size_t i = w->from, cols = 0;

	if (w->from)
		up_buf_putc(r->out, ' ');
	while (i < w->mark && i < w->to) {
		i += read_glyph(w->text + i, w->len - i, &g, scratch);
		if (g.len == 1 && g.s[0] == '\t')
			up_buf_putc(r->out, '\t');
		else
			up_buf_fill(r->out, ' ', g.cols);
	}
	while (i < w->mark + w->mark_len && i < w->to) {
		i += read_glyph(w->text + i, w->len - i, &g, scratch);
		cols += g.cols;
	}
	set_colour(r, colour);
	up_buf_putc(r->out, '^');
	up_buf_fill(r->out, '~', cols > 1 ? cols - 1 : 0);
	set_colour(r, RESET);
}

/* Room for a source line, so that none wraps and the caret stays below what it points at. */
static size_t line_columns(const struct renderer *r)
{
	size_t all = r->ds->columns, beside = (size_t)r->gutter + BESIDE_COLUMNS;

	if (!all || all >= LINE_COLUMNS + beside)
		return LINE_COLUMNS;
	return all > beside + FEWEST_COLUMNS ? all - beside : FEWEST_COLUMNS;
}

/*
 * The line of a span and the caret, without the caret line's end; a span of several lines is cut.
 * `again`: the very line stands above already.
 */
static void add_place(struct renderer *r, struct up_span sp, const char *colour, bool again)
{
	const struct up_source *s = &r->ds->sources->list.v[sp.src];
	struct up_buf scratch = { 0 };
	struct window w = { .columns = line_columns(r) };
	unsigned line, col;

	up_source_where(s, sp.off, &line, &col);
	w.text = up_source_line(s, line, &w.len);
	w.mark = sp.off > (size_t)(w.text - s->text) ? sp.off - (size_t)(w.text - s->text) : 0;
	if (w.mark > w.len)
		w.mark = w.len;
	w.mark_len = sp.len < w.len - w.mark ? sp.len : w.len - w.mark;
	cut_line(&w, &scratch);
	if (!again || w.from || w.to < w.len) {
		add_gutter(r, line);
		add_line(r, &w, &scratch);
	}
	add_gutter(r, 0);
	add_caret(r, &w, colour, &scratch);
	up_buf_fini(&scratch);
}

static void add_where(struct renderer *r, struct up_span sp)
{
	const struct up_source *s = &r->ds->sources->list.v[sp.src];
	unsigned line, col;

	up_source_where(s, sp.off, &line, &col);
	set_colour(r, BOLD);
	up_text_escape(r->out, s->name, strlen(s->name), 0);
	up_buf_printf(r->out, ":%u:%u: ", line, col);
	set_colour(r, RESET);
}

static unsigned line_of(const struct up_diags *ds, struct up_span sp)
{
	unsigned line, col;

	up_source_where(&ds->sources->list.v[sp.src], sp.off, &line, &col);
	return line;
}

static void add_note(struct renderer *r, const struct up_diag *d)
{
	bool again = d->note_span.src == d->span.src &&
		     line_of(r->ds, d->note_span) == line_of(r->ds, d->span);

	if (d->note_span.src != d->span.src) {
		add_where(r, d->note_span);
		up_buf_puts(r->out, "note:\n");
	}
	add_place(r, d->note_span, CYAN, again);
	up_buf_putc(r->out, ' ');
	add_text(r, d->note, "   ");
}

static void add_diag(struct renderer *r, const struct up_diag *d)
{
	bool warning = d->severity == UP_SEV_WARNING;
	const char *colour = warning ? MAGENTA : RED;
	unsigned line = line_of(r->ds, d->span),
		 note = d->has_note ? line_of(r->ds, d->note_span) : 0;

	r->gutter = snprintf(NULL, 0, "%u", line > note ? line : note);
	add_where(r, d->span);
	set_colour(r, colour);
	up_buf_printf(r->out, "%s[%s]: ", warning ? "warning" : "error",
		      up_diag_tag_name(d->tag, (char[UP_TAG_NAME_MAX]){ 0 }));
	set_colour(r, RESET);
	add_text(r, d->msg, "  ");
	add_place(r, d->span, colour, false);
	up_buf_putc(r->out, '\n');
	if (d->has_note)
		add_note(r, d);
	if (d->hint) {
		set_colour(r, BOLD);
		up_buf_puts(r->out, "hint: ");
		set_colour(r, RESET);
		add_text(r, d->hint, "      ");
	}
}

void up_diag_text(const struct up_diags *ds, struct up_buf *out, bool colour)
{
	struct renderer r = { .ds = ds, .out = out, .colour = colour };

	for (size_t i = 0; i < ds->list.nr; i++)
		add_diag(&r, &ds->list.v[i]);
	if (ds->nr_errors > UP_DIAG_MAX)
		up_buf_printf(out, "%u more errors are not shown\n", ds->nr_errors - UP_DIAG_MAX);
}
