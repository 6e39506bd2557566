/*
 * Where functions start by the table of the exception unwinder (.eh_frame_hdr), which stripped
 * files keep too.
 */
#ifndef UP_ELF_FRAMES_H
#define UP_ELF_FRAMES_H

#include "runtime/elf_image.h"

/* As up_elf_frame_start(), and where in .eh_frame the function is described. */
bool up_elf_frame_find(const struct up_elf *e, uint64_t addr, uint64_t *start, uint64_t *entry);

/* The start of the nearest function at or before addr; false when the file does not tell. */
bool up_elf_frame_start(const struct up_elf *e, uint64_t addr, uint64_t *start);

#endif
