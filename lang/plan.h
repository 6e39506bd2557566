/*
 * The plan: everything the runtime needs to know of a checked program, and nothing else. It has
 * its own arena, points neither into the source nor into the tree, and can be printed.
 */
#ifndef UP_PLAN_H
#define UP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/builtin.h"
#include "lang/resolve.h"
#include "lang/source.h"
#include "lang/value.h"

#define UP_NONE UINT32_MAX /* no index */

/* One fetch argument of an event: `NAME=FETCH:TYPE`. */
struct up_plan_arg {
	const char *name;    /* C identifier, at most 32 bytes */
	const char *fetch;   /* "%di", "+8(%di)", "$comm" */
	const char *type;    /* kernel type: "u32", "x64", "string" */
	uint16_t size;       /* bytes of a number, or of an array of them; 0 for a string */
	bool is_signed;      /* of a number */
	struct up_span span; /* the script text that asked for it, for the kernel's own errors */
};

/* One place in a file where a probe point goes. Its index is what `site=\N` says. */
struct up_plan_site {
	const char *path;        /* of the object, as the kernel is told */
	uint64_t offset;         /* in the file: of the probe */
	uint64_t addr;           /* virtual address in the object: likewise */
	const char *object;      /* as shown: "zsh" */
	const char *func;        /* as shown: "zfree", or "0x46420" where no symbol is */
	uint64_t func_off;       /* bytes from the start of func */
	const char *probe;       /* as shown: the name given by `as`, or "zsh:zfree" */
	uint32_t prog;           /* index of the handler */
	uint32_t event;          /* index of the kernel event */
	enum up_machine machine; /* of the object */
	struct up_span span;     /* the target in the script */
	struct up_file_id id;    /* the file that was read at `path` */
	/* A probe may stand elsewhere than the script means (func and func_off), and see the same.
	 */
	int64_t moved;         /* bytes from the place that is meant to the probe */
	uint32_t sp_lower;     /* bytes by which sp is lower at the probe than at that place */
	uint32_t percent;      /* of an entry that was moved: the cost of a hit, of what it was */
	bool is_kernel_return; /* of an entry: does the kernel's return probe see the return? */
	const char *risk;      /* of an exit: what that would do to the program; NULL: nothing */
	const char *insn;      /* likewise: the instruction under the probe; NULL when not moved */
};

/* One kernel event: sites of one shape. */
struct up_plan_event {
	const char *name;         /* C identifier, unique in the plan */
	bool is_return;           /* `%return` */
	bool is_exit;             /* on instructions that leave a function */
	struct up_plan_arg *args; /* in order; `site` is not among them */
	uint32_t nr_args;
	uint32_t *sites; /* indices of its sites, in the order of definition */
	uint32_t nr_sites;
};

/* One instruction of a handler; see opcodes.def. */
struct up_insn {
	uint8_t op; /* enum up_opcode */
	uint8_t a;  /* usually the destination register */
	uint16_t b; /* usually a source register or an index */
	uint16_t c; /* usually the second source */
	/*
	 * Of OP_TEXT, OP_CHARS, OP_BYTES, OP_ARRAY, OP_PEEK: how many bytes, at most; of OP_CALL:
	 * enum up_fn_kind; of OP_RESULT: which result; of OP_NEXT: which iterator.
	 */
	uint16_t d;
};

/* What a handler does with the call it belongs to. */
enum up_pairing {
	UP_CALLS_NONE,  /* entry and return are not paired */
	UP_CALLS_ENTER, /* an entry: the handler opens a call with OP_ENTER */
	UP_CALLS_LEAVE  /* a return: runs only for a call that was opened */
};

/* The code of one block of one probe. */
struct up_plan_prog {
	uint32_t probe; /* which probe clause; the two blocks of one share it; UP_NONE: a block
			   without a probe */
	bool is_return;
	bool is_jump; /* the return is a jump to another function, which returns in its stead */
	enum up_pairing calls;
	struct up_insn *code; /* ends with OP_END */
	uint32_t nr_code;
	uint16_t nr_regs;  /* registers used */
	uint16_t nr_saved; /* call slots: values kept from entry to return */
	uint8_t return_sp; /* bytes by which sp is higher at the return than at the entry */
	uint16_t pops;     /* how many bytes more that may be: up_abi.pops */
	uint32_t sp_arg;   /* event argument that holds sp, when calls != UP_CALLS_NONE */
	uint32_t ra_arg;   /* of an entry: the one that holds the return address */
	/* Those that hold a goroutine, the top of its stack and its number, or UP_NONE: calls are
	 * the thread's. The number may be UP_NONE by itself: it is not known. */
	uint32_t g_arg, top_arg, goid_arg;
	uint32_t comm_arg;  /* event argument that holds comm, or UP_NONE */
	const char *when;   /* source text of the condition, which the code judges; or NULL */
	const char *filter; /* what the kernel can judge of it, over the event's fields; or NULL */
	const char *rest;   /* then: source text of what it cannot judge; or NULL */
};

/* A handler that reads nothing of its event yet. */
static inline struct up_plan_prog up_plan_prog_of(uint32_t probe, bool is_return)
{
	return (struct up_plan_prog){ .probe = probe,
				      .is_return = is_return,
				      .sp_arg = UP_NONE,
				      .ra_arg = UP_NONE,
				      .g_arg = UP_NONE,
				      .top_arg = UP_NONE,
				      .goid_arg = UP_NONE,
				      .comm_arg = UP_NONE };
}

