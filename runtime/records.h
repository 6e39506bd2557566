/*
 * Records: what the type number at the start of a record means, and where in it things stand.
 * Knows nothing of where records come from: an attachment learns the layout from the kernel, other
 * sources bring their own.
 */
#ifndef UP_RECORDS_H
#define UP_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/plan.h"
#include "runtime/field.h"
#include "runtime/status.h"

enum up_record_kind { UP_EVENT_PROBE, UP_EVENT_NEWTASK, UP_EVENT_EXIT };

/* What a type number in a record means. */
struct up_record_event {
	uint16_t id; /* common_type; never 0 */
	enum up_record_kind kind;
	uint16_t fixed_size; /* bytes up to the end of the last field: what a record has at least */
	struct up_field tid; /* common_pid */
	/* of UP_EVENT_PROBE */
	bool is_filtered; /* does the kernel judge a condition? */
	bool is_off;      /* is it disarmed while the run goes on? */
	bool is_untried;  /* and was it never armed? */
	bool is_retired;  /* was it so because another plan comes, which has it no more? */
	uint32_t event;   /* index in plan->events */
	uint32_t site;    /* index in plan->sites, or UP_NONE: `site_field` holds it */
	struct up_field site_field;
	struct up_field ip;     /* __probe_ip; of a return __probe_func */
	struct up_field ret_ip; /* of a return: __probe_ret_ip */
	struct up_field *args;  /* as plan->events[event].args */
	bool shares_args;       /* are `args` those of another entry? */
	char *name;             /* in the kernel, of sites that came later; NULL: the plan's */
	/* of the others */
	struct up_field task;  /* pid: the new thread, the thread that ends */
	struct up_field comm;  /* its name, an array of bytes or dynamic */
	struct up_field flags; /* clone_flags */
};

/* A site of the plan that gets the hits of a recorded site. */
struct up_route {
	uint32_t site;               /* index in plan->sites */
	const struct up_field *args; /* of its event, in records of the recorded one */
	uint32_t next;               /* of the same recorded site: index plus 1, or 0 */
};

/*
 * Where records were made for another plan: `event` and `site` of struct up_record_event, and the
 * sites that records name, are those of that plan, and routes lead from there to this one's.
 */
struct up_routes {
	struct up_route *list;
	const uint32_t *first;    /* of each recorded site: index in list plus 1, or 0 for none */
	const uint32_t *event_of; /* of each recorded site: its recorded event */
	uint32_t nr;              /* recorded sites */
};

struct up_records {
	struct up_record_event *events;
	uint32_t nr, cap;
	const struct up_routes *routes; /* NULL: records are the plan's own */
	uint16_t *by_id;                /* 65536 of them: index in events plus 1, or 0 */
};

/* Room for `cap` kinds of records. 0 or -ENOMEM; up_records_fini() is needed all the same. */
int up_records_init(struct up_records *r, size_t cap);
void up_records_fini(struct up_records *r);

/*
 * Adds one kind of record; a->args and a->name become ours, also after a failure. -EPROTO when the
 * number is 0 or taken, -ENOMEM when there can be no more.
 */
int up_records_add(struct up_records *r, const struct up_record_event *e);
/* Forgets those from `first` on. */
void up_records_drop(struct up_records *r, uint32_t first);
/* Its records are passed over from now on; those of other kinds keep their places. */
void up_records_ignore(struct up_records *r, uint32_t i);

/*
 * Fills e, of which kind, event and site are set, from a description in the form of the kernel's
 * `format` files. -EPROTO when it describes something else than what the plan asked for.
 */
int up_records_describe(struct up_record_event *e, const struct up_plan *plan, const char *format,
			size_t len, struct up_status *st);

/*
 * The layouts that the kernel would give to the events of a plan, sites told by number, and to the
 * two of threads' lives: for sources that make records themselves. As up_records_init().
 */
int up_records_make(struct up_records *r, const struct up_plan *plan);

/* The meaning of a record's type number, or NULL: not ours. */
static inline const struct up_record_event *up_records_find(const struct up_records *r, uint16_t id)
{
	return r->by_id[id] ? &r->events[r->by_id[id] - 1] : NULL;
}

#endif
