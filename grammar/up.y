/*
 * The grammar. Reads the token array that scanner and layout made; every action is one call that
 * makes a node or adds to a list. Errors are told, and repaired, by lang/parse_error.c.
 */
%code requires {
#include "lang/parse_int.h"
}

%code provides {
int up_yylex(UP_YYSTYPE *value, struct up_span *loc, struct up_parser *p);
void up_yyerror(struct up_span *loc, struct up_parser *p, const char *msg);
}

%code {
#define YYLLOC_DEFAULT(cur, rhs, n)                                                    \
	do {                                                                           \
		if (n)                                                                 \
			(cur) = up_span_join(YYRHSLOC(rhs, 1), YYRHSLOC(rhs, n));      \
		else                                                                   \
			(cur) = up_span_after(YYRHSLOC(rhs, 0));                       \
	} while (0)

/* Bison's stacks live in the compilation's arena; their size is capped, so that nothing recurses deeper. */
#define YYMALLOC(n) up_arena_alloc(p->arena, (n))
#define YYFREE(ptr) ((void)(ptr))
#define YYMAXDEPTH 4000

static struct up_span up_span_after(struct up_span sp)
{
	return (struct up_span){ sp.off + sp.len, 0, sp.src };
}
}

%define api.pure full
%define api.prefix {up_yy}
%define api.token.prefix {TK_}
%define api.location.type {struct up_span}
%define parse.error custom
%define lr.type canonical-lr
%define lr.default-reduction consistent
%locations
%param { struct up_parser *p }
%initial-action { @$ = up_parser_span(p, 0, 0); }
%expect 0

%union {
	const struct up_tok *tok;
	struct up_node *node;
	struct up_list list;
	struct up_clauses clauses;
	struct up_typeref *type;
	const char *name;
}

%token EOT 0
%token <tok> NAME DOLLAR POS INT FLOAT STR TARGET BITS
%token TERM OPEN CLOSE LPAREN RPAREN LBRACK RBRACK COMMA DOT ARROW COLON
%token ASSIGN <tok> OP_ASSIGN
%token PROBE POINT ON USE CONST FN PARAM
%token AS WHEN START END EVERY RETURN ON_RETURN
%token IF ELSE FOR IN DELETE BY TOP ENTRY
%token BAD                      /* something that was reported already */
%token SYNC                     /* where reading goes on after an error */

%left LOR
%left LAND
%left PIPE
%left CARET
%left AMP
%left EQ NE <tok> TILDE
%left <tok> LT LE GT GE
%left <tok> SHL SHR
%left PLUS MINUS
%left STAR SLASH PERCENT
%token NOT AT

%type <node> probe point on def use decl
%type <node> block stmt simple compound if top when block_opt target
%type <node> expr bin unary typed entry at postfix primary
%type <list> decls items targets names names_opt exprs args by
%type <clauses> clauses
%type <type> type
%type <tok> as
%type <name> dotted

%%

script:
	decls				{ p->script->script.decls = $1.first; }
;
decls:
	%empty				{ $$ = (struct up_list){ 0 }; }
|	decls decl			{ $$ = $1; up_list_add(&$$, $2); }
|	decls TERM			{ $$ = $1; }
|	decls error SYNC		{ $$ = $1; yyerrok; }
;
decl:
	probe
|	point
|	on
|	use
|	def
;

/* ---- declarations ---- */

probe:
	PROBE targets as clauses	{ $$ = up_node_probe(p, @$, $2, $3, &$4); }
;
point:
	POINT dotted ASSIGN target clauses	{ $$ = up_node_point(p, @$, @2, $2, $4, &$5); }
;
on:
	ON START block_opt		{ $$ = up_node_on(p, @$, UP_ON_START, NULL, $3); }
|	ON END block_opt		{ $$ = up_node_on(p, @$, UP_ON_END, NULL, $3); }
|	ON EVERY expr block_opt		{ $$ = up_node_on(p, @$, UP_ON_EVERY, $3, $4); }
;
use:
	USE NAME			{ $$ = up_node_use(p, @$, $2); }
|	USE STR				{ $$ = up_node_use(p, @$, $2); }
;
def:
	CONST NAME ASSIGN expr		{ $$ = up_node_def(p, ND_CONST, @$, $2, (struct up_list){ 0 }, $4); }
|	PARAM NAME ASSIGN expr		{ $$ = up_node_def(p, ND_PARAM, @$, $2, (struct up_list){ 0 }, $4); }
|	FN NAME LPAREN names_opt RPAREN ASSIGN expr
					{ $$ = up_node_def(p, ND_FN, @$, $2, $4, $7); }
