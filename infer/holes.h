/*
 * Holes: calls that are missing in paths because their packets were lost.
 *
 *   web  |---------------------------|        web  |---------------------------|
 *   db        |-----| |---------|             db        |-----|   (lost)
 *             self time of web: what is bare            seems to have more
 *
 * What a call makes nearly always, so often that the loss explains where it does not, it was made there too:
 * a path without it has a hole. Likewise a call without its return covers a time that is not known. The self
 * time of the caller is then estimated: the mean of its like without holes, or what is bare where that is
 * less.
 */
#ifndef WP_INFER_HOLES_H
#define WP_INFER_HOLES_H

#include <glib.h>

#include "infer/missing.h"
#include "infer/path.h"

typedef enum {
	WP_HOLE_NONE,
	WP_HOLE_END, /* a call that it made has no return */
	WP_HOLE_CALL /* a call that it made is missing */
} WpHole;

/* (transfer full) By span of PATHS, a WpHole each; changes the self times of those that have one. */
guint8 *wp_holes_find(const WpSpans *spans, WpPaths *paths, const WpMissing *missing);

/*
 * TRUE where the path PART (of WpPathStep, in pre-order) is the path WHOLE without some of its calls.
 * OUT_PLACES, as long as PART: where each of its calls is in WHOLE.
 */
gboolean wp_holes_match(const WpSpans *spans, const GArray *part, const GArray *whole,
			guint32 *out_places);

#endif
