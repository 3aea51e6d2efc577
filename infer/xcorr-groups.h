/*
 * Edges between the same two hosts, taken together: of twelve clients each may have too few messages for anything
 * to stand out below it, where all of them together have enough; and likewise of the services of one machine.
 *
 *      client1 -> web --.                    a group is one more edge, with the messages of its members:
 *      client2 -> web ---> group -> web      what goes together with it is then looked at, by each member
 *      client3 -> web --'
 *
 * All that nobody calls is one host (messages.h).
 */
#ifndef WP_INFER_XCORR_GROUPS_H
#define WP_INFER_XCORR_GROUPS_H

#include "infer/messages.h"

typedef struct {
	guint32 n_edges; /* of the messages */
	guint32 n;       /* groups, of two edges or more */
	guint32 *
		first; /* by group: its members are members[first[g]] .. members[first[g + 1] - 1] */
	guint32 *members;
	guint32 *
		group_of; /* by joined edge: that of its group; itself where it is in none, or is one */
} WpEdgeGroups;

/* (transfer full) */
WpEdgeGroups *wp_edge_groups_new(const WpMessages *messages);
void wp_edge_groups_free(WpEdgeGroups *groups);

/*
 * (transfer full) EDGES (as many as the messages have; their times are borrowed), then one for each group. To be given
 * back to wp_edge_groups_unjoin().
 */
WpEdge *wp_edge_groups_join(const WpEdgeGroups *groups, const WpEdge *edges);
void wp_edge_groups_unjoin(const WpEdgeGroups *groups, WpEdge *joined);

/* The members of joined edge *I: itself, or those of the group that it is. */
static inline const guint32 *
wp_edge_groups_members(const WpEdgeGroups *groups, const guint32 *i, guint32 *out_n)
{
	if (*i < groups->n_edges) {
		*out_n = 1;
		return i;
	}
	guint32 g = *i - groups->n_edges;
	*out_n = groups->first[g + 1] - groups->first[g];
	return &groups->members[groups->first[g]];
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpEdgeGroups, wp_edge_groups_free)

#endif
