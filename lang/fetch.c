/*
 * Fetch arguments, as Documentation/trace/uprobetracer.rst of the kernel defines them.
 */
#include "lang/fetch.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lang/check.h"
#include "lang/types.h"
#include "lang/values.h"

#define MAX_ELEMENTS 64u /* of one array: the kernel's MAX_ARRAY_LEN */
#define MAX_PIECES (UP_BLOCK_MAX / MAX_ELEMENTS + 1)

bool up_is_fetchable(const struct up_node *n, bool at_return)
{
	switch (n->kind) {
	case ND_PAREN:
		return up_is_fetchable(n->sub.e, at_return);
	case ND_AT:
		return true;
	case ND_NAME:
		if (n->sem == SEM_ARG)
			return !at_return;
		return n->sem == SEM_VALUE &&
		       (n->ref == VAL_SP || n->ref == VAL_STACK || n->ref == VAL_RETVAL);
	default:
		return n->sem == SEM_REG || n->sem == SEM_STACK;
	}
}

static const char *format(struct up_fetch_cx *cx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static const char *format(struct up_fetch_cx *cx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	const char *s = up_arena_vprintf(cx->ds->arena, fmt, ap);
	va_end(ap);
	return s;
}

/* `$stackN` counts the kernel's own words. */
static const char *stack_word(struct up_fetch_cx *cx, unsigned slot)
{
	if (cx->abi->word == 8)
		return format(cx, "$stack%u", slot);
	return format(cx, "+%u(%%sp)", slot * cx->abi->word);
}

static bool fetch_arg(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out)
{
	const char *const *regs = cx->abi->arg_regs;
	unsigned nr = 0;

	while (regs[nr])
		nr++;
	if (n->ref < nr)
		out->text = format(cx, "%%%s", regs[n->ref]);
	else
		out->text = stack_word(cx, n->ref - nr + cx->abi->stack_arg);
	return true;
}

static bool unknown_register(struct up_fetch_cx *cx, const struct up_node *n)
{
	const char *name = n->member.name;
	struct up_buf b = { 0 };

	up_error(cx->ds, n->member.name_span, E_UNKNOWN_REGISTER, "%s has no register `%s`",
		 cx->abi->name, name);
	if (!strncmp(name, "xmm", 3) || !strncmp(name, "ymm", 3) || !strncmp(name, "st", 2)) {
		up_diag_hint(cx->ds, "the kernel's probes cannot read floating-point registers");
		return false;
	}
	for (const char *const *r = cx->abi->regs; *r; r++)
		up_buf_printf(&b, " %s", *r);
	up_diag_hint(cx->ds, "there are%s", b.s ? b.s : "");
	up_buf_fini(&b);
	return false;
}

static bool fetch_reg(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out)
{
	const char *reg = up_abi_reg(cx->abi, n->member.name);

	if (!reg)
		return unknown_register(cx, n);
	out->text = format(cx, "%%%s", reg);
	return true;
}

static bool no_result(struct up_fetch_cx *cx, const struct up_node *n)
{
	up_error(cx->ds, n->span, E_RETVAL,
		 "this function of Go returns its results on the stack, behind its arguments");
	up_diag_hint(cx->ds, "the first word of arguments and results is stack[%u]",
		     cx->abi->stack_arg);
	return false;
}

/*
 * The address of the hit; on return the address that is returned to. At an exit it is still on the
 * stack, below where the stack pointer will be (see up_abi.return_sp).
 */
static const char *fetch_ip(struct up_fetch_cx *cx)
{
	if (cx->side < UP_SIDE_EXIT)
		return cx->abi->machine == UP_M_AARCH64 ? "%pc" : "%ip";
	if (!cx->abi->return_sp)
		return cx->abi->return_address;
	return format(cx, "-%u(%%sp)", cx->abi->return_sp);
}

static bool fetch_named(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out)
{
	switch (n->ref) {
	case VAL_SP:
		out->text = "%sp";
		return true;
	case VAL_STACK:
		out->text = "$stack";
		return true;
	case VAL_RETVAL:
		if (!cx->abi->result)
			return no_result(cx, n);
		out->text = "$retval";
		return true;
	case VAL_IP:
		out->text = fetch_ip(cx);
		return true;
	default:
		return false;
	}
}

bool up_fetch_value(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out)
{
	switch (n->kind) {
	case ND_PAREN:
		return up_fetch_value(cx, n->sub.e, out);
	case ND_AT:
		return up_fetch_memory(cx, n->sub.e, out);
	default:
		break;
	}
	switch (n->sem) {
	case SEM_ARG:
		return fetch_arg(cx, n, out);
	case SEM_REG:
		return fetch_reg(cx, n, out);
	case SEM_STACK:
		out->text = stack_word(cx, n->ref);
		return true;
	default:
		return n->sem == SEM_VALUE && fetch_named(cx, n, out);
	}
}

static bool not_fetchable(struct up_fetch_cx *cx, const struct up_node *n)
{
	up_error(cx->ds, n->span, E_NOT_FETCHABLE,
		 "the kernel cannot compute this address: it reads at a register, an argument, a "
		 "stack word or "
		 "memory, plus or minus a constant");
	if (up_unparen(n)->kind == ND_BINARY)
		up_diag_hint(cx->ds, "print the two parts by themselves, or probe a place where "
				     "the sum is in a register");
	return false;
}

/* Splits an address into a base and a constant. */
static const struct up_node *split_address(const struct up_node *n, uint64_t *off)
{
	uint64_t c;

	n = up_unparen(n);
	if (n->kind == ND_BINARY && n->op.op == OPR_ADD) {
		if (up_const_int(n->op.b, &c)) {
			*off += c;
			return split_address(n->op.a, off);
		}
		if (up_const_int(n->op.a, &c)) {
			*off += c;
			return split_address(n->op.b, off);
		}
	} else if (n->kind == ND_BINARY && n->op.op == OPR_SUB && up_const_int(n->op.b, &c)) {
		*off -= c;
		return split_address(n->op.a, off);
	}
	return n;
}

/* A type as wide as a pointer on the base of an address changes nothing. */
static const struct up_node *skip_wide_type(const struct up_fetch_cx *cx, const struct up_node *n)
{
	while (n->kind == ND_TYPED && n->type.ty == TY_INT && n->type.bits >= 8 * cx->abi->word)
		n = up_unparen(n->typed.e);
	return n;
}

static bool is_base(const struct up_node *n, bool at_return)
{
	return up_is_fetchable(n, at_return) || (n->sem == SEM_VALUE && n->ref == VAL_IP);
}

/* Memory at a base plus an offset, or at a constant address. */
static const char *memory_text(struct up_fetch_cx *cx, const char *base, uint64_t off)
{
	bool negative = (int64_t)off < 0;

	if (!base)
		return format(cx, "@0x%" PRIx64, off);
	return format(cx, "%c%" PRIu64 "(%s)", negative ? '-' : '+', negative ? -off : off, base);
}

static bool is_memory_text(const char *text)
{
	return *text == '+' || *text == '-' || *text == '@';
}

bool up_fetch_memory(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out)
{
	uint64_t off = 0, address;
	const struct up_node *base;

	if (up_const_int(n, &address)) {
		if (address < 0x10000 || (cx->abi->word == 4 && address > UINT32_MAX))
			return up_error(cx->ds, n->span, E_NOT_FETCHABLE,
					"nothing is ever mapped at address 0x%" PRIx64 "%s",
					address, address < 0x10000 ? "" : " of a 32-bit program");
		out->text = memory_text(cx, NULL, address);
		out->base = NULL;
		out->off = address;
		return true;
	}
	base = skip_wide_type(cx, split_address(n, &off));
	if (base->kind == ND_BINARY && base != n)
		return not_fetchable(cx, n);
	if (!is_base(base, cx->side != UP_SIDE_ENTRY))
		return not_fetchable(cx, n);
	if (!up_fetch_value(cx, base, out))
		return false;
	if (cx->abi->word < 8 && (out->late || is_memory_text(out->text))) {
		*out = (struct up_fetch){ .off = off, .late = base };
		return true;
	}
	if (out->nr_ptrs == UP_FETCH_DEPTH - 1)
		return up_error(cx->ds, n->span, E_LIMIT,
				"the kernel follows at most %d pointers in one value",
				UP_FETCH_DEPTH - 1);
	out->ptrs[out->nr_ptrs++] = out->text;
	out->base = out->text;
	out->off = off;
	out->text = memory_text(cx, out->base, off);
	return true;
}

/* Has the value another one behind it, whatever the processor? */
bool up_has_behind(const struct up_node *n)
{
	n = up_unparen(n);
	return n->kind == ND_AT || n->sem == SEM_ARG || n->sem == SEM_STACK ||
	       (n->sem == SEM_VALUE && n->ref == VAL_RETVAL);
}

bool up_fetch_behind(struct up_fetch_cx *cx, const struct up_node *n, struct up_fetch *out)
{
	struct up_node next = *up_unparen(n);

	if (next.kind == ND_AT) {
		if (!up_fetch_memory(cx, next.sub.e, out))
			return false;
		out->off += cx->abi->word;
		if (!out->late)
			out->text = memory_text(cx, out->base, out->off);
		return true;
	}
	if (next.sem == SEM_ARG || next.sem == SEM_STACK) {
		next.ref++;
		return up_fetch_value(cx, &next, out);
	}
	if (!cx->abi->second_result)
		return up_error(cx->ds, n->span, E_RETVAL,
				"this program returns no second word, which would be the length");
	out->text = cx->abi->second_result;
	return true;
}

/* ---- shapes ---- */

static bool name_taken(const struct up_shape *s, const char *name)
{
	for (size_t i = 0; i < s->args.nr; i++)
		if (!strcmp(s->args.v[i].name, name))
			return true;
	return !strcmp(name, "site") || !strncmp(name, "common_", 7);
}

/* A readable C identifier from a fetch text: "%di" -> di, "+8(%di)" -> m8_di, "$stack1" -> stack1.
 */
static const char *name_arg(const struct up_shape *s, const char *text)
{
	char base[24], name[32];
	size_t len = 0;

	if (*text == '+' || *text == '-' || *text == '@')
		base[len++] = 'm';
	for (const char *c = text; *c && len < sizeof(base) - 1; c++) {
		if (isalnum((unsigned char)*c))
			base[len++] = *c;
		else if (len && base[len - 1] != '_' && len > 1)
			base[len++] = '_';
	}
	while (len > 1 && base[len - 1] == '_')
		len--;
	base[len] = 0;
	if (!isalpha((unsigned char)base[0]))
		base[0] = 'v';
	snprintf(name, sizeof(name), "%s", base);
	for (unsigned i = 2; name_taken(s, name); i++)
		snprintf(name, sizeof(name), "%s_%u", base, i);
	return up_arena_strdup(s->arena, name);
}

/* Can the shape take another `nr` arguments, of which this is one? */
static bool fits(struct up_fetch_cx *cx, const struct up_shape *s, const char *text, uint32_t nr,
		 struct up_span span)
{
	if (strlen(text) > cx->env->max_arg_text) {
		up_error(cx->ds, span, E_LIMIT,
			 "this needs a fetch argument of %zu bytes, the kernel takes %u: %s",
			 strlen(text), cx->env->max_arg_text, text);
		up_diag_hint(cx->ds, "fetch a pointer nearer to the value");
		return false;
	}
	if (s->args.nr + nr > cx->env->max_args)
		return up_error(cx->ds, span, E_LIMIT, "one event fetches at most %u values",
				cx->env->max_args);
	return true;
}

/* A number of 64 bits: its sign does not matter to who reads it. */
static bool is_whole_word(const char *type)
{
	return !strcmp(type, "x64") || !strcmp(type, "u64") || !strcmp(type, "s64");
}

uint32_t up_shape_add(struct up_fetch_cx *cx, struct up_shape *s, const char *text,
		      const char *type, struct up_span span)
{
	struct up_plan_arg a = { .type = type, .span = span };
	struct up_type t = UP_TYPE_NONE;

	up_type_of_kernel(type, &t, &a.size);
	a.is_signed = t.ty == TY_INT && t.is_signed;
	for (size_t i = 0; i < s->args.nr; i++) {
		const struct up_plan_arg *old = &s->args.v[i];

		if (!strcmp(old->fetch, text) &&
		    (!strcmp(old->type, type) || (is_whole_word(old->type) && is_whole_word(type))))
			return (uint32_t)i;
	}
	if (!fits(cx, s, text, 1, span))
		return UP_NONE;
	a.name = name_arg(s, text);
	a.fetch = up_arena_strdup(s->arena, text);
	a.type = up_arena_strdup(s->arena, type);
	up_vec_push(s->arena, &s->args, a);
	return (uint32_t)s->args.nr - 1;
}

/* Where these very pieces stand already, or UP_NONE. */
static uint32_t find_pieces(const struct up_shape *s, const struct up_plan_arg *pieces, uint32_t nr)
{
	for (uint32_t i = 0; i + nr <= s->args.nr; i++) {
		uint32_t k = 0;

		while (k < nr && !strcmp(s->args.v[i + k].fetch, pieces[k].fetch) &&
		       !strcmp(s->args.v[i + k].type, pieces[k].type))
			k++;
		if (k == nr)
			return i;
	}
	return UP_NONE;
}

/* Arguments being made for a run. */
struct pieces {
	struct up_plan_arg v[MAX_PIECES];
	uint32_t nr;
	uint64_t done; /* bytes that they read */
};

static void add_pieces(struct pieces *p, struct up_fetch_cx *cx, struct up_arena *arena,
		       const struct up_fetch *f, const char *type, unsigned size, uint64_t count)
{
	while (count) {
		unsigned nr = count > MAX_ELEMENTS ? MAX_ELEMENTS : (unsigned)count;
		struct up_plan_arg *a = &p->v[p->nr++];

		*a = (struct up_plan_arg){ .size = (uint16_t)(nr * size) };
		a->fetch = up_arena_strdup(arena, memory_text(cx, f->base, f->off + p->done));
		a->type = up_arena_printf(arena, "%s[%u]", type, nr);
		p->done += a->size;
		count -= nr;
	}
}

uint32_t up_shape_add_run(struct up_fetch_cx *cx, struct up_shape *s, const struct up_fetch *f,
			  const struct up_run *run, uint32_t *pieces, struct up_span span)
{
	struct pieces p = { .nr = 0 };

	add_pieces(&p, cx, s->arena, f, run->type, run->size, run->count);
	add_pieces(&p, cx, s->arena, f, "x8", 1, run->rest);
	*pieces = p.nr;
	uint32_t first = find_pieces(s, p.v, p.nr);
	if (first != UP_NONE)
		return first;
	for (uint32_t i = 0; i < p.nr; i++)
		if (!fits(cx, s, p.v[i].fetch, p.nr, span))
			return UP_NONE;
	for (uint32_t i = 0; i < p.nr; i++) {
		p.v[i].name = name_arg(s, p.v[i].fetch);
		p.v[i].span = span;
		up_vec_push(s->arena, &s->args, p.v[i]);
	}
	return (uint32_t)s->args.nr - p.nr;
}

bool up_shape_reads_sp(const struct up_shape *s)
{
	for (size_t i = 0; i < s->args.nr; i++)
		if (!strcmp(s->args.v[i].fetch, "%sp") || !strcmp(s->args.v[i].fetch, "$stack"))
			return true;
	return false;
}
