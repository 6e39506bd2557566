/*
 * Queries over the symbols of a file. An exact name goes through .gnu.hash, then through the
 * string table to the few offsets that spell it; the entries are compared by offset, not by text.
 */
#include "runtime/elf_symbols.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

#include "lang/base/text.h"
#include "lang/demangle.h"
#include "runtime/elf_gotab.h"
#include "runtime/elf_symtab.h"

#define MAX_SPELLINGS 16 /* offsets of one name in a string table; with more, text is compared */

enum { DYNSYM, SYMTAB, EXTRA, NR_TABLES };

/*
 * Copies of a table's names without the version behind them, each made once. A broken string
 * table could make them overlap without end; all together they may not be longer than it is twice.
 */
struct cut_names {
	struct {
		uint32_t off; /* of the name in the string table */
		char *name;   /* the copy, or NULL for a free slot */
	} * v;                /* open addressing */
	size_t nr;            /* used slots */
	size_t cap;           /* a power of two, or 0 */
	uint64_t bytes;       /* of all copies */
};

struct up_elf_symbols {
	const struct up_elf *elf;               /* the file */
	struct up_elf_dynamic dynamic;          /* what the dynamic linker sees */
	struct up_elf_symtab tables[NR_TABLES]; /* an absent one has no entries */
	struct up_elf_versions versions;        /* of .dynsym, read when first needed */
	bool has_versions;                      /* they were read */
	bool is_broken;                         /* a table is not in the file */
	struct up_elf_index *index;             /* functions by address, or NULL as yet */
	struct cut_names cut[NR_TABLES];        /* names that had a version cut off, by table */
	struct up_libdw *libdw;                 /* finds debug information, or NULL: may not */
	const char *path;                       /* of the file, for libdw */
	struct up_elf_debug *debug;             /* owns the table EXTRA, or */
	struct up_elf_gotab gotab;              /* this one does */
};

/* A query under way. */
struct search {
	struct up_elf_symbols *s;
	const struct up_query *q;
	const struct up_elf_symtab *t; /* the table being walked */
	size_t len;                    /* of the pattern */
	size_t prefix;                 /* bytes of a glob before its first special character */
	up_symbol_fn *fn;              /* whom to tell */
	void *arg;                     /* for fn */
	bool is_over;                  /* fn has had enough */
	bool is_found;                 /* fn was told of one */
};

/* ---- making and unmaking ---- */

static void find_symtab(struct up_elf_symbols *s)
{
	struct up_elf_section table, names;

	if (!up_elf_section_of_type(s->elf, SHT_SYMTAB, &table))
		return;
	if (!up_elf_section(s->elf, table.link, &names))
		names = (struct up_elf_section){ 0 };
	struct up_elf_span symbols = up_elf_section_bytes(s->elf, &table);
	struct up_elf_span strings = up_elf_section_bytes(s->elf, &names);
	if (table.size && (!symbols.s || !strings.s))
		s->is_broken = true;
	up_elf_symtab_init(&s->tables[SYMTAB], s->elf, symbols, strings);
}

struct up_elf_symbols *up_elf_symbols_new(const struct up_elf *e)
{
	struct up_elf_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->elf = e;
	up_elf_dynamic_read(e, &s->dynamic);
	s->is_broken = s->dynamic.is_broken;
	up_elf_symtab_init(&s->tables[DYNSYM], e, s->dynamic.symbols, s->dynamic.strings);
	s->tables[DYNSYM].is_dynamic = true;
	find_symtab(s);
	return s;
}

void up_elf_symbols_free(struct up_elf_symbols *s)
{
	if (!s)
		return;
	up_elf_index_free(s->index);
	for (unsigned t = 0; t < NR_TABLES; t++) {
		for (size_t i = 0; i < s->cut[t].cap; i++)
			free(s->cut[t].v[i].name);
		free(s->cut[t].v);
	}
	free(s->versions.name);
	up_elf_debug_free(s->debug);
	up_elf_gotab_fini(&s->gotab);
	free(s);
}

void up_elf_symbols_allow_debug(struct up_elf_symbols *s, struct up_libdw *l, const char *path)
{
	s->libdw = l;
	s->path = path;
}

