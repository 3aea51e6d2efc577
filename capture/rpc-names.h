/*
 * The ONC RPC programs that have names: what their procedures are called and where in a result their
 * own status stands. Adding one is a row of the table in rpc-names.c.
 */
#ifndef WP_CAPTURE_RPC_NAMES_H
#define WP_CAPTURE_RPC_NAMES_H

#include <glib.h>

#include "capture/bytes.h"

/* What the result of a successful call begins with. */
typedef enum {
	WP_RPC_RESULT_PLAIN,  /* nothing that tells success from failure */
	WP_RPC_RESULT_STATUS, /* a status word, 0 = done (NFS, mount) */
	WP_RPC_RESULT_COOKIE  /* an opaque cookie, then a status word (NLM) */
} WpRpcResult;

/* What the arguments are made of. */
typedef enum {
	WP_RPC_ARGS_PLAIN,
	WP_RPC_ARGS_COMPOUND,         /* NFSv4: a list of operations */
	WP_RPC_ARGS_CALLBACK_COMPOUND /* the same, from server to client */
} WpRpcArgs;

typedef struct {
	guint32 program;
	guint32 first_version;
	guint32 last_version;
	const char *name; /* "nfs" */
	const char *const *procedures;
	guint n_procedures;
	guint64 results; /* bit p: the result of procedure p begins as in result */
	WpRpcResult result;
	WpRpcArgs args; /* of procedure 1, where not plain */
} WpRpcProgram;

/* (transfer none) What is known of this program and version; NULL = nothing. */
const WpRpcProgram *wp_rpc_program_find(guint32 program, guint32 version);

/* Rows by number, for notes on calls: from 0; NULL past the end. */
guint wp_rpc_program_index(const WpRpcProgram *program);
const WpRpcProgram *wp_rpc_program_at(guint index);

/*
 * The operation that a COMPOUND is about: ARGS stands at its tag. The first that is more than a step
 * to it; "READ" of SEQUENCE PUTFH READ GETATTR. (transfer none) "COMPOUND" where it has none that is
 * known. *OUT_SETUP: it only sets up or renews client and session.
 */
const char *wp_rpc_compound_name(WpRpcArgs kind, WpBytes args, gboolean *out_setup);

#endif
