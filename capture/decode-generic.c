/*
 * The generic decoder: any TCP or UDP conversation whose protocol nobody else knows, by turns. It
 * undercounts multiplexed protocols and says so: such flows are counted as undecoded.
 */
#include "capture/decoder.h"
#include "capture/turns.h"

/* A segment with fewer bytes is not full: MSS are 1220 (IPv6 through a tunnel) and more. */
#define FULL_BYTES 1200

/* The first bytes of a call are looked through for tokens, up to so many. */
#define TOKEN_BYTES 1024

static WpProbeVerdict
probe_generic(const WpProbe *probe)
{
	return WP_PROBE_NO;
}

static WpDecodeStatus
decode_generic(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	       WpUnit *out_unit)
{
	WpTurns *turns = state;
	WpTurnsBytes bytes = wp_decode_is_datagram(context) ? WP_TURNS_DATAGRAM
			     : wp_decode_is_cut(context) || in.length >= FULL_BYTES
				     ? WP_TURNS_PART
				     : WP_TURNS_SHORT;
	wp_turns_unit(turns, context, direction, 0, bytes, out_unit);
	if (out_unit->opens && direction == WP_FROM_CLIENT)
		wp_decode_tokens(context, out_unit->opens, in.data, MIN(in.length, TOKEN_BYTES));
	out_unit->length = in.length;
	return WP_DECODE_OK;
}

static void
lost(void *state, WpDecodeContext *context, WpDirection direction)
{
	wp_turns_lost(state, context, direction);
}

static void
finish(void *state, WpDecodeContext *context, WpDirection direction, WpFinish how, WpUnit *out_unit)
{
	wp_turns_finish(state, context, direction, how, out_unit);
}

static void
clear(void *state)
{
	wp_turns_clear(state);
}

static gsize
memory(const void *state)
{
	return wp_turns_memory(state);
}

const WpDecoder wp_decoder_generic = {
	.name = "unknown",
	.summary = "any other TCP or UDP conversation: calls and returns by turns",
	.transports = WP_TRANSPORT_TCP | WP_TRANSPORT_UDP,
	.state_size = sizeof(WpTurns),
	.probe = probe_generic,
	.decode = decode_generic,
	.lost = lost,
	.finish = finish,
	.clear = clear,
	.memory = memory,
};