/* Programs in Go keep the names of their functions when they are stripped. */
static bool find_gotab(struct up_elf_symbols *s, struct up_elf_extra *extra)
{
	if (up_elf_symbols_are_full(s) || !up_elf_gotab_read(s->elf, &s->gotab))
		return false;
	*extra = (struct up_elf_extra){
		.handle = s->elf->handle,
		.symbols = { (unsigned char *)s->gotab.symbols,
			     s->gotab.nr * sizeof(*s->gotab.symbols) },
		.strings = { (unsigned char *)s->gotab.strings, s->gotab.strings_len },
	};
	return true;
}

bool up_elf_symbols_add_debug(struct up_elf_symbols *s)
{
	struct up_elf_symtab *t = &s->tables[EXTRA];
	struct up_elf_extra extra;

	if (!s->libdw)
		return false;
	s->debug = up_elf_debug_open(s->libdw, s->elf, s->path, &extra);
	s->libdw = NULL;
	if (!s->debug && !find_gotab(s, &extra))
		return false;
	up_elf_symtab_init(t, s->elf, extra.symbols, extra.strings);
	t->bias = extra.bias;
	t->handle = extra.handle;
	up_elf_index_free(s->index);
	s->index = NULL;
	return true;
}

bool up_elf_symbols_are_full(const struct up_elf_symbols *s)
{
	return s->tables[SYMTAB].nr > 0;
}

const struct up_elf_dynamic *up_elf_symbols_dynamic(const struct up_elf_symbols *s)
{
	return &s->dynamic;
}

/* ---- one symbol ---- */

/* Marks that assemblers leave between code and data ($x, $d.1) and local labels (.L5). */
static bool is_mark(const char *name)
{
	if (name[0] == '$' && name[1] && strchr("adtx", name[1]))
		return !name[2] || name[2] == '.';
	return name[0] == '.' && name[1] == 'L';
}

/* Is it in a section of constants, though the segment is executable? */
static bool is_constant(const struct up_elf_symtab *t, const struct up_elf_entry *n)
{
	GElf_Shdr h;

	return n->shndx < SHN_LORESERVE && gelf_getshdr(elf_getscn(t->handle, n->shndx), &h) &&
	       !(h.sh_flags & SHF_EXECINSTR);
}

/* False for what is no symbol of the program: imports, sections, files, constants, marks. */
static bool find_kind(const struct up_elf *e, const struct up_elf_symtab *t,
		      const struct up_elf_entry *n, const char *name, enum up_symkind *kind)
{
	if (n->shndx == SHN_UNDEF || n->shndx == SHN_ABS || n->shndx == SHN_COMMON)
		return false;
	bool is_code = up_elf_is_code(e, n->value);
	switch (n->type) {
	case STT_FUNC:
		*kind = is_code ? UP_SYM_FUNC : UP_SYM_DATA;
		return true;
	case STT_GNU_IFUNC:
		*kind = is_code ? UP_SYM_IFUNC : UP_SYM_DATA;
		return true;
	case STT_NOTYPE:
		*kind = is_code && !is_constant(t, n) ? UP_SYM_NOTYPE : UP_SYM_DATA;
		return !is_mark(name);
	case STT_OBJECT:
	case STT_TLS:
		*kind = UP_SYM_DATA;
		return true;
	default:
		return false;
	}
}

static const char *find_version(struct up_elf_symbols *s, uint64_t i)
{
	unsigned number = up_elf_version_number(&s->dynamic, i);

	if (!s->has_versions) {
		s->has_versions = true;
		up_elf_versions_read(&s->dynamic, &s->versions);
	}
	return number < s->versions.nr ? s->versions.name[number] : NULL;
}

/* Names of .symtab carry their version: "memcpy@GLIBC_2.2.5", "memcpy@@GLIBC_2.14". */
static size_t name_length(const struct up_elf_symtab *t, const char *name, size_t len)
{
	const char *at = t->is_dynamic ? NULL : memchr(name, '@', len);

	return at && at > name ? (size_t)(at - name) : len;
}

static size_t find_slot(const struct cut_names *c, uint32_t off)
{
	size_t i = (off * 0x9e3779b1u) & (c->cap - 1);

	while (c->v[i].name && c->v[i].off != off)
		i = (i + 1) & (c->cap - 1);
	return i;
}

static bool grow_cut(struct cut_names *c)
{
	struct cut_names old = *c;

	c->cap = old.cap ? old.cap * 2 : 64;
	c->v = calloc(c->cap, sizeof(*c->v));
	if (!c->v) {
		*c = old;
		return false;
	}
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i].name)
			c->v[find_slot(c, old.v[i].off)] = old.v[i];
	free(old.v);
	return true;
}

