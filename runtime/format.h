/*
 * The kernel's description of an event, events/SYSTEM/EVENT/format: its number, and where its
 * fields stand. Trusts nothing: a description may come from a file.
 *
 *     name: malloc
 *     ID: 1500
 *     format:
 *             field:unsigned short common_type;       offset:0;       size:2; signed:0;
 *             field:__data_loc char[] comm;   offset:20;      size:4; signed:1;
 */
#ifndef UP_FORMAT_H
#define UP_FORMAT_H

#include <stddef.h>

#include "runtime/field.h"

/* The event's number; 0 when there is none that can be. */
uint16_t up_format_id(const char *text, size_t len);
/*
 * The field of that name; size 0 when there is none, or it lies beyond 64 KiB. Of several the first
 * one.
 */
struct up_field up_format_field(const char *text, size_t len, const char *name);

#endif
