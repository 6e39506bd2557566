/* What the dynamic linker writes into memory that the file has no value for, where that is known
 * here. */
#ifndef UP_ELF_RELOC_H
#define UP_ELF_RELOC_H

#include "runtime/elf_image.h"

/*
 * The value of the pointer at `slot`. False when nothing is written there, or it is another
 * object's; then *is_import tells. 64-bit files alone.
 */
bool up_elf_reloc_value(const struct up_elf *e, uint64_t slot, uint64_t *value, bool *is_import);

#endif
