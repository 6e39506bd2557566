/* Text helpers. */
#include "lang/base/text.h"

#include <stdlib.h>
#include <time.h>

#include "tests/unit/unit.h"

#define ESCAPED(in, quote, want)                               \
	do {                                                   \
		up_text_escape(&b, in, sizeof(in) - 1, quote); \
		CHECK_BUF(&b, want);                           \
	} while (0)

static void test_escape(void)
{
	struct up_buf b = { 0 };

	ESCAPED("", 0, "");
	ESCAPED("plain text, \\ and \"", 0, "plain text, \\ and \"");
	ESCAPED("say \"hi\"\\", '"', "say \\\"hi\\\"\\\\");
	ESCAPED("a\nb\tc\033[31m", 0, "a\\nb\\tc\\e[31m");
	ESCAPED("\0\r\x7f\x01", 0, "\\x00\\x0d\\x7f\\x01");
	ESCAPED("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", 0,
		"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
	ESCAPED("\xc2\x9b"
		"31m",
		0, "\\u{009b}31m"); /* C1: CSI */
	ESCAPED("\x9b"
		"31m",
		0,
		"\\x9b"
		"31m"); /* the same as a raw byte */
	ESCAPED("a\xe2\x80\xae"
		"b",
		0, "a\\u{202e}b"); /* right-to-left override */
	ESCAPED("a\xe2\x80\x8b"
		"b",
		0, "a\\u{200b}b");                                       /* zero-width space */
	ESCAPED("\xef\xbb\xbf", 0, "\\u{feff}");                         /* byte order mark */
	ESCAPED("\xf3\xa0\x81\x81", 0, "\\u{e0041}");                    /* a tag character */
	ESCAPED("\xff\xc3(\xe2\x82", 0, "\\xff\\xc3(\\xe2\\x82");        /* invalid, cut off */
	ESCAPED("\xc0\x80\xed\xa0\x80", 0, "\\xc0\\x80\\xed\\xa0\\x80"); /* overlong, surrogate */
	up_buf_fini(&b);
}

/* The middle of what is too long is left out, and no character is cut in two. */
static void test_message(void)
{
	struct up_buf b = { 0 }, long_word = { 0 }, many = { 0 };

	up_text_message(&b, "short\033 words", 12);
	CHECK_BUF(&b, "short\\e words");
	up_text_message(&b, "", 0);
	CHECK(b.len == 0);
	for (int i = 0; i < 200; i++)
		up_buf_putc(&long_word, (char)('a' + i % 26));
	up_text_message(&b, long_word.s, 200);
	CHECK(b.len == 200);
	up_buf_reset(&b);
	up_buf_reset(&long_word);
	for (int i = 0; i < 900; i++)
		up_buf_puts(&long_word, "\303\274");
	up_buf_puts(&long_word, " end");
	up_text_message(&b, long_word.s, long_word.len);
	CHECK(b.len > 200 && b.len < 220 && !memcmp(b.s + b.len - 4, " end", 4));
	CHECK(strstr(b.s, "\303\274...\303\274") && !strstr(b.s, "\\x"));
	up_buf_reset(&b);
	for (int i = 0; i < 1000; i++)
		up_buf_printf(&many, "word%d ", i);
	up_text_message(&b, many.s, many.len);
	CHECK(b.len < 2010 && strstr(b.s, " ... ") && !memcmp(b.s, "word0 ", 6));
	CHECK(!memcmp(b.s + b.len - 8, "word999 ", 8));
	up_buf_fini(&b);
	up_buf_fini(&long_word);
	up_buf_fini(&many);
}

static void test_json(void)
{
	struct up_buf b = { 0 };
	static const char in[] = "a\"b\\c\n\t\x01\x7f\0\xff\xc3\xbc\xe2\x80\xae\xf3\xa0\x81\x81/";

	up_text_json(&b, in, sizeof(in) - 1);
	CHECK_BUF(&b, "a\\\"b\\\\c\\n\\t\\u0001\\u007f\\u0000\xef\xbf\xbd\xc3\xbc\\u202e"
		      "\\udb40\\udc41/");
	up_text_json(&b, "\b\f\r", 3);
	CHECK_BUF(&b, "\\b\\f\\r");
	up_buf_fini(&b);
}

static void test_utf8(void)
{
	char out[4];
	uint32_t cp, back;
	unsigned bad = 0;

	for (cp = 0; cp < 0x120000; cp++) {
		size_t n = up_utf8_encode(cp, out);
		bool is_scalar = cp <= 0x10ffff && !(cp >= 0xd800 && cp <= 0xdfff);

		bad += (n != 0) != is_scalar;
		if (n)
			bad += up_utf8_decode(out, n, &back) != n || back != cp;
		if (n > 1)
			bad += up_utf8_decode(out, n - 1, &back) != 0;
	}
	CHECK(bad == 0);
	CHECK(up_utf8_decode("\x80", 1, &cp) == 0);
	CHECK(up_utf8_decode("\xe0\x80\x80", 3, &cp) == 0);
	CHECK(up_utf8_decode("\xf4\x90\x80\x80", 4, &cp) == 0);
	CHECK(up_utf8_decode("\xf5\x80\x80\x80", 4, &cp) == 0);
}

static void test_columns(void)
{
	CHECK(up_text_columns("", 0) == 0);
	CHECK(up_text_columns("abc\t", 4) == 4);
	CHECK(up_text_columns("\xc3\xbc", 2) == 1);
	CHECK(up_text_columns("u\xcc\x88", 3) == 1);
	CHECK(up_text_columns("\xe4\xb8\xad\xe6\x96\x87", 6) == 4);
	CHECK(up_text_columns("\xf0\x9f\x98\x80", 4) == 2);
	CHECK(up_text_columns("\xf3\xa0\x84\x80", 4) == 0);
	CHECK(up_text_columns("\xf0\xbf\xbf\xbe", 4) == 1);
	CHECK(up_text_columns("\xff\xfe", 2) == 2);
}

static bool glob(const char *pat, const char *s)
{
	return up_glob_match(pat, strlen(pat), s, strlen(s));
}

static void test_glob(void)
{
	CHECK(glob("", "") && !glob("", "a") && glob("*", "") && glob("**", "abc"));
	CHECK(glob("str*", "strlen") && !glob("str*", "mystrlen") && glob("*alloc", "malloc"));
	CHECK(glob("*a*b*c", "xxaxxbxxbxxc") && !glob("*a*b*c", "xxaxxcxxb"));
	CHECK(glob("m?lloc", "malloc") && !glob("m?lloc", "mlloc") && glob("?", "\xc3\xbc"));
	CHECK(glob("[a-cx]1", "b1") && glob("[a-cx]1", "x1") && !glob("[a-cx]1", "d1"));
	CHECK(glob("[!a-c]", "d") && !glob("[!a-c]", "b") && glob("[^a]", "b"));
	CHECK(glob("[]a]", "]") && glob("[]a]", "a") && glob("[!]]", "a") && !glob("[!]]", "]"));
	CHECK(glob("[a-]", "-") && glob("[a-]", "a") && glob("[\\]]", "]") && glob("[\\a-c]", "b"));
	CHECK(glob("operator[]", "operator[]") && glob("a[", "a[") && glob("[a", "[a"));
	CHECK(glob("\\*", "*") && !glob("\\*", "a") && glob("a\\", "a\\") && glob("\\[a]", "[a]"));
	CHECK(glob("[\xc3\xa4-\xc3\xbc]", "\xc3\xb6") && !glob("[\xc3\xa4-\xc3\xbc]", "z"));
	CHECK(glob("\xff*", "\xff\xfe") && !glob("\xff", "\xfe"));
	CHECK(up_glob_match("a\0*", 3, "a\0b", 3) && !up_glob_match("a\0*", 3, "a", 1));
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Patterns that take exponential or cubic time when done badly. */
static void test_glob_time(void)
{
	enum { N = 2000 };
	char *s = malloc(N), *stars = malloc(N), *brackets = malloc(N);
	double start = seconds();

	memset(s, 'a', N);
	for (size_t i = 0; i < N; i++)
		stars[i] = i & 1 ? 'a' : '*';
	stars[N - 1] = 'b';
	CHECK(!up_glob_match(stars, N, s, N));
	memset(brackets, '[', N);
	memset(s, '[', N);
	brackets[0] = '*';
	brackets[N - 1] = 'x';
	CHECK(!up_glob_match(brackets, N, s, N));
	CHECK(!up_is_glob(brackets + 1, N - 1));
	CHECK(seconds() - start < 2);
	free(s);
	free(stars);
	free(brackets);
}

/* The plain definition of a glob without classes, exponential and right. */
static bool slow_glob(const char *p, const char *s)
{
	if (*p == '*')
		return slow_glob(p + 1, s) || (*s && slow_glob(p, s + 1));
	if (!*p || !*s)
		return !*p && !*s;
	return (*p == '?' || *p == *s) && slow_glob(p + 1, s + 1);
}

static void test_glob_random(void)
{
	unsigned wrong = 0, matched = 0;

	srand(1);
	for (int n = 0; n < 200000; n++) {
		char p[8] = { 0 }, s[9] = { 0 };

		for (int i = rand() % 8; i--;)
			p[i] = "ab*?*"[rand() % 5];
		for (int i = rand() % 9; i--;)
			s[i] = "ab"[rand() % 2];
		bool want = slow_glob(p, s);
		matched += want;
		wrong += glob(p, s) != want;
	}
	CHECK(wrong == 0 && matched > 1000);
}

static void test_is_glob(void)
{
#define IS_GLOB(s) up_is_glob(s, sizeof(s) - 1)
	CHECK(!IS_GLOB("") && !IS_GLOB("malloc") && !IS_GLOB("a\\*b") && !IS_GLOB("a\\?\\[b]"));
	CHECK(IS_GLOB("*") && IS_GLOB("a?") && IS_GLOB("[ab]") && IS_GLOB("\\\\*"));
	CHECK(!IS_GLOB("operator[]") && !IS_GLOB("a[b") && IS_GLOB("a[b]"));
}

static void offer(struct up_nearest *n, const char *name)
{
	up_nearest_offer(n, name, strlen(name));
}

/* What is suggested for `want` out of a list that ends in NULL. */
static void suggest(struct up_buf *b, const char *want, const char *const *names)
{
	struct up_nearest n;

	up_nearest_init(&n, want, strlen(want));
	for (; *names; names++)
		offer(&n, *names);
	CHECK(up_nearest_list(&n, b) == (n.nr > 0));
}

static void test_nearest(void)
{
	static const char *const names[] = {
		"malloc",  "free",   "zfree",  "calloc",   "realloc",       "memcpy",
		"memmove", "memchr", "zalloc", "strtok_r", "__libc_malloc", "SSL_read",
		"malloc",  "x",      "y",      NULL
	};
	struct up_buf b = { 0 };

	suggest(&b, "mallco", names);
	CHECK_BUF(&b, "`malloc`");
	suggest(&b, "zfre", names);
	CHECK_BUF(&b, "`zfree`");
	suggest(&b, "ssl_read", names);
	CHECK_BUF(&b, "`SSL_read`");
	suggest(&b, "strtok", names);
	CHECK_BUF(&b, "`strtok_r`");
	suggest(&b, "libc_malloc", names);
	CHECK_BUF(&b, "`__libc_malloc` or `malloc`");
	suggest(&b, "alloc", names);
	CHECK_BUF(&b, "`calloc`, `malloc` or `zalloc`");
	suggest(&b, "gethostbyname", names);
	CHECK_BUF(&b, "");
	suggest(&b, "q", names);
	CHECK_BUF(&b, "");
	suggest(&b, "X", names);
	CHECK_BUF(&b, "`x`");
	suggest(&b, "", names);
	CHECK_BUF(&b, "");
	suggest(&b, "memcpy", names); /* the name itself is no suggestion */
	CHECK_BUF(&b, "`memchr`");
	static const char *const nasty[] = { "ab\033[31m", NULL };
	suggest(&b, "ab[31m", nasty);
	CHECK_BUF(&b, "`ab\\e[31m`");
	up_buf_fini(&b);
}

/* The distance by its definition, with the whole table. */
static unsigned plain_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned d[16][16];

	for (size_t i = 0; i <= la; i++) {
		for (size_t j = 0; j <= lb; j++) {
			unsigned c = i && j ? d[i - 1][j - 1] + 4 * (a[i - 1] != b[j - 1]) : ~0u;

			c = i && d[i - 1][j] + 4 < c ? d[i - 1][j] + 4 : c;
			c = j && d[i][j - 1] + 4 < c ? d[i][j - 1] + 4 : c;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 4 < c)
				c = d[i - 2][j - 2] + 4;
			d[i][j] = i || j ? c : 0;
		}
	}
	return d[la][lb];
}

