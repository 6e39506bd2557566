/*
 * Trees as trees: going through a node's children, and copying. Knows the shape of each kind of
 * node and nothing of what it means.
 */
#ifndef UP_CLONE_H
#define UP_CLONE_H

#include "lang/ast.h"

/* up_node.sem of an ND_NAME that is a function's parameter; ref: which. Before the checker only. */
#define UP_SEM_HOLE UINT16_MAX

/* A node without children. */
struct up_node *up_node_make(struct up_arena *a, enum up_nd kind, struct up_span span);

/* Calls fn for the link to each child, in the order of the text, each element of a list by itself.
 * fn may put another node in its place that has the same `next`. */
void up_node_children(struct up_node *n, void (*fn)(void *arg, struct up_node **link), void *arg);

/* How many nodes a list has. */
unsigned up_count_nodes(const struct up_node *list);

/* Sets n->depth from the depths of its children. False when it is more than UP_DEPTH_MAX. */
bool up_node_measure(struct up_node *n);

/* A source, and the one derived from it. */
struct up_moved {
	uint32_t from, to;
};

/* A copy being made. */
struct up_cloner {
	struct up_arena *arena;
	struct up_sources *sources;
	uint32_t *left;     /* how many nodes may still be made; ND_BADs when there are none */
	bool moves;         /* are the copies' spans in sources derived for `use`? */
	struct up_span use; /* where it is used */
	const struct up_node *args; /* what takes the places of holes, by number; NULL: they stay */
	UP_VEC(struct up_moved) moved; /* sources derived so far */
};

/* A deep copy of n, without what stands behind it in a list. */
struct up_node *up_clone(struct up_cloner *c, const struct up_node *n);

#endif
