/*
 * The code of one function, read from end to end: its parts, where it is left, and which of its
 * instructions jumps lead to. Whatever could make that incomplete is kept as a reason.
 *
 * A function has one part, and further ones where the compiler has moved what is hardly ever
 * executed (NAME.cold). What is read is bounded, whatever the file says.
 */
#ifndef UP_ELF_BODY_H
#define UP_ELF_BODY_H

#include "runtime/elf_symbols.h"
#include "runtime/elf_unwind.h"
#include "runtime/insn_flow.h"

#define UP_BODY_MAX_PARTS 16
#define UP_BODY_MAX_BYTES (4u << 20) /* of all parts */

struct up_elf_part {
	uint64_t start, end;       /* addresses */
	struct up_elf_span code;   /* the bytes */
	unsigned char *starts;     /* a bit for each byte: an instruction starts there */
	unsigned char *aims;       /* likewise: a jump of the function leads there */
	bool has_frame;            /* the unwinder knows it: */
	struct up_elf_frame frame; /* as this */
};

struct up_elf_body {
	const struct up_elf *e;                      /* the file */
	struct up_elf_symbols *s;                    /* its symbols */
	uint64_t addr;                               /* the entry */
	struct up_elf_part parts[UP_BODY_MAX_PARTS]; /* the first has the entry */
	unsigned nr_parts;                           /* 0: how long it is is not known */
	uint64_t nr_bytes;                           /* of all parts */
	struct up_exit *exits;                       /* ways out, as they were found */
	size_t nr_exits, cap_exits;                  /* how many; how many fit */
	unsigned nr_leaps;                           /* jumps whose ends were looked for */
	uint64_t *loads;                             /* jumps to what a register holds, which */
	size_t nr_loads, cap_loads;                  /* leave if nothing else is known */
	bool has_switch;                             /* one jumps to several places inside */
	bool has_labels;                             /* it takes addresses of its own code */
	bool is_torn;                                /* not all of it could be read */
	bool has_no_memory;                          /* likewise, for want of memory */
	bool is_asked;                               /* read on behalf of another function */
	unsigned nr_asked;                           /* functions that were read on its behalf */
	struct up_buf reason;                        /* why ways out are missing; empty: none is */
};

/* Reads the function that starts at addr. The caller calls up_elf_body_fini(). */
void up_elf_body_read(struct up_elf_body *b, const struct up_elf *e, struct up_elf_symbols *s,
		      uint64_t addr);
void up_elf_body_fini(struct up_elf_body *b);

/* Where the function ends that starts at addr; false when that is not known. */
bool up_elf_body_extent(const struct up_elf *e, struct up_elf_symbols *s, uint64_t addr,
			uint64_t *end);
/* Does an instruction of the code from start to end jump behind `from`, up to `to`? */
bool up_elf_leads_into(const struct up_elf *e, uint64_t start, uint64_t end, uint64_t from,
		       uint64_t to);

/* The part that holds addr, or NULL. */
struct up_elf_part *up_elf_body_part(struct up_elf_body *b, uint64_t addr);
/* Does a jump of the function lead to addr? */
bool up_elf_body_is_aim(struct up_elf_body *b, uint64_t addr);
/* The instruction at an address of the function; false when there is none. */
bool up_elf_body_insn(struct up_elf_body *b, uint64_t addr, struct up_native *out);

#endif
