/* What is typed at a prompt. */
#include "lang/prompt.h"

#include "tests/unit/unit.h"

static bool is_fn(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "mine");
}

static struct up_arena *arena;

static struct up_typed read_text(const char *text)
{
	struct up_typed t;

	up_prompt_read(arena, text, strlen(text), is_fn, NULL, &t);
	return t;
}

static void check_kind(const char *text, enum up_typed_kind want)
{
	struct up_typed t = read_text(text);

	CHECK(t.kind == want);
	if (t.kind != want)
		fprintf(stderr, "  %s: %d\n", text, (int)t.kind);
}

static void check_values(void)
{
	static const char *const values[] = { "1",
					      "a + 1",
					      "x > 3",
					      "a < b",
					      "sizes[\"zsh\"].p99",
					      "len(seen)",
					      "min(1, 2)",
					      "mine(3)",
					      "if (a) 1 else 2",
					      "\"text\"",
					      "a # why",
					      "-1",
					      "thread.x",
					      NULL };

	for (size_t i = 0; values[i]; i++)
		check_kind(values[i], UP_TYPED_VALUE);
	CHECK(!strcmp(read_text("sizes").name, "sizes"));
	CHECK(!read_text("sizes.p99").name);
	struct up_typed t = read_text("a + 1");
	CHECK(!strcmp(t.text.s, "on start < print(\na + 1\n) >"));
}

static void check_statements(void)
{
	static const char *const statements[] = { "x = 3",
						  "x += 1",
						  "show(x)",
						  "count() by 3",
						  "print(1, 2)",
						  "delete t[3]",
						  "stop()",
						  "if (a) < x = 1 >",
						  "for k in t < x = k >",
						  "clear(x); show(y)",
						  "min(1)",
						  "unknown(3)",

						  "a b",
						  "use[3] = 4",
						  "\"open",
						  ")",
						  NULL };

	for (size_t i = 0; statements[i]; i++)
		check_kind(statements[i], UP_TYPED_STATEMENT);
	CHECK(read_text("x = 3").is_lasting && !strcmp(read_text("x = 3").name, "x"));
	CHECK(read_text("t[1] = 3").is_lasting && !read_text("t[1] = 3").name);
	CHECK(read_text("x += 3").is_lasting && !read_text("show(x)").is_lasting);
	CHECK(!read_text("x = y").reads_name && read_text("x = y + x").reads_name);
	CHECK(read_text("x += 3").reads_name && !strcmp(read_text("x += 3").name, "x"));
	CHECK(!strcmp(read_text("x = len(t)").name, "x") && !read_text("x = hist(3)").name);
	CHECK(read_text("if (a) < print(a) > else if (b) < x = 3 >").is_lasting);
	CHECK(read_text("for k in t < if (k > 1) < x = 3 > else < > >").is_lasting);
	CHECK(!read_text("for k in t < if (k > 1) < print(k) > else < > >").is_lasting);
	CHECK(read_text("show(x); t[1] = 3").is_lasting && !read_text("x = 1; y = 2").name);
	CHECK(!strcmp(read_text("x = 3").text.s, "on start <\nx = 3\n>"));
}

static void check_unfinished(void)
{
	static const char *const more[] = { "probe zsh:zfree",
					    "probe zsh:zfree <",
					    "probe zsh:zfree < count()",
					    "probe zsh:zfree < > on return",
					    "probe zsh:zfree when (a",
					    "probe zsh:zfree when (a)",
					    "probe zsh:zfree,",
					    "on start",
					    "on every 1s <",
					    "const x =",
					    "show(",
					    "x = 1 +",
					    "if (a) <",
					    "t[",
					    NULL };

	for (size_t i = 0; more[i]; i++)
		check_kind(more[i], UP_TYPED_MORE);
	check_kind("", UP_TYPED_NOTHING);
	check_kind(" \t # only a comment", UP_TYPED_NOTHING);
}

static void check_decls(void)
{
	static const char text[] = "# first\nprobe a:b < count() >\n\n# second\nconst x = 3\n"
				   "on every 1s < show(y) > # third\n";
	struct up_typed t = read_text(text);

	CHECK(t.kind == UP_TYPED_DECLS && t.nr == 3);
	if (t.nr != 3)
		return;
	CHECK(!strncmp(text + t.v[0].off, "# first\nprobe a:b < count() >", t.v[0].len));
	CHECK(!strncmp(text + t.v[1].off, "\n\n# second\nconst x = 3", t.v[1].len));
	CHECK(t.v[2].off + t.v[2].len == strlen(text));
	check_kind("use heap", UP_TYPED_DECLS);
	check_kind("fn f(x) = x + 1", UP_TYPED_DECLS);
	check_kind("point a.b = c:d", UP_TYPED_DECLS);
	check_kind("param p = 3", UP_TYPED_DECLS);
	check_kind("probe a:b < count( >", UP_TYPED_MORE);
	check_kind("probe a:b < 3 = > >", UP_TYPED_DECLS);
}

static bool gives(const struct up_given *g, const char *name, const char *module)
{
	return (name ? g->name && !strcmp(g->name, name) : !g->name) &&
	       (module ? g->module && !strcmp(g->module, module) : !g->module);
}

static void check_given(void)
{
	struct up_typed t =
		read_text("const c = 1; fn f(x) = x; use heap; use \"a b.up\"\n"
			  "point p.q = a:b < one = arg0; two = one * 2 > on return < three = "
			  "retval >\npoint r.s = a:b; probe a:b < n = count() >");

	CHECK(t.nr == 7);
	if (t.nr != 7)
		return;
	CHECK(gives(&t.gives[0], "c", NULL) && gives(&t.gives[1], "f(", NULL));
	CHECK(gives(&t.gives[2], NULL, "heap") && !t.gives[2].is_path);
	CHECK(gives(&t.gives[3], NULL, "a b.up") && t.gives[3].is_path);
	CHECK(gives(&t.gives[4], "p.q", NULL) && t.gives[4].is_point && !t.gives[1].is_point);
	CHECK(t.gives[4].nr_values == 3 && !strcmp(t.gives[4].values[0], "one") &&
	      !strcmp(t.gives[4].values[2], "three"));
	CHECK(t.gives[5].is_point && !t.gives[5].nr_values);
	CHECK(gives(&t.gives[6], NULL, NULL) && !t.gives[6].nr_values);
}

/* Nothing of it is text; it is refused by whoever compiles it. */
static void check_bytes(void)
{
	struct up_typed t;

	up_prompt_read(arena, "a\0b", 3, is_fn, NULL, &t);
	CHECK(t.kind == UP_TYPED_STATEMENT);
	up_prompt_read(arena, "\xff", 1, is_fn, NULL, &t);
	CHECK(t.kind == UP_TYPED_STATEMENT);
}

int main(void)
{
	arena = up_arena_new();
	check_values();
	check_statements();
	check_unfinished();
	check_decls();
	check_given();
	check_bytes();
	up_arena_free(arena);
	return unit_report("prompt");
}
