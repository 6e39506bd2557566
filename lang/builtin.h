/*
 * Rows of built-in aggregates: what the checker, the handlers, the output forms and the reference
 * read. The rows stand beside their functions in stdlib/builtin.
 *
 * One group of an aggregation (all hits with the same keys) has a cell: a fixed number of bytes in
 * a table, aligned to 8, which may be moved as bytes. What it owns besides it allocates by
 * up_agg_grow().
 */
#ifndef UP_BUILTIN_H
#define UP_BUILTIN_H

#include "lang/value.h"

/* What the functions of a row are told of the aggregation whose cell they work on. */
struct up_agg_cx {
	const struct up_type *types;   /* of the arguments */
	const struct up_value *consts; /* values of the arguments that are constants */
	unsigned nr_args;
	uint64_t since; /* ns: when gathering began, or was cleared last */
	uint64_t now;   /* ns: the time of asking */
	size_t *left;   /* bytes that cells may still allocate; NULL: no limit */
};

/* A result that can be read by name. */
struct up_agg_field {
	const char *name;  /* "p999": in expressions, JSON and CSV */
	const char *label; /* "p99.9": in tables; NULL: the name */
	const char *help;  /* a phrase */
};

/* One row of a histogram: how many values v had lo <= v < hi. */
struct up_agg_bucket {
	struct up_type type;    /* of the bounds */
	struct up_value lo, hi; /* may be wide */
	bool is_power;          /* the bounds are powers of two */
	bool has_lo, has_hi;    /* without one the row is open to that side */
	uint64_t count;
};

struct up_buf;

struct up_agg_row {
	const char *name;      /* "count" */
	const char *signature; /* "count()", for messages and the reference */
	const char *help;      /* one sentence */
	uint8_t min_args, max_args;
	uint32_t const_args;  /* bit i: argument i must be a constant number */
	bool is_function_too; /* with more arguments than max_args it is a function */
	const char *unit;     /* behind its results in tables, "/s"; NULL: none */
	bool needs_order;     /* the result depends on the order of hits */
	size_t cell_size;     /* bytes of a cell; all zero is the empty state */
	/*
	 * Are these arguments fit? If not, `why` receives what is wrong, and *arg which one it is.
	 * NULL: one integer or float is.
	 */
	bool (*check)(const struct up_agg_cx *cx, unsigned *arg, struct up_buf *why);
	/*
	 * Takes in one hit; v[0..cx->nr_args), never with a fault among them. False when a cap was
	 * hit or memory is out: the cell is as it was, and the update counts as dropped.
	 */
	bool (*add)(void *cell, const struct up_agg_cx *cx, const struct up_value *v);
	/*
	 * The same of many hits, one after the other: of cells[i], unless it is NULL, with the
	 * arguments from v[i * cx->nr_args] on. How many before the first that add() would refuse.
	 * NULL: there is no quicker way than add().
	 */
	size_t (*add_many)(void *const *cells, const struct up_agg_cx *cx, const struct up_value *v,
			   size_t nr);
	/* Frees what the cell owns. NULL where it owns nothing. */
	void (*fini)(void *cell, const struct up_agg_cx *cx);
	/* The results of a cell that had at least one hit. Rows are sorted by the first. */
	const struct up_agg_field *fields;
	unsigned nr_fields;
	struct up_type (*field_type)(unsigned field, const struct up_agg_cx *cx);
	/* Bytes and wide integers are borrowed from the cell. */
	struct up_value (*field)(const void *cell, const struct up_agg_cx *cx, unsigned field);
	/*
	 * Histograms: the i-th row in order of value, without gaps between the first and the last
	 * that is not empty; false behind the last. NULL for what is none.
	 */
	bool (*bucket)(const void *cell, const struct up_agg_cx *cx, unsigned i,
		       struct up_agg_bucket *b);
};

/* All aggregates, in the order of the reference; ends with NULL. */
extern const struct up_agg_row *const up_agg_rows[];

#endif
