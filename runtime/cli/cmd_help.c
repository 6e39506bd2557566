/* Help on a word, from the rows of the reference and the options. */
#include "runtime/cli/cmd_help.h"

#include <string.h>

#include "lang/reference.h"
#include "lang/values.h"
#include "runtime/cli/help_module.h"
#include "runtime/cli/print.h"
#include "runtime/cli/repl.h"
#include "runtime/cli/run.h"

/* `arg3` is a row of argN, `:u32` of u32, `reg.ax` of reg. */
static const char *plain_word(const char *word, char *buf, size_t size)
{
	unsigned n;

	if (up_val_arg(word, &n))
		return "arg";
	if (*word == ':' && word[1])
		word++;
	size_t len = strcspn(word, ".[(");
	if (!len || len >= size)
		return word;
	memcpy(buf, word, len);
	buf[len] = 0;
	return buf;
}

static int unknown_word(const char *word)
{
	struct up_nearest near;
	struct up_buf b = { 0 };

	up_nearest_init(&near, word, strlen(word));
	up_ref_offer(up_agg_rows, &near);
	up_help_modules_offer(word, &near);
	if (up_nearest_list(&near, &b))
		up_complain("nothing is named `%s`; did you mean %s?", word, b.s);
	else
		up_complain("nothing is named `%s`; `uptick help` lists the words", word);
	up_buf_fini(&b);
	return 2;
}

static int help_on(const char *word, struct up_buf *out)
{
	char buf[64];
	bool found = up_ref_word(word, up_agg_rows, out);

	found |= up_opts_word(word, out);
	found |= up_repl_word(word, out);
	found |= up_help_module(word, out);
	if (!found)
		found = up_ref_word(plain_word(word, buf, sizeof(buf)), up_agg_rows, out);
	return found ? 0 : unknown_word(word);
}

int up_cmd_word(const struct up_opts *o)
{
	struct up_buf out = { 0 };
	int status = 0;

	if (!o->script) {
		up_ref_words(up_agg_rows, &out);
		up_buf_puts(&out,
			    "\nuptick help WORD explains a word, uptick --help lists commands and "
			    "options.\n");
	} else {
		status = help_on(o->script, &out);
		for (int i = 0; i < o->nr_args && !status; i++)
			status = help_on(o->args[i], &out);
	}
	if (out.len && !up_print(&out))
		status = 1;
	up_buf_fini(&out);
	return status;
}

int up_cmd_reference(const struct up_opts *o)
{
	const struct up_ref_table *t = up_ref_find(o->word);
	struct up_buf out = { 0 };
	int status = 0;

	if (t)
		up_ref_markdown(t, up_agg_rows, &out);
	else if (!strcmp(o->word, "options"))
		up_opts_markdown(&out);
	else if (!strcmp(o->word, "commands"))
		up_repl_markdown(&out);
	if (!out.len) {
		up_complain("there is no table `%s` in the reference", o->word);
		status = 2;
	} else if (!up_print(&out)) {
		status = 1;
	}
	up_buf_fini(&out);
	return status;
}
