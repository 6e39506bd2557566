/* `uptick doctor`. */
#include "runtime/cli/cmd_doctor.h"

#include <stdio.h>

#include "runtime/cli/print.h"
#include "runtime/doctor.h"

int up_cmd_doctor(const struct up_opts *o, const struct up_signals *sig)
{
	struct up_doctor_opts how = { .stop_fd = sig->stop_fd };
	struct up_doctor d;
	struct up_buf b = { 0 };
	bool json;

	if (!up_want_json(o, &json))
		return 2;
	up_doctor_run(&how, &d);
	(json ? up_doctor_json : up_doctor_text)(&d, &b);
	bool ok = up_print(&b) && d.works;
	if (!o->quiet)
		fputs(d.works ? "tracing works here\n"
			      : "tracing does not work here; see what is missing above\n",
		      stderr);
	up_buf_fini(&b);
	up_doctor_fini(&d);
	return ok ? 0 : 1;
}
