/* The resolver: a list of open objects, and struct up_resolver over the elf_* modules. */
#include "runtime/resolver.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/elf_flow.h"
#include "runtime/elf_go.h"
#include "runtime/elf_ifunc.h"
#include "runtime/elf_plt.h"
#include "runtime/elf_probe.h"
#include "runtime/elf_risk.h"
#include "runtime/elf_symbols.h"
#include "runtime/fileid.h"
#include "runtime/objfind.h"
#include "runtime/procmap.h"
#include "runtime/table.h"

#define MAX_LIBRARIES 256 /* files looked into for the one that defines a symbol */

struct object {
	struct up_object pub;           /* what the compiler sees; the first member */
	struct up_elf *elf;             /* the file */
	struct up_elf_symbols *symbols; /* its symbols, or NULL as yet */
	struct up_elf_go go;            /* what it is if it is Go */
	bool has_go_code;               /* go.from and go.to were looked for */
	dev_t dev;                      /* which file it is */
	ino_t ino;                      /* likewise */
	char *path;                     /* pub.path */
	char *name;                     /* pub.name */
	bool has_risk;                  /* what return probes would do was looked at: */
	enum up_return_risk risk;       /* that */
	struct up_buf risk_why;         /* and why */
	struct object *next;            /* another one that is open */
};

struct up_elf_resolver {
	struct up_resolver iface; /* what the compiler calls */
	struct up_objfind find;   /* where to look for names */
	char *root;               /* find.root */
	char *path;               /* find.path */
	struct object *objects;   /* all that are open */
	bool compile_once;        /* of the options */
	struct up_table by_name;  /* then: name -> struct object *, of all that was asked for */
	struct up_disasm disasm;  /* Capstone, once an address needs it */
	struct up_libdw libdw;    /* libdw, once a name needs it */
	struct up_elf_body body;  /* the function that was read last */
	bool has_nops;            /* the kernel was asked: */
	enum up_nops nops;        /* what it does to nops */
	enum up_nop5 nop5;        /* of the options */
	const struct up_plan *succeed; /* likewise */
};

/* ---- objects ---- */

static void free_object(struct object *o)
{
	up_elf_symbols_free(o->symbols);
	up_elf_free(o->elf);
	up_buf_fini(&o->risk_why);
	free(o->path);
	free(o->name);
	free(o);
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct object *find_open(const struct up_elf_resolver *r, const struct stat *st)
{
	for (struct object *o = r->objects; o; o = o->next)
		if (o->dev == st->st_dev && o->ino == st->st_ino)
			return o;
	return NULL;
}

/* Takes found->path over. */
static struct object *make_object(const struct stat *st, const char *name, struct up_found *found,
				  struct up_why *why)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o) {
		up_elf_refuse(why, "out of memory");
		return NULL;
	}
	o->dev = st->st_dev;
	o->ino = st->st_ino;
	o->name = strdup(last_component(name));
	o->elf = o->name ? up_elf_open(found->fd, name, why) : NULL;
	if (!o->elf) {
		if (!o->name)
			up_elf_refuse(why, "out of memory");
		free_object(o);
		return NULL;
	}
	o->path = found->path;
	found->path = NULL;
	up_elf_go_read(o->elf, NULL, &o->go);
	o->pub = (struct up_object){ o->path,
				     o->name,
				     o->elf->machine,
				     o->elf->is_pie,
				     up_file_id_of(st),
				     o->go.is_go,
				     up_elf_go_goid(o->elf, &o->go) };
	return o;
}

/* The object for a file that was found: the one that is open already, or a new one. */
static struct object *take_found(struct up_elf_resolver *r, const char *name,
				 struct up_found *found, struct up_why *why)
{
	struct object *o = NULL;
	struct stat st;

	if (fstat(found->fd, &st) < 0) {
		up_elf_refuse(why, "%s: %s", name, strerror(errno));
	} else {
		o = find_open(r, &st);
		if (!o) {
			o = make_object(&st, name, found, why);
			if (o) {
				o->next = r->objects;
				r->objects = o;
			}
		}
	}
	close(found->fd);
	free(found->path);
	return o;
}

