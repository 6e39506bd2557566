/*
 * libFuzzer target: event filters. The data say which conditions are compiled, and which records
 * are judged by the handlers and by the model of the kernel's filters; see filter_trial.h for what
 * must hold.
 */
#include "tests/unit/filter_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dice d = { .data = data, .len = size };
	struct trial t = { 0 };

	if (!run_trial(&t, &d)) {
		fprintf(stderr, "%s\n%sfilter: %s\n", t.what, t.script.s, t.filter ? t.filter : "");
		abort();
	}
	up_buf_fini(&t.script);
	return 0;
}