;

targets:
	target				{ $$ = (struct up_list){ 0 }; up_list_add(&$$, $1); }
|	targets COMMA target		{ $$ = $1; up_list_add(&$$, $3); }
;
target:
	TARGET				{ $$ = up_node_target(p, @$); }
;
as:
	%empty				{ $$ = NULL; }
|	AS NAME				{ $$ = $2; }
;
clauses:
	when block_opt			{ $$ = (struct up_clauses){ $1, $2, NULL, NULL, false }; }
|	when block_opt ON_RETURN when block_opt
					{ $$ = (struct up_clauses){ $1, $2, $4, $5, true }; }
;
when:
	%empty				{ $$ = NULL; }
|	WHEN LPAREN expr RPAREN		{ $$ = $3; }
;
dotted:
	NAME				{ $$ = $1->name; }
|	dotted DOT NAME			{ $$ = up_arena_printf(p->arena, "%s.%s", $1, $3->name); }
;
names_opt:
	%empty				{ $$ = (struct up_list){ 0 }; }
|	names
;
names:
	NAME				{ $$ = (struct up_list){ 0 }; up_list_add(&$$, up_node_name(p, ND_NAME, @1, $1)); }
|	names COMMA NAME		{ $$ = $1; up_list_add(&$$, up_node_name(p, ND_NAME, @3, $3)); }
;

/* ---- blocks ---- */

block_opt:
	%empty				{ $$ = NULL; }
|	block
;
block:
	open items CLOSE		{ $$ = up_node_block(p, @$, $2); }
|	open items simple CLOSE		{ up_list_add(&$2, $3); $$ = up_node_block(p, @$, $2); }
;
open:
	OPEN				{ p->depth++; }
;
items:
	%empty				{ $$ = (struct up_list){ 0 }; }
|	items TERM			{ $$ = $1; }
|	items stmt			{ $$ = $1; up_list_add(&$$, $2); }
|	items error SYNC		{ $$ = $1; yyerrok; }
;
stmt:
	simple TERM			{ $$ = $1; }
|	compound
;
simple:
	expr by top			{ $$ = up_node_do(p, @$, $1, $2, $3); }
|	expr ASSIGN expr by top		{ $$ = up_node_assign(p, @$, $1, OPR_SET, $3, $4, $5); }
|	expr OP_ASSIGN expr by top	{ $$ = up_node_assign(p, @$, $1, $2->op, $3, $4, $5); }
|	DELETE expr			{ $$ = up_node_delete(p, @$, $2); }
;
by:
	%empty				{ $$ = (struct up_list){ 0 }; }
|	BY exprs			{ $$ = $2; }
;
top:
	%empty				{ $$ = NULL; }
|	TOP expr			{ $$ = $2; }
;
compound:
	if
|	FOR names IN postfix block	{ $$ = up_node_for(p, @$, $2, $4, $5); }
;
if:
	IF LPAREN expr RPAREN block		{ $$ = up_node_cond(p, ND_IF, @$, $3, $5, NULL); }
|	IF LPAREN expr RPAREN block ELSE block	{ $$ = up_node_cond(p, ND_IF, @$, $3, $5, $7); }
|	IF LPAREN expr RPAREN block ELSE if	{ $$ = up_node_cond(p, ND_IF, @$, $3, $5, $7); }
;

/* ---- expressions, loosest first ---- */

expr:
	bin
|	IF LPAREN expr RPAREN expr ELSE expr	{ $$ = up_node_cond(p, ND_COND, @$, $3, $5, $7); }
;
bin:
	unary
