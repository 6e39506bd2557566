/* The text of a target: quotes, escapes, and the script's arguments. */
#include <stdlib.h>
#include <string.h>

#include "lang/target_int.h"

static void mark(struct marked *m, char c, bool quoted)
{
	m->s[m->len] = c;
	m->quoted[m->len++] = quoted;
}

static const char *positional(struct up_diags *ds, const struct up_env *env, struct up_span span,
			      const char *digits, size_t *used)
{
	char *end;
	unsigned long n = strtoul(digits, &end, 10);

	*used = (size_t)(end - digits);
	if (env->args_used && n > *env->args_used)
		*env->args_used = (unsigned)n;
	if (n >= 1 && n <= env->nr_args)
		return env->args[n - 1];
	up_error(ds, span, E_TARGET, "there is no argument $%lu: the script was given %u", n,
		 env->nr_args);
	up_diag_hint(ds, "write the arguments behind the script");
	return NULL;
}

/* Takes the escape behind a backslash in quotes; returns its bytes, 0 after a diagnostic. */
static size_t decode_escape(struct up_diags *ds, const struct up_node *n, const char *s, size_t len,
			    struct marked *out)
{
	const char *wrong;
	char bytes[4];
	size_t nr, used = up_text_unescape(s, len, bytes, &nr, &wrong);

	if (wrong) {
		up_error(ds, n->span, E_TARGET, "`\\%.*s` %s", (int)used, s, wrong);
		up_diag_hint(ds, "a backslash itself is written \\\\");
		return 0;
	}
	for (size_t i = 0; i < nr; i++)
		mark(out, bytes[i], true);
	return used;
}

/* Does the quote at `raw` open a regular expression, whose backslashes are its own? */
static bool opens_regex(const struct marked *m, const char *raw, const char *end)
{
	return is_plain(m, m->len - 1, ':') && raw + 1 < end && raw[1] == '/';
}

/* Takes one character in quotes; returns its bytes, 0 after a diagnostic. */
static size_t decode_quoted(struct up_diags *ds, const struct up_node *n, const char *raw,
			    size_t len, bool is_regex, struct marked *out)
{
	if (*raw != '\\' || len == 1 || (is_regex && raw[1] != '"')) {
		mark(out, *raw, true);
		return 1;
	}
	size_t used = decode_escape(ds, n, raw + 1, len - 1, out);
	return used ? used + 1 : 0;
}

bool up_target_decode(struct up_diags *ds, const struct up_env *env, const struct up_node *n,
		      struct marked *out)
{
	const char *raw = n->target.raw, *end = raw + n->target.len;
	size_t room = n->target.len + 1;
	bool quoted = false, is_regex = false;

	for (unsigned i = 0; i < env->nr_args; i++)
		room += (strlen(env->args[i]) + 1) * n->target.len;
	out->s = up_arena_alloc(ds->arena, room);
	out->quoted = up_arena_alloc(ds->arena, room);
	out->len = 0;
	while (raw < end) {
		size_t used = 1;

		if (*raw == '"') {
			is_regex = !quoted && opens_regex(out, raw, end);
			quoted = !quoted;
		} else if (quoted) {
			used = decode_quoted(ds, n, raw, (size_t)(end - raw), is_regex, out);
			if (!used)
				return false;
		} else if (*raw == '$' && raw + 1 < end && raw[1] >= '0' && raw[1] <= '9') {
			const char *arg = positional(ds, env, n->span, raw + 1, &used);

			if (!arg)
				return false;
			for (; *arg; arg++)
				mark(out, *arg, false);
			used++;
		} else {
			mark(out, *raw, false);
		}
		raw += used;
	}
	return true;
}
