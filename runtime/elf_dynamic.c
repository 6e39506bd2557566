/*
 * PT_DYNAMIC and symbol versions by libelf; .gnu.hash, which it does not look names up in, by
 * ourselves. The file is one that nobody vouches for.
 */
#include "runtime/elf_dynamic.h"

#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ENTRIES 65536u /* of any table that is walked; versions are numbers of 15 bits */

/* The entries that matter; addresses are virtual ones. */
struct entries {
	uint64_t strtab, strsz, symtab, hash, gnu_hash; /* 0: absent */
	uint64_t versym, verdef, verneed;               /* likewise */
	uint64_t rpath, runpath;                        /* offsets in strtab, plus 1 */
	bool has_textrel;
};

/* The entries of PT_DYNAMIC as far as the file has them, or NULL. */
static Elf_Data *get_entries(const struct up_elf *e)
{
	size_t size = gelf_fsize(e->handle, ELF_T_DYN, 1, EV_CURRENT);
	uint64_t len = e->dynamic.offset < e->size ? e->size - e->dynamic.offset : 0;

	if (len > e->dynamic.filesz)
		len = e->dynamic.filesz;
	if (len / size > MAX_ENTRIES)
		len = MAX_ENTRIES * size;
	return elf_getdata_rawchunk(e->handle, (int64_t)e->dynamic.offset, len - len % size,
				    ELF_T_DYN);
}

/* Entry n; false past the last. */
static bool read_entry(Elf_Data *entries, int n, GElf_Dyn *out)
{
	return entries && gelf_getdyn(entries, n, out) && out->d_tag != DT_NULL;
}

static void keep_entry(struct entries *t, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_STRTAB:
		t->strtab = value;
		break;
	case DT_STRSZ:
		t->strsz = value;
		break;
	case DT_SYMTAB:
		t->symtab = value;
		break;
	case DT_HASH:
		t->hash = value;
		break;
	case DT_GNU_HASH:
		t->gnu_hash = value;
		break;
	case DT_VERSYM:
		t->versym = value;
		break;
	case DT_VERDEF:
		t->verdef = value;
		break;
	case DT_VERNEED:
		t->verneed = value;
		break;
	case DT_RPATH:
		t->rpath = value + 1;
		break;
	case DT_RUNPATH:
		t->runpath = value + 1;
		break;
	case DT_TEXTREL:
		t->has_textrel = true;
		break;
	case DT_FLAGS:
		t->has_textrel |= (value & DF_TEXTREL) != 0;
		break;
	default:
		break;
	}
}

static uint32_t get32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint16_t get16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- .gnu.hash ---- */

struct gnu_hash {
	uint32_t nr_buckets;          /* never 0 */
	uint32_t first;               /* the first symbol in the table */
	uint32_t nr_bloom;            /* words of the filter; a power of two */
	uint32_t shift;               /* of the filter's second bit */
	const unsigned char *bloom;   /* the filter */
	const unsigned char *buckets; /* 32 bits each */
	const unsigned char *chains;  /* 32 bits a symbol, from `first` on */
	uint64_t nr_chains;           /* as many as the bytes have room for */
};

static bool read_gnu_hash(const struct up_elf_dynamic *d, struct gnu_hash *h)
{
	struct up_elf_span s = d->gnu_hash;
	uint64_t word = d->elf->is64 ? 8 : 4;

	if (s.len < 16)
		return false;
	h->nr_buckets = get32(s.s);
	h->first = get32(s.s + 4);
	h->nr_bloom = get32(s.s + 8);
	h->shift = get32(s.s + 12);
	uint64_t before = 16 + h->nr_bloom * word + (uint64_t)h->nr_buckets * 4;
	if (!h->nr_buckets || !h->nr_bloom || (h->nr_bloom & (h->nr_bloom - 1)) || before > s.len)
		return false;
	h->bloom = s.s + 16;
	h->buckets = h->bloom + h->nr_bloom * word;
	h->chains = s.s + before;
	h->nr_chains = (s.len - before) / 4;
	return true;
}

static uint32_t hash_name(const char *s)
{
	uint32_t h = 5381;

	for (; *s; s++)
		h = h * 33 + (unsigned char)*s;
	return h;
}

/* May the table hold the hash? */
static bool passes_bloom(const struct gnu_hash *h, bool is64, uint32_t hash)
{
	uint32_t bits = is64 ? 64 : 32;
	uint32_t n = hash / bits & (h->nr_bloom - 1);
	uint64_t word = 0;

	memcpy(&word, h->bloom + (size_t)n * (bits / 8), bits / 8);
	return word >> hash % bits & word >> (hash >> (h->shift & 31)) % bits & 1;
}

