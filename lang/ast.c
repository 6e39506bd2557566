/* Spellings of operators. */
#include "lang/ast.h"

const char *up_op_text(enum up_op op)
{
	static const char *const text[OPR_COUNT] = {
		[OPR_NEG] = "-",   [OPR_NOT] = "!",  [OPR_BNOT] = "~", [OPR_ADD] = "+",
		[OPR_SUB] = "-",   [OPR_MUL] = "*",  [OPR_DIV] = "/",  [OPR_MOD] = "%",
		[OPR_AND] = "&",   [OPR_OR] = "|",   [OPR_XOR] = "^",  [OPR_SHL] = "<<",
		[OPR_SHR] = ">>",  [OPR_LT] = "<",   [OPR_LE] = "<=",  [OPR_GT] = ">",
		[OPR_GE] = ">=",   [OPR_EQ] = "==",  [OPR_NE] = "!=",  [OPR_MATCH] = "~",
		[OPR_LAND] = "&&", [OPR_LOR] = "||", [OPR_SET] = "=",
	};

	return text[op];
}
