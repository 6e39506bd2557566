/* Readline, loaded late. */
#include "runtime/cli/line.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>
#include <unistd.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "lang/base/text.h"
#include "runtime/lateload.h"

#define SONAME "libreadline.so.8"
#define HISTORY_MAX 2000 /* inputs that are kept in memory */

_Static_assert(RL_VERSION_MAJOR == 8, "SONAME names another version than the header's");

/* Functions and variables of the library. */
static struct {
	void *lib; /* of up_late_load(); NULL when it is not loaded */
	__typeof__(rl_initialize) *initialize;
	__typeof__(rl_callback_handler_install) *install;
	__typeof__(rl_callback_handler_remove) *remove;
	__typeof__(rl_callback_read_char) *read_char;
	__typeof__(rl_callback_sigcleanup) *sigcleanup;
	__typeof__(rl_free_line_state) *free_line_state;
	__typeof__(rl_clear_visible_line) *clear_line;
	__typeof__(rl_forced_update_display) *update;
	__typeof__(rl_redisplay) *redisplay;
	__typeof__(rl_replace_line) *replace_line;
	__typeof__(rl_set_prompt) *set_prompt;
	__typeof__(rl_resize_terminal) *resize;
	__typeof__(rl_prep_terminal) *prep;
	__typeof__(rl_deprep_terminal) *deprep;
	__typeof__(rl_prep_term_function) *prep_hook;
	__typeof__(rl_deprep_term_function) *deprep_hook;
	__typeof__(rl_completion_matches) *matches;
	__typeof__(rl_get_screen_size) *screen_size;
	__typeof__(rl_set_screen_size) *set_screen_size;
	__typeof__(rl_bind_keyseq_in_map) *bind;
	__typeof__(rl_get_keymap_by_name) *keymap;
	__typeof__(rl_insert_text) *insert;
	__typeof__(rl_outstream) *outstream;
	__typeof__(add_history) *add_history;
	__typeof__(stifle_history) *stifle_history;
	__typeof__(rl_line_buffer) *line_buffer;
	__typeof__(rl_point) *point;
	__typeof__(rl_catch_signals) *catch_signals;
	__typeof__(rl_catch_sigwinch) *catch_sigwinch;
	__typeof__(rl_readline_name) *name;
	__typeof__(rl_attempted_completion_function) *attempted;
	__typeof__(rl_attempted_completion_over) *attempted_over;
	__typeof__(rl_completion_append_character) *append;
	__typeof__(rl_completion_query_items) *query_items;
	__typeof__(rl_completion_display_matches_hook) *display_hook;
	__typeof__(rl_completer_word_break_characters) *breaks;
	__typeof__(rl_completion_word_break_hook) *break_hook;
	__typeof__(rl_sort_completion_matches) *sort;
	__typeof__(rl_eof_found) *eof_found; /* NULL: the library keeps it to itself */
} rl;

#define ENTRY(name, member)                                      \
	{                                                        \
		name, __builtin_offsetof(__typeof__(rl), member) \
	}

