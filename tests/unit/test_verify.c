/* The verifier: handlers written by hand, right ones and each kind of wrong one. */
#include "lang/functions.h"
#include "lang/opcodes.h"
#include "lang/verify.h"
#include "tests/unit/unit.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))

/* ---- a plan with some of everything ---- */

enum { NUM, TEXT, OWN, TABLE, OF_CALL, NAMES }; /* variables */
enum { WORD, HALF, COMM, PIECE };               /* arguments of the event */

static struct up_type int_type = { TY_INT, UP_SHOW_DEC, 64, true, 0 };
static struct up_type str_type = { TY_STR, UP_SHOW_DEC, 0, false, 0 };

static struct up_value consts[] = { { .u = 7 }, { .p = "text", .len = 4 } };
static struct up_plan_arg args[] = {
	[WORD] = { "a", "%di", "x64", 8, false, { 0 } },
	[HALF] = { "b", "%si", "u32", 4, false, { 0 } },
	[COMM] = { "c", "$comm", "string", 0, false, { 0 } },
	[PIECE] = { "d", "+0(%di)", "x64[4]", 32, false, { 0 } },
};
static struct up_plan_event event = { .name = "e", .args = args, .nr_args = NR(args) };
static struct up_type print_types[2];
static struct up_plan_print print = { .nr = 2, .types = print_types };
static struct up_plan_piece pieces[] = { { .text = "x" }, { .conv = 'd' }, { .conv = 's' } };
static struct up_plan_printf format = { pieces, NR(pieces), 2 };
static struct up_plan_agg agg = { .name = "g", .nr_args = 1, .nr_keys = 1 };
static struct up_plan_probe probe = { .name = "p", .line = 1 };
static struct up_plan_var vars[] = {
	[NUM] = { "n", UP_VAR_GLOBAL, { TY_INT, 0, 64, true, 0 }, 0, NULL, NULL },
	[TEXT] = { "s", UP_VAR_GLOBAL, { TY_STR, 0, 0, false, 0 }, 0, NULL, NULL },
	[OWN] = { "t", UP_VAR_THREAD, { TY_INT, 0, 64, true, 0 }, 0, NULL, NULL },
	[TABLE] = { "m", UP_VAR_TABLE, { TY_INT, 0, 64, true, 0 }, 1, NULL, &int_type },
	[OF_CALL] = { "c", UP_VAR_CALL, { TY_INT, 0, 64, true, 0 }, 0, NULL, NULL },
	[NAMES] = { "names", UP_VAR_TABLE, { TY_STR, 0, 0, false, 0 }, 1, NULL, &str_type },
};

/* How the handler is used. */
static enum up_pairing calls;
static bool as_block;

static const struct up_agg_row *find(const char *name)
{
	for (const struct up_agg_row *const *r = up_agg_rows; *r; r++)
		if (!strcmp((*r)->name, name))
			return *r;
	return NULL;
}

static struct up_plan_prog make_prog(struct up_insn *code, uint32_t nr)
{
	return (struct up_plan_prog){ .probe = as_block ? UP_NONE : 0,
				      .calls = calls,
				      .code = code,
				      .nr_code = nr,
				      .nr_regs = 8,
				      .nr_saved = 2,
				      .sp_arg = WORD,
				      .ra_arg = WORD,
				      .g_arg = UP_NONE,
				      .top_arg = UP_NONE,
				      .goid_arg = UP_NONE,
				      .comm_arg = as_block ? UP_NONE : COMM };
}

static bool verify_progs(struct up_plan_prog *progs, uint32_t nr, struct up_buf *why)
{
	struct up_plan_site sites[2] = { { .prog = 0 }, { .prog = 1 } };
	struct up_plan_block block = { .which = UP_ON_END, .name = "end" };
	struct up_plan p = { .events = &event,
			     .nr_events = 1,
			     .sites = sites,
			     .nr_sites = as_block ? 0 : nr,
			     .blocks = &block,
			     .nr_blocks = as_block,
			     .progs = progs,
			     .nr_progs = nr,
			     .probes = &probe,
			     .nr_probes = 1,
			     .prints = &print,
			     .nr_prints = 1,
			     .printfs = &format,
			     .nr_printfs = 1,
			     .aggs = &agg,
			     .nr_aggs = 1,
			     .vars = vars,
			     .nr_vars = NR(vars),
			     .consts = consts,
			     .nr_consts = NR(consts) };

	print.types[0] = int_type;
	print.types[1] = str_type;
	pieces[1].type = int_type;
	pieces[2].type = str_type;
	agg.row = find("max");
	agg.arg_types = agg.key_types = &int_type;
	agg.consts = consts;
	return up_plan_verify(&p, why);
}

