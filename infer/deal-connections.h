/*
 * Which connection each call has where requests are dealt anew (deal.h). Programs keep connections to what they call
 * and give one to a request for a while, and to no other: those calls of a request that follow one another on it are known
 * to belong together, by which links are found at load. Requests that begin at other times would be on one connection at once; so
 * the connections are given out anew as well.
 *
 *     found    c1 |=a=||=b==|    |=c=|        dealt    c1 |==b=|   |=a=|
 *              c2   |==d==|                            c2   |=c=||==d==|
 *
 * Inside of deal.c; nobody else includes this.
 */
#ifndef WP_INFER_DEAL_CONNECTIONS_H
#define WP_INFER_DEAL_CONNECTIONS_H

#include "infer/resolve.h"

typedef struct {
	const WpResolved *resolved;
	const guint32 *root_of; /* by span: WP_NO_SPAN = not dealt */
	const gint64 *shift_ns; /* by span: of its call */
	const gint64 *return_shift_ns;
} WpDealMoves;

/*
 * (transfer full) By span: the number of the connection of its call, 0 where it has none. Connections that have calls of several requests
 * at a time, and those of one request only, stay with their calls. Of those that are free a request gets the one that has been
 * so for the shortest time, or for the longest, whichever is more frequent as found; where none is, one that is new.
 */
guint32 *wp_deal_connections(const WpDealMoves *moves);

#endif
