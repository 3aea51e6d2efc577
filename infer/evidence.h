/*
 * Evidence: what speaks for a parent beside time. A kind of evidence is one file, evidence-<name>.c, with
 * one const WpEvidenceKind, and one line in wp_evidence_kinds[]. What it has to say is log-odds (nats) for
 * a child being of a parent; the engine adds those of all kinds to what its timelines say.
 *
 * Who writes a kind reads evidence-kind.h; who chooses among them, this.
 */
#ifndef WP_INFER_EVIDENCE_H
#define WP_INFER_EVIDENCE_H

#include <glib.h>

typedef struct WpEvidenceHost WpEvidenceHost;

typedef struct {
	const char *name;
	const char *summary;
	gboolean is_default;  /* used unless switched off */
	gboolean tells_first; /* knows something before it has learned */
	guint32 word;         /* WP_EVIDENCE_... of links.h: what links say that it decided */

	/*
	 * Whether it might have something to say, asked before there are pairs: a look at HOST's problem. NULL: it
	 * always might.
	 */
	gboolean (*may_speak)(const WpEvidenceHost *host);

	/*
	 * (transfer full) What it knows of one host's calls; NULL where it has nothing to say. HOST is valid
	 * until end(). NULL: the engine itself makes use of the kind.
	 */
	gpointer (*begin)(const WpEvidenceHost *host);

	/*
	 * Learns from how likely each pair is now, 0 .. 1; from NULL, before anything is known of that.
	 * NULL: it has nothing to learn.
	 */
	void (*learn)(gpointer self, const double *weights);

	/* Log-odds of a pair. */
	double (*score)(gpointer self, guint32 pair);

	void (*end)(gpointer self);
} WpEvidenceKind;

/* NULL-ended. */
extern const WpEvidenceKind *const wp_evidence_kinds[];

/* A set of kinds: bit i is wp_evidence_kinds[i]. */
guint32 wp_evidence_defaults(void);

/* SET without all others. */
guint32 wp_evidence_only(guint32 set, const WpEvidenceKind *kind);

gboolean wp_evidence_has(guint32 set, const WpEvidenceKind *kind);

/*
 * The kinds that LIST ("tokens,sizes", "all", "none") names. Errors: WP_INFER_ERROR_OPTION, which calls the
 * list OPTION.
 */
gboolean wp_evidence_parse(const char *list, const char *option, guint32 *out_set, GError **error);

#endif
