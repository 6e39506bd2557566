/*
 * Event filters: what of a probe's `when` the kernel can judge, so that hits which it rejects are
 * never recorded.
 *
 * The handler judges the whole condition all the same. So a filter need only be *necessary*: it
 * lets every hit pass that the condition selects, and may let others pass. What the kernel cannot
 * judge is simply left out. A hit of which a value could not be read passes too, if nothing else
 * rejects it: the handler is to count the fault.
 */
#ifndef UP_FILTER_H
#define UP_FILTER_H

#include "lang/ast.h"

struct up_gen;

/* Longest filter: the kernel takes a page, with the NUL. */
#define UP_FILTER_MAX 4000

struct up_filter {
	const char *whole; /* source text of the condition */
	const char *text;  /* over the fields of the handler's event; NULL: nothing can be judged */
	const char *rest;  /* source text of what is left to the handler alone; NULL: nothing */
};

/*
 * The filter of a condition whose instructions g has already, so that all it fetches is in the
 * shape. The texts are in the plan's arena.
 */
void up_filter_make(struct up_gen *g, const struct up_node *cond, struct up_filter *out);

#endif