static const struct up_late_function entries[] = {
	ENTRY("rl_initialize", initialize),
	ENTRY("rl_callback_handler_install", install),
	ENTRY("rl_callback_handler_remove", remove),
	ENTRY("rl_callback_read_char", read_char),
	ENTRY("rl_callback_sigcleanup", sigcleanup),
	ENTRY("rl_free_line_state", free_line_state),
	ENTRY("rl_clear_visible_line", clear_line),
	ENTRY("rl_forced_update_display", update),
	ENTRY("rl_redisplay", redisplay),
	ENTRY("rl_replace_line", replace_line),
	ENTRY("rl_set_prompt", set_prompt),
	ENTRY("rl_resize_terminal", resize),
	ENTRY("rl_prep_terminal", prep),
	ENTRY("rl_deprep_terminal", deprep),
	ENTRY("rl_prep_term_function", prep_hook),
	ENTRY("rl_deprep_term_function", deprep_hook),
	ENTRY("rl_completion_matches", matches),
	ENTRY("rl_get_screen_size", screen_size),
	ENTRY("rl_set_screen_size", set_screen_size),
	ENTRY("rl_bind_keyseq_in_map", bind),
	ENTRY("rl_get_keymap_by_name", keymap),
	ENTRY("rl_insert_text", insert),
	ENTRY("rl_outstream", outstream),
	ENTRY("add_history", add_history),
	ENTRY("stifle_history", stifle_history),
	ENTRY("rl_line_buffer", line_buffer),
	ENTRY("rl_point", point),
	ENTRY("rl_catch_signals", catch_signals),
	ENTRY("rl_catch_sigwinch", catch_sigwinch),
	ENTRY("rl_readline_name", name),
	ENTRY("rl_attempted_completion_function", attempted),
	ENTRY("rl_attempted_completion_over", attempted_over),
	ENTRY("rl_completion_append_character", append),
	ENTRY("rl_completion_query_items", query_items),
	ENTRY("rl_completion_display_matches_hook", display_hook),
	ENTRY("rl_completer_word_break_characters", breaks),
	ENTRY("rl_completion_word_break_hook", break_hook),
	ENTRY("rl_sort_completion_matches", sort),
};

static struct up_line_opts opts;
static FILE *screen;            /* what readline writes goes through it to opts.put */
static struct termios terminal; /* as it was, and is to be again */
static bool has_terminal;
static bool is_asking, is_hidden, has_line;
static char *line;                      /* then: what was typed */
static struct up_candidates candidates; /* of the completion that is going on */
static size_t cut;          /* how much of each stands before what readline takes for the word */
static struct up_buf paste; /* a paste whose end has not come yet */
static bool is_pasting;

/* ---- completion ---- */

void up_candidate_add(struct up_candidates *c, const char *word, size_t len, const char *label)
{
	if (c->nr == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 64;
		struct up_candidate *v = reallocarray(c->v, cap, sizeof(*v));

		if (!v)
			return;
		c->v = v;
		c->cap = cap;
	}
	char *copy = strndup(word, len);
	if (copy)
		c->v[c->nr++] = (struct up_candidate){ copy, label ? strdup(label) : NULL };
}

static void free_candidates(void)
{
	for (size_t i = 0; i < candidates.nr; i++) {
		free(candidates.v[i].word);
		free(candidates.v[i].label);
	}
	free(candidates.v);
	candidates = (struct up_candidates){ 0 };
}

/* Readline cuts the word at these characters: at the one before the word, and nowhere else. */
static char *word_breaks(void)
{
	static char one[2];
	const char *s = *rl.line_buffer;

	free_candidates();
	opts.complete(opts.arg, s, (size_t)*rl.point, &candidates);
	one[0] = candidates.from ? s[candidates.from - 1] : 0;
	one[1] = 0;
	return one;
}

static char *next_candidate(const char *text, int state)
{
	static size_t next;

	(void)text;
	if (!state)
		next = 0;
	while (next < candidates.nr && strlen(candidates.v[next].word) < cut)
		next++;
	return next < candidates.nr ? strdup(candidates.v[next++].word + cut) : NULL;
}

static char **complete(const char *text, int start, int end)
{
	(void)end;
	/* It cuts in the word, too, where the character before that stands in it once more. */
	cut = (size_t)start > candidates.from ? (size_t)start - candidates.from : 0;
	*rl.attempted_over = 1;
	*rl.append = 0;
	for (size_t i = 0; i < candidates.nr && !*rl.append; i++) {
		const char *word = candidates.v[i].word;

		*rl.append = *word && strchr("([.:/", word[strlen(word) - 1]) ? 0 : ' ';
	}
	*rl.sort = 1;
	char **matches = candidates.nr ? rl.matches(text, next_candidate) : NULL;
	/* Several that do not begin as the word does are listed, and take nothing of it away. */
	if (matches && matches[0] && matches[1] && strncmp(matches[0], text, strlen(text)) != 0) {
		free(matches[0]);
		matches[0] = strdup(text);
	}
	return matches;
}

