/*
 * An ELF file in memory. The headers are checked when it is opened; whatever else is asked for is
 * checked against the size of the file at that moment, so that no content can make us read outside.
 * Headers and sections are read by libelf. Knows nothing of $PATH, of processes or of the language.
 *
 * Only files of this machine's byte order, of 32 or 64 bits. A file that somebody truncates while
 * it is mapped reads as zeros behind its new end: see mapguard.h.
 */
#ifndef UP_ELF_IMAGE_H
#define UP_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/resolve.h"

#define UP_ELF_MAX_STRING 16384 /* bytes; longer names of symbols and libraries are not seen */
#define UP_ELF_MAX_LOAD 128     /* more PT_LOAD headers than this and the file is refused */

/* A program header, whatever the file's class. */
struct up_elf_segment {
	uint64_t offset; /* in the file */
	uint64_t vaddr;  /* virtual address */
	uint64_t filesz; /* bytes that come from the file */
	uint64_t memsz;  /* bytes in memory */
	bool is_code;    /* PF_X */
	bool is_written; /* PF_W */
};

/* A section header, whatever the file's class. */
struct up_elf_section {
	const char *name; /* "" when it has none */
	uint64_t index;   /* its number */
	uint32_t type;    /* SHT_ */
	uint32_t link;    /* another section, e.g. the names of a symbol table */
	uint32_t info;    /* by type */
	uint64_t flags;   /* SHF_ */
	uint64_t addr;    /* virtual address, or 0 */
	uint64_t offset;  /* in the file */
	uint64_t size;    /* bytes */
	uint64_t entsize; /* bytes of an entry, for tables */
};

/* Bytes of the file; s is NULL when there are none. */
struct up_elf_span {
	const unsigned char *s; /* the first */
	uint64_t len;           /* how many */
};

/* Where code starts, and where in .eh_frame it is described. */
struct up_elf_described {
	uint64_t start, entry;
};

/* What is gathered from the file when it is first needed; elf_unwind.c fills it in. */
struct up_elf_gathered {
	bool has_frames;                 /* they were looked for: */
	struct up_elf_described *frames; /* by start */
	size_t nr_frames;                /* how many */
};

struct up_elf {
	const unsigned char *bytes;     /* the whole file */
	uint64_t size;                  /* its length */
	bool is_mapped;                 /* bytes are ours to unmap */
	bool is64;                      /* ELFCLASS64 */
	bool is_pie;                    /* ET_DYN */
	enum up_machine machine;        /* from e_machine */
	unsigned e_machine;             /* EM_ */
	struct up_elf_segment *load;    /* the PT_LOAD headers, in the file's order */
	unsigned nr_load;               /* how many */
	struct up_elf_segment dynamic;  /* PT_DYNAMIC; filesz 0 when absent */
	struct up_elf_segment eh_frame; /* PT_GNU_EH_FRAME; filesz 0 when absent */
	struct Elf *handle;             /* libelf's, over bytes */
	size_t nr_sections;             /* section headers; 0 when they are not in the file */
	size_t shstrndx;                /* the section that has the sections' names */
	struct up_elf_gathered *more;   /* grows with questions */
};

/* Writes *why (NULL: nobody asks), printf-like, safe to show on a terminal. Returns false. */
bool up_elf_refuse(struct up_why *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes the hint. */
void up_elf_hint(struct up_why *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Maps the file behind fd, which stays the caller's; `name` is for messages only. NULL with *why:
 * empty, a directory, a script, not ELF, for another machine, not a program or library...
 */
struct up_elf *up_elf_open(int fd, const char *name, struct up_why *why);
/* The same for bytes in memory, which must outlive the image. */
struct up_elf *up_elf_open_bytes(const void *bytes, size_t size, const char *name,
				 struct up_why *why);
void up_elf_free(struct up_elf *e);

/* `len` bytes at a file offset, or NULL when they are not all there. */
const unsigned char *up_elf_at(const struct up_elf *e, uint64_t off, uint64_t len);
/* What the file has from a virtual address to the end of its segment; NULL when nothing. */
struct up_elf_span up_elf_at_addr(const struct up_elf *e, uint64_t addr);

/*
 * The same of memory that neither the program writes to, nor the dynamic linker, unless the file
 * has text relocations; NULL when that is not sure.
 */
struct up_elf_span up_elf_constant_at(const struct up_elf *e, uint64_t addr);

/* The bytes will all be read: has them mapped at once rather than fault by fault. */
void up_elf_prefetch(struct up_elf_span s);

/* Section `i`; false when there is none. */
bool up_elf_section(const struct up_elf *e, uint64_t i, struct up_elf_section *out);
/* The first section of a type. */
bool up_elf_section_of_type(const struct up_elf *e, uint32_t type, struct up_elf_section *out);
/* The first section of a name. */
bool up_elf_section_named(const struct up_elf *e, const char *name, struct up_elf_section *out);
/* The section that holds a virtual address; false when none does. */
bool up_elf_section_at(const struct up_elf *e, uint64_t addr, struct up_elf_section *out);
/* A section's bytes; NULL when it has none in the file or they are not all there. */
struct up_elf_span up_elf_section_bytes(const struct up_elf *e, const struct up_elf_section *s);

/* The string at `off` of a table; NULL: it does not end inside the table, or is too long. */
const char *up_elf_string(struct up_elf_span table, uint64_t off);

/* As struct up_resolver has them. */
enum up_place up_elf_to_offset(const struct up_elf *e, uint64_t addr, uint64_t *out);
enum up_place up_elf_to_addr(const struct up_elf *e, uint64_t off, uint64_t *out);
/* Is the address inside an executable segment, whether the file has its bytes or not? */
bool up_elf_is_code(const struct up_elf *e, uint64_t addr);

#endif
