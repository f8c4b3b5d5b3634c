/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.c - text for a terminal, a pager or a file. */
#include "base/page.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/escape.h"
#include "base/output.h"
#include "base/text.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MIN 40
#define ROWS_DEFAULT 24

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < WIDTH_MIN)
		return WIDTH_DEFAULT;
	return size.ws_col < WIDTH_DEFAULT ? size.ws_col : WIDTH_DEFAULT;
}

static int terminal_rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_row;
}

void page_begin(struct page *page, enum color color, bool pager)
{
	bool terminal = isatty(STDOUT_FILENO);
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool dumb = !term || strcmp(term, "dumb") == 0;

	*page = (struct page){ .out = stdout, .width = WIDTH_DEFAULT, .rows = ROWS_DEFAULT };
	if (terminal) {
		page->width = terminal_width();
		page->rows = terminal_rows() > ROWS_DEFAULT ? terminal_rows() : ROWS_DEFAULT;
	}
	page->color = color == COLOR_ALWAYS ||
		      (color == COLOR_AUTO && terminal && !dumb && (!no_color || !*no_color));
	page->pager = terminal && !dumb && pager;
	if (page->pager)
		page->out = open_memstream(&page->text, &page->size);
	if (!page->out) {
		page->out = stdout;
		page->pager = false;
	}
}

static const char *const codes[] = {
	[STYLE_PLAIN] = "\033[0m",   [STYLE_BOLD] = "\033[1m",	    [STYLE_DIM] = "\033[2m",
	[STYLE_RED] = "\033[1;31m",  [STYLE_YELLOW] = "\033[1;33m", [STYLE_GREEN] = "\033[1;32m",
	[STYLE_BLUE] = "\033[1;34m",
};

const char *page_style(const struct page *page, enum style style)
{
	return page->color ? codes[style] : "";
}

/* Compares addresses: a value with the same text is not a style. */
static bool is_code(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (text == codes[i])
			return true;
	return false;
}

int page_printf(const struct page *page, const char *format, ...)
{
	va_list ap;
	int columns;

	va_start(ap, format);
	columns = escape_vprintf(page->out, SINK_TERMINAL, is_code, format, ap);
	va_end(ap);
	return columns;
}

void page_heading(struct page *page, const char *text)
{
	page_printf(page, "\n%s%s%s\n", page_style(page, STYLE_BOLD), text,
		    page_style(page, STYLE_PLAIN));
}

void page_label(const struct page *page, int indent, int width, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	page_printf(page, "%*s%s%-*s%s", indent, "", page_style(page, STYLE_DIM), width, name,
		    page_style(page, STYLE_PLAIN));
	text_wrap(page->out, text, indent + width, indent + width, page->width);
}

static _Noreturn void be_pager(const int fds[2])
{
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	close(fds[1]);
	setenv("LESSSECURE", "1", 1);
	setenv("LESSHISTFILE", "-", 1); /* less would write a file in the caller's home */
	execl("/usr/bin/less", "less", "-FRX", (char *)NULL);
	_exit(127);
}

static void feed(int fd, const struct page *page)
{
	for (size_t done = 0; done < page->size;) {
		ssize_t n = write(fd, page->text + done, page->size - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
}

/* less, not $PAGER: this runs as root, and a pager can start a shell. */
static bool run_pager(const struct page *page)
{
	sighandler_t interrupt, quit;
	int fds[2], status = 0;
	pid_t pid;

	if (pipe(fds) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		be_pager(fds);
	/* Ctrl-C is for the pager, as in system(3). Otherwise the pager would keep the terminal without this
	 * process. */
	interrupt = signal(SIGINT, SIG_IGN);
	quit = signal(SIGQUIT, SIG_IGN);
	close(fds[0]);
	if (pid > 0)
		feed(fds[1], page);
	close(fds[1]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	return pid > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

static int lines_of(const char *text)
{
	int lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

enum exit_status page_end(struct page *page, enum exit_status status)
{
	bool shown = false;

	if (page->pager) {
		fclose(page->out);
		if (page->text && lines_of(page->text) >= terminal_rows())
			shown = run_pager(page);
		if (!shown && page->text)
			fwrite(page->text, 1, page->size, stdout);
		free(page->text);
	}
	return finish_output(status);
}
