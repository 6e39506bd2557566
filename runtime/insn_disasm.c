/* Lengths of instructions by Capstone (www.capstone-engine.org), loaded when first needed. */
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "runtime/insn.h"
#include "runtime/lateload.h"

struct capstone {
	void *lib;                               /* of up_late_load() */
	csh handles[2];                          /* for 32-bit and 64-bit code; 0: not open yet */
	cs_insn *insn;                           /* what it writes to */
	__typeof__(cs_open) *open;               /* its functions */
	__typeof__(cs_close) *close;             /* likewise */
	__typeof__(cs_malloc) *new_insn;         /* likewise */
	__typeof__(cs_free) *free_insn;          /* likewise */
	__typeof__(cs_disasm_iter) *disasm_iter; /* likewise */
};

static const struct up_late_function functions[] = {
	{ "cs_open", offsetof(struct capstone, open) },
	{ "cs_close", offsetof(struct capstone, close) },
	{ "cs_malloc", offsetof(struct capstone, new_insn) },
	{ "cs_free", offsetof(struct capstone, free_insn) },
	{ "cs_disasm_iter", offsetof(struct capstone, disasm_iter) },
};

_Static_assert(CS_API_MAJOR == 4, "UP_DISASM_SONAME names another version than the header's");

bool up_disasm_load(struct up_disasm *d)
{
	if (d->is_tried)
		return d->capstone;
	d->is_tried = true;
	d->capstone = calloc(1, sizeof(*d->capstone));
	if (!d->capstone)
		return false;
	d->capstone->lib = up_late_load(d->soname ? d->soname : UP_DISASM_SONAME, functions,
					sizeof(functions) / sizeof(functions[0]), d->capstone);
	if (d->capstone->lib)
		return true;
	free(d->capstone);
	d->capstone = NULL;
	return false;
}

void up_disasm_fini(struct up_disasm *d)
{
	struct capstone *c = d->capstone;

	if (c) {
		for (int i = 0; i < 2; i++)
			if (c->handles[i])
				c->close(&c->handles[i]);
		if (c->insn)
			c->free_insn(c->insn, 1);
		dlclose(c->lib);
		free(c);
	}
	*d = (struct up_disasm){ .soname = d->soname };
}

/* The handle for 32-bit or 64-bit code; false when there is no memory. */
static bool get_handle(struct capstone *c, bool is64, csh *out)
{
	if (!c->handles[is64] &&
	    c->open(CS_ARCH_X86, is64 ? CS_MODE_64 : CS_MODE_32, &c->handles[is64]) != CS_ERR_OK) {
		c->handles[is64] = 0;
		return false;
	}
	if (!c->insn)
		c->insn = c->new_insn(c->handles[is64]);
	*out = c->handles[is64];
	return c->insn;
}

unsigned up_disasm_length(struct up_disasm *d, enum up_machine m, const unsigned char *s,
			  size_t len)
{
	size_t room = len < UP_INSN_MAX ? len : UP_INSN_MAX;
	uint64_t addr = 0;
	csh handle;

	if (m == UP_M_AARCH64)
		return len < 4 ? 0 : 4;
	if ((m != UP_M_X86_64 && m != UP_M_I386) || !d->capstone ||
	    !get_handle(d->capstone, m == UP_M_X86_64, &handle))
		return 0;
	return d->capstone->disasm_iter(handle, &s, &room, &addr, d->capstone->insn)
		       ? d->capstone->insn->size
		       : 0;
}
