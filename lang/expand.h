/*
 * Between parser and checker: writes out whatever the script and its modules declare. What comes
 * out holds ND_PROBE and ND_ON only; `use`, `const`, `fn`, `param` and `point` are gone, and where
 * their names stood there are copies of what they stand for. It knows no types.
 */
#ifndef UP_EXPAND_H
#define UP_EXPAND_H

#include "lang/ast.h"
#include "lang/up.h"

#define UP_EXPAND_MAX 200000 /* nodes that one program may be given by writing out */

/*
 * Changes the script's declarations in place, and loads the modules that it uses. *is_module: the
 * script declares no more than a module does; then each of its points has become a probe, so that
 * it is checked. False after errors.
 */
bool up_expand(struct up_diags *ds, struct up_sources *ss, const struct up_env *env,
	       struct up_node *script, bool *is_module);

/* Does a number, or part of the expression, stand for a name? Then what follows from it is no news.
 */
bool up_is_named(const struct up_node *n);

/* What the language itself calls so: "a value", "a word of the language"; NULL: the name is free.
 */
const char *up_word_kind(const char *name);

/*
 * What `SCRIPT --help` shows: how the script is called, its header comment, and its parameters with
 * their defaults and the comments behind them.
 */
void up_script_help(const struct up_diags *ds, const struct up_parse *parse, uint32_t src,
		    struct up_buf *out);

#endif
