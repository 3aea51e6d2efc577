/* Segments from text, deliveries to text. */
#include "tests/support/segments.h"

#include <check.h>
#include <stdarg.h>
#include <string.h>

#define SERVER_PORT 80

static guint8
byte_at(guint side, guint64 offset)
{
	return (guint8)((side ? 'A' : 'a') + offset % 26);
}

void
wp_test_sender_init(WpTestSender *sender)
{
	memset(sender, 0, sizeof *sender);
	sender->isn[0] = 1000;
	sender->isn[1] = 5000;
}

static void
set_ends(WpSegment *segment, guint side, guint16 port)
{
	WpEndpoint client, server;
	ck_assert(wp_endpoint_parse("10.0.0.1", &client));
	ck_assert(wp_endpoint_parse("10.0.0.2", &server));
	client.port = port;
	server.port = SERVER_PORT;
	segment->src = side ? server : client;
	segment->dst = side ? client : server;
}

/* "10-20" or "10". */
static void
set_range(WpTestSender *sender, WpSegment *segment, guint side, const char *word)
{
	char *rest;
	guint64 first = g_ascii_strtoull(word, &rest, 10), last = first;
	if (*rest == '-')
		last = g_ascii_strtoull(rest + 1, &rest, 10);
	ck_assert_msg(*rest == '\0' && last >= first && last - first <= sizeof sender->payload,
		      "bad range \"%s\"", word);
	segment->seq = sender->isn[side] + 1 + (guint32)first;
	segment->length = segment->captured = (guint32)(last - first);
	for (guint64 i = first; i < last; i++)
		sender->payload[i - first] = byte_at(side, i);
}

static guint8
flag_of(const char *word)
{
	static const struct {
		const char *name;
		guint8 flag;
	} flags[] = {
		{ "SYN", WP_TCP_SYN },
		{ "FIN", WP_TCP_FIN },
		{ "RST", WP_TCP_RST },
		{ "PSH", WP_TCP_PSH },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
		if (strcmp(flags[i].name, word) == 0)
			return flags[i].flag;
	return 0;
}

/* A word followed by a number. */
static void
set_number(WpTestSender *sender, WpSegment *segment, guint side, const char *word, guint64 n)
{
	if (strcmp(word, "ack") == 0) {
		segment->flags |= WP_TCP_ACK;
		segment->ack = sender->isn[!side] + 1 + (guint32)n;
	} else if (strcmp(word, "snap") == 0) {
		segment->captured = MIN(segment->length, (guint32)n);
	} else if (strcmp(word, "at") == 0) {
		sender->now_ns = (gint64)n * 1000000;
	} else if (strcmp(word, "port") == 0) {
		set_ends(segment, side, (guint16)n);
	} else {
		ck_abort_msg("unknown word \"%s\"", word);
	}
}

void
wp_test_segment(WpTestSender *sender, const char *text, WpSegment *out_segment, guint *out_side)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	guint side = words[0][0] == 'S';
	WpSegment segment = { .number = ++sender->number,
			      .payload = sender->payload,
			      .seq = sender->isn[side] + 1 };

	set_ends(&segment, side, 40000);
	for (char **word = words + 1; *word; word++) {
		if (g_ascii_isdigit(**word)) {
			set_range(sender, &segment, side, *word);
		} else if (flag_of(*word)) {
			segment.flags |= flag_of(*word);
		} else if (strcmp(*word, "udp") == 0) {
			segment.is_udp = TRUE;
		} else if (strcmp(*word, "sack") == 0) {
			segment.has_hole = TRUE;
		} else if (strcmp(*word, "other") == 0) {
			memset(sender->payload, 0, segment.length);
		} else {
			ck_assert_ptr_nonnull(word[1]);
			set_number(sender, &segment, side, word[0],
				   g_ascii_strtoull(word[1], NULL, 10));
			word++;
		}
	}
	if (segment.flags & WP_TCP_SYN)
		segment.seq--;
	segment.time_ns = sender->now_ns;
	*out_segment = segment;
	*out_side = side;
}

void
wp_test_recorder_init(WpTestRecorder *recorder)
{
	memset(recorder, 0, sizeof *recorder);
	recorder->text = g_string_new(NULL);
}

void
wp_test_recorder_clear(WpTestRecorder *recorder)
{
	g_string_free(recorder->text, TRUE);
}

void
wp_test_record(WpTestRecorder *recorder, const char *format, ...)
{
	va_list list;
	if (recorder->text->len)
		g_string_append(recorder->text, ", ");
	va_start(list, format);
	g_string_append_vprintf(recorder->text, format, list);
	va_end(list);
}

static void
record_range(WpTestRecorder *recorder, guint side, const char *what, guint64 length,
	     const WpStamp *stamp)
{
	guint64 from = recorder->at[side];
	recorder->at[side] += length;
	if (stamp)
		ck_assert_uint_eq(stamp->offset, from);
	wp_test_record(recorder, "%c%s %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, side ? 'S' : 'C',
		       what, from, from + length);
	if (recorder->show_peer && stamp && stamp->peer == WP_NO_OFFSET)
		g_string_append(recorder->text, " peer ?");
	else if (recorder->show_peer && stamp)
		g_string_append_printf(recorder->text, " peer %" G_GUINT64_FORMAT, stamp->peer);
}

void
wp_test_record_bytes(WpTestRecorder *recorder, guint side, const guint8 *data, gsize length,
		     const WpStamp *stamp)
{
	/* Check writes a file at each of its asserts: too much for each byte. */
	for (gsize i = 0; i < length; i++)
		if (data[i] != byte_at(side, recorder->at[side] + i))
			ck_abort_msg("%c: wrong byte at %" G_GUINT64_FORMAT, side ? 'S' : 'C',
				     recorder->at[side] + i);
	record_range(recorder, side, "", length, stamp);
}

void
wp_test_record_hole(WpTestRecorder *recorder, guint side, guint64 length, const WpStamp *stamp,
		    gint64 by_ns, gboolean is_late)
{
	record_range(recorder, side, stamp ? " cut" : " hole", length, stamp);
	if (recorder->show_by && by_ns == WP_NO_TIME)
		g_string_append(recorder->text, " by ?");
	else if (recorder->show_by)
		g_string_append_printf(recorder->text, " by %d", (int)(by_ns / 1000000));
	if (is_late)
		g_string_append(recorder->text, " late");
}

char *
wp_test_recorder_take(WpTestRecorder *recorder)
{
	char *text = g_strdup(recorder->text->str);
	g_string_truncate(recorder->text, 0);
	return text;
}
