/*
 * Symbols of Go: PACKAGE.FUNC, PACKAGE.TYPE.METHOD, PACKAGE.(*TYPE).METHOD, with type arguments in
 * brackets behind FUNC or TYPE and `.funcN` behind all for closures. In the last part of PACKAGE's
 * path dots and what is not plain are written %2e (cmd/internal/objabi/path.go of Go's sources).
 */
#include "lang/source_go.h"

#include <string.h>

#define MAX_FOLDERS 64    /* of a package; those behind are not looked at */
#define SOME_ARGS "[...]" /* as Go's own traces have type arguments */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Appends the symbol with its escapes undone. */
static void unescape(const char *s, struct up_buf *out)
{
	for (; *s; s++) {
		int high = *s == '%' ? hex_digit(s[1]) : -1;
		int low = high >= 0 ? hex_digit(s[2]) : -1;

		up_buf_putc(out, low >= 0 ? (char)(high << 4 | low) : *s);
		s += low >= 0 ? 2 : 0;
	}
}

/* The end of the type arguments that open at s[i]; they may hold brackets. */
static size_t behind_args(const char *s, size_t len, size_t i)
{
	size_t depth = 0;

	for (; i < len; i++) {
		depth += s[i] == '[';
		if (s[i] == ']' && !--depth)
			return i + 1;
	}
	return len;
}

/* Appends a name without the `(*` and `)` of a receiver, and without type arguments. */
static void put_plain(struct up_buf *out, const char *s, size_t len, bool keep_args)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '[' && !keep_args)
			i = behind_args(s, len, i) - 1;
		else if (s[i] == '(' && i + 1 < len && s[i + 1] == '*')
			i++;
		else if (s[i] != ')')
			up_buf_putc(out, s[i]);
	}
}

void up_go_name_init(struct up_go_name *n, const char *text, size_t len)
{
	*n = (struct up_go_name){ 0 };
	up_buf_add(&n->name, text, len);
	n->has_args = memchr(text, '[', len) && !memmem(text, len, SOME_ARGS, strlen(SOME_ARGS));
	put_plain(&n->plain, text, len, n->has_args);
}

void up_go_name_fini(struct up_go_name *n)
{
	up_buf_fini(&n->name);
	up_buf_fini(&n->plain);
	up_buf_fini(&n->text[0]);
	up_buf_fini(&n->text[1]);
}

static bool is_same(const struct up_buf *a, const struct up_buf *b)
{
	return a->len == b->len && a->len && !memcmp(a->s, b->s, a->len);
}

/* Is `end` the name, or the name without the folders of its package? */
static bool ends_in(const struct up_buf *name, const struct up_buf *end)
{
	if (is_same(name, end))
		return true;
	if (!end->len || name->len <= end->len)
		return false;
	size_t from = name->len - end->len;
	return name->s[from - 1] == '/' && !memcmp(name->s + from, end->s, end->len);
}

/* Is the name from `k` on what is written, but for type arguments of which that has `[...]`? */
static bool is_instance(const struct up_buf *written, const struct up_buf *name, size_t k)
{
	size_t i = 0;

	while (i < written->len && k < name->len) {
		if (written->s[i] != name->s[k])
			return false;
		if (written->s[i] != '[') {
			i++;
			k++;
			continue;
		}
		i = behind_args(written->s, written->len, i);
		k = behind_args(name->s, name->len, k);
	}
	return i && i == written->len && k == name->len;
}

/* Is it the name, or the name without folders of its package? */
static bool is_called(const struct up_go_name *n, const struct up_buf *name)
{
	if (n->has_args)
		return ends_in(name, &n->name);
	for (size_t k = 0, nr = 0; k < name->len && nr < MAX_FOLDERS; k++) {
		if (name->s[k] == '[' || name->s[k] == '(')
			break;
		if (k && name->s[k - 1] != '/')
			continue;
		nr++;
		if (is_instance(&n->name, name, k))
			return true;
	}
	return false;
}

enum up_match up_go_name_match(struct up_go_name *n, const char *symbol)
{
	struct up_buf *name = &n->text[0], *plain = &n->text[1];

	if (up_go_is_piece(symbol))
		return UP_MATCH_NOT;
	up_buf_reset(name);
	up_buf_reset(plain);
	unescape(symbol, name);
	if (is_called(n, name))
		return UP_MATCH_EXACT;
	put_plain(plain, name->s ? name->s : "", name->len, n->has_args);
	return ends_in(plain, &n->plain) ? UP_MATCH_LOOSE : UP_MATCH_NOT;
}

bool up_go_is_piece(const char *symbol)
{
	static const char *const marks[] = { "runtime.text", "runtime.etext", "go.buildid",
					     "go:buildid" };
	size_t len = strlen(symbol);

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (!strcmp(symbol, marks[i]))
			return true;
	return len > 5 && !strcmp(symbol + len - 5, ".abi0");
}

size_t up_go_literal_len(const char *s, size_t len, size_t at)
{
	if (s[at] == '*' && at && s[at - 1] == '(' && at + 1 < len && s[at + 1] != ')')
		return 1;
	if (s[at] == '[' && len - at >= strlen(SOME_ARGS) &&
	    !memcmp(s + at, SOME_ARGS, strlen(SOME_ARGS)))
		return strlen(SOME_ARGS);
	return s[at] == '[' && len - at > 4 && !memcmp(s + at, "[go.", 4)
		       ? behind_args(s, len, at) - at
		       : 0;
}
