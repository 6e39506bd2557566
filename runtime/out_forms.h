/* The output forms, one row each beside its code; up_out_forms[] in out.c lists them. */
#ifndef UP_OUT_FORMS_H
#define UP_OUT_FORMS_H

#include "runtime/out.h"

extern const struct up_out_form up_out_text;
extern const struct up_out_form up_out_json;
extern const struct up_out_form up_out_csv;

#endif