#define SHOWN 100     /* candidates that are listed */
#define LABELLED 1000 /* there are no more when labels are sought */

static const char *label_of(const char *match)
{
	for (size_t i = 0; i < candidates.nr && candidates.nr <= LABELLED; i++)
		if (candidates.v[i].label && strlen(candidates.v[i].word) >= cut &&
		    !strcmp(candidates.v[i].word + cut, match))
			return candidates.v[i].label;
	return match;
}

/* Lists what there is, below the line, without asking and without a pager. */
static void list_candidates(char **matches, int nr, int longest)
{
	struct up_buf b = { 0 };
	int rows = 0, columns = 80, shown = nr < SHOWN ? nr : SHOWN;
	size_t width = (size_t)longest;

	rl.screen_size(&rows, &columns);
	for (int i = 1; i <= shown; i++) {
		size_t len = strlen(label_of(matches[i]));

		width = len > width ? len : width;
	}
	int across = columns / (int)(width + 2);
	for (int i = 1; i <= shown; i++) {
		const char *label = label_of(matches[i]);

		up_text_escape(&b, label, strlen(label), 0);
		if (across < 2 || i % across == 0 || i == shown)
			up_buf_putc(&b, '\n');
		else
			up_buf_fill(&b, ' ', width + 2 - strlen(label));
	}
	if (nr > SHOWN)
		up_buf_printf(&b, "... and %d more\n", nr - SHOWN);
	opts.say(opts.arg, b.s ? b.s : "", b.len);
	up_buf_fini(&b);
}

/* ---- the terminal ---- */

/*
 * Between two lines the terminal is as it was, but what is typed ahead is neither shown nor looked
 * at: readline does that, when its turn comes. (Ctrl-D would be lost otherwise.)
 */
static void mute(bool is_muted)
{
	struct termios t = terminal;

	if (!has_terminal)
		return;
	if (is_muted) {
		t.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
		t.c_cc[VMIN] = 1;
		t.c_cc[VTIME] = 0;
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
}

/* Readline takes a terminal without echo for one that wants none. */
static void prepare(int meta)
{
	mute(false);
	rl.prep(meta);
}

/* At the end of input readline would begin a new line, on some terminals, from then on. */
static void give_back(void)
{
	if (rl.eof_found)
		*rl.eof_found = 0;
	rl.deprep();
	mute(true);
}

/* ---- pastes ---- */

#define PASTE_BEGINS "\033[200~"
#define PASTE_ENDS "\033[201~"

/*
 * Readline would read up to the end of a paste without coming back, however long that takes; and
 * when the terminal goes meanwhile, it reads behind what it has.
 */
static int begin_paste(int count, int key)
{
	(void)count;
	(void)key;
	up_buf_reset(&paste);
	is_pasting = true;
	return 0;
}

static void bind_paste(void)
{
	static const char *const maps[] = { "emacs", "vi-insert" };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		rl.bind(PASTE_BEGINS, begin_paste, rl.keymap(maps[i]));
}

static bool has_pasted(void)
{
	size_t len = strlen(PASTE_ENDS);

	return paste.len >= len && !memcmp(paste.s + paste.len - len, PASTE_ENDS, len);
}

static void insert_pasted(void)
{
	paste.s[paste.len - strlen(PASTE_ENDS)] = 0;
	rl.insert(paste.s);
	rl.redisplay();
}

/* Takes what has come of a paste, and nothing of what is behind it. */
static void read_paste(void)
{
	int ready = 0;
	char c;

	if (ioctl(STDIN_FILENO, FIONREAD, &ready) || ready < 1)
		ready = 1; /* the end of input is told by read() */
	while (is_pasting && ready-- > 0) {
		if (read(STDIN_FILENO, &c, 1) != 1) {
			is_pasting = false;
			rl.read_char(); /* it finds the same */
			return;
		}
		if (c)
			up_buf_putc(&paste, (char)(c == '\r' ? '\n' : c));
		is_pasting = !paste.failed && !has_pasted();
	}
	if (is_pasting)
		return;
	if (!paste.failed)
		insert_pasted();
	up_buf_fini(&paste);
}

/* ---- the line ---- */

static void take_line(char *s)
{
	has_line = true;
	line = s;
	is_asking = false;
	rl.remove();
}

#define NARROWEST 10 /* columns; with 2 of them readline reads behind the line it has shown */

/* Is the window too narrow? Then readline takes it for wider. */
static bool widen(void)
{
	struct winsize ws;

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col || ws.ws_col >= NARROWEST)
		return false;
	rl.set_screen_size(ws.ws_row, NARROWEST);
	return true;
}

