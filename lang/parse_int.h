/*
 * What scanner, layout, grammar and error reports share. Private to lang/parse*.c, lang/fmt.c and
 * the two grammar files.
 */
#ifndef UP_PARSE_INT_H
#define UP_PARSE_INT_H

#include "lang/ast.h"
#include "lang/base/text.h"

/* ---- tokens ---- */

enum up_tok_flag {
	UP_TOK_NEWLINE = 1, /* the first one on its line */
	UP_TOK_BARE = 2,    /* a comparison or shift outside parentheses */
	UP_TOK_MADE = 4,    /* not in the text: put in by a repair */
	UP_TOK_QUIET = 8,   /* put in after an error that was reported: no more about it */
	UP_TOK_IF = 16      /* the `)` that closes an `if (` */
};

struct up_tok {
	uint16_t kind;  /* TK_... of up.tab.h */
	uint16_t flags; /* enum up_tok_flag */
	uint32_t off;   /* its first byte */
	uint32_t len;   /* bytes; 0 for a newline's TK_TERM and for what a repair put in */
	union {
		uint64_t num;               /* TK_INT */
		double flt;                 /* TK_FLOAT */
		const struct up_text *text; /* TK_STR */
		const char *name;           /* words, TK_DOLLAR and TK_POS without the dollar */
		enum up_op op;              /* TK_OP_ASSIGN */
	};
};

struct up_toks { /* a vector that can be passed on */
	struct up_tok *v;
	size_t nr, cap;
};

/* What flex hands out beyond the tokens of the grammar. */
enum up_raw { UP_RAW_OPEN_STR = 1, UP_RAW_OPEN_TARGET, UP_RAW_SINGLE, UP_RAW_BAD };

/* ---- lists of nodes ---- */

struct up_list {
	struct up_node *first, *last; /* NULL when empty */
};

/* The clauses that probes and points share. */
struct up_clauses {
	struct up_node *when, *entry; /* condition and block, or NULL */
	struct up_node *ret_when, *ret;
	bool has_return; /* `on return` was written */
};

/* ---- repairs ---- */

enum up_fix_kind {
	UP_FIX_OPERATOR, /* `<`, `>` or `>>` there is an operator although outside parentheses */
	UP_FIX_INSERT,   /* a token `tok` is missing there */
	UP_FIX_KIND,     /* the token there is taken for a `tok` */
	UP_FIX_DROP      /* the token there is left out */
};

struct up_fix {
	uint32_t off;          /* where */
	enum up_fix_kind kind; /* what to do */
	int tok;               /* TK_... */
};

#define UP_FIX_MAX (2 * UP_DIAG_MAX)

/* ---- scanning ---- */

/* A diagnostic of the scanner, queued when the parser gets there. */
struct up_scan_err {
	struct up_span span;
	enum up_diag_tag tag;
	const char *msg, *hint; /* hint may be NULL */
};

/* A bracket that is open. */
struct up_open {
	char c;       /* `<`, `{`, `(` or `[` */
	bool is_if;   /* a parenthesis behind `if` */
	uint32_t off; /* where */
};

struct up_scan {
	struct up_arena *arena;
	uint32_t src;                    /* index of the source */
	bool for_parser;                 /* are newlines made into tokens? */
	const char *text;                /* its bytes */
	uint32_t len;                    /* how many */
	char *copy;                      /* what flex works on: the bytes and two NULs */
	char *names;                     /* the bytes once more, with a NUL behind each name */
	struct up_fix fixes[UP_FIX_MAX]; /* by offset */
	unsigned nr_fixes;               /* how many */

	struct up_toks toks; /* the result */
	UP_VEC(struct up_comment) comments;
	UP_VEC(struct up_scan_err) errs; /* in source order */

