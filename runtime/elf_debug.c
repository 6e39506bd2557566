/* libdwfl for one file at a time, and the search for the file that .gnu_debuglink names. */
#include "runtime/elf_debug.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/lateload.h"
#include "runtime/objfind_lib.h"

#define DEBUG_FOLDER "/usr/lib/debug"

struct libdw_functions {
	void *lib; /* of up_late_load() */
	/* Its functions. */
	__typeof__(dwfl_begin) *begin;
	__typeof__(dwfl_end) *end;
	__typeof__(dwfl_report_begin) *report_begin;
	__typeof__(dwfl_report_elf) *report_elf;
	__typeof__(dwfl_report_end) *report_end;
	__typeof__(dwfl_module_info) *module_info;
	__typeof__(dwfl_module_getelf) *module_getelf;
	__typeof__(dwfl_module_getsymtab) *module_getsymtab;
	__typeof__(dwfl_module_getsym_info) *module_getsym_info;
	__typeof__(dwfl_module_getdwarf) *module_getdwarf;
	__typeof__(dwarf_getelf) *getelf;
	__typeof__(dwfl_build_id_find_debuginfo) *by_build_id;
};

static const struct up_late_function functions[] = {
	{ "dwfl_begin", offsetof(struct libdw_functions, begin) },
	{ "dwfl_end", offsetof(struct libdw_functions, end) },
	{ "dwfl_report_begin", offsetof(struct libdw_functions, report_begin) },
	{ "dwfl_report_elf", offsetof(struct libdw_functions, report_elf) },
	{ "dwfl_report_end", offsetof(struct libdw_functions, report_end) },
	{ "dwfl_module_info", offsetof(struct libdw_functions, module_info) },
	{ "dwfl_module_getelf", offsetof(struct libdw_functions, module_getelf) },
	{ "dwfl_module_getsymtab", offsetof(struct libdw_functions, module_getsymtab) },
	{ "dwfl_module_getsym_info", offsetof(struct libdw_functions, module_getsym_info) },
	{ "dwfl_module_getdwarf", offsetof(struct libdw_functions, module_getdwarf) },
	{ "dwarf_getelf", offsetof(struct libdw_functions, getelf) },
	{ "dwfl_build_id_find_debuginfo", offsetof(struct libdw_functions, by_build_id) },
};

struct up_elf_debug {
	const struct libdw_functions *fn; /* libdw */
	const char *root;                 /* folder that stands for / */
	Dwfl_Callbacks callbacks;         /* how it finds files */
	char *folders;                    /* where it looks for build ids */
	Dwfl *dwfl;                       /* knows one module */
	Dwfl_Module *module;              /* the file */
};

/* ---- libdw ---- */

static bool load(struct up_libdw *l)
{
	if (l->is_tried)
		return l->fn;
	l->is_tried = true;
	l->fn = calloc(1, sizeof(*l->fn));
	if (l->fn)
		l->fn->lib = up_late_load(l->soname ? l->soname : UP_LIBDW_SONAME, functions,
					  sizeof(functions) / sizeof(functions[0]), l->fn);
	if (l->fn && l->fn->lib)
		return true;
	free(l->fn);
	l->fn = NULL;
	return false;
}

void up_libdw_fini(struct up_libdw *l)
{
	if (l->fn)
		dlclose(l->fn->lib);
	free(l->fn);
	l->fn = NULL;
	l->is_tried = false;
}

/* ---- .gnu_debuglink ---- */

static bool has_sum(int fd, uint32_t want)
{
	uLong sum = crc32(0, NULL, 0);
	unsigned char b[1 << 16];
	ssize_t n;

	while ((n = read(fd, b, sizeof(b))) > 0)
		sum = crc32(sum, b, (uInt)n);
	return n == 0 && sum == want && lseek(fd, 0, SEEK_SET) == 0;
}

/* The file below the root, open, when its contents have the sum; else -1. */
static int open_summed(const struct up_elf_debug *d, const char *path, uint32_t sum, char **used)
{
	int place = up_objfind_place(d->root, path);
	struct up_found found;

	if (place < 0)
		return -1;
	bool is_ok = up_objfind_take(place, d->root, path, &found, NULL);
	close(place);
	if (!is_ok)
		return -1;
	if (has_sum(found.fd, sum)) {
		*used = found.path;
		return found.fd;
	}
	close(found.fd);
	free(found.path);
	return -1;
}

/* Beside the program, in .debug there, and below the folder of all debug files. */
static int find_link(const struct up_elf_debug *d, const char *path, const char *link, uint32_t sum,
		     char **used)
{
	static const struct {
		const char *before, *after; /* of the program's own folder */
	} places[] = { { "", "" }, { "", ".debug/" }, { DEBUG_FOLDER, "" } };
	size_t root = strlen(d->root);
	int fd = -1;

	if (!*link || strchr(link, '/'))
		return -1;
	if (!strncmp(path, d->root, root) && path[root] == '/')
		path += root;
	int len = (int)(strrchr(path, '/') + 1 - path);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++) {
		char *name;

		if (asprintf(&name, "%s%.*s%s%s", places[i].before, len, path, places[i].after,
			     link) < 0)
			return -1;
		fd = open_summed(d, name, sum, used);
		free(name);
	}
	return fd;
}

