/* Descriptions of events, compared with what libtraceevent makes of them where the kernel's can be
 * read. */
#include "runtime/format.h"

#include <glob.h>
#include <stdlib.h>
#include <traceevent/event-parse.h>

#include "tests/unit/unit.h"

/* Asked by the leak checker. libtraceevent forgets a text of some print formats. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent";
}

static const char probe[] = "name: zfree\nID: 1500\nformat:\n"
			    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			    "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
			    "\tfield:u32 site;\toffset:16;\tsize:4;\tsigned:0;\n"
			    "\tfield:s64 ax;\toffset:20;\tsize:8;\tsigned:1;\n"
			    "\tfield:__data_loc char[] comm;\toffset:28;\tsize:4;\tsigned:1;\n"
			    "\tfield:u8 m8_di[];\toffset:32;\tsize:64;\tsigned:0;\n"
			    "\tfield:char name[16];\toffset:96;\tsize:16;\tsigned:0;\n"
			    "\tfield:const char * ptr;\toffset:112;\tsize:8;\tsigned:0;\n"
			    "\tfield:u8 far;\toffset:65535;\tsize:1;\tsigned:0;\n"
			    "\tfield:u8 large;\toffset:16;\tsize:65535;\tsigned:0;\n"
			    "\tfield:u8 minus;\toffset:-1;\tsize:1;\tsigned:0;\n"
			    "\nprint fmt: \"(%lx) site=%u\", REC->__probe_ip, REC->site\n";

static bool is_at(const char *name, unsigned off, unsigned size, bool is_signed, bool is_dynamic)
{
	struct up_field f = up_format_field(probe, sizeof(probe) - 1, name);

	return f.off == off && f.size == size && f.is_signed == is_signed &&
	       f.is_dynamic == is_dynamic;
}

static void test_probe(void)
{
	CHECK(up_format_id(probe, sizeof(probe) - 1) == 1500);
	CHECK(is_at("common_pid", 4, 4, true, false) && is_at("__probe_ip", 8, 8, false, false));
	CHECK(is_at("site", 16, 4, false, false) && is_at("ax", 20, 8, true, false));
	CHECK(is_at("comm", 28, 4, true, true) && is_at("m8_di", 32, 64, false, false));
	CHECK(is_at("name", 96, 16, false, false) && is_at("ptr", 112, 8, false, false));
	/* What is not there, is only a part of a name, or lies where no record reaches. */
	CHECK(is_at("x", 0, 0, false, false) && is_at("pid", 0, 0, false, false));
	CHECK(is_at("far", 0, 0, false, false));
	CHECK(is_at("large", 0, 0, false, false) && is_at("minus", 0, 0, false, false));
}

static void test_id(void)
{
	static const char *const none[] = { "",         "name: x\n", "ID: 0\n", "ID: 65536\n",
					    "ID: -1\n", "ID: \n",    "ID:7\n",  "xID: 7\n" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		CHECK(!up_format_id(none[i], strlen(none[i])));
	CHECK(up_format_id("ID: 7", 5) == 7 && up_format_id("a\nID: 65535\n", 12) == 65535);
}

/* Every beginning of it: no byte behind is looked at. */
static void test_cut(void)
{
	for (size_t len = 0; len < sizeof(probe); len++) {
		char *copy = malloc(len ? len : 1);

		memcpy(copy, probe, len);
		struct up_field f = up_format_field(copy, len, "ptr");
		CHECK(!f.size || f.off == 112);
		free(copy);
	}
}

static void compare_fields(const struct tep_format_field *f, const char *text, size_t len)
{
	for (; f; f = f->next) {
		struct up_field ours = up_format_field(text, len, f->name);

		/* Newer kinds of fields than those that a probe has. */
		if (f->flags & TEP_FIELD_IS_RELATIVE)
			continue;
		CHECK(ours.off == f->offset && ours.size == f->size &&
		      ours.is_signed == !!(f->flags & TEP_FIELD_IS_SIGNED) &&
		      ours.is_dynamic == !!(f->flags & TEP_FIELD_IS_DYNAMIC));
	}
}

/* Where tracefs can be read: all events of this kernel. */
static void test_kernels(void)
{
	struct tep_handle *tep = tep_alloc();
	glob_t g = { 0 };

	tep_set_loglevel(TEP_LOG_NONE);
	glob("/sys/kernel/tracing/events/*/*/format", 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		static char text[65536];
		FILE *f = fopen(g.gl_pathv[i], "re");
		size_t len = f ? fread(text, 1, sizeof(text), f) : 0;
		struct tep_event *event = NULL;

		if (f)
			fclose(f);
		tep_parse_format(tep, &event, text, len, "x");
		if (!event)
			continue;
		CHECK(up_format_id(text, len) == event->id);
		compare_fields(event->format.common_fields, text, len);
		compare_fields(event->format.fields, text, len);
	}
	globfree(&g);
	tep_free(tep);
}

int main(void)
{
	test_probe();
	test_id();
	test_cut();
	test_kernels();
	return unit_report("format");
}
