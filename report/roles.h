/*
 * WpRoles: which node of one capture is which of another. A new deployment has new addresses, so a node is known by
 * what it does: a name that is more than its address, the port and protocol at which it is called, what it is called
 * for, and who its neighbours are.
 *
 * Nodes that are never called are one role, "client": who sends a request makes no difference to what it costs.
 */
#ifndef WP_REPORT_ROLES_H
#define WP_REPORT_ROLES_H

#include "report/digest.h"

/* Role of all nodes that are never called. */
#define WP_ROLE_CLIENT 0

typedef struct {
	const char *names
		[2]; /* before, after: of the last capture that has it; NULL = on that side it is not */
} WpRole;

typedef struct {
	GArray *roles; /* WpRole */
	guint n_digests;
	guint32 **numbers; /* of each digest, by its node: the role */
} WpRoles;

/* (transfer full) The first N_BEFORE of the N digests stand before. They are borrowed for their texts. */
WpRoles *wp_roles_match(WpDigest *const *digests, guint n, guint n_before);
void wp_roles_free(WpRoles *roles);

/* What ROLE is called: its name now, or where it is no more the one it had. */
const char *wp_role_name(const WpRoles *roles, guint32 role);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpRoles, wp_roles_free)

#endif
