/*
 * Words outside of comments are told from those inside: "from" and "by" are clauses of the field only
 * outside, and the name that the receiver looked up stands inside, with the address in brackets.
 */
#include "capture/mail-hop.h"

#include <gmime/gmime.h>
#include <string.h>

#include "capture/record.h"

/* Dates before and after are those of clocks that were never set. */
#define EARLIEST_S G_GINT64_CONSTANT(315532800)  /* 1980 */
#define LATEST_S   G_GINT64_CONSTANT(4294967296) /* 2106 */

typedef enum {
	WORD_END,
	WORD_PLAIN,
	WORD_COMMENT, /* inside of parentheses */
	WORD_DATE     /* all behind the last ';' outside of comments */
} WordKind;

typedef struct {
	const char *at;
	guint depth; /* of parentheses */
} Words;

static gboolean
ends_word(char c)
{
	return c == '\0' || g_ascii_isspace(c) || strchr("();,\"", c) != NULL;
}

/* The next word, in *OUT_WORD and *OUT_LENGTH. */
static WordKind
next_word(Words *words, const char **out_word, gsize *out_length)
{
	for (; ends_word(*words->at); words->at++) {
		if (*words->at == '\0')
			return WORD_END;
		if (*words->at == '(')
			words->depth++;
		else if (*words->at == ')' && words->depth > 0)
			words->depth--;
		else if (*words->at == ';' && words->depth == 0) {
			*out_word = ++words->at;
			*out_length = strlen(words->at);
			return WORD_DATE;
		}
	}
	*out_word = words->at;
	while (!ends_word(*words->at))
		words->at++;
	*out_length = (gsize)(words->at - *out_word);
	return words->depth > 0 ? WORD_COMMENT : WORD_PLAIN;
}

static gboolean
is_word(const char *word, gsize length, const char *text)
{
	return length == strlen(text) && g_ascii_strncasecmp(word, text, length) == 0;
}

/* Names that a host gives itself when it does not know its own, and those of no host. */
static gboolean
is_generic_name(const char *name)
{
	static const char *const names[] = { "localhost", "localdomain", "unknown", "local",
					     "invalid",   "helo",        "ehlo" };
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(name, names[i]) == 0)
			return TRUE;
	return g_str_has_prefix(name, "localhost.") || g_str_has_prefix(name, "localhost4.") ||
	       g_str_has_prefix(name, "localhost6.") || g_str_has_suffix(name, ".localhost") ||
	       g_str_has_suffix(name, ".invalid");
}

/* Any host's: 127.0.0.0/8, ::1, and the address that is none. */
static gboolean
is_generic_address(const guint8 address[16])
{
	static const guint8 mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	static const guint8 zero[15] = { 0 };
	if (memcmp(address, mapped, sizeof mapped) == 0)
		return address[12] == 127 || memcmp(address + 12, zero, 4) == 0;
	return memcmp(address, zero, sizeof zero) == 0 && address[15] <= 1;
}

/* "[10.0.0.7]", "[IPv6:fe80::1]", "10.0.0.7:25" -> the address as text. */
static gboolean
read_address(const char *word, gsize length, char host[WP_MAIL_HOST_MAX])
{
	char text[WP_MAIL_HOST_MAX];
	WpEndpoint endpoint;
	if (length > 0 && word[0] == '[') {
		const char *close = memchr(word, ']', length);
		length = (close ? (gsize)(close - word) : length) - 1;
		word++;
	}
	if (length > 5 && g_ascii_strncasecmp(word, "IPv6:", 5) == 0) {
		word += 5;
		length -= 5;
	}
	if (length == 0 || length >= sizeof text)
		return FALSE;
	memcpy(text, word, length);
	text[length] = '\0';
	if (!wp_endpoint_parse(text, &endpoint) || is_generic_address(endpoint.address))
		return FALSE;
	wp_address_text(endpoint.address, host, WP_MAIL_HOST_MAX);
	return TRUE;
}

/* A name of letters, digits, '-', '_' and dots with a letter in it, in lower case. */
static gboolean
read_name(const char *word, gsize length, char host[WP_MAIL_HOST_MAX])
{
	gboolean has_letter = FALSE;
	if (length > 0 && word[length - 1] == '.')
		length--;
	if (length == 0 || length >= WP_MAIL_HOST_MAX || word[0] == '.' || word[0] == '-')
		return FALSE;
	for (gsize i = 0; i < length; i++) {
		char c = g_ascii_tolower(word[i]);
		has_letter |= g_ascii_isalpha(c);
		if (!g_ascii_isalnum(c) && c != '-' && c != '_' && c != '.')
			return FALSE;
		host[i] = c;
	}
	host[length] = '\0';
	return has_letter && !is_generic_name(host);
}

