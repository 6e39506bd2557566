/* What can stand where a text ends. */
#include "lang/cursor.h"

#include "tests/unit/unit.h"

static struct up_arena *arena;

struct row {
	const char *text;
	enum up_cursor_kind kind;
	size_t back; /* how long the word before the cursor is */
	const char *of;
	enum up_cursor_where where;
};

static const struct row rows[] = {
	{ "", UP_CURSOR_FIRST, 0, NULL, 0 },
	{ "pro", UP_CURSOR_FIRST, 3, NULL, 0 },
	{ "probe", UP_CURSOR_FIRST, 5, NULL, 0 },
	{ "probe ", UP_CURSOR_OBJECT, 0, NULL, 0 },
	{ "probe lib", UP_CURSOR_OBJECT, 3, NULL, 0 },
	{ "probe /usr/bin/z", UP_CURSOR_OBJECT, 10, NULL, 0 },
	{ "probe libc:", UP_CURSOR_LOCATION, 0, "libc", 0 },
	{ "probe libc:mal", UP_CURSOR_LOCATION, 3, "libc", 0 },
	{ "probe libstdc++:std::th", UP_CURSOR_LOCATION, 7, "libstdc++", 0 },
	{ "probe libc:malloc, ", UP_CURSOR_OBJECT, 0, NULL, 0 },
	{ "probe libc:malloc, zsh:z", UP_CURSOR_LOCATION, 1, "zsh", 0 },
	{ "probe libc:malloc ", UP_CURSOR_CLAUSE, 0, NULL, 0 },
	{ "probe libc:malloc wh", UP_CURSOR_CLAUSE, 2, NULL, 0 },
	{ "probe libc:malloc when (ar", UP_CURSOR_VALUE, 2, NULL, UP_CURSOR_ENTRY },
	{ "probe libc:malloc < pri", UP_CURSOR_VALUE, 3, NULL, UP_CURSOR_ENTRY },
	{ "probe libc:malloc < print(arg0, co", UP_CURSOR_VALUE, 2, NULL, UP_CURSOR_ENTRY },
	{ "probe libc:malloc < count() > ", UP_CURSOR_CLAUSE, 0, NULL, 0 },
	{ "probe libc:malloc < count() > on ", UP_CURSOR_ON, 0, NULL, 0 },
	{ "probe libc:malloc on return < ret", UP_CURSOR_VALUE, 3, NULL, UP_CURSOR_RETURN },
	{ "probe libc:malloc on return when (", UP_CURSOR_VALUE, 0, NULL, UP_CURSOR_RETURN },
	{ "probe libc:malloc on return < print(entry.ar", UP_CURSOR_VALUE, 2, NULL,
	  UP_CURSOR_ENTRY },
	{ "probe a:b on return < > probe c:d < r", UP_CURSOR_VALUE, 1, NULL, UP_CURSOR_ENTRY },
	{ "probe a:b < print(arg0:st", UP_CURSOR_TYPE, 2, NULL, 0 },
	{ "probe a:b < print(arg0:", UP_CURSOR_TYPE, 0, NULL, 0 },
	{ "probe a:b < x = reg.d", UP_CURSOR_MEMBER, 1, "reg", 0 },
	{ "on ", UP_CURSOR_ON, 0, NULL, 0 },
	{ "on every 1s < show(", UP_CURSOR_VALUE, 0, NULL, UP_CURSOR_BLOCK },
	{ "sizes[\"zsh\"].p", UP_CURSOR_MEMBER, 1, "sizes", 0 },
	{ "n.", UP_CURSOR_MEMBER, 0, "n", 0 },
	{ "t[a[1]].c", UP_CURSOR_MEMBER, 1, "t", 0 },
	{ "len(se", UP_CURSOR_VALUE, 2, NULL, UP_CURSOR_BLOCK },
	{ "use he", UP_CURSOR_MODULE, 2, NULL, 0 },
	{ "const X = 3 + ", UP_CURSOR_VALUE, 0, NULL, UP_CURSOR_BLOCK },
	{ "point a.b = li", UP_CURSOR_OBJECT, 2, NULL, 0 },
	{ "point a.b = libc:m", UP_CURSOR_LOCATION, 1, "libc", 0 },
	{ "probe a:b < # comm", UP_CURSOR_NOTHING, 0, NULL, 0 },
	{ "print(\"some te", UP_CURSOR_NOTHING, 0, NULL, 0 },
	{ ").", UP_CURSOR_NOTHING, 0, NULL, 0 },
};

static void check_row(const struct row *r)
{
	struct up_cursor c;
	size_t len = strlen(r->text);

	up_cursor_find(arena, r->text, len, &c);
	bool ok = c.kind == r->kind && (c.kind == UP_CURSOR_NOTHING || c.from == len - r->back) &&
		  (r->of ? c.of && !strcmp(c.of, r->of) : true) &&
		  (c.kind != UP_CURSOR_VALUE || c.where == r->where);
	CHECK(ok);
	if (!ok)
		fprintf(stderr, "  %s: kind %d, from %zu, of %s, where %d\n", r->text, (int)c.kind,
			c.from, c.of ? c.of : "-", (int)c.where);
}

/* The targets of the probe, and the names that its blocks have given. */
static void check_words(const char *text, const char *want)
{
	struct up_cursor c;
	struct up_buf b = { 0 };

	up_cursor_find(arena, text, strlen(text), &c);
	for (size_t i = 0; i < c.nr_targets; i++)
		up_buf_printf(&b, "%s ", c.targets[i]);
	up_buf_puts(&b, "|");
	for (size_t i = 0; i < c.nr_names; i++)
		up_buf_printf(&b, " %s", c.names[i]);
	CHECK(!strcmp(b.s, want));
	if (strcmp(b.s, want))
		fprintf(stderr, "  %s: %s\n", text, b.s);
	up_buf_fini(&b);
}

int main(void)
{
	struct up_cursor c;

	arena = up_arena_new();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
	up_cursor_find(arena, "probe a:b < x; y", 16, &c);
	CHECK(c.is_statement);
	up_cursor_find(arena, "probe a:b < x = y", 17, &c);
	CHECK(!c.is_statement);
	check_words("probe one.two, a:b when (arg0 > 1) < x = 1; y = max(x); z[1] = 2; print(",
		    "one.two a:b | x y");
	check_words("probe c:d < old = 1 > probe e:f on return < r = retval; ", "e:f | r");
	check_words("probe c:", "|");
	check_words("x = 1; ", "|");
	up_cursor_find(arena, "a\0b", 3, &c);
	CHECK(c.kind == UP_CURSOR_NOTHING);
	up_arena_free(arena);
	return unit_report("cursor");
}
