/*
 * libFuzzer target: expressions. The data say which one; see expr_trial.h for what must hold.
 */
#include "tests/unit/expr_trial.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dice d = { .data = data, .len = size };

	if (!run_trial(&d))
		abort();
	return 0;
}
