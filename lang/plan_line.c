/*
 * The line that defines a site for the kernel. Fetch arguments are kept as they read at the place
 * that the script means; where the probe stands elsewhere they are put in its terms here.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lang/abi.h"
#include "lang/plan.h"

/* Appends `$stackN` of a stack that is `lower` bytes higher up. */
static void put_stack_word(uint64_t slot, uint32_t lower, struct up_buf *out)
{
	if (lower % 8 == 0)
		up_buf_printf(out, "$stack%" PRIu64, slot + lower / 8);
	else
		up_buf_printf(out, "+%" PRIu64 "(%%sp)", slot * 8 + lower);
}

/* Where the offset of "...+8(%sp)..." begins, of which the parenthesis is at `paren`; or NULL. */
static const char *find_offset(const char *text, const char *paren)
{
	const char *s = paren;

	while (s > text && isalnum((unsigned char)s[-1]))
		s--;
	return s > text && s < paren && (s[-1] == '+' || s[-1] == '-') ? s - 1 : NULL;
}

/* Memory at the stack pointer: "+8(%sp)". False when the text reads none. */
static bool put_stack_memory(const char *text, uint32_t lower, struct up_buf *out)
{
	const char *paren = strstr(text, "(%sp)");

	if (!paren)
		paren = strstr(text, "($stack)");
	const char *sign = paren ? find_offset(text, paren) : NULL;
	if (!sign)
		return false;
	bool user = sign[1] == 'u';
	int64_t off = (int64_t)strtoull(sign + 1 + user, NULL, 0);

	off = (*sign == '-' ? -off : off) + lower;
	up_buf_add(out, text, (size_t)(sign - text));
	up_buf_printf(out, "%c%s%" PRIu64 "%s", off < 0 ? '-' : '+', user ? "u" : "",
		      (uint64_t)(off < 0 ? -off : off), paren);
	return true;
}

/* "$stack2", perhaps inside an address. False when the text has none. */
static bool put_stack_slot(const char *text, uint32_t lower, struct up_buf *out)
{
	const char *word = strstr(text, "$stack");
	char *end;

	if (!word || !isdigit((unsigned char)word[strlen("$stack")]))
		return false;
	uint64_t slot = strtoull(word + strlen("$stack"), &end, 10);
	up_buf_add(out, text, (size_t)(word - text));
	put_stack_word(slot, lower, out);
	up_buf_puts(out, end);
	return true;
}

void up_plan_fetch(const struct up_plan *p, uint32_t site, const char *fetch, struct up_buf *out)
{
	const struct up_plan_site *s = &p->sites[site];
	const char *result = p->events[s->event].is_exit ? strstr(fetch, "$retval") : NULL;
	uint32_t lower = s->sp_lower;

	if (result)
		up_buf_printf(out, "%.*s%%%s%s", (int)(result - fetch), fetch,
			      up_abi_find(s->machine, UP_CALLING_C)->result,
			      result + strlen("$retval"));
	else if (!lower ||
		 (!put_stack_memory(fetch, lower, out) && !put_stack_slot(fetch, lower, out)))
		up_buf_puts(out, fetch);
}

void up_plan_event_name(const struct up_plan *p, uint32_t site, bool one_event_per_site,
			struct up_buf *out)
{
	up_buf_puts(out, p->events[p->sites[site].event].name);
	if (one_event_per_site)
		up_buf_printf(out, "_s%" PRIu32, site);
}

void up_plan_line(const struct up_plan *p, const char *group, uint32_t site,
		  bool one_event_per_site, struct up_buf *out)
{
	const struct up_plan_site *s = &p->sites[site];
	const struct up_plan_event *e = &p->events[s->event];

	/* `r:` is what kernels before 5.11 know; `%return` says the same. */
	up_buf_printf(out, "%c:%s/", e->is_return ? 'r' : 'p', group);
	up_plan_event_name(p, site, one_event_per_site, out);
	up_buf_printf(out, " %s:0x%" PRIx64, s->path, s->offset);
	if (!one_event_per_site)
		up_buf_printf(out, " site=\\%" PRIu32 ":u32", site);
	for (uint32_t i = 0; i < e->nr_args; i++) {
		up_buf_printf(out, " %s=", e->args[i].name);
		up_plan_fetch(p, site, e->args[i].fetch, out);
		up_buf_printf(out, ":%s", e->args[i].type);
	}
}