static struct object *of(const struct up_object *o)
{
	return (struct object *)o;
}

static struct up_elf_symbols *symbols_of(struct up_elf_resolver *r, struct object *o)
{
	if (!o->symbols) {
		o->symbols = up_elf_symbols_new(o->elf);
		if (o->symbols)
			up_elf_symbols_allow_debug(o->symbols, &r->libdw, o->path);
	}
	return o->symbols;
}

/* ---- the interface ---- */

/* The path where a file was that has been replaced since, or NULL: it has not. */
static const char *find_successor(const struct up_elf_resolver *r, const struct object *o)
{
	for (uint32_t i = 0; r->succeed && i < r->succeed->nr_sites; i++) {
		const struct up_plan_site *s = &r->succeed->sites[i];
		struct up_file_id now;

		if (up_file_id_is_same(&s->id, &o->pub.id) &&
		    up_file_id_check(s->path, &s->id, &now) == UP_FILE_REPLACED)
			return s->path;
	}
	return NULL;
}

static struct object *find_object(struct up_elf_resolver *r, const char *name, struct up_why *why)
{
	const struct up_objfind anywhere = { .root = "", .path = "" };
	struct up_found found;

	if (!up_objfind_open(&r->find, name, &found, why))
		return NULL;
	struct object *o = take_found(r, name, &found, why);
	const char *path = o ? find_successor(r, o) : NULL;
	if (path) {
		if (!up_objfind_open(&anywhere, path, &found, why))
			return NULL;
		o = take_found(r, name, &found, why);
	}
	return o;
}

static const struct up_object *open_name(void *ctx, const char *name, struct up_why *why)
{
	struct up_elf_resolver *r = ctx;
	struct object **known = up_table_find(&r->by_name, name, strlen(name));

	if (known)
		return &(*known)->pub;
	struct object *o = find_object(r, name, why);
	if (o && r->compile_once) {
		known = up_table_at(&r->by_name, name, strlen(name));
		if (known)
			*known = o;
	}
	return o ? &o->pub : NULL;
}

/* Is what is known of the file no longer true, or no longer wanted? */
static bool is_stale(const struct object *o, const struct up_plan *probed)
{
	struct up_file_id now;
	enum up_file_change change = up_file_id_check(o->path, &o->pub.id, &now);

	return change == UP_FILE_WRITTEN ||
	       (change != UP_FILE_SAME && !up_plan_probes_file(probed, &o->pub.id));
}

static void forget_names(struct up_elf_resolver *r, const struct object *o)
{
	const void *key;
	size_t len;

	for (size_t i = 0; i < up_table_end(&r->by_name); i++) {
		struct object **row = up_table_row(&r->by_name, i, &key, &len);

		if (row && *row == o)
			up_table_delete(&r->by_name, key, len);
	}
}

void up_elf_resolver_refresh(struct up_elf_resolver *r, const struct up_plan *probed)
{
	up_elf_body_fini(&r->body); /* it is of one of the files */
	for (struct object **at = &r->objects, *o; (o = *at);) {
		if (!is_stale(o, probed)) {
			at = &o->next;
			continue;
		}
		*at = o->next;
		forget_names(r, o);
		free_object(o);
	}
}

static int find_symbols(void *ctx, const struct up_object *o, const struct up_query *q,
			up_symbol_fn *fn, void *arg, struct up_why *why)
{
	struct up_elf_symbols *s = symbols_of(ctx, of(o));

	if (s)
		return up_elf_symbols_find(s, o->name, q, fn, arg, why);
	up_elf_refuse(why, "out of memory");
	return -ENOMEM;
}

static enum up_place to_offset(void *ctx, const struct up_object *o, uint64_t addr, uint64_t *out)
{
	(void)ctx;
	return up_elf_to_offset(of(o)->elf, addr, out);
}

static enum up_place to_addr(void *ctx, const struct up_object *o, uint64_t off, uint64_t *out)
{
	(void)ctx;
	return up_elf_to_addr(of(o)->elf, off, out);
}

