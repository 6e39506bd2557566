/*
 * Constants: what an expression of literals comes to. Computes what a handler would; needs no
 * checked tree, and what is none that the checker would take is no constant.
 */
#ifndef UP_FOLD_H
#define UP_FOLD_H

#include "lang/ast.h"

/* A number, with the type that the checker gives the expression. */
struct up_const {
	struct up_type type; /* TY_INT or TY_FLOAT */
	struct up_value v;
};

/*
 * Is it a constant number? A division by zero is none: it is counted when it happens. Nor is a call
 * of a function.
 */
bool up_const_number(const struct up_node *n, struct up_const *out);
/* Is it a constant string? The text is in `a`. */
bool up_const_text(const struct up_node *n, struct up_arena *a, struct up_text *out);
/* Is it a number, and 0? */
bool up_is_const_zero(const struct up_node *n);

/* ---- types of numbers ---- */

/* 64 bits without a sign: what makes C compute without one. */
bool up_is_wide_unsigned(struct up_type t);
/* The type of arithmetic on two numbers. */
struct up_type up_arithmetic_type(struct up_type a, struct up_type b);
/* The type of one of two numbers: theirs, if it is the same. */
struct up_type up_either_type(struct up_type a, struct up_type b);

#endif