/* `want`: what is said, or NULL when the handler is right. */
static void check(const char *want, struct up_insn *code, uint32_t nr, int line)
{
	struct up_plan_prog prog = make_prog(code, nr);
	struct up_buf why = { 0 };
	bool ok = verify_progs(&prog, 1, &why);

	unit_checks++;
	if (ok != !want || (want && (!why.s || strcmp(why.s, want) != 0))) {
		unit_failures++;
		fprintf(stderr, "%s:%d: got  %s\n%s:%d: want %s\n", __FILE__, line,
			why.s ? why.s : "ok", __FILE__, line, want ? want : "ok");
	}
	up_buf_fini(&why);
}

#define CODE(...)                            \
	((struct up_insn[]){ __VA_ARGS__ }), \
		(uint32_t)(sizeof((struct up_insn[]){ __VA_ARGS__ }) / sizeof(struct up_insn))
#define RIGHT(...) check(NULL, CODE(__VA_ARGS__), __LINE__)
#define WRONG(want, ...) check(want, CODE(__VA_ARGS__), __LINE__)
#define END                        \
	{                          \
		OP_END, 0, 0, 0, 0 \
	}
#define NUMBER(r)                    \
	{                            \
		OP_CONST, r, 0, 0, 0 \
	} /* into register r */
#define STRING(r)                     \
	{                             \
		OP_SCONST, r, 1, 0, 0 \
	}

/* ---- operands ---- */

static void test_registers(void)
{
	RIGHT(NUMBER(0), NUMBER(7), { OP_ADD, 1, 0, 7, 0 }, END);
	WRONG("instruction 0 (const): register 8 of 8 is written", NUMBER(8), END);
	WRONG("instruction 1 (add): register 9 of 8 is read", NUMBER(0), { OP_ADD, 0, 0, 9, 0 },
	      END);
	WRONG("instruction 0 (move): register 3 is read before it is written",
	      { OP_MOVE, 0, 3, 0, 0 }, END);
	/* On one of two ways only. */
	WRONG("instruction 3 (print): register 1 is read before it is written", NUMBER(0),
	      { OP_JUMPZ, 0, 3, 0, 0 }, STRING(1), { OP_PRINT, 0, 0, 0, 0 }, END);
	RIGHT(NUMBER(0), { OP_JUMPZ, 0, 4, 0, 0 }, STRING(1), { OP_JUMP, 0, 5, 0, 0 }, STRING(1),
	      { OP_PRINT, 0, 0, 0, 0 }, END);
	/* A number here, bytes there. */
	WRONG("instruction 5 (move): register 1 is read before it is written", NUMBER(0),
	      { OP_JUMPZ, 0, 4, 0, 0 }, STRING(1), { OP_JUMP, 0, 5, 0, 0 }, NUMBER(1),
	      { OP_MOVE, 2, 1, 0, 0 }, END);
}

static void test_kinds(void)
{
	WRONG("instruction 1 (neg): register 0 holds bytes", STRING(0), { OP_NEG, 0, 0, 0, 0 },
	      END);
	WRONG("instruction 1 (strtruth): register 0 holds a number", NUMBER(0),
	      { OP_STRTRUTH, 0, 0, 0, 0 }, END);
	RIGHT(STRING(0), { OP_MOVE, 1, 0, 0, 0 }, { OP_STREQ, 2, 0, 1, 0 }, { OP_NOT, 2, 2, 0, 0 },
	      END);
	WRONG("instruction 2 (print): register 1 holds a number", NUMBER(0), NUMBER(1),
	      { OP_PRINT, 0, 0, 0, 0 }, END);
	WRONG("instruction 2 (printf): register 0 holds bytes", STRING(0), STRING(1),
	      { OP_PRINTF, 0, 0, 0, 0 }, END);
	WRONG("instruction 1 (setvar): register 0 holds bytes", STRING(0),
	      { OP_SETVAR, 0, NUM, 0, 0 }, END);
	WRONG("instruction 2 (agg): register 1 holds bytes", NUMBER(0), STRING(1),
	      { OP_AGG, 0, 0, 0, 0 }, END);
	WRONG("instruction 1 (row): register 0 holds a number", NUMBER(0),
	      { OP_ROW, 0, NAMES, 0, 0 }, END);
	RIGHT(STRING(0), { OP_ROW, 1, NAMES, 0, 0 }, { OP_SETVAR, 1, TEXT, 0, 0 }, END);
	WRONG("instruction 0 (jumpz): register 0 is read before it is written",
	      { OP_JUMPZ, 0, 1, 0, 0 }, END);
}

