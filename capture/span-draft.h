/*
 * What a span says, member by member and tag by tag, before it is kept: values are texts, whatever the form of the file.
 */
#ifndef WP_CAPTURE_SPAN_DRAFT_H
#define WP_CAPTURE_SPAN_DRAFT_H

#include "capture/span-read.h"

#define WP_SPAN_N_PEERS 4

/* Empty texts: not said. */
typedef struct {
	GString *trace;
	GString *id;
	GString *parent;
	GString *parent_trace; /* where it is another */
	GString *
		inferred; /* wirepath's own: "TRACE-SPAN" of the call that caused it, beside another parent */
	GString *name;
	GString *operation; /* wirepath's own */
	GString *service;
	GString *process; /* Jaeger */
	GString *protocol;
	GString *peers
		[WP_SPAN_N_PEERS]; /* the first that is not empty counts: peer.service, server.address, ... */
	GString *
		peer_address; /* the other end of the connection, of a server's span the client's */
	GString *peer_port;
	WpReadSpan span;
	WpReadSpanMore more;
	gint64 duration_ns; /* -1: END_NS is known, or nothing */
	gboolean has_more;
	gboolean has_begin;
	gboolean has_status;         /* wirepath's own, which may be that none is known */
	gint64 exact[2];             /* times in ns beside those in us; -1 = not said */
	gboolean reference_is_child; /* of PARENT: a reference of the best kind */
} WpSpanDraft;

/* DRAFT is embedded. */
void wp_span_draft_init(WpSpanDraft *draft);
void wp_span_draft_clear(WpSpanDraft *draft);

/* A new span. */
void wp_span_draft_begin(WpSpanDraft *draft);

/* TRUE for members that all forms have, and the value of one. */
gboolean wp_span_draft_knows(const char *key);
void wp_span_draft_set(WpSpanDraft *draft, const char *key, const char *value);

/* A tag, or attribute; of interest or not. */
void wp_span_draft_tag(WpSpanDraft *draft, const char *key, const char *value);

/* Which end its peer is, once all is said. */
void wp_span_draft_settle_peer(WpSpanDraft *draft);

/* When it began and ended, once all is said. FALSE where the times make no sense. */
gboolean wp_span_draft_settle_times(WpSpanDraft *draft);

#endif