static bool func_at(void *ctx, const struct up_object *o, uint64_t addr, struct up_symbol *out)
{
	struct up_elf_symbols *s = symbols_of(ctx, of(o));

	if (!s)
		return false;
	if (up_elf_symbols_at(s, addr, out))
		return true;
	return !up_elf_symbols_are_full(s) && up_elf_symbols_add_debug(s) &&
	       up_elf_symbols_at(s, addr, out);
}

static void picks(void *ctx, const struct up_object *o, uint64_t addr, up_symbol_fn *fn, void *arg)
{
	struct up_elf_symbols *s = symbols_of(ctx, of(o));

	if (!s)
		return;
	if (!up_elf_symbols_are_full(s))
		up_elf_symbols_add_debug(s);
	up_elf_ifunc_each(of(o)->elf, s, addr, fn, arg);
}

static bool note_function(void *arg, const struct up_symbol *s)
{
	bool *any = arg;

	*any |= s->kind != UP_SYM_DATA;
	return !*any;
}

static enum up_named names(void *ctx, const struct up_object *o, struct up_buf *hint)
{
	struct up_elf_symbols *s = symbols_of(ctx, of(o));
	struct up_query all = { .kind = UP_QUERY_GLOB, .pattern = "*" };
	struct up_buf place = { 0 };
	bool any = false;

	if (!s || up_elf_symbols_are_full(s) || up_elf_symbols_add_debug(s) ||
	    up_elf_symbols_find(s, o->name, &all, note_function, &any, NULL))
		return UP_NAMES_ALL;
	up_buf_puts(hint, "install its debug symbols (a package -dbgsym or -debuginfo)");
	if (up_elf_debug_place(of(o)->elf, &place))
		up_buf_printf(hint, ", or copy what `debuginfod-find debuginfo %s` finds to %s",
			      o->path, place.s ? place.s : "");
	up_buf_fini(&place);
	return any ? UP_NAMES_EXPORTED : UP_NAMES_NONE;
}

static void near_symbols(void *ctx, const struct up_object *o, struct up_nearest *n)
{
	struct up_elf_symbols *s = symbols_of(ctx, of(o));

	if (s)
		up_elf_symbols_near(s, n);
}

static void near_objects(void *ctx, struct up_nearest *n)
{
	const struct up_elf_resolver *r = ctx;

	up_objfind_near(&r->find, n);
}

/* Which of the object's code is Go. */
static const struct up_elf_go *go_of(struct object *o, struct up_elf_symbols *s)
{
	if (!o->has_go_code)
		up_elf_go_read(o->elf, s, &o->go);
	o->has_go_code = true;
	return &o->go;
}

static enum up_calling calling(void *ctx, const struct up_object *pub, uint64_t addr)
{
	struct object *o = of(pub);
	struct up_elf_symbols *s = symbols_of(ctx, o);
	struct up_symbol at;

	if (!s)
		return UP_CALLING_C;
	return up_elf_go_calling(o->elf, go_of(o, s), addr,
				 up_elf_symbols_at(s, addr, &at) ? at.name : NULL);
}

/* ---- who defines an import ---- */

/* Libraries to look into, breadth first as the dynamic linker does. */
struct queue {
	struct object *v[MAX_LIBRARIES]; /* each once */
	const char *name[MAX_LIBRARIES]; /* by which it was needed */
	unsigned nr;                     /* how many */
};

/* The folder of the object, as it is called below the root. */
static char *find_origin(const struct up_elf_resolver *r, const struct object *o)
{
	size_t root = strlen(r->find.root);
	const char *path = o->path;

	if (!strncmp(path, r->find.root, root) && path[root] == '/')
		path += root;
	size_t len = (size_t)(last_component(path) - path);
	return strndup(path, len > 1 ? len - 1 : len);
}

static struct object *open_needed(struct up_elf_resolver *r, const struct object *by,
				  const struct up_elf_dynamic *d, const char *name)
{
	char *origin = find_origin(r, by);
	struct up_found found;
	struct object *o = NULL;

	if (origin && up_objfind_needed(&r->find, by->elf, name, d->runpath ? d->runpath : d->rpath,
					origin, &found))
		o = take_found(r, name, &found, NULL);
	free(origin);
	return o;
}