static void test_constants(void)
{
	RIGHT(STRING(0), NUMBER(1), END);
	WRONG("instruction 0 (const): constant 2 of 2", { OP_CONST, 0, 2, 0, 0 }, END);
	WRONG("instruction 0 (sconst): constant 65536 of 2", { OP_SCONST, 0, 0, 1, 0 }, END);
	WRONG("instruction 0 (const): constant 1 is of another kind", { OP_CONST, 0, 1, 0, 0 },
	      END);
}

static void test_arguments(void)
{
	RIGHT({ OP_ARG, 0, HALF, 0, 0 }, { OP_ARGSTR, 1, COMM, 0, 0 }, { OP_PRINT, 0, 0, 0, 0 },
	      END);
	WRONG("instruction 0 (arg): event argument 4 of 4", { OP_ARG, 0, 4, 0, 0 }, END);
	WRONG("instruction 0 (arg): event argument 2 is no number", { OP_ARG, 0, COMM, 0, 0 }, END);
	WRONG("instruction 0 (arg): event argument 3 is no number", { OP_ARG, 0, PIECE, 0, 0 },
	      END);
	WRONG("instruction 0 (argstr): event argument 0 is no string", { OP_ARGSTR, 0, WORD, 0, 0 },
	      END);
	as_block = true;
	WRONG("instruction 0 (arg): a block without a hit has no event", { OP_ARG, 0, WORD, 0, 0 },
	      END);
	as_block = false;
}

/* Text of 31 bytes needs 32: its NUL is read, too. */
static void test_pieces(void)
{
	RIGHT(NUMBER(1), { OP_TEXT, 0, PIECE, 1, 31 }, END);
	WRONG("instruction 1 (text): 33 bytes are read of 32", NUMBER(1),
	      { OP_TEXT, 0, PIECE, 1, 32 }, END);
	RIGHT(NUMBER(1), { OP_CHARS, 0, PIECE, 1, 32 }, { OP_STRTRUTH, 0, 0, 0, 0 }, END);
	RIGHT(NUMBER(1), { OP_BYTES, 0, PIECE, 1, 32 }, END);
	WRONG("instruction 1 (bytes): 33 bytes are read of 32", NUMBER(1),
	      { OP_BYTES, 0, PIECE, 1, 33 }, END);
	RIGHT(NUMBER(1), { OP_ARRAY, 0, PIECE, 8, 32 }, END);
	WRONG("instruction 1 (array): event argument 4 of 4", NUMBER(1),
	      { OP_ARRAY, 0, PIECE, 8, 40 }, END);
	WRONG("instruction 1 (array): elements of 0 bytes", NUMBER(1),
	      { OP_ARRAY, 0, PIECE, 0, 32 }, END);
	WRONG("instruction 1 (bytes): event argument 2 is no number", NUMBER(1),
	      { OP_BYTES, 0, HALF, 2, 12 }, END);
	WRONG("instruction 1 (bytes): 5000 bytes are more than are read at once", NUMBER(1),
	      { OP_BYTES, 0, PIECE, 1, 5000 }, END);
	WRONG("instruction 0 (text): register 1 is read before it is written",
	      { OP_TEXT, 0, PIECE, 1, 9 }, END);
	WRONG("instruction 1 (text): register 8 of 8 is read", NUMBER(7),
	      { OP_TEXT, 7, PIECE, 1, 9 }, END);
}

