/* The plan as text: kernel lines as they will be written, filters, handlers. */
#include <inttypes.h>
#include <string.h>

#include "lang/base/text.h"
#include "lang/functions.h"
#include "lang/opcodes.h"
#include "lang/plan.h"

static const char *const site_texts[] = { "func", "object", "probe", "offset" };
static const char *const contexts[] = { "ip", "time", "tid", "pid", "cpu", "elapsed", "depth" };

static void dump_text(const struct up_value *v, struct up_buf *out)
{
	up_buf_putc(out, '"');
	up_text_escape(out, v->p, v->len, '"');
	up_buf_putc(out, '"');
}

static void dump_printf(const struct up_plan_printf *f, struct up_buf *out)
{
	up_buf_putc(out, '"');
	for (uint32_t i = 0; i < f->nr_pieces; i++) {
		if (f->pieces[i].conv)
			up_buf_printf(out, "%%%c", f->pieces[i].conv);
		else
			up_text_escape(out, f->pieces[i].text, f->pieces[i].text_len, '"');
	}
	up_buf_putc(out, '"');
}

static void dump_wide(const struct up_plan *p, const struct up_insn *i, char kind,
		      struct up_buf *out)
{
	if (kind == 'k')
		up_buf_printf(out, "%" PRId64, p->consts[up_insn_wide(i)].s);
	else if (kind == 'z')
		dump_text(&p->consts[up_insn_wide(i)], out);
	else if (kind == 'q')
		up_buf_printf(out, "%.17g", p->consts[up_insn_wide(i)].f);
	else
		up_buf_printf(out, "-> %" PRIu32, up_insn_wide(i));
}

static void dump_peek(const struct up_insn *i, struct up_buf *out)
{
	static const char *const whats[] = { "number", "text", "chars", "bytes", "array" };

	up_buf_printf(out, "%s %u", whats[i->c & 0xff], i->d);
	if (i->c >> 8)
		up_buf_printf(out, " by %u", i->c >> 8);
}

static void dump_labels(const char *const *labels, uint32_t nr, struct up_buf *out)
{
	for (uint32_t k = 0; k < nr; k++)
		up_buf_printf(out, "%s%s", k ? ", " : "", labels[k]);
}

static void dump_operand(const struct up_plan *p, const struct up_plan_prog *prog, char kind,
			 unsigned v, struct up_buf *out)
{
	switch (kind) {
	case 'r':
		up_buf_printf(out, "r%u", v);
		break;
	case 's':
		up_buf_puts(out, site_texts[v]);
		break;
	case 'x':
		up_buf_puts(out, contexts[v]);
		break;
	case 'l':
		up_buf_printf(out, "slot %u", v);
		break;
	case 't':
		up_buf_printf(out, "%c%u", v >> 8 ? 's' : 'u', v & 0xff);
		break;
	case 'P':
		dump_labels(p->prints[v].labels, p->prints[v].nr, out);
		break;
	case 'F':
		dump_printf(&p->printfs[v], out);
		break;
	case 'C':
		up_buf_puts(out, up_fn_rows[v].name ? up_fn_rows[v].name : "join");
		break;
	case 'V':
		up_buf_puts(out, p->vars[v].name);
		break;
	case 'S':
		up_buf_puts(out, up_store_is_agg(v) ? p->aggs[up_store_index(v)].name
						    : p->vars[up_store_index(v)].name);
		break;
	case 'G':
		up_buf_puts(out, p->aggs[v].name);
		break;
	case 'f':
		for (uint32_t i = 0; i < p->nr_sites; i++)
			if (&p->progs[p->sites[i].prog] == prog) {
				up_buf_puts(out, p->events[p->sites[i].event].args[v].name);
				break;
			}
		break;
	default:
		up_buf_printf(out, "%u", v);
	}
}

void up_disasm(const struct up_plan *p, const struct up_plan_prog *prog, uint32_t at,
	       struct up_buf *out)
{
	static const struct {
		const char *name, *operands;
	} rows[] = {
#define UP_OPCODE(op, name, operands) { name, operands },
#include "lang/opcodes.def"
#undef UP_OPCODE
	};
	const struct up_insn *i = &prog->code[at];
	const char *kinds = rows[i->op].operands;
	unsigned v[3] = { i->a, i->b, i->c };

