/*
 * Variables of a script: globals, those of threads, and tables. They own the bytes of what they
 * hold; what is read is borrowed until the variable changes.
 */
#ifndef UP_VARS_H
#define UP_VARS_H

#include <sys/types.h>

#include "lang/plan.h"
#include "runtime/table.h"

#define UP_VARS_MAX_ROWS 1000000 /* of one table; more are counted as dropped */

struct up_cell {
	struct up_value v; /* what it holds; its bytes are `own` */
	char *own;         /* room for bytes, or NULL */
	uint32_t cap;      /* bytes allocated */
};

struct up_vars {
	const struct up_plan *plan;
	struct up_cell *globals; /* one for each variable of the plan, whatever its scope */
	struct up_table *tables; /* likewise; values are cells */
	struct up_table threads; /* tid -> struct up_cell *: plan->nr_vars cells */
	struct up_key key;       /* scratch */
	size_t *left;            /* bytes that variables may still allocate for what they hold */
	uint64_t no_memory;      /* assignments that were dropped for want of memory */
};

/* -ENOMEM, or 0. The plan must outlive it; `left` is shared with others. */
int up_vars_init(struct up_vars *vs, const struct up_plan *plan, size_t *left);
void up_vars_fini(struct up_vars *vs);

/*
 * Variables of another plan go on in `to`, which was made for this one and is empty: from[i] says
 * which of `vs` becomes variable i, or is UP_NONE. First reserve, which can fail: -ENOMEM; then
 * take over, which cannot.
 */
int up_vars_reserve(struct up_vars *to, const struct up_vars *vs);
void up_vars_take_over(struct up_vars *to, struct up_vars *vs, const uint32_t *from);

/* The value of a variable; 0 or "" as long as nothing was assigned. */
struct up_value up_vars_get(const struct up_vars *vs, uint32_t i);
void up_vars_set(struct up_vars *vs, uint32_t i, const struct up_value *v);

struct up_value up_vars_get_thread(struct up_vars *vs, pid_t tid, uint32_t i);
void up_vars_set_thread(struct up_vars *vs, pid_t tid, uint32_t i, const struct up_value *v);
/* The thread has ended. */
void up_vars_died(struct up_vars *vs, pid_t tid);

/* Rows of a table. keys: as many values as the table has keys. */
struct up_value up_vars_get_row(struct up_vars *vs, uint32_t i, const struct up_value *keys);
void up_vars_set_row(struct up_vars *vs, uint32_t i, const struct up_value *keys,
		     const struct up_value *v);
void up_vars_delete_row(struct up_vars *vs, uint32_t i, const struct up_value *keys);
/* A table becomes empty, a global 0 or "". */
void up_vars_clear(struct up_vars *vs, uint32_t i);
/* Assignments that were dropped: tables that were full, and memory that was out. */
uint64_t up_vars_dropped(const struct up_vars *vs);

/* Shows a variable like an aggregation: its row has one result, the value of a cell. */
extern const struct up_agg_row up_var_row;

#endif
