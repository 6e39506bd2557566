/* A known number of calls of each function that allocates. Every block is freed but three of 1000
 * bytes, which leak_here() makes; sizes are such that the C library asks for none of them by
 * itself. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What they gave, so that the compiler keeps the calls. */
static void *volatile kept;

__attribute__((noinline)) static void leak_here(void)
{
	kept = malloc(1000);
	__asm__("");
}

static void resize(void)
{
	void *p = realloc(NULL, 7001);

	for (int i = 0; i < 4; i++)
		p = realloc(p, 8001 + i * 100000);
	kept = p;
	kept = realloc(p, 0);
	kept = NULL;
}

static void align(void)
{
	void *p;

	for (size_t to = 8; to <= 4096; to *= 8) {
		if (posix_memalign(&p, to, 9001))
			exit(1);
		free(p);
	}
	for (size_t to = 16; to <= 256; to *= 4)
		free(kept = aligned_alloc(to, 8960));
	free(kept = memalign(64, 9003));
	free(kept = valloc(9004));
	if (!posix_memalign(&p, 3, 9005))
		exit(1);
}

int main(void)
{
	char text[] = "seven77";

	for (int i = 0; i < 10; i++)
		free(kept = malloc(5001));
	for (int i = 0; i < 5; i++)
		free(kept = calloc(7, 858));
	resize();
	align();
	free(kept = strdup(text));
	free(NULL);
	kept = malloc(SIZE_MAX / 2);
	for (int i = 0; i < 3; i++)
		leak_here();
	return 0;
}