static void enqueue(struct queue *q, struct object *o, const char *name)
{
	for (unsigned i = 0; i < q->nr; i++)
		if (q->v[i] == o)
			return;
	if (q->nr == MAX_LIBRARIES)
		return;
	q->v[q->nr] = o;
	q->name[q->nr++] = name;
}

static void enqueue_needed(struct up_elf_resolver *r, struct queue *q, struct object *by)
{
	struct up_elf_symbols *s = symbols_of(r, by);
	const char *name;

	if (!s)
		return;
	const struct up_elf_dynamic *d = up_elf_symbols_dynamic(s);
	for (unsigned i = 0; (name = up_elf_needed(d, i)); i++) {
		struct object *o = open_needed(r, by, d, name);

		if (o)
			enqueue(q, o, name);
	}
}

/* The name of the library that defines `symbol` for o, or NULL. */
static const char *find_definer(struct up_elf_resolver *r, struct object *o, const char *symbol)
{
	struct queue *q = calloc(1, sizeof(*q));
	const char *found = NULL;

	if (!q)
		return NULL;
	enqueue(q, o, NULL);
	for (unsigned i = 0; i < q->nr && !found; i++) {
		struct up_elf_symbols *s = symbols_of(r, q->v[i]);

		if (i && s && up_elf_symbols_export(s, symbol))
			found = q->name[i];
		else
			enqueue_needed(r, q, q->v[i]);
	}
	free(q);
	return found;
}

/* A symbol with a version says itself where it comes from. */
static bool imports(void *ctx, const struct up_object *o, const char *name, const char **lib)
{
	struct up_elf_symbols *s = symbols_of(ctx, of(o));
	unsigned version;

	*lib = NULL;
	if (!s || !up_elf_symbols_import(s, name, &version))
		return false;
	*lib = up_elf_version_file(up_elf_symbols_dynamic(s), version);
	if (!*lib)
		*lib = find_definer(ctx, of(o), name);
	return true;
}

/* ---- may a probe stand there ---- */

static bool refuse_stub(void *ctx, const struct up_object *o, uint64_t addr,
			const struct up_elf_stub *stub, struct up_why *why)
{
	const char *lib = NULL;

	if (!stub->symbol) {
		up_elf_refuse(why, "0x%" PRIx64 " is in the call stubs of imported functions (%s)",
			      addr, stub->section);
		up_elf_hint(why, "probe the functions in the libraries that define them");
		return false;
	}
	up_elf_refuse(why, "0x%" PRIx64 " is the call stub of %s, not the function", addr,
		      stub->symbol);
	if (imports(ctx, o, stub->symbol, &lib) && lib)
		up_elf_hint(why, "probe %s:%s", lib, stub->symbol);
	else
		up_elf_hint(why, "probe %s in the library that defines it", stub->symbol);
	return false;
}

static bool can_probe(void *ctx, const struct up_object *o, uint64_t addr, struct up_why *why)
{
	struct up_elf_resolver *r = ctx;
	struct up_elf_symbols *s = symbols_of(r, of(o));
	struct up_elf_stub stub;

	if (!s)
		return up_elf_refuse(why, "out of memory");
	if (up_elf_stub_at(of(o)->elf, addr, &stub))
		return refuse_stub(ctx, o, addr, &stub, why);
	return up_elf_can_probe(of(o)->elf, s, &r->disasm, r->nop5, addr, why);
}

/* ---- the code of functions ---- */

/* The function at addr, read; entries and exits of one are asked for one after the other. */
static struct up_elf_body *body_of(struct up_elf_resolver *r, const struct up_object *o,
				   uint64_t addr)
{
	struct up_elf_symbols *s = symbols_of(r, of(o));

	if (!s)
		return NULL;
	if (r->body.s != s || r->body.addr != addr) {
		up_elf_body_fini(&r->body);
		up_elf_body_read(&r->body, of(o)->elf, s, addr);
	}
	return &r->body;
}