bool up_elf_hash_lookup(const struct up_elf_dynamic *d, const char *name, uint64_t nr_symbols,
			void (*fn)(void *arg, uint64_t i), void *arg, uint64_t *first_hashed)
{
	uint32_t hash = hash_name(name);
	struct gnu_hash h;

	if (!read_gnu_hash(d, &h))
		return false;
	*first_hashed = h.first;
	if (!passes_bloom(&h, d->elf->is64, hash))
		return true;
	uint64_t i = get32(h.buckets + (size_t)(hash % h.nr_buckets) * 4);
	for (; i >= h.first && i < nr_symbols && i - h.first < h.nr_chains; i++) {
		uint32_t link = get32(h.chains + (i - h.first) * 4);

		if ((link | 1) == (hash | 1))
			fn(arg, i);
		if (link & 1)
			break;
	}
	return true;
}

/* One more than the largest symbol number that the table reaches. */
static uint64_t count_hashed(const struct up_elf_dynamic *d)
{
	struct gnu_hash h;
	uint64_t last = 0;

	if (!read_gnu_hash(d, &h))
		return 0;
	for (uint32_t b = 0; b < h.nr_buckets; b++)
		if (get32(h.buckets + (size_t)b * 4) > last)
			last = get32(h.buckets + (size_t)b * 4);
	if (last < h.first)
		return h.first;
	while (last - h.first < h.nr_chains && !(get32(h.chains + (last - h.first) * 4) & 1))
		last++;
	return last + 1;
}

/* ---- finding the tables ---- */

/* Without section headers the number of symbols follows from a hash table. */
static void find_symbols(struct up_elf_dynamic *d, const struct entries *t)
{
	uint64_t size = d->elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct up_elf_span hash = up_elf_at_addr(d->elf, t->hash);
	uint64_t nr = t->hash && hash.len >= 8 ? get32(hash.s + 4) : count_hashed(d);

	d->symbols = up_elf_at_addr(d->elf, t->symtab);
	if (d->symbols.len / size > nr)
		d->symbols.len = nr * size;
}

static struct up_elf_span at_addr(const struct up_elf *e, uint64_t addr)
{
	return addr ? up_elf_at_addr(e, addr) : (struct up_elf_span){ 0 };
}

static void find_tables(struct up_elf_dynamic *d, const struct entries *t)
{
	d->strings = at_addr(d->elf, t->strtab);
	if (d->strings.len > t->strsz)
		d->strings.len = t->strsz;
	d->gnu_hash = at_addr(d->elf, t->gnu_hash);
	d->versym = at_addr(d->elf, t->versym);
	d->verdef = at_addr(d->elf, t->verdef);
	d->verneed = at_addr(d->elf, t->verneed);
	if (t->symtab)
		find_symbols(d, t);
}

/* The section's bytes in place of what PT_DYNAMIC told. */
static void take_section(struct up_elf_dynamic *d, const struct up_elf_section *s,
			 struct up_elf_span *to)
{
	struct up_elf_span bytes = up_elf_section_bytes(d->elf, s);

	if (bytes.s)
		*to = bytes;
	else if (s->type != SHT_NOBITS && s->size)
		d->is_broken = true;
}

static void take_sections(struct up_elf_dynamic *d)
{
	struct up_elf_section s, names;

	for (uint64_t i = 0; up_elf_section(d->elf, i, &s); i++) {
		if (s.type == SHT_DYNSYM) {
			take_section(d, &s, &d->symbols);
			if (up_elf_section(d->elf, s.link, &names))
				take_section(d, &names, &d->strings);
		} else if (s.type == SHT_GNU_HASH) {
			take_section(d, &s, &d->gnu_hash);
		} else if (s.type == SHT_GNU_versym) {
			take_section(d, &s, &d->versym);
		} else if (s.type == SHT_GNU_verdef) {
			take_section(d, &s, &d->verdef);
		} else if (s.type == SHT_GNU_verneed) {
			take_section(d, &s, &d->verneed);
		}
	}
}

void up_elf_dynamic_read(const struct up_elf *e, struct up_elf_dynamic *out)
{
	Elf_Data *entries = get_entries(e);
	struct entries t = { 0 };
	GElf_Dyn dyn;

	*out = (struct up_elf_dynamic){ .elf = e };
	for (int n = 0; read_entry(entries, n, &dyn); n++)
		keep_entry(&t, dyn.d_tag, dyn.d_un.d_val);
	find_tables(out, &t);
	out->has_textrel = t.has_textrel;
	out->rpath = t.rpath ? up_elf_string(out->strings, t.rpath - 1) : NULL;
	out->runpath = t.runpath ? up_elf_string(out->strings, t.runpath - 1) : NULL;
	take_sections(out);
}

const char *up_elf_needed(const struct up_elf_dynamic *d, unsigned n)
{
	Elf_Data *entries = get_entries(d->elf);
	GElf_Dyn dyn;

	if (n >= UP_ELF_MAX_NEEDED)
		return NULL;
	for (int i = 0; read_entry(entries, i, &dyn); i++)
		if (dyn.d_tag == DT_NEEDED && n-- == 0)
			return up_elf_string(d->strings, dyn.d_un.d_val);
	return NULL;
}

/* ---- versions ---- */

/*
 * Both lists are walked alike: an entry has a number of smaller ones and the distance to the next.
 * Called for each version: its number, its name and the library it is needed from, or NULL.
 */