	void *flex;                    /* flex's state */
	UP_VEC(struct up_open) open;   /* brackets */
	unsigned nr_blocks, nr_parens; /* how many of each are open */
	unsigned next_fix;             /* the first that was not yet used */
	uint16_t prev;                 /* kind of the token before; 0 at the start */
	bool in_targets;  /* behind `probe`, until something else than a target comes */
	bool in_point;    /* behind `point`, until the `=` */
	bool want_target; /* a target may stand next */
	bool newline;     /* one was seen since the token before */
	bool bad_line;    /* a wrong character was reported on this line */
	bool is_cut;      /* brackets are nested too deeply: scanning stopped there */
};

void up_scan_init(struct up_scan *sc, struct up_arena *a, const struct up_source *s, uint32_t src);
/*
 * All tokens, TK_EOT last. With sc->for_parser a TK_TERM stands where a newline ends a statement,
 * and `on return` is one token. Can be called again when there are more repairs. The text must be
 * UTF-8 without NUL bytes.
 */
void up_scan_all(struct up_scan *sc);
/* For up.l. */
void up_scan_newline(struct up_scan *sc);
void up_scan_comment(struct up_scan *sc, const char *text, int len);
/* Queues a diagnostic of the scanner. */
void up_scan_error(struct up_scan *sc, uint32_t off, uint32_t len, enum up_diag_tag tag,
		   const char *hint, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* What a word means at this place: TK_NAME or a keyword. */
int up_scan_word(const struct up_scan *sc, uint32_t off, uint32_t len);
/* Can a value, a name, a block or a target end with this kind of token? */
bool up_tok_ends_operand(int kind);
/* Can a value begin with it? */
bool up_tok_begins_operand(int kind);
/* Is it the first word of a declaration? */
bool up_tok_is_decl(int kind);
/* Counts the blocks and parentheses open behind a token. False when it is none of theirs. */
bool up_tok_nest(int kind, unsigned *blocks, unsigned *parens);
/* The spelling of a keyword or punctuation token, or NULL. */
const char *up_tok_text(int kind);

/* Decode literals; errors are queued in sc. Each sets kind and value of *t. */
void up_lit_number(struct up_scan *sc, struct up_tok *t);
void up_lit_string(struct up_scan *sc, struct up_tok *t, bool is_closed);

/* In a block, outside parentheses: does a newline between these two end a statement? */
bool up_line_ends(const struct up_tok *before, int kind);

/* ---- parsing ---- */

struct up_parser {
	struct up_diags *ds;
	struct up_arena *arena;
	uint32_t src;
	struct up_scan scan;
	struct up_toks toks;           /* those of scan */
	size_t cur;                    /* index of the token handed out last */
	size_t next;                   /* index of the token to hand out next */
	size_t next_err;               /* first scanner error not yet queued */
	bool sync;                     /* hand out TK_SYNC next */
	bool stop;                     /* hand out TK_EOT from now on */
	bool again;                    /* a repair was made: scan and parse again */
	unsigned depth;                /* blocks that bison is in */
	unsigned nr_rounds;            /* how often the text was parsed */
	unsigned nr_looks;             /* costly looks ahead in this round */
	size_t last_error;             /* index + 1 of the token of the latest syntax error */
	struct up_node *script;        /* the result */
	UP_VEC(struct up_node *) pool; /* chunks of nodes, used again by the next round */
	size_t nr_nodes;               /* how many of them are used */
};

struct up_span up_parser_span(const struct up_parser *p, uint32_t off, uint32_t len);
struct up_span up_tok_span(const struct up_parser *p, const struct up_tok *t);

/* For up.y: a syntax error at the current token; expected is a bit set of token kinds. */
struct up_expected {
	uint64_t bits[2]; /* bit (kind - UP_TK_FIRST) */
	bool eof;         /* the end of the script */
};
#define UP_TK_FIRST TK_NAME
#define UP_TK_END (TK_AT + 1)
bool up_expects(const struct up_expected *x, int kind);
void up_expected_add(struct up_expected *x, int kind);
void up_parse_failed(struct up_parser *p, const struct up_expected *x);
/* Phrases of what could stand there: "a value, `)` or `,`". */
const char *up_expected_text(struct up_parser *p, const struct up_expected *x);

/* Says that a comparison needs parentheses; `all` is the comparison with its operands. */
void up_bare_comparison(struct up_parser *p, const struct up_tok *op, struct up_span all);
/* A statement that is only the expression e: does it belong to a comparison cut by a `>`? */
void up_check_statement(struct up_parser *p, const struct up_node *e);
/* At the end: says what was repaired and not yet reported. */
void up_report_repairs(struct up_parser *p);

/* Adds a repair and asks for another round; false when there are too many. */
bool up_repair(struct up_parser *p, enum up_fix_kind kind, uint32_t off, int tok);

/* ---- nodes: each returns one of the right kind, or ND_BAD after a diagnostic ---- */

struct up_node *up_node_new(struct up_parser *p, enum up_nd kind, struct up_span sp);
void up_list_add(struct up_list *l, struct up_node *n);
struct up_node *up_node_int(struct up_parser *p, struct up_span sp, const struct up_tok *t);
struct up_node *up_node_float(struct up_parser *p, struct up_span sp, const struct up_tok *t);
struct up_node *up_node_str(struct up_parser *p, struct up_span sp, const struct up_tok *t);
struct up_node *up_node_name(struct up_parser *p, enum up_nd kind, struct up_span sp,
			     const struct up_tok *t);
struct up_node *up_node_member(struct up_parser *p, enum up_nd kind, struct up_span sp,
			       struct up_node *obj, const struct up_tok *name);
struct up_node *up_node_index(struct up_parser *p, struct up_span sp, struct up_node *obj,
			      struct up_list idx);
struct up_node *up_node_call(struct up_parser *p, struct up_span sp, const struct up_tok *name,
			     struct up_list args);
struct up_node *up_node_sub(struct up_parser *p, enum up_nd kind, struct up_span sp,
			    struct up_node *e);
struct up_node *up_node_typed(struct up_parser *p, struct up_span sp, struct up_node *e,
			      const struct up_typeref *type);
struct up_node *up_node_unary(struct up_parser *p, struct up_span sp, enum up_op op,
			      struct up_node *a);
/* Reports E_BARE_COMPARISON when the operator stands outside parentheses. */
struct up_node *up_node_binary(struct up_parser *p, struct up_span sp, enum up_op op,
			       const struct up_tok *t, struct up_node *a, struct up_node *b);
struct up_node *up_node_cond(struct up_parser *p, enum up_nd kind, struct up_span sp,
			     struct up_node *c, struct up_node *a, struct up_node *b);
struct up_node *up_node_do(struct up_parser *p, struct up_span sp, struct up_node *e,
			   struct up_list by, struct up_node *top);
struct up_node *up_node_assign(struct up_parser *p, struct up_span sp, struct up_node *lhs,
			       enum up_op op, struct up_node *rhs, struct up_list by,
			       struct up_node *top);
struct up_node *up_node_delete(struct up_parser *p, struct up_span sp, struct up_node *what);
struct up_node *up_node_for(struct up_parser *p, struct up_span sp, struct up_list names,
			    struct up_node *table, struct up_node *block);
struct up_node *up_node_block(struct up_parser *p, struct up_span sp, struct up_list stmts);
struct up_node *up_node_target(struct up_parser *p, struct up_span sp);
struct up_node *up_node_probe(struct up_parser *p, struct up_span sp, struct up_list targets,
			      const struct up_tok *name, const struct up_clauses *c);
struct up_node *up_node_point(struct up_parser *p, struct up_span sp, struct up_span name_span,
			      const char *name, struct up_node *target, const struct up_clauses *c);
struct up_node *up_node_on(struct up_parser *p, struct up_span sp, enum up_on which,
			   struct up_node *every, struct up_node *block);
struct up_node *up_node_use(struct up_parser *p, struct up_span sp, const struct up_tok *t);
struct up_node *up_node_def(struct up_parser *p, enum up_nd kind, struct up_span sp,
			    const struct up_tok *name, struct up_list params, struct up_node *e);
struct up_typeref *up_type_make(struct up_parser *p, struct up_span sp, const struct up_tok *name,
				struct up_node *len);
struct up_typeref *up_type_bits(struct up_parser *p, const struct up_tok *t);

#endif
