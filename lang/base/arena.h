/*
 * Arena: memory that is freed all at once. One per compilation, one per plan.
 * Knows nothing of what is stored in it.
 */
#ifndef UP_BASE_ARENA_H
#define UP_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct up_arena;

/* An empty arena, or NULL when there is no memory. */
struct up_arena *up_arena_new(void);
void up_arena_free(struct up_arena *a);

/*
 * Where to go when memory runs out: up_arena_alloc() does longjmp(*env, 1).
 * Without one it aborts. The caller that set it clears it (NULL) before it returns.
 */
void up_arena_on_oom(struct up_arena *a, jmp_buf *env);

/*
 * Work that is no longer wanted: once *unwanted is true, which another thread may make it,
 * up_arena_check() leaves as if memory had run out. NULL: it never does. Callers of
 * up_arena_check() hold nothing that is not in an arena.
 */
void up_arena_stop_when(struct up_arena *a, const bool *unwanted);
void up_arena_check(struct up_arena *a);

/* Zeroed memory of `size` bytes, aligned for any type. Never returns NULL. */
void *up_arena_alloc(struct up_arena *a, size_t size);

/* Copies; the result ends in NUL. */
char *up_arena_memdup(struct up_arena *a, const char *s, size_t len);
char *up_arena_strdup(struct up_arena *a, const char *s);
char *up_arena_printf(struct up_arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
char *up_arena_vprintf(struct up_arena *a, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

#define up_new(a, T) ((T *)up_arena_alloc((a), sizeof(T)))
#define up_newn(a, T, n) ((T *)up_arena_alloc((a), sizeof(T) * (n)))

/* A growable array whose elements live in an arena (old copies are left behind). */
#define UP_VEC(T)                                   \
	struct {                                    \
		T *v;       /* the elements */      \
		size_t nr;  /* how many are used */ \
		size_t cap; /* how many fit */      \
	}

#define up_vec_push(a, vec, x)                                                       \
	do {                                                                         \
		if ((vec)->nr == (vec)->cap) {                                       \
			size_t cap_ = (vec)->cap ? (vec)->cap * 2 : 8;               \
			void *v_ = up_arena_alloc((a), cap_ * sizeof(*(vec)->v));    \
			if ((vec)->nr)                                               \
				memcpy(v_, (vec)->v, (vec)->nr * sizeof(*(vec)->v)); \
			(vec)->v = v_;                                               \
			(vec)->cap = cap_;                                           \
		}                                                                    \
		(vec)->v[(vec)->nr++] = (x);                                         \
	} while (0)

#endif
