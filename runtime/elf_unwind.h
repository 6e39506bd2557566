/*
 * What the exception unwinder's tables (.eh_frame, found through .eh_frame_hdr; Linux Standard
 * Base, "Exception Frames"; DWARF 5, 6.4) say of a function: where its bytes are, how far the stack
 * pointer is from where it was at the entry, and which language's exceptions it takes part in.
 */
#ifndef UP_ELF_UNWIND_H
#define UP_ELF_UNWIND_H

#include "runtime/elf_image.h"

/* A description of some code. */
struct up_elf_frame {
	uint64_t start, end;       /* the code */
	struct up_elf_span common; /* instructions that come first, shared with other functions */
	struct up_elf_span own;    /* those of this function */
	uint64_t code_align;       /* what distances are multiplied by */
	int64_t data_align;        /* what offsets are multiplied by */
	uint8_t encoding;          /* of addresses, DW_EH_PE_ */
	uint64_t lsda;             /* what exceptions find in this code; 0: nothing */
};

/* The frame whose code holds addr; false when there is none, or it is broken. */
bool up_elf_frame_at(const struct up_elf *e, uint64_t addr, struct up_elf_frame *out);

enum up_stack {
	UP_STACK_UNKNOWN,
	UP_STACK_ENTRY, /* sp is what it was at the entry: the return address is on top */
	UP_STACK_OTHER  /* something is on top of that */
};

/* Where the stack pointer is before the instruction at addr is carried out; x86 alone. */
enum up_stack up_elf_stack_at(const struct up_elf *e, const struct up_elf_frame *f, uint64_t addr);

/* Has any function handlers for exceptions of some types, beside mere cleaning up? */
bool up_elf_has_handlers(const struct up_elf *e);

#endif