	up_buf_puts(out, rows[i->op].name);
	for (unsigned k = 0, shown = 0; k < 3; k++) {
		if (kinds[k] == '-')
			continue;
		up_buf_puts(out, shown++ ? ", " : " ");
		if (strchr("kqzj", kinds[k])) {
			dump_wide(p, i, kinds[k], out);
			break;
		}
		if (kinds[k] == 'm')
			dump_peek(i, out);
		else
			dump_operand(p, prog, kinds[k], v[k], out);
	}
}

static void dump_prog(const struct up_plan *p, const struct up_plan_prog *prog, struct up_buf *out)
{
	for (uint32_t i = 0; i < prog->nr_code; i++) {
		up_buf_printf(out, "    %3" PRIu32 "  ", i);
		up_disasm(p, prog, i, out);
		up_buf_putc(out, '\n');
	}
}

/* How many sites of a program there are, and the first of them. */
static uint32_t count_sites(const struct up_plan *p, uint32_t prog, uint32_t *first)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < p->nr_sites; i++)
		if (p->sites[i].prog == prog && nr++ == 0)
			*first = i;
	return nr;
}

/* Who judges the condition. */
static void dump_when(const struct up_plan_prog *prog, struct up_buf *out)
{
	if (prog->filter)
		up_buf_printf(out, "    when, in the kernel: %s\n", prog->filter);
	if (prog->when && (prog->rest || !prog->filter))
		up_buf_printf(out, "    when, here: %s\n", prog->filter ? prog->rest : prog->when);
}

static void dump_handler(const struct up_plan *p, uint32_t i, bool code, struct up_buf *out)
{
	const struct up_plan_prog *prog = &p->progs[i];
	uint32_t first = 0, nr = count_sites(p, i, &first);

	up_buf_printf(out, "  %s%s%s: %" PRIu32 " %s", p->probes[prog->probe].name,
		      prog->is_return ? " return" : "",
		      prog->is_jump ? " by a jump to another function" : "", nr,
		      nr == 1 ? "site" : "sites");
	if (nr)
		up_buf_printf(out, " of event %s", p->events[p->sites[first].event].name);
	if (prog->calls == UP_CALLS_ENTER)
		up_buf_printf(out, ", opens a call with %u kept values", prog->nr_saved);
	if (prog->calls == UP_CALLS_LEAVE)
		up_buf_puts(out, ", only for a call that was opened");
	up_buf_putc(out, '\n');
	dump_when(prog, out);
	if (code)
		dump_prog(p, prog, out);
}

static void dump_agg(const struct up_plan_agg *a, struct up_buf *out)
{
	up_buf_printf(out, "  %s", a->name);
	if (a->is_named)
		up_buf_printf(out, " = %s", a->text);
	up_buf_puts(out, a->nr_keys ? " by " : "");
	dump_labels(a->key_labels, a->nr_keys, out);
	if (a->top)
		up_buf_printf(out, " top %" PRIu32, a->top);
	up_buf_putc(out, '\n');
}

static void dump_filters(const struct up_plan *p, const char *group, struct up_buf *out)
{
	const char *head = "\n# filters\n";
	struct up_buf text = { 0 };

	for (uint32_t e = 0; e < p->nr_events; e++) {
		up_buf_reset(&text);
		if (p->events[e].nr_sites)
			up_plan_filter(p, p->events[e].sites[0], false, &text);
		if (!text.len)
			continue;
		up_buf_printf(out, "%s%s/%s: %s\n", head, group, p->events[e].name, text.s);
		head = "";
	}
	up_buf_fini(&text);
}

