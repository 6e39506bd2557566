/*
 * Golden tests of checker and planner: `golden_plan check|plan|code FILE`. Objects and symbols come
 * from the tables below, so that no test depends on a machine's programs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/up.h"

/* Code lies at 0x1000..0x4fff, data at 0x6000..0x6fff; file offsets are 0x200 lower. */
#define CODE_START 0x1000u
#define CODE_END 0x5000u
#define DATA_START 0x6000u
#define DATA_END 0x7000u
#define SHIFT 0x200u

static const struct up_object objects[] = {
	{ "/usr/bin/app", "app", UP_M_X86_64, true },
	{ "/lib/libc.so.6", "libc", UP_M_X86_64, true },
	{ "/usr/bin/arm", "arm", UP_M_AARCH64, true },
	{ "/usr/bin/mips", "mips", UP_M_OTHER, false },
	{ "/opt/my app", "my app", UP_M_X86_64, true },
};

struct row {
	const char *object;
	struct up_symbol sym;
};

static const struct row symbols[] = {
	{ "app", { "main", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "app", { "alpha", NULL, 0x1040, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "alphabet", NULL, 0x1060, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "beta", NULL, 0x1080, 0x80, UP_SYM_FUNC, false } },
	{ "app", { "twin_a", NULL, 0x1100, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "twin_b", NULL, 0x1100, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "helper", NULL, 0x1140, 0x20, UP_SYM_FUNC, true } },
	{ "app", { "helper", NULL, 0x1180, 0x20, UP_SYM_FUNC, true } },
	{ "app", { "odd", NULL, 0x1201, 0x20, UP_SYM_FUNC, false } },
	{ "app", { "asm_label", NULL, 0x1240, 0, UP_SYM_NOTYPE, false } },
	{ "app", { "pick", NULL, 0x1280, 0x10, UP_SYM_IFUNC, false } },
	{ "app", { "choose", NULL, 0x1290, 0x10, UP_SYM_IFUNC, false } },
	{ "app", { "__choose_fast", NULL, 0x12a0, 0x10, UP_SYM_FUNC, true } },
	{ "app", { "table", NULL, 0x6000, 0x80, UP_SYM_DATA, false } },
	{ "app", { "a-b+4", NULL, 0x12c0, 0x10, UP_SYM_FUNC, false } },
	{ "app", { "ns::f(int)", NULL, 0x1300, 0x10, UP_SYM_FUNC, false } },
	{ "libc", { "malloc", "GLIBC_2.2.5", 0x2000, 0x100, UP_SYM_FUNC, false } },
	{ "libc", { "calloc", "GLIBC_2.2.5", 0x2100, 0x100, UP_SYM_FUNC, false } },
	{ "libc", { "free", "GLIBC_2.2.5", 0x2200, 0x100, UP_SYM_FUNC, false } },
	{ "libc", { "memcpy", "GLIBC_2.14", 0x2300, 0x40, UP_SYM_FUNC, false } },
	{ "libc", { "memcpy", "GLIBC_2.2.5", 0x2340, 0x40, UP_SYM_FUNC, false } },
	{ "arm", { "start", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
	{ "my app", { "main", NULL, 0x1000, 0x40, UP_SYM_FUNC, false } },
};

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static const struct up_object *fake_open(void *ctx, const char *name, struct up_why *why)
{
	const char *base = strrchr(name, '/');

	(void)ctx;
	base = base ? base + 1 : name;
	for (size_t i = 0; i < NR(objects); i++)
		if (!strcmp(objects[i].name, base))
			return &objects[i];
	up_buf_printf(&why->msg, "no program or library is named %s", name);
	up_buf_puts(&why->hint, "did you mean `app`?");
	return NULL;
}

static bool matches(const struct up_query *q, const struct up_symbol *s)
{
	if (q->version && (!s->version || strcmp(q->version, s->version)))
		return false;
	if (q->kind == UP_QUERY_EXACT)
		return !strcmp(q->pattern, s->name);
	return up_glob_match(q->pattern, strlen(q->pattern), s->name, strlen(s->name));
}

static int fake_find(void *ctx, const struct up_object *o, const struct up_query *q,
		     up_symbol_fn *fn, void *arg, struct up_why *why)
{
	(void)ctx;
	(void)why;
	for (size_t i = 0; i < NR(symbols); i++)
		if (!strcmp(symbols[i].object, o->name) && matches(q, &symbols[i].sym) &&
		    !fn(arg, &symbols[i].sym))
			break;
	return 0;
}

static enum up_place place_of(uint64_t addr)
{
	if (addr >= CODE_START && addr < CODE_END)
		return UP_PLACE_CODE;
	return addr >= DATA_START && addr < DATA_END ? UP_PLACE_DATA : UP_PLACE_NOWHERE;
}

static enum up_place fake_to_offset(void *ctx, const struct up_object *o, uint64_t addr,
				    uint64_t *out)
{
	(void)ctx;
	(void)o;
	*out = addr - SHIFT;
	return place_of(addr);
}

static enum up_place fake_to_addr(void *ctx, const struct up_object *o, uint64_t off, uint64_t *out)
{
	(void)ctx;
	(void)o;
	*out = off + SHIFT;
	return place_of(off + SHIFT);
}

static bool fake_func_at(void *ctx, const struct up_object *o, uint64_t addr, struct up_symbol *out)
{
	(void)ctx;
	for (size_t i = 0; i < NR(symbols); i++) {
		const struct up_symbol *s = &symbols[i].sym;

		if (strcmp(symbols[i].object, o->name) || s->kind != UP_SYM_FUNC ||
		    addr < s->addr || addr >= s->addr + s->size)
			continue;
		*out = *s;
		return true;
	}
	return false;
}

/* Instructions are 4 bytes long here, but for `odd`, which the kernel refuses. */
static bool fake_can_probe(void *ctx, const struct up_object *o, uint64_t addr, struct up_why *why)
{
	(void)ctx;
	(void)o;
	if (addr % 4 == 0)
		return true;
	up_buf_printf(&why->msg, "0x%" PRIx64 " is inside the 4-byte instruction at 0x%" PRIx64,
		      addr, addr / 4 * 4);
	up_buf_printf(&why->hint, "use 0x%" PRIx64 " or 0x%" PRIx64, addr / 4 * 4,
		      addr / 4 * 4 + 4);
	return false;
}

static bool fake_imports(void *ctx, const struct up_object *o, const char *name, const char **lib)
{
	(void)ctx;
	*lib = "libc.so.6";
	return !strcmp(o->name, "app") && !strcmp(name, "malloc");
}

static void fake_near_symbols(void *ctx, const struct up_object *o, struct up_nearest *n)
{
	(void)ctx;
	for (size_t i = 0; i < NR(symbols); i++)
		if (!strcmp(symbols[i].object, o->name))
			up_nearest_offer(n, symbols[i].sym.name, strlen(symbols[i].sym.name));
}

static void fake_near_objects(void *ctx, struct up_nearest *n)
{
	(void)ctx;
	for (size_t i = 0; i < NR(objects); i++)
		up_nearest_offer(n, objects[i].name, strlen(objects[i].name));
}

static const struct up_resolver fake = {
	.open = fake_open,
	.find = fake_find,
	.to_offset = fake_to_offset,
	.to_addr = fake_to_addr,
	.func_at = fake_func_at,
	.can_probe = fake_can_probe,
	.imports = fake_imports,
	.near_symbols = fake_near_symbols,
	.near_objects = fake_near_objects,
};

extern const struct up_agg_row *const up_agg_rows[];

/* "line:col tag: message" of each diagnostic, with its hint and note. */
static void show_diags(const struct up_compile *c, struct up_buf *out)
{
	unsigned line, col;

	for (size_t i = 0; i < c->diags.list.nr; i++) {
		const struct up_diag *d = &c->diags.list.v[i];

		up_source_where(&c->sources.list.v[d->span.src], d->span.off, &line, &col);
		up_buf_printf(out, "%u:%u-%u %s: %s\n", line, col, col + d->span.len,
			      up_diag_tag_name(d->tag, (char[UP_TAG_NAME_MAX]){ 0 }), d->msg);
		if (d->hint)
			up_buf_printf(out, "    hint: %s\n", d->hint);
		if (!d->has_note)
			continue;
		up_source_where(&c->sources.list.v[d->note_span.src], d->note_span.off, &line,
				&col);
		up_buf_printf(out, "    note: %u:%u %s\n", line, col, d->note);
	}
}

static bool read_file(const char *path, struct up_buf *text)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (!f)
		return false;
	do {
		char *to = up_buf_room(text, 4096);

		n = to ? fread(to, 1, 4096, f) : 0;
		text->len += n;
	} while (n);
	fclose(f);
	return true;
}

int main(int argc, char **argv)
{
	static const char *const args[] = { "libc", "app:beta" };
	struct up_env env = { .resolver = &fake,
			      .aggs = up_agg_rows,
			      .args = args,
			      .nr_args = 2,
			      .max_arg_text = UP_MAX_ARG_TEXT,
			      .max_args = UP_MAX_ARGS,
			      .max_sites = UP_MAX_SITES };
	struct up_buf text = { 0 }, out = { 0 };
	struct up_compile *c = up_compile_new();

	if (argc != 3 || !c || !read_file(argv[2], &text)) {
		fprintf(stderr, "usage: golden_plan check|plan|code FILE\n");
		return 2;
	}
	struct up_plan *plan = up_compile(c, &env, "test.up", text.s ? text.s : "", text.len);
	show_diags(c, &out);
	if (plan && strcmp(argv[1], "check"))
		up_plan_dump(plan, "g", !strcmp(argv[1], "code"), &out);
	else if (plan)
		up_buf_puts(&out, "ok\n");
	fputs(out.s ? out.s : "", stdout);
	up_plan_free(plan);
	up_compile_free(c);
	up_buf_fini(&text);
	up_buf_fini(&out);
	return 0;
}