/* The first len bytes of the name at an offset of t's strings; NULL: no memory, or absurd. */
static const char *cut_name(struct up_elf_symbols *s, const struct up_elf_symtab *t, uint32_t off,
			    size_t len)
{
	struct up_elf_span strings = t->strings;
	struct cut_names *c = &s->cut[t - s->tables];

	if (c->nr * 2 >= c->cap && !grow_cut(c))
		return NULL;
	size_t i = find_slot(c, off);
	if (c->v[i].name)
		return c->v[i].name;
	if (c->bytes + len > strings.len * 2)
		return NULL;
	c->v[i].name = strndup((const char *)strings.s + off, len);
	if (!c->v[i].name)
		return NULL;
	c->v[i].off = off;
	c->nr++;
	c->bytes += len;
	return c->v[i].name;
}

/* Fills everything in for entry i, named `name` (len bytes, with any version). */
static bool make_symbol(struct up_elf_symbols *s, const struct up_elf_symtab *t, uint64_t i,
			const char *name, size_t len, struct up_symbol *out)
{
	struct up_elf_entry n;

	up_elf_symtab_read(t, i, &n);
	*out = (struct up_symbol){
		.name = name, .addr = n.value, .size = n.size, .is_local = n.bind == STB_LOCAL
	};
	if (!find_kind(s->elf, t, &n, name, &out->kind))
		return false;
	if (t->is_dynamic) {
		out->version = find_version(s, i);
		return true;
	}
	size_t cut = name_length(t, name, len);
	if (cut < len) {
		out->name = cut_name(s, t, n.name, cut);
		out->version = name + cut + (name[cut + 1] == '@' ? 2 : 1);
	}
	return out->name;
}

/* ---- search ---- */

static void report(struct search *f, uint64_t i, const char *name, size_t len)
{
	struct up_symbol sym;

	if (f->is_over || !make_symbol(f->s, f->t, i, name, len, &sym))
		return;
	if (f->q->version && (!sym.version || strcmp(sym.version, f->q->version) != 0))
		return;
	f->is_found = true;
	f->is_over = !f->fn(f->arg, &sym);
}

/* Is the text at this offset the name that is looked for, its version aside? */
static bool is_spelled(const struct search *f, uint32_t off)
{
	struct up_elf_span s = f->t->strings;

	if (off >= s.len || s.len - off <= f->len || memcmp(s.s + off, f->q->pattern, f->len) != 0)
		return false;
	return !s.s[off + f->len] || (s.s[off + f->len] == '@' && !f->t->is_dynamic);
}

static void report_spelled(struct search *f, uint64_t i)
{
	size_t len;
	const char *name = up_elf_symtab_text(f->t, up_elf_symtab_name(f->t, i), &len);

	if (name)
		report(f, i, name, len);
}

/* Collects where the string table spells the name; more than `cap` of them: returns cap + 1. */
static unsigned find_spellings(const struct search *f, uint32_t *out, unsigned cap)
{
	const unsigned char *from = f->t->strings.s;
	uint64_t room = f->t->strings.len;
	unsigned nr = 0;

	while (room > f->len) {
		const unsigned char *p = memmem(from, room, f->q->pattern, f->len);

		if (!p)
			break;
		uint64_t off = (uint64_t)(p - f->t->strings.s);
		if (off <= UINT32_MAX && is_spelled(f, (uint32_t)off)) {
			if (nr == cap)
				return cap + 1;
			out[nr++] = (uint32_t)off;
		}
		room -= (uint64_t)(p + 1 - from);
		from = p + 1;
	}
	return nr;
}

/* Reports the entries from..to whose name is spelled at one of the offsets (nr > cap: compares). */
static void scan_entries(struct search *f, uint64_t from, uint64_t to)
{
	uint32_t at[MAX_SPELLINGS];
	unsigned nr = find_spellings(f, at, MAX_SPELLINGS);

	if (!nr)
		return;
	for (uint64_t i = from; i < to && !f->is_over; i++) {
		uint32_t off = up_elf_symtab_name(f->t, i);
		bool is_hit = nr > MAX_SPELLINGS && is_spelled(f, off);

		for (unsigned k = 0; k < nr && k < MAX_SPELLINGS && !is_hit; k++)
			is_hit = off == at[k];
		if (is_hit)
			report_spelled(f, i);
	}
}

static void report_hashed(void *arg, uint64_t i)
{
	struct search *f = arg;

	if (is_spelled(f, up_elf_symtab_name(f->t, i)))
		report_spelled(f, i);
}