static ssize_t put(void *cookie, const char *s, size_t len)
{
	(void)cookie;
	opts.put(opts.arg, s, len);
	return (ssize_t)len;
}

static void set_up(void)
{
	*rl.name = "uptick";
	*rl.catch_signals = 0;
	*rl.catch_sigwinch = 0;
	*rl.prep_hook = prepare;
	*rl.deprep_hook = give_back;
	*rl.attempted = complete;
	*rl.break_hook = word_breaks;
	*rl.query_items = 0;
	*rl.display_hook = list_candidates;
	*rl.outstream = screen;
	rl.stifle_history(HISTORY_MAX);
	rl.initialize();
	widen();
	bind_paste();
}

bool up_line_open(const struct up_line_opts *o)
{
	opts = *o;
	rl.lib = up_late_load(SONAME, entries, sizeof(entries) / sizeof(entries[0]), &rl);
	if (!rl.lib)
		return false;
	screen = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = put });
	if (!screen)
		return false;
	rl.eof_found = dlsym(rl.lib, "rl_eof_found");
	set_up();
	has_terminal = !tcgetattr(STDIN_FILENO, &terminal);
	mute(true);
	return true;
}

void up_line_close(void)
{
	if (is_asking)
		rl.remove();
	is_asking = false;
	free_candidates();
	up_buf_fini(&paste);
	fflush(screen);
	mute(false);
}

void up_line_ask(const char *prompt)
{
	is_asking = true;
	is_hidden = false;
	rl.install(prompt, take_line);
}

bool up_line_is_asking(void)
{
	return is_asking;
}

void up_line_set_prompt(const char *prompt)
{
	if (!is_asking)
		return;
	up_line_hide();
	rl.set_prompt(prompt);
	up_line_show();
}

bool up_line_read(char **out)
{
	has_line = false;
	if (is_pasting)
		read_paste();
	else
		rl.read_char();
	*out = has_line ? line : NULL;
	return has_line;
}

const char *up_line_typed(void)
{
	return is_asking ? *rl.line_buffer : "";
}

void up_line_abandon(void)
{
	if (!is_asking)
		return;
	rl.free_line_state();
	rl.sigcleanup();
	*rl.point = (int)strlen(*rl.line_buffer);
	rl.redisplay();
	fputs("^C\r\n", screen);
	fflush(screen);
	rl.replace_line("", 0);
	is_asking = is_pasting = false;
	rl.remove();
}

void up_line_hide(void)
{
	if (!is_asking || is_hidden)
		return;
	is_hidden = true;
	rl.clear_line();
	fflush(screen);
}

void up_line_show(void)
{
	if (!is_asking || !is_hidden)
		return;
	is_hidden = false;
	rl.update();
	fflush(screen);
}

void up_line_resize(void)
{
	if (!rl.lib || !is_asking)
		return;
	if (widen())
		rl.update();
	else
		rl.resize();
}

void up_line_leave(void)
{
	if (is_asking) {
		up_line_hide();
		rl.deprep();
	}
	mute(false);
}

void up_line_return(void)
{
	if (!is_asking)
		mute(true);
	if (is_asking) {
		prepare(1);
		up_line_show();
	}
}

/* ---- history ---- */

void up_line_remember(const char *text)
{
	rl.add_history(text);
}
