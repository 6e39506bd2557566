/* The filter of a kernel event, made of those of the handlers that its sites have. */
#include <inttypes.h>
#include <string.h>

#include "lang/plan.h"

#define MAX_FILTER 4095 /* bytes that the kernel takes: a page, less the NUL */
#define MAX_RANGES 256  /* more would not fit */

/* Sites of one event behind each other whose handlers have the same filter. */
struct range {
	uint32_t from, to;
	const char *filter; /* or NULL: all their records are wanted */
	bool is_put;
};

struct ranges {
	struct range v[MAX_RANGES];
	unsigned nr;
};

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Other events' sites may lie in between: they are in none of this one's records. */
static bool collect(const struct up_plan *p, uint32_t event, struct ranges *r)
{
	r->nr = 0;
	for (uint32_t i = 0; i < p->nr_sites; i++) {
		const char *filter = p->progs[p->sites[i].prog].filter;

		if (p->sites[i].event != event)
			continue;
		if (r->nr && is_same(r->v[r->nr - 1].filter, filter)) {
			r->v[r->nr - 1].to = i;
			continue;
		}
		if (r->nr == MAX_RANGES)
			return false;
		r->v[r->nr++] = (struct range){ i, i, filter, false };
	}
	return true;
}

static void put_range(const struct range *r, struct up_buf *out)
{
	if (r->from == r->to)
		up_buf_printf(out, "site == %" PRIu32, r->from);
	else
		up_buf_printf(out, "(site >= %" PRIu32 " && site <= %" PRIu32 ")", r->from, r->to);
}

/* A record of one of the sites with this filter, if that lets it pass. */
static void put_share(struct ranges *r, const char *filter, struct up_buf *out)
{
	const char *before = "";

	up_buf_printf(out, "%s%s", out->len ? " || " : "", filter ? "((" : "");
	for (unsigned i = 0; i < r->nr; i++) {
		if (r->v[i].is_put || !is_same(r->v[i].filter, filter))
			continue;
		up_buf_puts(out, before);
		put_range(&r->v[i], out);
		r->v[i].is_put = true;
		before = " || ";
	}
	if (filter)
		up_buf_printf(out, ") && (%s))", filter);
}

void up_plan_filter(const struct up_plan *p, uint32_t site, bool one_event_per_site,
		    struct up_buf *out)
{
	const char *own = p->progs[p->sites[site].prog].filter;
	struct up_buf b = { 0 };
	struct ranges r;

	if (one_event_per_site) {
		up_buf_puts(out, own ? own : "");
		return;
	}
	if (!collect(p, p->sites[site].event, &r))
		return;
	if (r.nr == 1) {
		up_buf_puts(out, own ? own : "");
		return;
	}
	for (unsigned i = 0; i < r.nr && b.len <= MAX_FILTER; i++)
		if (!r.v[i].is_put)
			put_share(&r, r.v[i].filter, &b);
	/* One that is too long for the kernel is left to the handlers. */
	if (b.len <= MAX_FILTER)
		up_buf_add(out, b.s, b.len);
	out->failed |= b.failed;
	up_buf_fini(&b);
}