static void test_late(void)
{
	RIGHT(NUMBER(0), { OP_PEEK, 0, 0, UP_PEEK_NUMBER, 4 }, { OP_NEG, 0, 0, 0, 0 }, END);
	RIGHT(NUMBER(0), { OP_PEEK, 0, 0, UP_PEEK_TEXT, 9 }, { OP_STRTRUTH, 0, 0, 0, 0 }, END);
	RIGHT(NUMBER(0), { OP_PEEK, 0, 0, UP_PEEK_ARRAY | 4 << 8, 12 }, END);
	WRONG("instruction 1 (peek): 3 bytes are read", NUMBER(0),
	      { OP_PEEK, 0, 0, UP_PEEK_NUMBER, 3 }, END);
	WRONG("instruction 1 (peek): way of reading 5 of 5", NUMBER(0), { OP_PEEK, 0, 0, 5, 4 },
	      END);
	WRONG("instruction 1 (peek): elements of 3 bytes", NUMBER(0),
	      { OP_PEEK, 0, 0, UP_PEEK_ARRAY | 3 << 8, 12 }, END);
	as_block = true;
	WRONG("instruction 1 (peek): a block without a hit has no program to read", NUMBER(0),
	      { OP_PEEK, 0, 0, UP_PEEK_NUMBER, 4 }, END);
	WRONG("instruction 1 (sym): a block without a hit has no program to look into", NUMBER(0),
	      { OP_SYM, 0, 0, 0, 0 }, END);
	WRONG("instruction 0 (site): a block without a hit has no place",
	      { OP_SITE, 0, UP_SITE_FUNC, 0, 0 }, END);
	as_block = false;
	WRONG("instruction 0 (site): text of a place 4 of 4", { OP_SITE, 0, 4, 0, 0 }, END);
	WRONG("instruction 0 (context): value of a hit 7 of 7", { OP_CONTEXT, 0, 7, 0, 0 }, END);
	WRONG("instruction 1 (cast): width 65 of 65", NUMBER(0), { OP_CAST, 0, 0, 65, 0 }, END);
}

static void test_indices(void)
{
	WRONG("instruction 2 (print): print 1 of 1", NUMBER(0), STRING(1), { OP_PRINT, 0, 1, 0, 0 },
	      END);
	WRONG("instruction 2 (printf): printf 1 of 1", NUMBER(0), STRING(1),
	      { OP_PRINTF, 0, 1, 0, 0 }, END);
	WRONG("instruction 2 (agg): aggregation 1 of 1", NUMBER(0), NUMBER(1),
	      { OP_AGG, 0, 1, 0, 0 }, END);
	WRONG("instruction 0 (var): variable 6 of 6", { OP_VAR, 0, NR(vars), 0, 0 }, END);
	WRONG("instruction 0 (len): variable 6 of 6", { OP_LEN, 0, NR(vars) << 1, 0, 0 }, END);
	WRONG("instruction 0 (show): aggregation 1 of 1", { OP_SHOW, 0, 1 << 1 | 1, 0, 0 }, END);
	RIGHT(NUMBER(0), { OP_RESULT, 0, 0, 0, 0 }, { OP_NEG, 0, 0, 0, 0 }, END);
	WRONG("instruction 1 (result): result 1 of 1", NUMBER(0), { OP_RESULT, 0, 0, 0, 1 }, END);
	WRONG("instruction 0 (unknown): no such instruction", { OP_COUNT, 0, 0, 0, 0 }, END);
}

static void test_scopes(void)
{
	RIGHT({ OP_TVAR, 0, OWN, 0, 0 }, { OP_VAR, 0, NUM, 0, 0 }, { OP_LEN, 0, TABLE << 1, 0, 0 },
	      { OP_SHOW, 0, NUM << 1, 0, 0 }, { OP_CLEAR, 0, TABLE << 1, 0, 0 }, END);
	WRONG("instruction 0 (var): the variable `t` is of another scope", { OP_VAR, 0, OWN, 0, 0 },
	      END);
	WRONG("instruction 1 (row): the variable `n` is of another scope", NUMBER(0),
	      { OP_ROW, 0, NUM, 0, 0 }, END);
	WRONG("instruction 0 (len): the variable `n` is of another scope",
	      { OP_LEN, 0, NUM << 1, 0, 0 }, END);
	WRONG("instruction 0 (loop): the variable `s` is of another scope",
	      { OP_LOOP, 0, TEXT << 1, 0, 0 }, { OP_NEXT, 0, 2, 0, 0 }, END);
	WRONG("instruction 0 (show): the variable `t` is of another scope",
	      { OP_SHOW, 0, OWN << 1, 0, 0 }, END);
	WRONG("instruction 0 (clear): the variable `c` is of another scope",
	      { OP_CLEAR, 0, OF_CALL << 1, 0, 0 }, END);
	as_block = true;
	WRONG("instruction 0 (tvar): a block without a hit has no thread",
	      { OP_TVAR, 0, OWN, 0, 0 }, END);
	as_block = false;
}

