/* Addresses to names: files, processes and names, each found once. */
#include "runtime/symbolize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/demangle.h"
#include "runtime/clock.h"
#include "runtime/procmap.h"
#include "runtime/resolver.h"
#include "runtime/table.h"

#define MAX_NAMES 65536 /* names that are kept */
#define MAX_NAME_BYTES (16u << 20)
#define MAX_PROCESSES 4096
#define MAX_FILES 1024
#define NR_HEX 256       /* addresses without a name that one hit may show */
#define MS 1000000u      /* ns */
#define IDENTITY_MS 100u /* how often a process is asked whether it runs another program */
#define MISS_MS 10u      /* how often mappings are read again for an address that is in none */

/* A program or library. */
struct file {
	const struct up_object *o; /* NULL: it cannot be read */
	char *name;                /* as shown: the last part of its path */
	uint64_t ino;              /* its inode number */
};

/* What tells one program in a process from another. */
struct identity {
	uint64_t start; /* when the process started */
	uint64_t stack; /* where its stack began: another place after an exec */
};

struct process {
	struct up_procmap map;
	pid_t gone;          /* the thread whose mappings could not be read; then there are none */
	struct file **files; /* of each mapping; NULL: not looked for yet */
	struct identity is;
	uint64_t read_at;    /* when the mappings were read, ns */
	uint64_t checked_at; /* when its identity was last asked for */
};

struct name {
	uint32_t len;
	char s[];
};

struct up_symbolize {
	struct up_elf_resolver *resolver; /* NULL: no file is open */
	struct up_table by_path;          /* path -> struct file *: files of our own root */
	struct up_table by_object;        /* object -> struct file *, which it owns */
	struct up_table processes;        /* pid -> struct process * */
	struct up_table names;            /* struct name_key -> struct name * */
	size_t name_bytes;                /* of all names */
	struct file none;                 /* stands for what cannot be read */
	char hex[NR_HEX][20];             /* texts of addresses without a name, in turn */
	unsigned next_hex;
};

struct name_key {
	uint64_t object; /* struct up_object *, plus 1 when it is the probed one */
	uint64_t addr;   /* in the object */
};

/* ---- making and unmaking ---- */

struct up_symbolize *up_symbolize_new(void)
{
	struct up_symbolize *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	up_table_init(&s->by_path, sizeof(struct file *), 0);
	up_table_init(&s->by_object, sizeof(struct file *), 0);
	up_table_init(&s->processes, sizeof(struct process *), 0);
	up_table_init(&s->names, sizeof(struct name *), 0);
	return s;
}

static void free_process(struct process *p)
{
	if (!p)
		return;
	up_procmap_fini(&p->map);
	free(p->files);
	free(p);
}

/* The pointer in row i of a table, or NULL. */
static void *pointer_at(const struct up_table *t, size_t i)
{
	const void *key;
	size_t len;
	void **row = up_table_row(t, i, &key, &len);

	return row ? *row : NULL;
}

static void forget_all(struct up_symbolize *s)
{
	for (size_t i = 0; i < up_table_end(&s->names); i++)
		free(pointer_at(&s->names, i));
	for (size_t i = 0; i < up_table_end(&s->processes); i++)
		free_process(pointer_at(&s->processes, i));
	for (size_t i = 0; i < up_table_end(&s->by_object); i++) {
		struct file *f = pointer_at(&s->by_object, i);

		if (f)
			free(f->name);
		free(f);
	}
	up_table_clear(&s->names);
	up_table_clear(&s->processes);
	up_table_clear(&s->by_object);
	up_table_clear(&s->by_path);
	up_elf_resolver_free(s->resolver);
	s->resolver = NULL;
	s->name_bytes = 0;
}

void up_symbolize_free(struct up_symbolize *s)
{
	if (!s)
		return;
	forget_all(s);
	up_table_fini(&s->names);
	up_table_fini(&s->processes);
	up_table_fini(&s->by_object);
	up_table_fini(&s->by_path);
	free(s);
}

void up_symbolize_begin(struct up_symbolize *s)
{
	if (up_table_count(&s->names) > MAX_NAMES || s->name_bytes > MAX_NAME_BYTES ||
	    up_table_count(&s->processes) > MAX_PROCESSES ||
	    up_table_count(&s->by_path) > MAX_FILES || up_table_count(&s->by_object) > MAX_FILES)
		forget_all(s);
}

/* ---- files ---- */