/* Exim's "helo=mx1.corp.example", qmail's "HELO mx1.corp.example": the value. */
static gboolean
skip_helo(const char **word, gsize *length)
{
	if (*length < 5 || (g_ascii_strncasecmp(*word, "helo=", 5) != 0 &&
			    g_ascii_strncasecmp(*word, "ehlo=", 5) != 0))
		return FALSE;
	*word += 5;
	*length -= 5;
	return TRUE;
}

enum {
	LOOKED_UP,
	GIVEN,
	ADDRESS
};

typedef struct {
	WpMailHop *hop;
	gboolean has_from;
	gboolean has_by;
	gboolean in_from;   /* the words are about the sender */
	gboolean wants_by;  /* the next plain word is the receiver */
	gboolean wants_own; /* the next plain word is what the sender calls itself */
	gboolean is_helo;   /* the next word in the comment is what the sender calls itself */
} Reading;

static void
set_sender(Reading *reading, int which, const char *word, gsize length)
{
	char host[WP_MAIL_HOST_MAX];
	char *slot = reading->hop->from[which];
	if (!*slot && read_name(word, length, host))
		g_strlcpy(slot, host, WP_MAIL_HOST_MAX);
}

/* A word about the sender that is no name in its first place. */
static void
take_comment(Reading *reading, const char *word, gsize length)
{
	if (read_address(word, length, reading->hop->from[ADDRESS]))
		return;
	if (is_word(word, length, "HELO") || is_word(word, length, "EHLO")) {
		reading->is_helo = TRUE;
		return;
	}
	gboolean is_helo = skip_helo(&word, &length) || reading->is_helo;
	reading->is_helo = FALSE;
	/* Of other words only a domain name can be the host's. */
	if (is_helo || memchr(word, '.', length))
		set_sender(reading, is_helo ? GIVEN : LOOKED_UP, word, length);
}

static void
take_plain(Reading *reading, const char *word, gsize length)
{
	if (reading->wants_own) {
		reading->wants_own = FALSE;
		if (!read_address(word, length, reading->hop->from[ADDRESS]))
			set_sender(reading, GIVEN, word, length);
	} else if (reading->wants_by) {
		reading->wants_by = FALSE;
		if (!read_name(word, length, reading->hop->by) &&
		    !read_address(word, length, reading->hop->by))
			reading->hop->by[0] = '\0';
	} else if (!reading->has_from && is_word(word, length, "from")) {
		reading->has_from = reading->in_from = reading->wants_own = TRUE;
	} else if (!reading->has_by && is_word(word, length, "by")) {
		reading->has_by = reading->wants_by = TRUE;
		reading->in_from = FALSE;
	}
}

static gboolean
read_date(const char *text, gint64 *out_ns)
{
	g_autoptr(GDateTime) date = g_mime_utils_header_decode_date(text);
	if (!date)
		return FALSE;
	gint64 seconds = g_date_time_to_unix(date);
	if (seconds < EARLIEST_S || seconds >= LATEST_S)
		return FALSE;
	*out_ns = seconds * G_GINT64_CONSTANT(1000000000);
	return TRUE;
}

WpMailHopResult
wp_mail_hop_parse(const char *text, WpMailHop *out_hop)
{
	memset(out_hop, 0, sizeof *out_hop);
	Reading reading = { .hop = out_hop };
	Words words = { text, 0 };
	const char *word, *date = NULL;
	gsize length;
	for (WordKind kind; (kind = next_word(&words, &word, &length)) != WORD_END;) {
		if (kind == WORD_DATE)
			date = word;
		else if (kind == WORD_PLAIN)
			take_plain(&reading, word, length);
		else if (reading.in_from)
			take_comment(&reading, word, length);
	}
	if (!reading.has_from || !reading.has_by || !date || !read_date(date, &out_hop->time_ns))
		return WP_MAIL_HOP_UNUSABLE;
	gboolean is_known = FALSE;
	for (int i = 0; i < WP_MAIL_SENDER_NAMES; i++)
		is_known |= out_hop->from[i][0] != '\0';
	return is_known && out_hop->by[0] ? WP_MAIL_HOP_OK : WP_MAIL_HOP_GENERIC;
}
