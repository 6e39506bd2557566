/* The reference knows every word of the language. */
#include "lang/reference.h"

#include <string.h>

#include "lang/keywords.h"
#include "lang/parse_int.h"
#include "tests/unit/unit.h"

extern const struct up_agg_row *const up_agg_rows[];

static bool knows(const char *word, const char *says)
{
	struct up_buf b = { 0 };
	bool ok = up_ref_word(word, up_agg_rows, &b) && b.s && strstr(b.s, says);

	up_buf_fini(&b);
	return ok;
}

int main(void)
{
	for (const struct up_keyword_row *row = up_keyword_rows; row->text; row++) {
		const char *text = up_tok_text(row->kind);

		CHECK(text && !strcmp(text, row->text));
		CHECK(knows(row->text, row->text));
	}
	CHECK(knows("by", "each combination of keys") && knows("probe", "(values)"));
	CHECK(knows("count", "(aggregates)") && knows("retval", "(values)"));
	CHECK(!knows("nothing_of_the_kind", ""));
	return unit_report("reference");
}