static const struct up_resolver *resolver_of(struct up_symbolize *s)
{
	struct up_elf_options opt = { 0 };

	if (!s->resolver)
		s->resolver = up_elf_resolver_new(&opt);
	return s->resolver ? up_elf_resolver_iface(s->resolver) : NULL;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file at `path`, to be shown under the last part of `shown`. */
static struct file *open_file(struct up_symbolize *s, const char *path, const char *shown)
{
	const struct up_resolver *r = resolver_of(s);
	struct up_why why = { 0 };
	const struct up_object *o = r ? r->open(r->ctx, path, &why) : NULL;

	up_why_fini(&why);
	uint64_t key = (uintptr_t)o;
	struct file **slot = o ? up_table_at(&s->by_object, &key, sizeof(key)) : NULL;
	if (!slot)
		return &s->none;
	if (*slot)
		return *slot;
	struct file *f = calloc(1, sizeof(*f));
	char *name = strdup(last_component(shown));
	if (!f || !name) {
		free(f);
		free(name);
		return &s->none;
	}
	*f = (struct file){ o, name, o->id.ino };
	return *slot = f;
}

/* The same, for a path of our own root: once. */
static struct file *file_at(struct up_symbolize *s, const char *path)
{
	struct file **slot = up_table_at(&s->by_path, path, strlen(path));
	struct file *f = slot ? *slot : NULL;

	if (f)
		return f;
	f = open_file(s, path, path);
	if (slot)
		*slot = f;
	return f;
}

/* The probed file, unless another has taken its place before it was first asked for: once. */
static struct file *probed_file(struct up_symbolize *s, const struct up_symbol_at *at)
{
	char key[sizeof(at->ino) + 4096];
	size_t len = strlen(at->path);

	if (!at->ino || len > sizeof(key) - sizeof(at->ino))
		return file_at(s, at->path);
	memcpy(key, &at->ino, sizeof(at->ino));
	memcpy(key + sizeof(at->ino), at->path, len);
	struct file **slot = up_table_at(&s->by_path, key, sizeof(at->ino) + len);
	if (slot && *slot)
		return *slot;
	struct file *f = open_file(s, at->path, at->path);
	if (f->ino != at->ino)
		f = &s->none;
	if (slot)
		*slot = f;
	return f;
}

/* ---- names ---- */

static struct up_value hex_of(struct up_symbolize *s, uint64_t addr)
{
	char *to = s->hex[s->next_hex++ % NR_HEX];

	snprintf(to, sizeof(s->hex[0]), "0x%" PRIx64, addr);
	return (struct up_value){ .p = to, .len = (uint32_t)strlen(to) };
}

static struct name *make_name(const struct up_resolver *r, const struct file *f, uint64_t addr,
			      bool is_probed)
{
	struct up_symbol sym = { 0 };
	struct up_buf b = { 0 };
	bool has_func = r->func_at(r->ctx, f->o, addr, &sym);
	struct name *n = NULL;

	if (!has_func || !is_probed)
		up_buf_printf(&b, "%s:", f->name);
	if (!has_func)
		up_buf_printf(&b, "0x%" PRIx64, addr);
	else if (!up_demangle(sym.name, UP_NAME_BARE, &b))
		up_buf_puts(&b, sym.name);
	if (has_func && addr != sym.addr)
		up_buf_printf(&b, "+0x%" PRIx64, addr - sym.addr);
	if (!b.failed)
		n = malloc(sizeof(*n) + b.len);
	if (n) {
		n->len = (uint32_t)b.len;
		memcpy(n->s, b.s, b.len);
	}
	up_buf_fini(&b);
	return n;
}

/* Address `addr` of a file; `raw` is the same in the process. */
static struct up_value name_of(struct up_symbolize *s, const struct file *f, uint64_t addr,
			       uint64_t raw, bool is_probed)
{
	const struct up_resolver *r = resolver_of(s);
	struct name_key key = { (uintptr_t)f->o + is_probed, addr };
	struct name **slot = up_table_at(&s->names, &key, sizeof(key));

	if (!slot || !r)
		return hex_of(s, raw);
	if (!*slot) {
		*slot = make_name(r, f, addr, is_probed);
		s->name_bytes += *slot ? (*slot)->len : 0;
	}
	if (!*slot)
		return hex_of(s, raw);
	return (struct up_value){ .p = (*slot)->s, .len = (*slot)->len };
}

bool up_symbolize_here(struct up_symbolize *s, const struct up_symbol_at *at, struct up_value *out)
{
	uint64_t addr = at->addr - (at->place - at->site), off;
	const struct file *f = at->place ? probed_file(s, at) : &s->none;
	const struct up_resolver *r = resolver_of(s);

	if (!f->o || !r || r->to_offset(r->ctx, f->o, addr, &off) == UP_PLACE_NOWHERE)
		return false;
	*out = name_of(s, f, addr, at->addr, true);
	return true;
}

/* ---- processes ---- */

/* Fields 22 and 28 of /proc/TID/stat; false when the thread is gone. */
static bool ask_identity(pid_t pid, struct identity *out)
{
	char path[40], text[1024];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	char *at = strrchr(text, ')'); /* behind the name, which may hold anything */
	for (int field = 2; at && field < 28; field++) {
		at = strchr(at + 1, ' ');
		if (at && field == 21)
			out->start = strtoull(at, NULL, 10);
	}
	if (!at)
		return false;
	out->stack = strtoull(at, NULL, 10);
	return true;
}

static struct process *read_process(pid_t pid, pid_t tid)
{
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	ask_identity(pid, &p->is);
	if (!up_procmap_read(tid, &p->map) && p->map.nr)
		p->files = calloc(p->map.nr, sizeof(struct file *));
	if (!p->files) {
		p->gone = tid;
		p->map.nr = 0;
	}
	p->read_at = p->checked_at = up_clock_ns(CLOCK_MONOTONIC);
	return p;
}

/* The mapping that holds an address, or NULL. */
static const struct up_mapping *find_mapping(const struct process *p, uint64_t addr)
{
	size_t low = 0, high = p->map.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (addr >= p->map.v[mid].end)
			low = mid + 1;
		else if (addr < p->map.v[mid].start)
			high = mid;
		else
			return &p->map.v[mid];
	}
	return NULL;
}

