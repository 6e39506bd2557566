/* Arena: chunks that grow in size, handed out front to back. */
#include "lang/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_CHUNK 4096u
#define LARGEST_CHUNK (1u << 20)

struct chunk {
	struct chunk *prev; /* the one filled before */
	size_t size;        /* bytes in data */
	size_t used;        /* bytes handed out */
	max_align_t data[]; /* the memory */
};

struct up_arena {
	struct chunk *top;    /* the one being filled */
	jmp_buf *oom;         /* where to go when memory runs out */
	const bool *unwanted; /* up_arena_stop_when() */
};

struct up_arena *up_arena_new(void)
{
	return calloc(1, sizeof(struct up_arena));
}

void up_arena_free(struct up_arena *a)
{
	if (!a)
		return;
	for (struct chunk *c = a->top, *prev; c; c = prev) {
		prev = c->prev;
		free(c);
	}
	free(a);
}

void up_arena_on_oom(struct up_arena *a, jmp_buf *env)
{
	a->oom = env;
}

static _Noreturn void run_out(struct up_arena *a)
{
	if (a->oom)
		longjmp(*a->oom, 1);
	fputs("uptick: out of memory\n", stderr);
	abort();
}

void up_arena_stop_when(struct up_arena *a, const bool *unwanted)
{
	a->unwanted = unwanted;
}

void up_arena_check(struct up_arena *a)
{
	if (a->unwanted && __atomic_load_n(a->unwanted, __ATOMIC_RELAXED))
		run_out(a);
}

static struct chunk *add_chunk(struct up_arena *a, size_t size)
{
	size_t want = a->top ? a->top->size * 2 : FIRST_CHUNK;

	if (want > LARGEST_CHUNK)
		want = LARGEST_CHUNK;
	if (want < size)
		want = size;
	if (want > SIZE_MAX - sizeof(struct chunk))
		run_out(a);
	struct chunk *c = calloc(1, sizeof(*c) + want);
	if (!c)
		run_out(a);
	c->size = want;
	c->prev = a->top;
	a->top = c;
	return c;
}

void *up_arena_alloc(struct up_arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	struct chunk *c = a->top;

	if (size > SIZE_MAX / 2)
		run_out(a);
	size = (size + align - 1) / align * align;
	if (!c || c->size - c->used < size)
		c = add_chunk(a, size);
	void *p = (char *)c->data + c->used;
	c->used += size;
	return p;
}

char *up_arena_memdup(struct up_arena *a, const char *s, size_t len)
{
	char *p = up_arena_alloc(a, len + 1);

	if (len)
		memcpy(p, s, len);
	return p;
}

char *up_arena_strdup(struct up_arena *a, const char *s)
{
	return up_arena_memdup(a, s, strlen(s));
}

char *up_arena_vprintf(struct up_arena *a, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		run_out(a);
	char *p = up_arena_alloc(a, (size_t)len + 1);
	vsnprintf(p, (size_t)len + 1, fmt, ap);
	return p;
}

char *up_arena_printf(struct up_arena *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *p = up_arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}
