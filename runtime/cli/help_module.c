/* Help on the modules that are built in and on their points: what their own comments say. */
#include "runtime/cli/help_module.h"

#include <setjmp.h>
#include <string.h>

#include "lang/prompt.h"
#include "runtime/cli/modules.h"

/* ---- comments ---- */

/* Lines of comments without their `#`; stops at the first line that is none. Returns how many
 * bytes. */
static size_t put_comment(const char *text, size_t len, struct up_buf *out)
{
	size_t i = 0;

	while (i < len && text[i] == '#') {
		const char *end = memchr(text + i, '\n', len - i);
		size_t to = end ? (size_t)(end - text) : len, from = i + 1;

		from += from < to && text[from] == ' ';
		up_buf_puts(out, from < to ? "    " : "");
		up_buf_add(out, text + from, to - from);
		up_buf_putc(out, '\n');
		i = to + 1;
	}
	return i < len ? i : len;
}

/* The comment that stands right before a declaration, whose text begins with all that do. */
static void put_comment_of(const char *text, size_t len, struct up_buf *out)
{
	size_t i = 0, at = 0, nr = 0;

	while (i < len) {
		const char *end = memchr(text + i, '\n', len - i);

		if (text[i] != '#' && text[i] != '\n' && text[i] != '\r')
			break;
		if (text[i] != '#')
			nr = 0;
		else if (!nr++)
			at = i;
		if (!end)
			break;
		i = (size_t)(end - text) + 1;
	}
	if (nr)
		put_comment(text + at, len - at, out);
}

/* ---- modules and points ---- */

static bool is_of(const struct up_given *g, const char *point)
{
	return g->is_point && !strcmp(g->name, point);
}

/* Does the point export the value at one of the places before this one, too? */
static bool is_known(const struct up_typed *t, size_t before, const char *point, const char *value)
{
	for (size_t i = 0; i < before; i++)
		for (size_t k = 0; is_of(&t->gives[i], point) && k < t->gives[i].nr_values; k++)
			if (!strcmp(t->gives[i].values[k], value))
				return true;
	return false;
}

/* The names that a point exports at any of its places. */
static void put_values(const struct up_typed *t, const char *point, struct up_buf *out)
{
	const char *sep = "    gives ";

	for (size_t i = 0; i < t->nr; i++) {
		const struct up_given *g = &t->gives[i];

		for (size_t k = 0; is_of(g, point) && k < g->nr_values; k++) {
			if (is_known(t, i, point, g->values[k]))
				continue;
			up_buf_printf(out, "%s%s", sep, g->values[k]);
			sep = ", ";
		}
	}
	up_buf_puts(out, *sep == ',' ? "\n" : "");
}

static bool put_point(const struct up_builtin_module *m, const struct up_typed *t, const char *name,
		      struct up_buf *out)
{
	for (size_t i = 0; i < t->nr; i++) {
		if (!is_of(&t->gives[i], name))
			continue;
		up_buf_printf(out, "%s (a point; `use %s` brings it)\n", name, m->name);
		const char *text = m->text + t->v[i].off;
		size_t len = t->v[i].len, blank = 0;

		while (i && blank < len && strchr("\r\n ", text[blank]))
			blank++;
		put_comment_of(text + blank, len - blank, out);
		put_values(t, name, out);
		return true;
	}
	return false;
}

static void put_module(const struct up_builtin_module *m, const struct up_typed *t,
		       struct up_buf *out)
{
	const char *last = "";

	up_buf_printf(out, "%s (a module)\n", m->name);
	put_comment(m->text, m->len, out);
	for (size_t i = 0; i < t->nr; i++) {
		if (!t->gives[i].is_point || !strcmp(t->gives[i].name, last))
			continue;
		up_buf_printf(out, "%s%s", *last ? ", " : "\n    points: ", t->gives[i].name);
		last = t->gives[i].name;
	}
	up_buf_puts(out, *last ? "\n" : "");
}

/* ---- words ---- */

static const struct up_builtin_module *find_module(const char *word)
{
	size_t len = strcspn(word, ".");

	for (const struct up_builtin_module *m = up_builtin_modules; m->name; m++)
		if (strlen(m->name) == len && !memcmp(m->name, word, len))
			return m;
	return NULL;
}

static bool help_on(struct up_arena *a, const struct up_builtin_module *m, const char *word,
		    struct up_buf *out)
{
	bool is_point = strchr(word, '.');
	struct up_typed t;

	up_prompt_read(a, m->text, m->len, NULL, NULL, &t);
	if (t.kind != UP_TYPED_DECLS)
		return false;
	if (is_point)
		return put_point(m, &t, word, out);
	put_module(m, &t, out);
	return true;
}

static bool help_within(struct up_arena *a, const struct up_builtin_module *m, const char *word,
			struct up_buf *out)
{
	jmp_buf oom;

	if (setjmp(oom))
		return false;
	up_arena_on_oom(a, &oom);
	return help_on(a, m, word, out);
}

bool up_help_module(const char *word, struct up_buf *out)
{
	const struct up_builtin_module *m = find_module(word);
	struct up_arena *a = m ? up_arena_new() : NULL;
	bool found = a && help_within(a, m, word, out);

	up_arena_free(a);
	return found;
}

void up_help_modules_offer(const char *word, struct up_nearest *near)
{
	for (const struct up_builtin_module *m = up_builtin_modules; m->name; m++)
		if (!strchr(word, '.'))
			up_nearest_offer(near, m->name, strlen(m->name));
}
