/*
 * process_vm_readv() gives what lies before the first page that cannot be read; it promises so only
 * where that is the end of an element of its list, so the list has an element a page.
 *
 * Whether the process still runs the program that was probed is told by the probe itself: the
 * kernel's breakpoint stands at its place, as long as anything is read.
 */
#include "runtime/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/elf_dynamic.h"
#include "runtime/fileid.h"

#define PAGE 4096u
#define MAX_PAGES 18 /* of one read, and the byte of the probe */
#define INT3 0xcc    /* the breakpoint of x86 */

void up_memory_init(struct up_memory *m)
{
	*m = (struct up_memory){ 0 };
	up_table_init(&m->files, sizeof(struct up_elf *), 0);
}

void up_memory_fini(struct up_memory *m)
{
	for (size_t i = 0; i < up_table_end(&m->files); i++) {
		const void *key;
		size_t len;
		struct up_elf **e = up_table_row(&m->files, i, &key, &len);

		if (e)
			up_elf_free(*e);
	}
	up_table_fini(&m->files);
}

/* ---- the program's file ---- */

/* Which file it is, whatever its name. */
struct file_key {
	uint64_t dev, ino;
};

static struct file_key key_of(const struct up_plan_site *s)
{
	return (struct file_key){ s->id.dev, s->id.ino };
}

/* The file, if it is the one that was compiled for, and memory holds what it does. */
static struct up_elf *open_file(const struct up_plan_site *site)
{
	int fd = open(site->path, O_RDONLY | O_CLOEXEC);
	struct up_elf_dynamic dynamic = { 0 };
	struct up_elf *e = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st)) {
		struct up_file_id now = up_file_id_of(&st);

		if (up_file_id_compare(&site->id, &now) == UP_FILE_SAME)
			e = up_elf_open(fd, site->path, NULL);
	}
	close(fd);
	if (e)
		up_elf_dynamic_read(e, &dynamic);
	if (!dynamic.has_textrel)
		return e;
	up_elf_free(e);
	return NULL;
}

void up_memory_open(struct up_memory *m, const struct up_plan *plan)
{
	for (uint32_t i = 0; plan->reads_late && i < plan->nr_sites; i++) {
		const struct up_plan_site *s = &plan->sites[i];
		struct file_key key = key_of(s);

		if (s->machine != UP_M_I386 || up_table_find(&m->files, &key, sizeof(key)))
			continue;
		struct up_elf **e = up_table_at(&m->files, &key, sizeof(key));
		if (e)
			*e = open_file(s);
	}
}

/* What the file holds of memory that its program cannot write to. */
static size_t read_file(const struct up_memory *m, const struct up_memory_at *at, void *to,
			size_t len)
{
	struct file_key key = key_of(at->site);
	struct up_elf **e = up_table_find(&m->files, &key, sizeof(key));
	uint64_t addr = (uint32_t)(at->addr - (at->place - at->site->addr));

	if (!at->place || !e || !*e)
		return 0;
	struct up_elf_span s = up_elf_constant_at(*e, addr);
	if (!s.s)
		return 0;
	len = len < s.len ? len : (size_t)s.len;
	memcpy(to, s.s, len);
	return len;
}

/* ---- the process ---- */

int up_memory_peek(const struct up_memory *m, pid_t tid, uint64_t addr, void *to, size_t len)
{
	if (m->is_offline)
		return -ESRCH;
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)addr, len };
	ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EFAULT;
}

/* The bytes read, or -1: the process is gone, or runs another program. */
static ssize_t read_process(pid_t tid, const struct up_memory_at *at, void *to, size_t len)
{
	unsigned char probe = 0;
	struct iovec local[2] = { { &probe, 1 }, { to, len } }, remote[MAX_PAGES];
	unsigned long nr = 0;

	remote[nr++] = (struct iovec){ (void *)(uintptr_t)at->place, 1 };
	for (size_t done = 0; done < len && nr < MAX_PAGES;) {
		uint64_t addr = at->addr + done;
		size_t part = PAGE - addr % PAGE;

		part = part < len - done ? part : len - done;
		remote[nr++] = (struct iovec){ (void *)(uintptr_t)addr, part };
		done += part;
	}
	ssize_t n = process_vm_readv(tid, local, 2, remote, nr, 0);
	return n >= 1 && probe == INT3 ? n - 1 : -1;
}

size_t up_memory_read(const struct up_memory *m, const struct up_memory_at *at, void *to,
		      size_t len)
{
	ssize_t n = -1;

	if (m->is_offline)
		return 0;
	if (at->place)
		n = read_process(at->tid, at, to, len);
	if (n < 0 && at->place && at->pid && at->pid != at->tid)
		n = read_process(at->pid, at, to, len);
	return n < 0 ? read_file(m, at, to, len) : (size_t)n;
}