static bool exits(void *ctx, const struct up_object *o, uint64_t addr, up_exit_fn *fn, void *arg,
		  struct up_why *why)
{
	const struct up_elf_body *b = body_of(ctx, o, addr);

	return b ? up_elf_exits(b, fn, arg, why) : up_elf_refuse(why, "out of memory");
}

static void ask_kernel(struct up_elf_resolver *r)
{
	if (r->has_nops)
		return;
	r->has_nops = true;
	r->nops = up_nops_ask();
	if (r->nop5 == UP_NOP5_ASK)
		r->nop5 = up_nop5_ask();
}

static unsigned entries(void *ctx, const struct up_object *o, uint64_t addr,
			struct up_entry_at *out, unsigned max)
{
	struct up_elf_resolver *r = ctx;
	struct up_elf_body *b = body_of(r, o, addr);

	ask_kernel(r);
	if (b)
		return up_elf_entries(b, r->nop5, r->nops, out, max);
	out[0] = (struct up_entry_at){ .addr = addr, .insn = "instruction" };
	return 1;
}

static enum up_return_risk return_risk(void *ctx, const struct up_object *pub, uint64_t addr,
				       struct up_buf *why)
{
	struct object *o = of(pub);
	struct up_elf_symbols *s = symbols_of(ctx, o);

	if (s && o->pub.is_go && up_elf_go_has(go_of(o, s), addr)) {
		up_buf_puts(why, "Go moves stacks and reads them");
		return UP_RETURN_GO;
	}
	if (!o->has_risk && s) {
		o->has_risk = true;
		o->risk = up_elf_return_risk(o->elf, s, &o->risk_why);
	}
	if (o->risk_why.s)
		up_buf_puts(why, o->risk_why.s);
	return o->risk;
}

/* ---- making and unmaking ---- */

static char *find_root(const struct up_elf_options *opt)
{
	char root[64] = "";

	if (!opt->root && opt->pid && up_proc_has_own_root(opt->pid))
		snprintf(root, sizeof(root), "/proc/%d/root", (int)opt->pid);
	if (opt->root && strcmp(opt->root, "/") != 0)
		return strdup(opt->root);
	return strdup(root);
}

struct up_elf_resolver *up_elf_resolver_new(const struct up_elf_options *opt)
{
	static const char usual[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	struct up_elf_resolver *r = calloc(1, sizeof(*r));
	const char *path = opt->path ? opt->path : getenv("PATH");

	if (!r)
		return NULL;
	r->iface = (struct up_resolver){
		.ctx = r,
		.open = open_name,
		.find = find_symbols,
		.to_offset = to_offset,
		.to_addr = to_addr,
		.func_at = func_at,
		.can_probe = can_probe,
		.exits = exits,
		.entries = entries,
		.return_risk = return_risk,
		.calling = calling,
		.imports = imports,
		.picks = picks,
		.names = names,
		.near_symbols = near_symbols,
		.near_objects = near_objects,
	};
	r->root = find_root(opt);
	r->path = strdup(path ? path : usual);
	if (!r->root || !r->path) {
		up_elf_resolver_free(r);
		return NULL;
	}
	r->find = (struct up_objfind){ opt->pid, r->root, r->path };
	r->libdw.root = r->root;
	up_table_init(&r->by_name, sizeof(struct object *), 0);
	r->nop5 = opt->nop5;
	r->compile_once = opt->compile_once;
	r->succeed = opt->succeed;
	return r;
}

void up_elf_resolver_free(struct up_elf_resolver *r)
{
	if (!r)
		return;
	for (struct object *o = r->objects, *next; o; o = next) {
		next = o->next;
		free_object(o);
	}
	up_elf_body_fini(&r->body);
	up_disasm_fini(&r->disasm);
	up_libdw_fini(&r->libdw);
	up_table_fini(&r->by_name);
	free(r->root);
	free(r->path);
	free(r);
}

const struct up_resolver *up_elf_resolver_iface(const struct up_elf_resolver *r)
{
	return &r->iface;
}

const struct up_elf *up_elf_resolver_image(const struct up_object *o)
{
	return of(o)->elf;
}
