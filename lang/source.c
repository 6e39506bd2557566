/* Source texts, lines and columns. */
#include "lang/source.h"

#include <string.h>

static void index_lines(struct up_arena *a, struct up_source *s)
{
	uint32_t nr = 1;

	for (uint32_t i = 0; i < s->len; i++)
		nr += s->text[i] == '\n';
	s->line_off = up_newn(a, uint32_t, nr);
	s->nr_lines = nr;
	for (uint32_t i = 0, line = 1; i < s->len; i++)
		if (s->text[i] == '\n')
			s->line_off[line++] = i + 1;
}

int up_source_add(struct up_sources *ss, const char *name, const char *text, size_t len)
{
	struct up_source s = { 0 };

	if (len > UP_SOURCE_MAX)
		return -1;
	s.name = up_arena_strdup(ss->arena, name);
	s.text = up_arena_memdup(ss->arena, text, len);
	s.len = (uint32_t)len;
	s.origin = (uint32_t)ss->list.nr;
	index_lines(ss->arena, &s);
	up_vec_push(ss->arena, &ss->list, s);
	return (int)ss->list.nr - 1;
}

uint32_t up_source_derive(struct up_sources *ss, uint32_t src, struct up_span used_at)
{
	struct up_source s = ss->list.v[ss->list.v[src].origin];

	s.is_used = true;
	s.used_at = used_at;
	up_vec_push(ss->arena, &ss->list, s);
	return (uint32_t)ss->list.nr - 1;
}

bool up_source_use(const struct up_sources *ss, struct up_span sp, struct up_span *used_at)
{
	*used_at = sp;
	while (ss->list.v[used_at->src].is_used)
		*used_at = ss->list.v[used_at->src].used_at;
	return ss->list.v[sp.src].is_used;
}

/* The line that holds an offset, from 0. */
static uint32_t find_line(const struct up_source *s, uint32_t off)
{
	uint32_t lo = 0, hi = s->nr_lines;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->line_off[mid] <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

void up_source_where(const struct up_source *s, uint32_t off, unsigned *line, unsigned *col)
{
	if (off > s->len)
		off = s->len;
	if (off < s->line_off[s->hidden])
		off = s->line_off[s->hidden];
	uint32_t l = find_line(s, off);
	unsigned c = 1;

	for (uint32_t i = s->line_off[l]; i < off; i++)
		c += ((unsigned char)s->text[i] & 0xc0) != 0x80;
	*line = l + 1 - s->hidden;
	*col = c;
}

const char *up_source_line(const struct up_source *s, unsigned line, size_t *len)
{
	if (line == 0 || line > s->nr_lines - s->hidden) {
		*len = 0;
		return "";
	}
	line += s->hidden;
	const char *start = s->text + s->line_off[line - 1];
	const char *end = line < s->nr_lines ? s->text + s->line_off[line] - 1 : s->text + s->len;

	if (end > start && end[-1] == '\r')
		end--;
	*len = (size_t)(end - start);
	return start;
}

const char *up_source_text(const struct up_sources *ss, struct up_span sp)
{
	return ss->list.v[sp.src].text + sp.off;
}

struct up_span up_span_join(struct up_span a, struct up_span b)
{
	uint32_t end = b.off + b.len;

	if (a.src == b.src && end > a.off + a.len)
		a.len = end - a.off;
	return a;
}