/* Do the mappings show the probe where the hit says it is? If not they are another program's. */
static bool has_place(const struct process *p, const struct up_symbol_at *at)
{
	const struct up_mapping *m = at->place ? find_mapping(p, at->place) : NULL;

	return !at->place || (m && m->is_exec && at->place - m->start + m->offset == at->site_off);
}

static bool is_another(struct process *p, pid_t pid, uint64_t time)
{
	struct identity now;

	if (time < p->checked_at + IDENTITY_MS * MS)
		return false;
	p->checked_at = up_clock_ns(CLOCK_MONOTONIC);
	return ask_identity(pid, &now) && (now.start != p->is.start || now.stack != p->is.stack);
}

/* Must the mappings be read again? Not for a hit that is older than what was read. */
static bool is_stale(struct process *p, const struct up_symbol_at *at, pid_t pid, pid_t tid)
{
	if (p->gone)
		return tid != p->gone || at->time > p->read_at;
	if (at->time <= p->read_at)
		return false;
	if (!has_place(p, at) || is_another(p, pid, at->time))
		return true;
	return !find_mapping(p, at->addr) && at->time > p->read_at + MISS_MS * MS;
}

/* The process as it is, or was when it was last seen; NULL when it cannot be told. */
static struct process *process_at(struct up_symbolize *s, const struct up_symbol_at *at, pid_t pid,
				  pid_t tid)
{
	uint64_t key = (uint64_t)pid;
	struct process **slot = pid ? up_table_at(&s->processes, &key, sizeof(key)) : NULL;

	if (!slot)
		return NULL;
	if (!*slot || is_stale(*slot, at, pid, tid)) {
		struct process *p = read_process(pid, tid);

		if (p && *slot && p->gone && !(*slot)->gone) {
			free_process(p);
		} else if (p) {
			free_process(*slot);
			*slot = p;
		}
	}
	if (!*slot) {
		up_table_delete(&s->processes, &key, sizeof(key));
		return NULL;
	}
	return has_place(*slot, at) ? *slot : NULL;
}

void up_symbolize_forget(struct up_symbolize *s, pid_t pid)
{
	uint64_t key = (uint64_t)pid;
	struct process **slot = up_table_find(&s->processes, &key, sizeof(key));

	if (!slot)
		return;
	free_process(*slot);
	up_table_delete(&s->processes, &key, sizeof(key));
}

/* What the mapping's name leads to, as the process itself would find it. */
static struct file *open_name(struct up_symbolize *s, const struct up_mapping *m, pid_t tid)
{
	struct up_buf path = { 0 };
	struct file *f = &s->none;

	if (!up_proc_has_own_root(tid)) {
		f = file_at(s, m->path);
		/* Another file may have taken that name since it was opened. */
		return !f->ino || f->ino == m->ino ? f : open_file(s, m->path, m->path);
	}
	up_buf_printf(&path, "/proc/%d/root%s", (int)tid, m->path);
	if (!path.failed)
		f = open_file(s, path.s, m->path);
	up_buf_fini(&path);
	return f;
}

/* Opens what a process has mapped; its name tells that only while the file has it. */
static struct file *open_mapping(struct up_symbolize *s, const struct up_mapping *m, pid_t tid)
{
	char path[80];

	if (m->path[0] != '/')
		return &s->none;
	struct file *f = m->is_deleted ? &s->none : open_name(s, m, tid);
	if (!m->is_deleted && (!f->ino || f->ino == m->ino))
		return f;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)tid, m->start,
		 m->end);
	return open_file(s, path, m->path);
}

struct up_value up_symbolize_mapped(struct up_symbolize *s, const struct up_symbol_at *at,
				    pid_t pid, pid_t tid)
{
	struct process *p = process_at(s, at, pid, tid);
	const struct up_mapping *m = p ? find_mapping(p, at->addr) : NULL;
	const struct up_resolver *r = resolver_of(s);
	uint64_t addr;

	if (!m || !r)
		return hex_of(s, at->addr);
	struct file **f = &p->files[m - p->map.v];
	if (!*f)
		*f = open_mapping(s, m, tid);
	if (!(*f)->o ||
	    r->to_addr(r->ctx, (*f)->o, at->addr - m->start + m->offset, &addr) == UP_PLACE_NOWHERE)
		return hex_of(s, at->addr);
	return name_of(s, *f, addr, at->addr, false);
}
