/* What all pages of HTML are made of: how they begin and end, text, numbers and cells. */
#include "config.h"

#include "report/write-html.h"

#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/page/page.h"

#define MAX_TITLE 48 /* columns */

/* (transfer full) "sha256-...", what the policy knows a script or style by. */
static char *
digest_of(const char *text)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize n = sizeof digest;
	g_checksum_update(sum, (const guchar *)text, (gssize)strlen(text));
	g_checksum_get_digest(sum, digest, &n);
	g_autofree char *base64 = g_base64_encode(digest, n);
	return g_strconcat("sha256-", base64, NULL);
}

/* Nothing is loaded, sent or run but the style and the script below. */
void
wp_html_begin(const WpHtml *html, const char *title)
{
	g_autofree char *style = digest_of(wp_page_css);
	g_autofree char *script = digest_of(wp_page_js);
	wp_out_printf(html->out,
		      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<meta name=\"generator\" content=\"%s\">\n"
		      "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
		      style, script, PACKAGE_STRING);
	wp_html_text(html, title, MAX_TITLE);
	wp_out_printf(html->out, " - wirepath</title>\n<style>%s</style>\n</head>\n<body>\n",
		      wp_page_css);
}

void
wp_html_end(const WpHtml *html)
{
	wp_out_printf(
		html->out,
		"</main>\n<footer><p>%s</p></footer>\n<script>%s</script>\n</body>\n</html>\n",
		PACKAGE_STRING, wp_page_js);
}

void
wp_html_navigation(const WpHtml *html, const char *const (*parts)[2], gsize n)
{
	wp_out_text(html->out, "<nav aria-label=\"Parts of the page\">\n<ul>");
	for (gsize i = 0; i < n; i++)
		wp_out_printf(html->out, "<li><a href=\"#%s\">%s</a></li>", parts[i][0],
			      parts[i][1]);
	wp_out_text(html->out, "</ul>\n</nav>\n<main>\n");
}

void
wp_html_text(const WpHtml *html, const char *text, gsize width)
{
	g_autoptr(GString) escaped = g_string_new(NULL);
	if (width && strlen(text) > width) {
		g_autofree char *safe = wp_escape_terminal(text, TRUE);
		g_autofree char *shorter = wp_escape_shorten(safe, width);
		wp_escape_html_to(escaped, shorter);
	} else {
		wp_escape_html_to(escaped, text);
	}
	wp_out_text(html->out, escaped->str);
}

void
wp_html_number(const WpHtml *html, double value, int decimals)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE], format[8];
	g_snprintf(format, sizeof format, "%%.%df", decimals);
	g_ascii_formatd(number, sizeof number, format, value);
	if (decimals && strchr(number, '.')) {
		char *end = number + strlen(number);
		while (end[-1] == '0')
			*--end = '\0';
		if (end[-1] == '.')
			end[-1] = '\0';
	}
	wp_out_text(html->out, number);
}

void
wp_html_attribute(const WpHtml *html, const char *name, double value)
{
	wp_out_printf(html->out, " %s=\"", name);
	wp_html_number(html, value, 1);
	wp_out_char(html->out, '"');
}

void
wp_html_box(const WpHtml *html, double x, double y, double width, double height)
{
	wp_html_attribute(html, "x", x);
	wp_html_attribute(html, "y", y);
	wp_html_attribute(html, "width", width);
	wp_html_attribute(html, "height", height);
}

/* "<0.1%": the only letter of a number that means something to a page is its first. Moves TEXT behind it. */
static const char *
take_less(const char **text)
{
	if (**text != '<')
		return "";
	++*text;
	return "&lt;";
}

const char *
wp_html_share(char *buffer, double share)
{
	char text[WP_FORMAT_MAX];
	const char *at = wp_format_share(text, share), *less = take_less(&at);
	g_snprintf(buffer, WP_FORMAT_MAX, "%s%s", less, at);
	return buffer;
}

void
wp_html_cell(const WpHtml *html, double value, int decimals, const char *text)
{
	const char *less = take_less(&text);
	wp_out_text(html->out, "<td data-v=\"");
	wp_html_number(html, value, decimals);
	wp_out_printf(html->out, "\">%s%s</td>", less, text);
}

void
wp_html_time_cell(const WpHtml *html, gboolean has, double ns)
{
	char text[WP_FORMAT_MAX];
	if (has)
		wp_html_cell(html, ns, 0, wp_format_time(text, ns));
	else
		wp_out_text(html->out, "<td></td>");
}

void
wp_html_count_cell(const WpHtml *html, guint64 count)
{
	char text[WP_FORMAT_MAX];
	wp_html_cell(html, (double)count, 0, wp_format_count(text, count));
}

void
wp_html_share_cell(const WpHtml *html, double share)
{
	char text[WP_FORMAT_MAX];
	wp_html_cell(html, share, 6, wp_format_share(text, share));
}