static void search_exact(struct search *f)
{
	uint64_t first = f->t->nr;

	if (f->t->is_dynamic &&
	    up_elf_hash_lookup(&f->s->dynamic, f->q->pattern, f->t->nr, report_hashed, f, &first)) {
		/* Before the first hashed one are imports, which do not count, and local symbols.
		 */
		for (uint64_t i = 1; i < first && i < f->t->nr && !f->is_over; i++)
			report_hashed(f, i);
		return;
	}
	scan_entries(f, 0, f->t->nr);
}

/* The longest run of plain characters in a glob, at most up to a class or an escape. */
static size_t find_run(const char *pattern, const char **run)
{
	size_t best = 0, len;

	*run = pattern;
	for (const char *s = pattern; *s && *s != '[' && *s != '\\'; s += len ? len : 1) {
		len = strcspn(s, "*?[\\");
		if (len > best) {
			best = len;
			*run = s;
		}
	}
	return best;
}

static void search_glob(struct search *f)
{
	const char *run;
	size_t run_len = find_run(f->q->pattern, &run);
	bool is_prefix = !strcmp(f->q->pattern + f->prefix, "*");

	up_elf_prefetch(f->t->symbols);
	up_elf_prefetch(f->t->strings);
	for (uint64_t i = 0; i < f->t->nr && !f->is_over; i++) {
		uint32_t off = up_elf_symtab_name(f->t, i);
		size_t len;

		if (off >= f->t->strings.len || f->t->strings.len - off <= f->prefix ||
		    memcmp(f->t->strings.s + off, f->q->pattern, f->prefix) != 0)
			continue;
		const char *name = up_elf_symtab_text(f->t, off, &len);
		if (!name || (run_len && !memmem(name, len, run, run_len)))
			continue;
		if (is_prefix ||
		    up_glob_match(f->q->pattern, f->len, name, name_length(f->t, name, len)))
			report(f, i, name, len);
	}
}

static void search_tables(struct search *f, unsigned from, unsigned to)
{
	for (unsigned t = from; t < to && !f->is_over; t++) {
		f->t = &f->s->tables[t];
		if (f->q->kind == UP_QUERY_GLOB)
			search_glob(f);
		else if (f->len)
			search_exact(f);
	}
}

int up_elf_symbols_find(struct up_elf_symbols *s, const char *name, const struct up_query *q,
			up_symbol_fn *fn, void *arg, struct up_why *why)
{
	struct search f = { .s = s, .q = q, .fn = fn, .arg = arg };

	f.len = strlen(q->pattern);
	f.prefix = strcspn(q->pattern, "*?[\\");
	if (s->is_broken) {
		up_elf_refuse(why, "%s is broken or cut off: its symbols are not in the file",
			      name);
		return -ENOEXEC;
	}
	search_tables(&f, 0, EXTRA);
	if (!f.is_over &&
	    (q->kind == UP_QUERY_EXACT ? f.len && !f.is_found : !up_elf_symbols_are_full(s))) {
		up_elf_symbols_add_debug(s);
		search_tables(&f, EXTRA, NR_TABLES);
	}
	return 0;
}

/* ---- by address ---- */

/* Which of several names at one address is shown: sized and public ones, then plain ones. */
static uint8_t rank_symbol(const struct up_elf_entry *n, const char *name)
{
	unsigned marks = 0;

	while (name[marks] == '_' && marks < 15)
		marks++;
	unsigned rank = marks;
	if (n->bind == STB_LOCAL)
		rank += 16;
	if (!n->size)
		rank += 32;
	if (n->type == STT_NOTYPE)
		rank += 64;
	return (uint8_t)rank;
}

static bool index_table(struct up_elf_symbols *s, struct up_elf_index *x, uint8_t table)
{
	const struct up_elf_symtab *t = &s->tables[table];

	for (uint64_t i = 0; i < t->nr && i <= UINT32_MAX; i++) {
		enum up_symkind kind;
		struct up_elf_entry n;
		size_t len;

		up_elf_symtab_read(t, i, &n);
		if (n.type != STT_FUNC && n.type != STT_GNU_IFUNC && n.type != STT_NOTYPE)
			continue;
		const char *name = up_elf_symtab_text(t, n.name, &len);
		if (!name || !find_kind(s->elf, t, &n, name, &kind) || kind == UP_SYM_DATA)
			continue;
		struct up_elf_place p = { n.value, n.size, (uint32_t)i, table,
					  rank_symbol(&n, name) };
		if (!up_elf_index_add(x, &p))
			return false;
	}
	return true;
}

