/* Recording: what the command line knows of the program, and the run. */
#include "runtime/cli/cmd_record.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/cli/modules.h"
#include "runtime/cli/run.h"
#include "runtime/recorder.h"
#include "runtime/recording.h"

static void put_module(void *arg, const struct up_rec_module *m)
{
	up_recording_put_module(arg, m);
}

/* The program, and what it was compiled with. */
static void put_program(struct up_buf *b, const struct up_opts *o, const char *name,
			const struct up_buf *text)
{
	char real[PATH_MAX];
	bool is_file = up_module_finder_script(o->script, real);

	up_recording_put_begin(b);
	up_recording_put_script(b, name, is_file ? real : NULL, text->s ? text->s : "", text->len);
	for (int i = 0; i < o->nr_args; i++)
		up_recording_put_arg(b, o->args[i]);
	for (unsigned i = 0; i < o->nr_params; i++)
		up_recording_put_param(b, &o->params[i]);
	up_module_finder_each(o->modules, put_module, b);
	if (o->unsafe)
		up_recording_put_unsafe(b);
}

int up_cmd_record(const struct up_opts *o, const struct up_signals *sig, const char *name,
		  const struct up_buf *text, const struct up_built *b)
{
	struct up_status st = { 0 };
	struct up_opts ro = *o; /* without the file of -o, which is the recording */
	struct up_recorder r;
	int status = 1;

	ro.out = NULL;
	if (up_recorder_open(&r, o->out, &st)) {
		up_report(&st);
	} else {
		put_program(&r.text, o, name, text);
		up_buf_add(&r.text, b->places.s, b->places.len);
		r.text.failed |= b->places.failed;
		up_recording_put_plan(&r.text, b->plan);
		status = up_run(&ro, b->c, b->plan, sig, &r);
	}
	up_recorder_fini(&r);
	return status;
}