static void test_functions(void)
{
	RIGHT(STRING(0), NUMBER(1), { OP_CALL, 0, FN_SUBSTR, 2, 0 }, { OP_STRTRUTH, 0, 0, 0, 0 },
	      END);
	RIGHT(NUMBER(0), NUMBER(1), NUMBER(2), { OP_CALL, 0, FN_MAX, 3, 0 }, { OP_NEG, 0, 0, 0, 0 },
	      END);
	char want[64];
	snprintf(want, sizeof(want), "instruction 0 (call): function %d of %d", FN_COUNT, FN_COUNT);
	WRONG(want, { OP_CALL, 0, FN_COUNT, 1, 0 }, END);
	WRONG("instruction 1 (call): 1 arguments", STRING(0), { OP_CALL, 0, FN_SUBSTR, 1, 0 }, END);
	WRONG("instruction 1 (call): register 1 is read before it is written", STRING(0),
	      { OP_CALL, 0, FN_SUBSTR, 2, 0 }, END);
	WRONG("instruction 1 (call): register 0 holds a number", NUMBER(0),
	      { OP_CALL, 0, FN_LOWER, 1, 0 }, END);
	WRONG("instruction 0 (call): this function has an instruction of its own",
	      { OP_CALL, 0, FN_SYM, 1, 0 }, END);
}

/* ---- the way through ---- */

static void test_jumps(void)
{
	WRONG("instruction 0 (jump): a jump out of the handler, to 2", { OP_JUMP, 0, 2, 0, 0 },
	      END);
	WRONG("instruction 1 (jump): a jump back to 0, where no loop begins", NUMBER(0),
	      { OP_JUMP, 0, 0, 0, 0 }, END);
	WRONG("instruction 0 (jump): a jump back to 0, where no loop begins",
	      { OP_JUMP, 0, 0, 0, 0 }, END);
	WRONG("instruction 0 (const): the handler runs over its end", NUMBER(0));
	WRONG("instruction 1 (jumpnz): the handler runs over its end", NUMBER(0),
	      { OP_JUMPNZ, 0, 0, 0, 0 });
	/* What is never reached does not matter. */
	RIGHT({ OP_JUMP, 0, 2, 0, 0 }, { OP_PRINT, 200, 9, 0, 0 }, END);
}

#define LOOP(l, v)                         \
	{                                  \
		OP_LOOP, l, (v) << 1, 0, 0 \
	}
#define NEXT(r, l, end)               \
	{                             \
		OP_NEXT, r, end, 0, l \
	}
#define JUMP(to)                     \
	{                            \
		OP_JUMP, 0, to, 0, 0 \
	}

