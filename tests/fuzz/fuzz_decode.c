/*
 * Any decoder through the real stream. The input is a conversation:
 *
 *     decoder (1 byte; its number in wp_decoders, 0xff = detect)  flags (1)
 *     then steps: what (1)  length (2, little-endian)  bytes (as many, but for holes)
 *
 * what: 0, 1 bytes of client, server; 2, 3 a hole of LENGTH in client, server; 4, 5 FIN; 6 a pause of
 * LENGTH milliseconds; 7 reset. Flags: 1 UDP, 2 mid-stream, 4 the wrong side is called client, 8 each
 * step byte by byte, 16 with the secrets of one TLS connection. The same conversation is what tests/support/decode-run.c writes as seeds.
 *
 * With WP_FUZZ_DECODER=NAME all inputs that the fuzzer makes are for that decoder, so that each can be
 * given time of its own.
 */
#include <stdint.h>
#include <string.h>

#include "capture/keylog.h"
#include "capture/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size); /* libFuzzer's */

typedef struct {
	WpRecordSink base;
	gint64 last_ns;
} CheckingSink;

/* What must hold of every record, whatever the input. */
static gboolean
check_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	g_assert(record->begin_ns <= record->end_ns);
	g_assert(record->n_tokens <= WP_RECORD_MAX_TOKENS);
	g_assert(record->sender != record->receiver);
	g_assert(record->id != 0);
	return TRUE;
}

static const WpRecordSinkOps checking_ops = { .record = check_record };

typedef struct {
	WpStream *stream;
	gint64 now_ns;
	guint64 packet;
	guint64 sent[2];
	gboolean is_udp;
	gboolean byte_by_byte;
} Run;

static void
push_bytes(Run *run, WpDirection from, const uint8_t *data, size_t length)
{
	WpStamp stamp = { .time_ns = run->now_ns, .packet = run->packet, .peer = run->sent[!from] };
	size_t piece = run->byte_by_byte ? 1 : MAX(length, 1);

	for (size_t at = 0; at < length; at += piece)
		if (run->is_udp)
			wp_stream_datagram(run->stream, from, data + at, piece, piece, &stamp);
		else
			wp_stream_bytes(run->stream, from, data + at, piece, &stamp);
	run->sent[from] += length;
}

static void
push_step(Run *run, uint8_t what, const uint8_t *data, size_t length)
{
	WpDirection from = what & 1;
	WpStamp stamp = { .time_ns = run->now_ns, .packet = run->packet, .peer = run->sent[!from] };

	run->now_ns += 1000;
	run->packet++;
	switch (what >> 1) {
	case 0:
		push_bytes(run, from, data, length);
		break;
	case 1:
		wp_stream_hole(run->stream, from, length, length & 1 ? &stamp : NULL,
			       length & 2 ? stamp.time_ns : WP_NO_TIME, length & 4);
		run->sent[from] += length;
		break;
	case 2:
		wp_stream_end(run->stream, from, &stamp);
		break;
	default:
		if (what == 6)
			run->now_ns += (gint64)length * 1000000;
		else
			wp_stream_finish(run->stream, WP_FINISH_RESET, &stamp);
	}
}

static const WpDecoder *
decoder_of(uint8_t number)
{
	for (int i = 0; wp_decoders[i]; i++)
		if (i == number)
			return wp_decoders[i];
	return NULL;
}

/* The secrets of tests/unit/check_decode_tls_keys.c, whose seeds open with them. */
static WpKeylog *
make_keylog(void)
{
	static const struct {
		const char *label;
		int byte;
		int length;
	} rows[] = {
		{ "CLIENT_RANDOM", 99, 48 },
		{ "CLIENT_EARLY_TRAFFIC_SECRET", 1, 32 },
		{ "CLIENT_HANDSHAKE_TRAFFIC_SECRET", 2, 32 },
		{ "CLIENT_TRAFFIC_SECRET_0", 3, 32 },
		{ "SERVER_HANDSHAKE_TRAFFIC_SECRET", 18, 32 },
		{ "SERVER_TRAFFIC_SECRET_0", 19, 32 },
	};
	g_autoptr(GString) text = g_string_new(NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_string_append_printf(text, "%s ", rows[i].label);
		for (int k = 0; k < 32; k++)
			g_string_append(text, "63");
		g_string_append_c(text, ' ');
		for (int k = 0; k < rows[i].length; k++)
			g_string_append_printf(text, "%02x", rows[i].byte);
		g_string_append_c(text, '\n');
	}
	WpKeylog *keylog = wp_keylog_new();
	wp_keylog_add(keylog, text->str, text->len);
	return keylog;
}

static void
run_conversation(const WpStreamShared *shared, const uint8_t *data, size_t size)
{
	uint8_t flags = data[1];
	WpStreamInfo info = {
		.client = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1 }, 40000 },
		.server = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 2 }, 9999 },
		.flow = 1,
		.is_udp = flags & 1,
		.from_start = !(flags & 2),
		.is_oriented = !(flags & 4),
	};
	g_autoptr(WpStream) stream = wp_stream_new(shared, &info);
	Run run = { .stream = stream, .is_udp = flags & 1, .byte_by_byte = flags & 8 };

	for (size_t at = 2; at + 3 <= size;) {
		uint8_t what = data[at] & 7;
		size_t length = data[at + 1] | (size_t)data[at + 2] << 8;
		at += 3;
		size_t taken = what < 2 ? MIN(length, size - at) : 0;
		push_step(&run, what, data + at, what < 2 ? taken : length);
		at += taken;
	}
	wp_stream_finish(stream, WP_FINISH_END, NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	CheckingSink sink = { { &checking_ops }, 0 };
	g_autoptr(WpOrder) order = wp_order_new(&sink.base, counters);
	WpStreamShared shared = { .nodes = nodes,
				  .counters = counters,
				  .order = order,
				  .forced = decoder_of(data[0]),
				  .forced_port = 9999,
				  .max_pending = 64 };
	g_autoptr(WpKeylog) keylog = data[1] & 16 ? make_keylog() : NULL;
	shared.keylog = keylog;
	run_conversation(&shared, data, size);
	wp_order_flush(order, NULL);
	return 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	const char *name = g_getenv("WP_FUZZ_DECODER");
	size = LLVMFuzzerMutate(data, size, max_size);
	for (uint8_t i = 0; name && size && wp_decoders[i]; i++)
		if (strcmp(wp_decoders[i]->name, name) == 0)
			data[0] = i;
	return size;
}