|	bin LOR bin	{ $$ = up_node_binary(p, @$, OPR_LOR, NULL, $1, $3); }
|	bin LAND bin	{ $$ = up_node_binary(p, @$, OPR_LAND, NULL, $1, $3); }
|	bin PIPE bin	{ $$ = up_node_binary(p, @$, OPR_OR, NULL, $1, $3); }
|	bin CARET bin	{ $$ = up_node_binary(p, @$, OPR_XOR, NULL, $1, $3); }
|	bin AMP bin	{ $$ = up_node_binary(p, @$, OPR_AND, NULL, $1, $3); }
|	bin EQ bin	{ $$ = up_node_binary(p, @$, OPR_EQ, NULL, $1, $3); }
|	bin NE bin	{ $$ = up_node_binary(p, @$, OPR_NE, NULL, $1, $3); }
|	bin TILDE bin	{ $$ = up_node_binary(p, @$, OPR_MATCH, NULL, $1, $3); }
|	bin LT bin	{ $$ = up_node_binary(p, @$, OPR_LT, $2, $1, $3); }
|	bin LE bin	{ $$ = up_node_binary(p, @$, OPR_LE, $2, $1, $3); }
|	bin GT bin	{ $$ = up_node_binary(p, @$, OPR_GT, $2, $1, $3); }
|	bin GE bin	{ $$ = up_node_binary(p, @$, OPR_GE, $2, $1, $3); }
|	bin SHL bin	{ $$ = up_node_binary(p, @$, OPR_SHL, $2, $1, $3); }
|	bin SHR bin	{ $$ = up_node_binary(p, @$, OPR_SHR, $2, $1, $3); }
|	bin PLUS bin	{ $$ = up_node_binary(p, @$, OPR_ADD, NULL, $1, $3); }
|	bin MINUS bin	{ $$ = up_node_binary(p, @$, OPR_SUB, NULL, $1, $3); }
|	bin STAR bin	{ $$ = up_node_binary(p, @$, OPR_MUL, NULL, $1, $3); }
|	bin SLASH bin	{ $$ = up_node_binary(p, @$, OPR_DIV, NULL, $1, $3); }
|	bin PERCENT bin	{ $$ = up_node_binary(p, @$, OPR_MOD, NULL, $1, $3); }
;
unary:
	typed
|	MINUS unary	{ $$ = up_node_unary(p, @$, OPR_NEG, $2); }
|	NOT unary	{ $$ = up_node_unary(p, @$, OPR_NOT, $2); }
|	TILDE unary	{ $$ = up_node_unary(p, @$, OPR_BNOT, $2); }
;
typed:
	entry
|	entry COLON type	{ $$ = up_node_typed(p, @$, $1, $3); }
|	entry BITS		{ $$ = up_node_typed(p, @$, $1, up_type_bits(p, $2)); }
;
type:
	NAME				{ $$ = up_type_make(p, @$, $1, NULL); }
|	NAME LBRACK expr RBRACK		{ $$ = up_type_make(p, @$, $1, $3); }
;
entry:
	at
|	ENTRY DOT at	{ $$ = up_node_sub(p, ND_ENTRY, @$, $3); }
;
at:
	postfix
|	AT at		{ $$ = up_node_sub(p, ND_AT, @$, $2); }
;
postfix:
	primary
|	postfix DOT NAME		{ $$ = up_node_member(p, ND_MEMBER, @$, $1, $3); }
|	postfix ARROW NAME		{ $$ = up_node_member(p, ND_ARROW, @$, $1, $3); }
|	postfix LBRACK exprs RBRACK	{ $$ = up_node_index(p, @$, $1, $3); }
;
primary:
	INT		{ $$ = up_node_int(p, @$, $1); }
|	FLOAT		{ $$ = up_node_float(p, @$, $1); }
|	STR		{ $$ = up_node_str(p, @$, $1); }
|	NAME		{ $$ = up_node_name(p, ND_NAME, @$, $1); }
|	DOLLAR		{ $$ = up_node_name(p, ND_DOLLAR, @$, $1); }
|	POS		{ $$ = up_node_name(p, ND_POS, @$, $1); }
|	NAME LPAREN args RPAREN	{ $$ = up_node_call(p, @$, $1, $3); }
|	LPAREN expr RPAREN	{ $$ = up_node_sub(p, ND_PAREN, @$, $2); }
;
args:
	%empty		{ $$ = (struct up_list){ 0 }; }
|	exprs
|	exprs COMMA	{ $$ = $1; }
;
exprs:
	expr		{ $$ = (struct up_list){ 0 }; up_list_add(&$$, $1); }
|	exprs COMMA expr	{ $$ = $1; up_list_add(&$$, $3); }
;

%%

/* Collects what could stand at a syntax error and hands it on. */
static int yyreport_syntax_error(const yypcontext_t *ctx, struct up_parser *p)
{
	yysymbol_kind_t could[YYNTOKENS];
	int nr = yypcontext_expected_tokens(ctx, could, YYNTOKENS);
	struct up_expected x = { 0 };

	for (int kind = UP_TK_FIRST; kind < UP_TK_END; kind++)
		for (int i = 0; i < nr; i++)
			if (could[i] == YYTRANSLATE(kind))
				up_expected_add(&x, kind);
	for (int i = 0; i < nr; i++)
		if (could[i] == YYSYMBOL_YYEOF)
			x.eof = true;
	up_parse_failed(p, &x);
	return 0;
}