typedef bool version_fn(void *arg, unsigned number, const char *name, const char *file);

/* A table for libelf's readers, which check every offset against its size. */
static Elf_Data *get_table(const struct up_elf_dynamic *d, struct up_elf_span s, Elf_Type type)
{
	if (!s.s || s.len > INT_MAX)
		s.len = s.s ? INT_MAX : 0;
	return s.len ? elf_getdata_rawchunk(d->elf->handle, s.s - d->elf->bytes, s.len, type)
		     : NULL;
}

/* Moves an offset on; false when it leaves what an int holds. */
static bool add_offset(int *off, uint64_t by)
{
	if (by > (uint64_t)(INT_MAX - *off))
		return false;
	*off += (int)by;
	return true;
}

/* The name of the version at `off`, or NULL; the file's own name is the version of what has none.
 */
static const char *defined_name(const struct up_elf_dynamic *d, Elf_Data *table, int off,
				const GElf_Verdef *def)
{
	GElf_Verdaux aux;

	if (!def->vd_cnt || def->vd_flags & VER_FLG_BASE || !add_offset(&off, def->vd_aux) ||
	    !gelf_getverdaux(table, off, &aux))
		return NULL;
	return up_elf_string(d->strings, aux.vda_name);
}

static void walk_defined(const struct up_elf_dynamic *d, version_fn *fn, void *arg)
{
	Elf_Data *table = get_table(d, d->verdef, ELF_T_VDEF);
	GElf_Verdef def;
	int off = 0;

	for (unsigned n = 0; table && n < MAX_ENTRIES && gelf_getverdef(table, off, &def); n++) {
		const char *name = defined_name(d, table, off, &def);

		if ((name && !fn(arg, def.vd_ndx & 0x7fff, name, NULL)) || !def.vd_next ||
		    !add_offset(&off, def.vd_next))
			break;
	}
}

/* The versions needed from one library. False when fn has had enough, or *budget is used up. */
static bool walk_library(const struct up_elf_dynamic *d, Elf_Data *table, int off,
			 const GElf_Verneed *need, unsigned *budget, version_fn *fn, void *arg)
{
	const char *file = up_elf_string(d->strings, need->vn_file);
	GElf_Vernaux aux;

	if (!add_offset(&off, need->vn_aux))
		return true;
	for (unsigned n = need->vn_cnt; n && *budget; n--, --*budget) {
		if (!gelf_getvernaux(table, off, &aux))
			break;
		const char *name = up_elf_string(d->strings, aux.vna_name);
		if (name && !fn(arg, aux.vna_other & 0x7fff, name, file))
			return false;
		if (!aux.vna_next || !add_offset(&off, aux.vna_next))
			break;
	}
	return *budget;
}

static void walk_needed(const struct up_elf_dynamic *d, version_fn *fn, void *arg)
{
	Elf_Data *table = get_table(d, d->verneed, ELF_T_VNEED);
	unsigned budget = MAX_ENTRIES;
	GElf_Verneed need;
	int off = 0;

	while (table && gelf_getverneed(table, off, &need)) {
		if (!walk_library(d, table, off, &need, &budget, fn, arg) || --budget == 0 ||
		    !need.vn_next || !add_offset(&off, need.vn_next))
			break;
	}
}

static bool find_top(void *arg, unsigned number, const char *name, const char *file)
{
	struct up_elf_versions *v = arg;

	(void)name;
	(void)file;
	if (number >= v->nr)
		v->nr = number + 1;
	return true;
}

static bool keep_name(void *arg, unsigned number, const char *name, const char *file)
{
	struct up_elf_versions *v = arg;

	(void)file;
	if (number > VER_NDX_GLOBAL)
		v->name[number] = name;
	return true;
}

bool up_elf_versions_read(const struct up_elf_dynamic *d, struct up_elf_versions *out)
{
	*out = (struct up_elf_versions){ 0 };
	walk_defined(d, find_top, out);
	walk_needed(d, find_top, out);
	if (!out->nr)
		return true;
	out->name = calloc(out->nr, sizeof(*out->name));
	if (!out->name) {
		out->nr = 0;
		return false;
	}
	walk_needed(d, keep_name, out);
	walk_defined(d, keep_name, out);
	return true;
}

unsigned up_elf_version_number(const struct up_elf_dynamic *d, uint64_t i)
{
	return i < d->versym.len / 2 ? get16(d->versym.s + i * 2) & 0x7fff : 0;
}

/* A version that is looked for. */
struct wanted {
	unsigned number;  /* which */
	const char *file; /* where it comes from */
};

static bool is_wanted(void *arg, unsigned number, const char *name, const char *file)
{
	struct wanted *w = arg;

	(void)name;
	if (number != w->number)
		return true;
	w->file = file;
	return false;
}

const char *up_elf_version_file(const struct up_elf_dynamic *d, unsigned number)
{
	struct wanted w = { number, NULL };

	if (number > VER_NDX_GLOBAL)
		walk_needed(d, is_wanted, &w);
	return w.file;
}