/* One `print(...)`. */
struct up_plan_print {
	uint32_t nr;           /* values */
	const char **labels;   /* source text of each, on one line */
	struct up_type *types; /* of each */
};

/* One `printf(...)`: a list of pieces. */
struct up_plan_piece {
	const char *text; /* literal bytes, when conv is 0 */
	size_t text_len;
	char conv; /* d u x X o c s p f F e E g G a A, or 0 for literal text */
	bool minus, zero, plus, space, alt; /* flags */
	uint16_t width;                     /* minimum, 0 for none; at most 4096 */
	int16_t precision;                  /* -1 for none */
	struct up_type type;                /* of the value */
};

struct up_plan_printf {
	struct up_plan_piece *pieces;
	uint32_t nr_pieces;
	uint32_t nr; /* values taken */
};

/* One aggregation. The same name in several places is one aggregation. */
struct up_plan_agg {
	const char *name;  /* as shown: its NAME, or the source text, e.g. "count()" */
	bool is_named;     /* was it given a NAME? */
	const char *where; /* of an unnamed one: the probe it stands in, "zsh:zfree return" */
	const char *text;  /* source text of the aggregate: "hist(arg0)" */
	const struct up_agg_row *row;
	uint32_t nr_args;
	struct up_type *arg_types;
	struct up_value *consts; /* values of the arguments that are constants */
	uint32_t nr_keys;
	const char **key_labels; /* source text of each */
	struct up_type *key_types;
	uint32_t top; /* rows to show, 0 for all */
};

/* For the functions of its row, but for times and memory. */
static inline struct up_agg_cx up_plan_agg_cx(const struct up_plan_agg *a)
{
	return (struct up_agg_cx){ .types = a->arg_types,
				   .consts = a->consts,
				   .nr_args = a->nr_args };
}

enum up_var_scope {
	UP_VAR_GLOBAL, /* one value */
	UP_VAR_THREAD, /* one value for each thread; it ends with the thread */
	UP_VAR_TABLE,  /* one value for each key */
	UP_VAR_CALL    /* one value for each call; it is kept with the call, in a slot */
};

/* One variable. */
struct up_plan_var {
	const char *name; /* without `thread.` */
	enum up_var_scope scope;
	struct up_type type;
	uint32_t nr_keys;        /* of a table */
	const char **key_labels; /* source text of each, where the table was met first */
	struct up_type *key_types;
};

/* One `on start`, `on end` or `on every`. */
struct up_plan_block {
	enum up_on which;
	uint64_t every;   /* ns, of UP_ON_EVERY */
	const char *name; /* as shown: "start", "every 1s" */
	uint32_t prog;    /* index of the handler */
	uint32_t part;    /* which text of the program it stands in */
};

/* One probe clause of the script. */
struct up_plan_probe {
	const char *name; /* `as NAME`, or the target as written */
	uint32_t line;    /* of the script */
	uint32_t part;    /* which text of the program it stands in */
};

struct up_plan {
	struct up_arena *arena;
	struct up_plan_event *events;
	uint32_t nr_events;
	struct up_plan_site *sites;
	uint32_t nr_sites;
	struct up_plan_prog *progs;
	uint32_t nr_progs;
	struct up_plan_probe *probes;
	uint32_t nr_probes;
	struct up_plan_print *prints;
	uint32_t nr_prints;
	struct up_plan_printf *printfs;
	uint32_t nr_printfs;
	struct up_plan_agg *aggs;
	uint32_t nr_aggs;
	struct up_plan_var *vars;
	uint32_t nr_vars;
	struct up_plan_block *blocks; /* in the order of the script */
	uint32_t nr_blocks;
	struct up_value *consts;
	uint32_t nr_consts; /* numbers and strings of the code */
	bool needs_pid;     /* some handler must know its process: `pid`, sym, memory read late */
	bool needs_threads; /* something is kept for each thread, and must end with it */
	bool needs_order;   /* some handler's result depends on the order of events */
	bool reads_late;    /* some handler reads the program's memory itself */
};

/* Which probe an event is of; UP_NONE when it has no site any more. */
uint32_t up_plan_probe_of(const struct up_plan *p, uint32_t event);
/* Does a probe stand in the file, whatever was written to it? */
bool up_plan_probes_file(const struct up_plan *p, const struct up_file_id *id);
/* Do records of the two look the same? Names of events do not matter. */
bool up_plan_same_shape(const struct up_plan_event *a, const struct up_plan_event *b);

/* The kernel line that defines one site: "p:GROUP/EVENT PATH:0xOFF site=\N:u32 a=%di:s64". No
 * newline. */
void up_plan_line(const struct up_plan *p, const char *group, uint32_t site,
		  bool one_event_per_site, struct up_buf *out);
/* A fetch argument of the site's event, as it is to be read where the probe stands. */
void up_plan_fetch(const struct up_plan *p, uint32_t site, const char *fetch, struct up_buf *out);
/* The name of the kernel event of a site: the event's own, or with "_sN" behind it. */
void up_plan_event_name(const struct up_plan *p, uint32_t site, bool one_event_per_site,
			struct up_buf *out);

/*
 * The filter of the kernel event of a site, "" for none: it lets a record pass when the filter of
 * its site's handler does, or when that has none.
 */
void up_plan_filter(const struct up_plan *p, uint32_t site, bool one_event_per_site,
		    struct up_buf *out);

/* The whole plan for a reader: lines, filters, handlers. `code` adds the instructions. */
void up_plan_dump(const struct up_plan *p, const char *group, bool code, struct up_buf *out);

#endif