/* As Dwfl_Callbacks wants it. libdw's own search would ask servers and know of no other root. */
static int find_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			  const char *path, const char *link, GElf_Word sum, char **used)
{
	const struct up_elf_debug *d = *userdata;
	int fd = d->fn->by_build_id(module, userdata, name, base, path, link, sum, used);

	if (fd < 0 && link && path && *path == '/')
		fd = find_link(d, path, link, sum, used);
	return fd;
}

static int find_nothing(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			char **path, Elf **elf)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)path, (void)elf;
	return -1;
}

/* ---- one file ---- */

static bool open_module(struct up_elf_debug *d, const char *path)
{
	void **userdata;

	if (asprintf(&d->folders, "%s" DEBUG_FOLDER, d->root) < 0) {
		d->folders = NULL;
		return false;
	}
	d->callbacks = (Dwfl_Callbacks){
		.find_elf = find_nothing,
		.find_debuginfo = find_debuginfo,
		.debuginfo_path = &d->folders,
	};
	d->dwfl = d->fn->begin(&d->callbacks);
	if (!d->dwfl)
		return false;
	d->fn->report_begin(d->dwfl);
	d->module = d->fn->report_elf(d->dwfl, path, path, -1, 0, true);
	d->fn->report_end(d->dwfl, NULL, NULL);
	if (!d->module)
		return false;
	d->fn->module_info(d->module, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = d;
	return true;
}

static struct up_elf_span raw_section(Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);

	if (!data || !data->d_buf)
		return (struct up_elf_span){ 0 };
	return (struct up_elf_span){ data->d_buf, data->d_size };
}

/* The .symtab of another file for the same kind of machine. */
static bool take_table(const struct up_elf *e, Elf *other, uint64_t bias, struct up_elf_extra *out)
{
	const char *mine = (const char *)e->bytes, *its = elf_getident(other, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	if (!its || its[EI_CLASS] != mine[EI_CLASS] || its[EI_DATA] != mine[EI_DATA])
		return false;
	while ((scn = elf_nextscn(other, scn))) {
		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_SYMTAB)
			continue;
		*out = (struct up_elf_extra){
			.handle = other,
			.symbols = raw_section(scn),
			.strings = raw_section(elf_getscn(other, h.sh_link)),
			.bias = bias,
		};
		return out->symbols.s && out->strings.s;
	}
	return false;
}

/* The file that libdw takes symbols from when it is another than the program itself. */
static Elf *find_symbol_file(const struct up_elf_debug *d, const Elf *own, Dwarf_Addr *bias)
{
	int nr = d->fn->module_getsymtab(d->module);

	for (int i = 0; i < nr; i++) {
		Elf *elf = NULL;
		Dwarf_Addr by = 0;
		GElf_Addr addr;
		GElf_Sym sym;

		d->fn->module_getsym_info(d->module, i, &sym, &addr, NULL, &elf, &by);
		if (!elf || elf == own)
			continue;
		*bias = by;
		return elf;
	}
	return NULL;
}

/*
 * The symbols that libdw prefers to the file's own. It has none when the file has a .symtab, be it
 * with some names only; then the debug file is what its DWARF is in, which takes longer to open.
 */
static bool find_table(const struct up_elf_debug *d, const struct up_elf *e,
		       struct up_elf_extra *out)
{
	Dwarf_Addr own_bias = 0, bias = 0;
	Elf *own = d->fn->module_getelf(d->module, &own_bias);
	Elf *other = own ? find_symbol_file(d, own, &bias) : NULL;

	if (own && !other) {
		Dwarf *dwarf = d->fn->module_getdwarf(d->module, &bias);

		other = dwarf ? d->fn->getelf(dwarf) : NULL;
	}
	return other && other != own && take_table(e, other, bias - own_bias, out);
}

struct up_elf_debug *up_elf_debug_open(struct up_libdw *l, const struct up_elf *e, const char *path,
				       struct up_elf_extra *out)
{
	struct up_elf_debug *d = load(l) ? calloc(1, sizeof(*d)) : NULL;

	if (!d)
		return NULL;
	d->fn = l->fn;
	d->root = l->root;
	if (open_module(d, path) && find_table(d, e, out))
		return d;
	up_elf_debug_free(d);
	return NULL;
}

bool up_elf_debug_place(const struct up_elf *e, struct up_buf *to)
{
	struct up_elf_section s;
	struct up_elf_span note = { 0 };

	if (up_elf_section_named(e, ".note.gnu.build-id", &s))
		note = up_elf_section_bytes(e, &s);
	/* Behind three lengths and the name "GNU". */
	if (!note.s || note.len < 18 || note.len > 80)
		return false;
	up_buf_puts(to, DEBUG_FOLDER "/.build-id/");
	for (uint64_t i = 16; i < note.len; i++)
		up_buf_printf(to, "%02x%s", note.s[i], i == 16 ? "/" : "");
	up_buf_puts(to, ".debug");
	return true;
}

void up_elf_debug_free(struct up_elf_debug *d)
{
	if (!d)
		return;
	if (d->dwfl)
		d->fn->end(d->dwfl);
	free(d->folders);
	free(d);
}