static bool build_index(struct up_elf_symbols *s)
{
	struct up_elf_index *x = up_elf_index_new();

	for (uint8_t t = 0; x && t < NR_TABLES; t++) {
		if (index_table(s, x, t))
			continue;
		up_elf_index_free(x);
		return false;
	}
	if (x)
		up_elf_index_sort(x);
	s->index = x;
	return x;
}

/* The end of the section that holds addr, or of its segment when no section does. */
static uint64_t end_of_code(const struct up_elf *e, uint64_t addr)
{
	struct up_elf_section s;

	for (uint64_t i = 0; up_elf_section(e, i, &s); i++)
		if (s.flags & SHF_EXECINSTR && addr >= s.addr && addr - s.addr < s.size)
			return s.addr + s.size;
	struct up_elf_span rest = up_elf_at_addr(e, addr);
	return rest.s ? addr + rest.len : addr;
}

bool up_elf_symbols_at(struct up_elf_symbols *s, uint64_t addr, struct up_symbol *out)
{
	size_t len;

	if (!s->index && !build_index(s))
		return false;
	/* A symbol without a size reaches no further than the section that it stands in. */
	const struct up_elf_place *p = up_elf_index_find(s->index, addr);
	if (!p || (!p->size && addr >= end_of_code(s->elf, p->addr)))
		return false;
	const struct up_elf_symtab *t = &s->tables[p->table];
	const char *name = up_elf_symtab_text(t, up_elf_symtab_name(t, p->entry), &len);
	return name && make_symbol(s, t, p->entry, name, len, out);
}

/* ---- names ---- */

void up_elf_symbols_near(struct up_elf_symbols *s, struct up_nearest *n)
{
	for (unsigned k = 0; k < NR_TABLES; k++) {
		const struct up_elf_symtab *t = &s->tables[k];

		for (uint64_t i = 0; i < t->nr; i++) {
			enum up_symkind kind;
			struct up_elf_entry e;
			size_t len;

			up_elf_symtab_read(t, i, &e);
			const char *name = up_elf_symtab_text(t, e.name, &len);
			bool is_offered = name && (n->want[0] == '_' || !up_is_mangled(name));
			if (is_offered && find_kind(s->elf, t, &e, name, &kind) &&
			    kind != UP_SYM_DATA)
				up_nearest_offer(n, name, name_length(t, name, len));
		}
	}
}

void up_elf_symbols_each_name(struct up_elf_symbols *s, up_elf_name_fn *fn, void *arg)
{
	for (unsigned k = 0; k < EXTRA; k++) {
		const struct up_elf_symtab *t = &s->tables[k];

		for (uint64_t i = 0; i < t->nr; i++) {
			struct up_elf_entry e;
			size_t len;

			up_elf_symtab_read(t, i, &e);
			if (e.type != STT_FUNC && e.type != STT_NOTYPE && e.type != STT_GNU_IFUNC)
				continue;
			const char *name = up_elf_symtab_text(t, e.name, &len);
			if (name && !fn(arg, name))
				return;
		}
	}
}

bool up_elf_symbols_import(struct up_elf_symbols *s, const char *name, unsigned *version)
{
	const struct up_elf_symtab *t = &s->tables[DYNSYM];
	struct up_query q = { UP_QUERY_EXACT, name, NULL };
	struct search f = { .s = s, .q = &q, .t = t, .len = strlen(name) };

	for (uint64_t i = 1; f.len && i < t->nr; i++) {
		struct up_elf_entry e;

		up_elf_symtab_read(t, i, &e);
		if (e.shndx != SHN_UNDEF || !is_spelled(&f, e.name))
			continue;
		*version = up_elf_version_number(&s->dynamic, i);
		return true;
	}
	return false;
}

static bool note_found(void *arg, const struct up_symbol *sym)
{
	bool *found = arg;

	*found = !sym->is_local;
	return !*found;
}

bool up_elf_symbols_export(struct up_elf_symbols *s, const char *name)
{
	struct up_query q = { UP_QUERY_EXACT, name, NULL };
	bool found = false;
	struct search f = { .s = s, .q = &q, .fn = note_found, .arg = &found };

	f.t = &s->tables[DYNSYM];
	f.len = strlen(name);
	if (f.len)
		search_exact(&f);
	return found;
}