/* What a hit costs, of what it would cost at the entry. */
static void dump_cost(uint32_t percent, struct up_buf *out)
{
	static const struct {
		uint32_t below;
		const char *text;
	} rows[] = { { 15, "a tenth of" },
		     { 29, "a quarter of" },
		     { 42, "a third of" },
		     { 60, "half" },
		     { 95, "less than" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (percent < rows[i].below) {
			up_buf_printf(out, ", at %s the cost", rows[i].text);
			return;
		}
	up_buf_puts(out, ", where a call comes by only once");
}

/* Where probes do not stand where the script says. */
static void dump_moved(const struct up_plan *p, struct up_buf *out)
{
	const char *head = "\n# places\n";

	for (uint32_t i = 0; i < p->nr_sites; i++) {
		const struct up_plan_site *s = &p->sites[i];
		const struct up_plan_prog *prog = &p->progs[s->prog];

		if (!s->insn && !p->events[s->event].is_exit)
			continue;
		up_buf_printf(out, "%s  %s%s: on the %s at %c0x%" PRIx64, head, s->probe,
			      prog->is_return ? " return" : "",
			      s->insn         ? s->insn
			      : prog->is_jump ? "jump"
					      : "return",
			      s->moved < 0 ? '-' : '+',
			      (uint64_t)(s->moved < 0 ? -s->moved : s->moved));
		if (s->insn)
			dump_cost(s->percent, out);
		else if (s->risk)
			up_buf_printf(out, ", not by the kernel: %s", s->risk);
		up_buf_putc(out, '\n');
		head = "";
	}
}

static void dump_block(const struct up_plan *p, const struct up_plan_block *b, bool code,
		       struct up_buf *out)
{
	up_buf_printf(out, "  on %s\n", b->name);
	if (code)
		dump_prog(p, &p->progs[b->prog], out);
}

static const char *type_word(struct up_type t)
{
	switch (t.ty) {
	case TY_FLOAT:
		return "float";
	case TY_STR:
		return "string";
	case TY_BYTES:
		return "bytes";
	case TY_ARRAY:
		return "array";
	default:
		return t.show == UP_SHOW_BOOL ? "truth" : t.is_signed ? "signed" : "unsigned";
	}
}

static void dump_var(const struct up_plan_var *v, struct up_buf *out)
{
	up_buf_printf(out, "  %s%s",
		      v->scope == UP_VAR_THREAD ? "thread."
		      : v->scope == UP_VAR_CALL ? "call."
						: "",
		      v->name);
	if (v->scope == UP_VAR_TABLE) {
		up_buf_putc(out, '[');
		dump_labels(v->key_labels, v->nr_keys, out);
		up_buf_putc(out, ']');
	}
	up_buf_printf(out, ": %s\n", type_word(v->type));
}

static void dump_vars(const struct up_plan *p, struct up_buf *out)
{
	for (uint32_t i = 0; i < p->nr_vars; i++) {
		up_buf_puts(out, i ? "" : "\n# variables\n");
		dump_var(&p->vars[i], out);
	}
}

void up_plan_dump(const struct up_plan *p, const char *group, bool code, struct up_buf *out)
{
	up_buf_puts(out, "# uprobe_events\n");
	for (uint32_t e = 0; e < p->nr_events; e++)
		for (uint32_t i = 0; i < p->events[e].nr_sites; i++) {
			up_plan_line(p, group, p->events[e].sites[i], false, out);
			up_buf_putc(out, '\n');
		}
	dump_moved(p, out);
	dump_filters(p, group, out);
	up_buf_puts(out, "\n# handlers, in user space\n");
	for (uint32_t probe = 0; probe < p->nr_probes; probe++)
		for (int is_return = 0; is_return < 2; is_return++)
			for (uint32_t i = 0; i < p->nr_progs; i++)
				if (p->progs[i].probe == probe &&
				    p->progs[i].is_return == is_return)
					dump_handler(p, i, code, out);
	for (uint32_t i = 0; i < p->nr_blocks; i++)
		dump_block(p, &p->blocks[i], code, out);
	dump_vars(p, out);
	for (uint32_t i = 0; i < p->nr_aggs; i++) {
		up_buf_puts(out, i ? "" : "\n# aggregations\n");
		dump_agg(&p->aggs[i], out);
	}
}
