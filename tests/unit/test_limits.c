/* What the machine numbers in 16 bits: a script with more of it is refused, not mixed up. */
#include <stdlib.h>

#include "lang/builtin.h"
#include "lang/up.h"
#include "tests/unit/fake_resolver.h"
#include "tests/unit/unit.h"

/* The first error of a script, by its tag; E_COUNT when it compiles. */
static enum up_diag_tag first_error(const struct up_buf *script)
{
	struct up_env env = { .resolver = &fake_resolver,
			      .aggs = up_agg_rows,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct up_compile *c = up_compile_new();
	struct up_plan *p = up_compile(c, &env, "script", script->s, script->len);
	enum up_diag_tag tag = E_COUNT;

	CHECK(!p == (c->diags.nr_errors > 0));
	if (c->diags.nr_errors)
		tag = c->diags.list.v[0].tag;
	up_plan_free(p);
	up_compile_free(c);
	return tag;
}

/* Of a block with `nr` statements: numbers between two texts. */
static enum up_diag_tag error_of(const char *head, const char *before, const char *behind,
				 unsigned nr)
{
	struct up_buf b = { 0 };

	up_buf_puts(&b, head);
	for (unsigned i = 0; i < nr; i++)
		up_buf_printf(&b, "%s%u%s\n", before, i, behind);
	up_buf_puts(&b, ">\n");
	enum up_diag_tag tag = first_error(&b);
	up_buf_fini(&b);
	return tag;
}

int main(void)
{
	CHECK(error_of("on end <\n", "print(", ")", 65536) == E_COUNT);
	CHECK(error_of("on end <\n", "print(", ")", 65537) == E_LIMIT);
	CHECK(error_of("on end <\n", "printf(\"", "\")", 65536) == E_COUNT);
	CHECK(error_of("on end <\n", "printf(\"", "\")", 65537) == E_LIMIT);
	CHECK(error_of("on end <\n", "v", " = 1", 30000) == E_COUNT);
	CHECK(error_of("on end <\n", "v", " = 1", 30001) == E_LIMIT);
	CHECK(error_of("probe app:main on return <\n", "n += entry.(arg0 + ", ")", 4096) ==
	      E_COUNT);
	CHECK(error_of("probe app:main on return <\n", "n += entry.(arg0 + ", ")", 4097) ==
	      E_LIMIT);
	return unit_report("limits");
}
