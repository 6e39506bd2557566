/*
 * The syntax tree. Built by the grammar, read by dump and checker; all of it in the
 * compilation's arena. It says what was written, nothing of what it means.
 */
#ifndef UP_AST_H
#define UP_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/diag.h"
#include "lang/source.h"
#include "lang/value.h"

enum up_nd {
#define UP_ND(kind, name) kind,
#include "lang/ast.def"
#undef UP_ND
	ND_COUNT
};

enum up_op { /* operators, unary and binary; the order is free */
	     OPR_NEG,
	     OPR_NOT,
	     OPR_BNOT,
	     OPR_ADD,
	     OPR_SUB,
	     OPR_MUL,
	     OPR_DIV,
	     OPR_MOD,
	     OPR_AND,
	     OPR_OR,
	     OPR_XOR,
	     OPR_SHL,
	     OPR_SHR,
	     OPR_LT,
	     OPR_LE,
	     OPR_GT,
	     OPR_GE,
	     OPR_EQ,
	     OPR_NE,
	     OPR_MATCH, /* string ~ glob */
	     OPR_LAND,
	     OPR_LOR,
	     OPR_SET, /* `=` of an assignment */
	     OPR_COUNT
};

/* Is it one of < <= > >= == !=? */
static inline bool up_op_is_comparison(enum up_op op)
{
	return op == OPR_LT || op == OPR_LE || op == OPR_GT || op == OPR_GE || op == OPR_EQ ||
	       op == OPR_NE;
}

/* How an operator is written: "+", "&&", "~" ... */
const char *up_op_text(enum up_op op);

struct up_text {       /* decoded text: may hold NUL bytes */
	const char *s; /* NUL-terminated */
	size_t len;    /* bytes before the NUL */
};

struct up_typeref { /* what stands behind `:` */
	struct up_span span;
	const char *name;                /* "u32", "string", "bytes", "sym"; for a bit field "b" */
	struct up_node *len;             /* [N], or NULL */
	uint8_t bits, bit_off, bit_size; /* :bBITS@OFF/SIZE, or 0 */
};

struct up_node {
	enum up_nd kind;
	struct up_span span;
	struct up_node *next; /* in a list */
	struct up_type type;  /* of an expression, set by the checker */
	uint16_t sem;         /* enum up_sem: what a name turned out to be, set by the checker */
	uint16_t depth;       /* levels from here down, this one included; at most UP_DEPTH_MAX */
	uint32_t ref;         /* which one: argument number, value, aggregation ... */
	union {
		struct {
			struct up_node *decls;
		} script;
		struct { /* ND_PROBE, and ND_POINT with `name` and one target */
			struct up_node *targets; /* list of ND_TARGET */
			const char *name; /* `as NAME`, or the point's dotted name; NULL if none */
			struct up_span name_span;
			const char *point;        /* the point that the target was, or NULL */
			struct up_node *when;     /* condition, or NULL */
			struct up_node *entry;    /* ND_BLOCK, or NULL */
			struct up_node *ret_when; /* of `on return`, or NULL */
			struct up_node *ret;      /* ND_BLOCK, or NULL */
		} probe;
		struct {
			int which;
			struct up_node *every, *block;
		} on; /* enum up_on; `every` is the interval */
		struct {
			struct up_text name;
			bool is_path;
		} use;
		struct {
			const char *name;
			struct up_span name_span;
			struct up_node *params, *expr;
		} def; /* ND_CONST, ND_FN, ND_PARAM; params: list of ND_NAME */
		struct {
			const char *raw;
			size_t len;
		} target; /* as written, quotes included */
		struct {
			struct up_node *stmts;
		} block;
		struct { /* ND_ASSIGN: lhs op= rhs; ND_DO: an action or unnamed aggregation, lhs
			    NULL */
			struct up_node *lhs, *rhs; /* rhs of ND_DO is an ND_CALL */
			enum up_op op;             /* OPR_SET, or the operator of `+=` */
			struct up_node *by;        /* list of keys, or NULL */
			struct up_node *top;       /* N, or NULL */
		} act;
		struct {
			struct up_node *what;
		} del;
		struct {
			struct up_node *cond, *then, *els;
		} cond; /* ND_IF (blocks; els may be an ND_IF), ND_COND (expressions) */
		struct {
			struct up_node *names, *table, *block;
		} loop;
		struct {
			uint64_t v;
			bool is_named; /* it is what a constant, parameter or argument stands for */
		} num;
		struct {
			double v;
		} flt;
		struct up_text str;
		struct {
			const char *s;
		} name; /* ND_NAME, ND_DOLLAR ($name), ND_POS ($1: "1") */
		struct {
			struct up_node *obj;
			const char *name;
			struct up_span name_span;
		} member; /* ND_MEMBER, ND_ARROW */
		struct {
			struct up_node *obj, *idx;
		} index; /* idx: list */
		struct {
			const char *name;
			struct up_span name_span;
			struct up_node *args;
		} call;
		struct {
			enum up_op op;
			struct up_node *a, *b;
		} op; /* ND_UNARY (b NULL), ND_BINARY */
		struct {
			struct up_node *e;
			bool is_named; /* ND_PAREN: it is what a name stands for */
		} sub;                 /* ND_AT, ND_ENTRY, ND_PAREN */
		struct {
			struct up_node *e;
			struct up_typeref type;
		} typed;
	};
};

#define UP_DEPTH_MAX 200 /* nesting of expressions and blocks */

struct up_comment {
	struct up_span span;
}; /* from `#` to before the newline */

/* Everything the parser found out about one source. */
struct up_parse {
	struct up_node *script; /* ND_SCRIPT; also after errors, with what could be understood */
	UP_VEC(struct up_comment) comments; /* in source order */
};

/*
 * Parses source `src` of ds->sources. Errors are queued in ds. Everything is allocated in
 * ds->arena, the scanner's and parser's own memory too.
 */
struct up_parse *up_parse(struct up_diags *ds, uint32_t src);

/*
 * Source `src` as one literal: a number, with or without a minus sign, or a string in quotes. NULL
 * when it is something else; no diagnostic is queued.
 */
struct up_node *up_parse_literal(struct up_diags *ds, uint32_t src);

/* One S-expression a declaration, nested by indentation. */
void up_ast_dump(const struct up_node *n, struct up_buf *out);

/*
 * The source as `uptick fmt` writes it. Only for a source that parsed without errors. Comments are
 * kept, formatting the result again changes nothing.
 */
void up_fmt(const struct up_sources *ss, uint32_t src, struct up_buf *out);

#endif