static void test_loops(void)
{
	RIGHT(LOOP(0, TABLE), NEXT(0, 0, 4), { OP_NEG, 1, 0, 0, 0 }, JUMP(1), END);
	RIGHT(LOOP(0, NAMES), NEXT(0, 0, 4), { OP_SETVAR, 0, TEXT, 0, 0 }, JUMP(1), END);
	/* One within the other, over the same table; then the place is used again. */
	RIGHT(LOOP(0, TABLE), NEXT(0, 0, 8), LOOP(1, TABLE), NEXT(1, 1, 7), { OP_ADD, 2, 0, 1, 0 },
	      { OP_SETROW, 2, TABLE, 0, 0 }, JUMP(3), JUMP(1), LOOP(0, NAMES), NEXT(0, 0, 11),
	      JUMP(9), END);
	WRONG("instruction 0 (next): no loop was begun before it", NEXT(0, 0, 1), END);
	WRONG("instruction 0 (loop): no loop follows", LOOP(0, TABLE), NEXT(0, 1, 3), JUMP(1), END);
	WRONG("instruction 0 (loop): loop 8 of 8", LOOP(8, TABLE), NEXT(0, 8, 3), JUMP(1), END);
	WRONG("instruction 1 (next): a loop that ends before it begins", LOOP(0, TABLE),
	      NEXT(0, 0, 1), JUMP(1), END);
	WRONG("instruction 2 (loop): iterator 0 is in use", LOOP(0, TABLE), NEXT(0, 0, 6),
	      LOOP(0, TABLE), NEXT(1, 0, 5), JUMP(3), JUMP(1), END);
	WRONG("instruction 1 (jumpz): a jump into a loop, to 3", NUMBER(0),
	      { OP_JUMPZ, 0, 3, 0, 0 }, LOOP(0, TABLE), NEXT(0, 0, 5), JUMP(3), END);
	WRONG("instruction 3 (jump): a jump back to 1 from outside of its loop", LOOP(0, TABLE),
	      NEXT(0, 0, 3), JUMP(1), JUMP(1), END);
	WRONG("instruction 4 (jump): a jump back to 1 from outside of its loop", LOOP(0, TABLE),
	      NEXT(0, 0, 5), LOOP(1, TABLE), NEXT(1, 1, 5), JUMP(1), END);
	/* Keys are gone behind the loop, and belong to it before. */
	WRONG("instruction 3 (neg): register 0 is read before it is written", LOOP(0, TABLE),
	      NEXT(0, 0, 3), JUMP(1), { OP_NEG, 1, 0, 0, 0 }, END);
	WRONG("instruction 2 (const): register 0 is the key of a loop", LOOP(0, TABLE),
	      NEXT(0, 0, 4), NUMBER(0), JUMP(1), END);
	WRONG("instruction 1 (next): register 8 of 8 is written", LOOP(0, TABLE), NEXT(8, 0, 3),
	      JUMP(1), END);
}

static void test_nesting(void)
{
	struct up_insn code[3 * 8 + 1];
	uint32_t nr = 0;

	for (unsigned l = 0; l < 8; l++) {
		code[nr++] = (struct up_insn)LOOP((uint8_t)l, TABLE);
		code[nr++] = (struct up_insn)NEXT((uint8_t)l, (uint16_t)l, (uint16_t)(24 - l));
	}
	for (unsigned l = 8; l-- > 0;)
		code[nr++] = (struct up_insn)JUMP((uint16_t)(2 * l + 1));
	code[nr++] = (struct up_insn)END;
	check(NULL, code, nr, __LINE__);
}

/* Bytes that were borrowed are not used once their owner may have changed. */
static void test_borrowed(void)
{
	WRONG("instruction 2 (move): register 0 is read before it is written",
	      { OP_VAR, 0, TEXT, 0, 0 }, { OP_SETVAR, 0, TEXT, 0, 0 }, { OP_MOVE, 1, 0, 0, 0 },
	      END);
	WRONG("instruction 3 (move): register 1 is read before it is written", STRING(0),
	      { OP_ROW, 1, NAMES, 0, 0 }, { OP_DELROW, 0, NAMES, 0, 0 }, { OP_MOVE, 1, 1, 0, 0 },
	      END);
	WRONG("instruction 2 (setvar): register 0 is read before it is written",
	      { OP_VAR, 0, TEXT, 0, 0 }, { OP_CLEAR, 0, TEXT << 1, 0, 0 },
	      { OP_SETVAR, 0, TEXT, 0, 0 }, END);
	WRONG("instruction 4 (setvar): register 0 is read before it is written",
	      { OP_VAR, 0, TEXT, 0, 0 }, LOOP(0, TABLE), NEXT(1, 0, 4), JUMP(2),
	      { OP_SETVAR, 0, TEXT, 0, 0 }, END);
}

/* ---- calls ---- */

