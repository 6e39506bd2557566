/* The text source: how the events of a plan look in text, and which one a name means. */
#include <errno.h>
#include <stdlib.h>

#include "runtime/src_text_int.h"
#include "runtime/textscan.h"

#define COMM_MAX 15     /* bytes of a thread's name */
#define STRING_MAX 4095 /* of any other string of the kernel's */
#define NAME_MAX_LEN 63 /* of an event's name */

/* "x64[8]": 8; of what is no array 0 */
static uint8_t array_count(const char *type)
{
	const char *at = strchr(type, '[');

	return at ? (uint8_t)strtoul(at + 1, NULL, 10) : 0;
}

static struct up_textarg make_arg(const struct up_plan_arg *a, struct up_field f)
{
	f.is_signed = a->is_signed;
	return (struct up_textarg){ .name = a->name,
				    .name_len = (uint8_t)strlen(a->name),
				    .count = f.is_dynamic ? 0 : array_count(a->type),
				    .max_len =
					    !strcasecmp(a->fetch, "$comm") ? COMM_MAX : STRING_MAX,
				    .field = f };
}

static void make_shape(struct up_src_text *s, struct up_text_kind *k,
		       const struct up_record_event *e)
{
	const struct up_plan_event *pe = &s->plan->events[e->event];
	struct up_textarg *args = up_newn(s->arena, struct up_textarg, pe->nr_args + 1);
	uint32_t nr = 0;

	if (e->site_field.size)
		args[nr++] = (struct up_textarg){ .name = "site",
						  .name_len = 4,
						  .field = e->site_field };
	for (uint32_t i = 0; i < pe->nr_args; i++) {
		args[nr++] = make_arg(&pe->args[i], e->args[i]);
		k->has_string |= e->args[i].is_dynamic;
	}
	k->shape = (struct up_textshape){ .ip = e->ip,
					  .ret_ip = e->ret_ip,
					  .args = args,
					  .nr_args = nr,
					  .fixed_size = e->fixed_size };
}

static void add_kind(struct up_src_text *s, const char *name, uint32_t record)
{
	const struct up_record_event *e = &s->records->events[record];
	struct up_text_kind *k = up_new(s->arena, struct up_text_kind);

	k->name = up_arena_strdup(s->arena, name);
	k->name_len = strlen(name);
	k->record = record;
	if (e->kind == UP_EVENT_PROBE)
		make_shape(s, k, e);
	up_nametab_add(s->arena, &s->kinds, k->name, k);
}

int up_src_text_add(struct up_src_text *s, const char *name, uint32_t record)
{
	jmp_buf oom;

	if (setjmp(oom)) {
		up_arena_on_oom(s->arena, NULL);
		return -ENOMEM;
	}
	up_arena_on_oom(s->arena, &oom);
	add_kind(s, name, record);
	up_arena_on_oom(s->arena, NULL);
	return 0;
}

static struct up_text_kind *find_name(struct up_src_text *s, const char *name, size_t len)
{
	char copy[NAME_MAX_LEN + 1];

	if (len > NAME_MAX_LEN)
		return NULL;
	memcpy(copy, name, len);
	copy[len] = 0;
	return up_nametab_find(&s->kinds, copy);
}

/* Cuts "_s12" or "_g1" off a name; *number is 12. */
static bool cut_suffix(const char *name, size_t *len, char letter, uint32_t *number)
{
	size_t at = *len;
	uint64_t n;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	struct up_textscan c = { name + at, name + *len };
	if (at < 3 || name[at - 1] != letter || name[at - 2] != '_' ||
	    !up_textscan_decimal(&c, UINT32_MAX - 1, &n))
		return false;
	*number = (uint32_t)n;
	*len = at - 2;
	return true;
}

struct up_text_kind *up_src_text_find(struct up_src_text *s, const char *name, size_t len,
				      uint32_t *site)
{
	struct up_text_kind *k = s->last_kind;
	uint32_t later;

	*site = UP_NONE;
	if (k && k->name_len == len && !memcmp(k->name, name, len))
		return k;
	k = find_name(s, name, len);
	if (!k && !s->is_live && cut_suffix(name, &len, 'g', &later))
		k = find_name(s, name, len);
	if (!k && !s->is_live && cut_suffix(name, &len, 's', site))
		k = find_name(s, name, len);
	if (k && *site == UP_NONE)
		s->last_kind = k;
	return k;
}