/* Every score that is not a containment's must be the plain distance, and none may be missing. */
static void test_nearest_random(void)
{
	unsigned wrong = 0, found = 0;

	srand(2);
	for (int n = 0; n < 100000; n++) {
		char a[15] = { 0 }, b[15] = { 0 };
		struct up_nearest near;
		int la = 6 + rand() % 8, lb = 6 + rand() % 8;

		for (int i = 0; i < la; i++)
			a[i] = "abc"[rand() % 3];
		for (int i = 0; i < lb; i++)
			b[i] = rand() % 4 ? a[i < la ? i : 0] : "abc"[rand() % 3];
		if (strstr(a, b) || strstr(b, a))
			continue;
		up_nearest_init(&near, a, strlen(a));
		offer(&near, b);
		unsigned d = plain_distance(a, b);
		if (d <= 4 * (unsigned)(la / 3))
			wrong += near.nr != 1 || near.best[0].score != d - (a[0] == b[0]);
		else
			wrong += near.nr != 0;
		found += near.nr;
	}
	CHECK(wrong == 0 && found > 1000);
}

static void test_nearest_limits(void)
{
	char longest[96] = { 0 }, longer[97] = { 0 };
	struct up_nearest n;

	memset(longest, 'a', 95);
	memset(longer, 'a', 96);
	up_nearest_init(&n, longest + 1, 94);
	offer(&n, longest);
	offer(&n, longer);
	up_nearest_offer(&n, "aaa\0b", 5);
	up_nearest_offer(&n, "", 0);
	CHECK(n.nr == 1 && !strcmp(n.best[0].name, longest));
	up_nearest_init(&n, longer, 96);
	offer(&n, longest);
	CHECK(n.nr == 0);
}

/* A big object's symbols must not make a typing error slow. */
static void test_nearest_time(void)
{
	static const char *const parts[] = { "get",   "set",  "cache", "read", "write",
					     "alloc", "node", "list",  "str",  "free",
					     "init",  "_",    "_",     "_" };
	enum { N = 250000 };
	char(*names)[48] = calloc(N, sizeof(*names));
	struct up_nearest n;

	srand(3);
	for (int i = 0; i < N; i++)
		for (int k = 1 + rand() % 6; k--;)
			strcat(names[i], parts[rand() % 14]);
	up_nearest_init(&n, "cache_raed_init", 15);
	double start = seconds();
	for (int i = 0; i < N; i++)
		offer(&n, names[i]);
	double took = seconds() - start;
	printf("nearest of %d names: %.1f ms\n", N, took * 1e3);
	CHECK(n.nr == 3 && took < 2);
	free(names);
}

int main(void)
{
	test_escape();
	test_message();
	test_json();
	test_utf8();
	test_columns();
	test_glob();
	test_glob_time();
	test_glob_random();
	test_is_glob();
	test_nearest();
	test_nearest_random();
	test_nearest_limits();
	test_nearest_time();
	return unit_report("text");
}
