/*
 * The types that stand behind `:`. One row each.
 */
#ifndef UP_TYPES_H
#define UP_TYPES_H

#include "lang/value.h"

struct up_type_row {
	const char *name;   /* "u32" */
	const char *kernel; /* the kernel's type of the fetch argument; NULL when there is none */
	struct up_type type;
	uint8_t size;     /* bytes in memory; 0 when they have no fixed number */
	bool is_address;  /* takes the value as an address and reads there */
	bool needs_at;    /* stands behind `@ADDRESS` only */
	const char *help; /* one phrase */
};

/* Ends with a NULL name. */
extern const struct up_type_row up_type_rows[];

/* Types that are no single name, for the reference; ends with a NULL form. */
struct up_type_form {
	const char *name; /* to look it up */
	const char *form; /* as it is written: "u32[8]" */
	const char *help;
};

extern const struct up_type_form up_type_forms[];

#define UP_TYPE_COUNTED "gostring" /* the row of text whose length stands behind its address */

#define UP_TEXT_LEN 511   /* bytes of text that are read unless string[N] says otherwise */
#define UP_BLOCK_MAX 2048 /* and at most; of bytes and arrays too */

/* The row of a type that is a single name, or NULL. */
const struct up_type_row *up_type_find(const char *name);

/*
 * What a type of the kernel's ("u32", "b4@3/32", "u32[8]", "string") yields, and how many bytes it
 * takes in a record (0 for a string). False when there is no such type.
 */
bool up_type_of_kernel(const char *kernel, struct up_type *type, uint16_t *size);

/*
 * Is s a kernel fetch argument as it may stand in uprobe_events: no white space, no `#`, no `=`
 * outside of it? Sets *type to its type ("x64" where it gives none, "string" for $comm), in static
 * or borrowed storage.
 */
bool up_fetch_text_ok(const char *s, size_t len, const char **type);

#endif
