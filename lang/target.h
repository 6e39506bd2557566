/*
 * OBJECT:LOCATION: what a target says, and the places it stands for.
 */
#ifndef UP_TARGET_H
#define UP_TARGET_H

#include "lang/ast.h"
#include "lang/up.h"

/* How a function's returns are seen. */
enum up_returns {
	UP_RETURNS_NONE,   /* not at all */
	UP_RETURNS_KERNEL, /* by the kernel's return probe */
	UP_RETURNS_EXITS   /* by probes on the instructions that leave it */
};

/* One place to probe. */
struct up_place_at {
	uint64_t addr;      /* virtual address */
	uint64_t offset;    /* in the file */
	const char *symbol; /* the symbol, or "0x46420" where none is */
	const char *func;   /* the same, or what C++ or Rust sources call it, without parameters */
	/* The same, told apart from the target's other places: by parameters, by "@0xADDRESS". */
	const char *shown;
	uint64_t func_off;       /* bytes from the start of func */
	enum up_calling calling; /* how the function is called */
	enum up_returns returns;
	UP_VEC(struct up_exit) exits; /* of UP_RETURNS_EXITS */
	const char *risk; /* what the kernel's return probe would do to the program; or NULL */
};

/* What one target stands for. */
struct up_target {
	struct up_span span;               /* of the whole target */
	const char *object_name;           /* as written, decoded */
	const char *location;              /* as written, decoded */
	const struct up_object *object;    /* NULL when it could not be found */
	UP_VEC(struct up_place_at) places; /* by address, each once */
	bool is_pattern;                   /* what cannot be probed is left out */
	bool is_fixed; /* an address or offset is given: the probe stands there and nowhere near */
};

/*
 * Parses and resolves an ND_TARGET. Diagnostics say what is wrong; false then. Also false, and
 * silent, when the object was already reported.
 */
bool up_target_resolve(struct up_diags *ds, const struct up_env *env, const struct up_node *n,
		       struct up_target *out);

/*
 * Has the places of one probe's targets read differently where they are of different functions: a
 * name of several functions is shown with parameters, or else with its address.
 */
void up_targets_tell_apart(struct up_arena *a, struct up_target *targets, size_t nr);

/* One form of LOCATION; the first whose `is` says yes is taken. */
struct up_loc;
struct up_loc_row {
	const char *form; /* as in the reference: "SYMBOL+OFFSET" */
	const char *help;
	bool takes_offset;  /* may +OFFSET stand behind it? */
	bool takes_version; /* may @VERSION? */
	bool is_pattern;    /* does it stand for all that fits? */
	bool is_address;    /* does it say where exactly the probe is to stand? */
	bool (*is)(const struct up_loc *l);
	bool (*resolve)(struct up_diags *ds, const struct up_env *env, const struct up_loc *l,
			struct up_target *t);
};
extern const struct up_loc_row up_loc_rows[];

#endif
