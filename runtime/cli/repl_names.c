/* Names of functions, gathered once for each object by a thread of its own. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lang/demangle.h"
#include "lang/source_name.h"
#include "runtime/cli/repl_int.h"

#define PATIENCE_NS 150000000 /* how long one waits for a thread */
#define NAMES_MAX 2000000     /* of one object */
#define LONGEST 400           /* bytes of a name; longer ones nobody types */

/* The names of one object. */
struct up_names {
	struct up_names *next;
	char *object; /* as the target names it */
	pid_t pid;    /* struct up_elf_options.pid */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t news; /* it is done */
	struct up_buf text;  /* of the thread until it is done: names, each with a NUL behind it */
	size_t nr;           /* how many */
	char **sorted;       /* then: the names */
	bool is_done, is_given_up;
	struct up_buf full, plain; /* the thread's scratch */
};

/* ---- the thread ---- */

static bool is_given_up(struct up_names *n)
{
	pthread_mutex_lock(&n->lock);
	bool is = n->is_given_up;
	pthread_mutex_unlock(&n->lock);
	return is;
}

/* Can it be typed in a target as it is? */
static bool is_plain(const char *s, size_t len)
{
	return len && len <= LONGEST && !strpbrk(s, " \t,<>\"*?[(");
}

static void add_name(struct up_names *n, const char *name, size_t len)
{
	if (!is_plain(name, len) || n->nr >= NAMES_MAX)
		return;
	up_buf_add(&n->text, name, len + 1);
	n->nr++;
}

/* A C++ or Rust name without template arguments. */
static void add_source_name(struct up_names *n, const char *symbol)
{
	up_buf_reset(&n->full);
	up_buf_reset(&n->plain);
	if (up_is_piece(symbol) || !up_demangle(symbol, UP_NAME_BARE, &n->full) || n->full.failed)
		return;
	up_source_plain(n->full.s, n->full.len, &n->plain);
	if (!n->plain.failed && n->plain.s)
		add_name(n, n->plain.s, n->plain.len);
}

static bool add_symbol(void *arg, const struct up_symbol *sym)
{
	struct up_names *n = arg;

	if (sym->kind != UP_SYM_FUNC || !sym->size)
		return true;
	if (up_is_mangled(sym->name))
		add_source_name(n, sym->name);
	else
		add_name(n, sym->name, strlen(sym->name));
	return (n->nr & 255) || !is_given_up(n);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct up_names *n)
{
	n->sorted = n->text.failed ? NULL : calloc(n->nr + 1, sizeof(*n->sorted));
	char *s = n->text.s;
	size_t nr = 0;

	if (!n->sorted) {
		n->nr = 0;
		return;
	}
	for (size_t i = 0; i < n->nr; i++, s += strlen(s) + 1)
		n->sorted[i] = s;
	qsort(n->sorted, n->nr, sizeof(*n->sorted), by_name);
	for (size_t i = 0; i < n->nr; i++)
		if (!nr || strcmp(n->sorted[nr - 1], n->sorted[i]) != 0)
			n->sorted[nr++] = n->sorted[i];
	n->nr = nr;
}

static void *gather(void *arg)
{
	struct up_names *n = arg;
	struct up_elf_options eo = { .pid = n->pid };
	struct up_elf_resolver *elf = up_elf_resolver_new(&eo);
	struct up_query all = { .kind = UP_QUERY_GLOB, .pattern = "*" };
	struct up_why why = { 0 };

	if (elf) {
		const struct up_resolver *r = up_elf_resolver_iface(elf);
		const struct up_object *o = r->open(r->ctx, n->object, &why);

		if (o)
			r->find(r->ctx, o, &all, add_symbol, n, &why);
		up_elf_resolver_free(elf);
	}
	up_why_fini(&why);
	up_buf_fini(&n->full);
	up_buf_fini(&n->plain);
	sort(n);
	pthread_mutex_lock(&n->lock);
	n->is_done = true;
	pthread_cond_signal(&n->news);
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

/* ---- asking ---- */

static struct up_names *begin(const char *object, pid_t pid)
{
	struct up_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->object = strdup(object);
	n->pid = pid;
	pthread_mutex_init(&n->lock, NULL);
	pthread_cond_init(&n->news, NULL);
	if (n->object && !pthread_create(&n->thread, NULL, gather, n))
		return n;
	free(n->object);
	free(n);
	return NULL;
}

static struct up_names *find(struct up_names **all, const char *object, pid_t pid)
{
	struct up_names *n = *all;

	while (n && (strcmp(n->object, object) != 0 || n->pid != pid))
		n = n->next;
	if (n)
		return n;
	n = begin(object, pid);
	if (n) {
		n->next = *all;
		*all = n;
	}
	return n;
}

static bool wait_for(struct up_names *n)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PATIENCE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&n->lock);
	while (!n->is_done && !err)
		err = pthread_cond_timedwait(&n->news, &n->lock, &until);
	bool is_done = n->is_done;
	pthread_mutex_unlock(&n->lock);
	return is_done;
}

void up_names_each(struct up_names **all, const char *object, pid_t pid, const char *prefix,
		   void (*fn)(void *arg, const char *name), void *arg)
{
	struct up_names *n = find(all, object, pid);
	size_t len = strlen(prefix), lo = 0, hi;

	if (!n || !wait_for(n))
		return;
	for (hi = n->nr; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(n->sorted[mid], prefix) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n->nr && !strncmp(n->sorted[lo], prefix, len); lo++)
		fn(arg, n->sorted[lo]);
}

void up_names_free(struct up_names *all)
{
	while (all) {
		struct up_names *next = all->next;

		pthread_mutex_lock(&all->lock);
		all->is_given_up = true;
		pthread_mutex_unlock(&all->lock);
		pthread_join(all->thread, NULL);
		up_buf_fini(&all->text);
		free(all->sorted);
		free(all->object);
		free(all);
		all = next;
	}
}