static void test_calls(void)
{
	WRONG("instruction 0 (saved): there is no call", { OP_SAVED, 0, 0, 0, 0 }, END);
	WRONG("instruction 0 (enter): this handler opens no call", { OP_ENTER, 0, 0, 0, 0 }, END);
	calls = UP_CALLS_ENTER;
	RIGHT(NUMBER(0), { OP_JUMPNZ, 0, 3, 0, 0 }, { OP_REJECT, 0, 0, 0, 0 },
	      { OP_ENTER, 0, 0, 0, 0 }, STRING(0), { OP_SAVE, 0, 1, 1, 0 },
	      { OP_SAVED, 1, 1, 1, 0 }, END);
	WRONG("instruction 1 (save): slot 2 of 2", NUMBER(0), { OP_SAVE, 0, 2, 0, 0 }, END);
	WRONG("instruction 1 (save): register 0 holds a number", NUMBER(0), { OP_SAVE, 0, 0, 1, 0 },
	      END);
	WRONG("instruction 1 (enter): the call was opened before", { OP_ENTER, 0, 0, 0, 0 },
	      { OP_ENTER, 0, 0, 0, 0 }, END);
	WRONG("instruction 1 (reject): the call was opened before", { OP_ENTER, 0, 0, 0, 0 },
	      { OP_REJECT, 0, 0, 0, 0 });
	WRONG("an entry keeps a number where its return wants bytes", NUMBER(0),
	      { OP_SAVE, 0, 1, 0, 0 }, { OP_SAVED, 1, 1, 1, 0 }, END);
	calls = UP_CALLS_LEAVE;
	RIGHT({ OP_SAVED, 0, 1, 1, 0 }, { OP_STRTRUTH, 0, 0, 0, 0 }, END);
	WRONG("instruction 0 (enter): this handler opens no call", { OP_ENTER, 0, 0, 0, 0 }, END);
	WRONG("instruction 1 (save): there is no call", NUMBER(0), { OP_SAVE, 0, 0, 0, 0 }, END);
	calls = UP_CALLS_NONE;
}

static const char *wrong_prog(void (*change)(struct up_plan_prog *))
{
	static char said[200];
	struct up_insn end[] = { END };
	struct up_plan_prog prog = make_prog(end, 1);
	struct up_buf why = { 0 };

	change(&prog);
	snprintf(said, sizeof(said), "%s", verify_progs(&prog, 1, &why) ? "ok" : why.s);
	up_buf_fini(&why);
	return said;
}

static void no_sp(struct up_plan_prog *p)
{
	p->calls = UP_CALLS_LEAVE;
	p->sp_arg = COMM;
}

static void no_ra(struct up_plan_prog *p)
{
	p->calls = UP_CALLS_ENTER;
	p->ra_arg = UP_NONE;
}

static void no_top(struct up_plan_prog *p)
{
	p->calls = UP_CALLS_LEAVE;
	p->g_arg = WORD;
}

static void no_goid(struct up_plan_prog *p)
{
	p->calls = UP_CALLS_ENTER;
	p->g_arg = p->top_arg = WORD;
	p->goid_arg = COMM;
}

static void no_comm(struct up_plan_prog *p)
{
	p->comm_arg = WORD;
}

static void of_return(struct up_plan_prog *p)
{
	p->is_return = true;
}

static void many_regs(struct up_plan_prog *p)
{
	p->nr_regs = UP_MAX_REGS + 1;
}

static void no_code(struct up_plan_prog *p)
{
	p->nr_code = 0;
}

static void test_progs(void)
{
	static const char empty[] = "an empty handler, or one with too many registers";
	static const char alike[] = "a handler of calls of goroutines that cannot tell them apart";

	CHECK(!strcmp(wrong_prog(no_sp), "a handler of calls without a stack pointer"));
	CHECK(!strcmp(wrong_prog(no_ra), "a handler of entries without a return address"));
	CHECK(!strcmp(wrong_prog(no_top), alike));
	CHECK(!strcmp(wrong_prog(no_goid), alike));
	CHECK(!strcmp(wrong_prog(no_comm), "a handler whose comm is no string"));
	CHECK(!strcmp(wrong_prog(of_return), "a handler that does not belong to its event"));
	CHECK(!strcmp(wrong_prog(many_regs), empty));
	CHECK(!strcmp(wrong_prog(no_code), empty));
}

int main(void)
{
	test_registers();
	test_kinds();
	test_constants();
	test_arguments();
	test_pieces();
	test_late();
	test_indices();
	test_scopes();
	test_functions();
	test_jumps();
	test_loops();
	test_nesting();
	test_borrowed();
	test_calls();
	test_progs();
	return unit_report("verify");
}
