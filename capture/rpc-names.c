/*
 * Names of ONC RPC programs and procedures, each from the document that defines it: NFS version 2
 * RFC 1094, version 3 RFC 1813 (with mount 3 and NLM 4), version 4 RFC 7530, 8881, 7862, 8276;
 * rpcbind RFC 1833; NLM, NSM: The Open Group, "Protocols for Interworking: XNFS".
 */
#include "capture/rpc-names.h"

#include <string.h>

static const char *const portmap_2[] = { "NULL", "SET", "UNSET", "GETPORT", "DUMP", "CALLIT" };
static const char *const rpcbind[] = { "NULL",        "SET",         "UNSET",    "GETADDR",
				       "DUMP",        "BCAST",       "GETTIME",  "UADDR2TADDR",
				       "TADDR2UADDR", "GETVERSADDR", "INDIRECT", "GETADDRLIST",
				       "GETSTAT" };
static const char *const nfs_2[] = { "NULL",     "GETATTR", "SETATTR",    "ROOT",    "LOOKUP",
				     "READLINK", "READ",    "WRITECACHE", "WRITE",   "CREATE",
				     "REMOVE",   "RENAME",  "LINK",       "SYMLINK", "MKDIR",
				     "RMDIR",    "READDIR", "STATFS" };
static const char *const nfs_3[] = { "NULL",     "GETATTR", "SETATTR",     "LOOKUP", "ACCESS",
				     "READLINK", "READ",    "WRITE",       "CREATE", "MKDIR",
				     "SYMLINK",  "MKNOD",   "REMOVE",      "RMDIR",  "RENAME",
				     "LINK",     "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO",
				     "PATHCONF", "COMMIT" };
static const char *const nfs_4[] = { "NULL", "COMPOUND" };
static const char *const nfs_4_callback[] = { "NULL", "CB_COMPOUND" };
static const char *const mount[] = { "NULL",    "MNT",    "DUMP",      "UMNT",
				     "UMNTALL", "EXPORT", "EXPORTALL", "PATHCONF" };
static const char *const nlm[] = { "NULL",       "TEST",       "LOCK",        "CANCEL",
				   "UNLOCK",     "GRANTED",    "TEST_MSG",    "LOCK_MSG",
				   "CANCEL_MSG", "UNLOCK_MSG", "GRANTED_MSG", "TEST_RES",
				   "LOCK_RES",   "CANCEL_RES", "UNLOCK_RES",  "GRANTED_RES",
				   "16",         "17",         "18",          "19",
				   "SHARE",      "UNSHARE",    "NM_LOCK",     "FREE_ALL" };
static const char *const nsm[] = { "NULL",      "STAT",       "MON",   "UNMON",
				   "UNMON_ALL", "SIMU_CRASH", "NOTIFY" };
static const char *const rquota[] = { "NULL", "GETQUOTA", "GETACTIVEQUOTA", "SETQUOTA",
				      "SETACTIVEQUOTA" };
static const char *const nfsacl[] = { "NULL", "GETACL", "SETACL", "GETATTR", "ACCESS" };
static const char *const ypserv[] = { "NULL",  "DOMAIN", "DOMAIN_NONACK", "MATCH",
				      "FIRST", "NEXT",   "XFR",           "CLEAR",
				      "ALL",   "MASTER", "ORDER",         "MAPLIST" };

/* Bit set: all procedures but NULL; mount: MNT alone. NLM: TEST to GRANTED, SHARE to NM_LOCK. */
#define ALL_BUT_NULL (~G_GUINT64_CONSTANT(1))
#define NLM_RESULTS  G_GUINT64_CONSTANT(0x70003e)

#define ROW(program, first, last, name, procedures, results, result, args)                         \
	{                                                                                          \
		program, first, last, name, procedures, G_N_ELEMENTS(procedures), results, result, \
			args                                                                       \
	}
static const WpRpcProgram programs[] = {
	ROW(100000, 2, 2, "portmap", portmap_2, 0, WP_RPC_RESULT_PLAIN, WP_RPC_ARGS_PLAIN),
	ROW(100000, 3, 4, "rpcbind", rpcbind, 0, WP_RPC_RESULT_PLAIN, WP_RPC_ARGS_PLAIN),
	ROW(100003, 2, 2, "nfs", nfs_2, ALL_BUT_NULL, WP_RPC_RESULT_STATUS, WP_RPC_ARGS_PLAIN),
	ROW(100003, 3, 3, "nfs", nfs_3, ALL_BUT_NULL, WP_RPC_RESULT_STATUS, WP_RPC_ARGS_PLAIN),
	ROW(100003, 4, 4, "nfs4", nfs_4, ALL_BUT_NULL, WP_RPC_RESULT_STATUS, WP_RPC_ARGS_COMPOUND),
	ROW(0x40000000, 1, 4, "nfs4cb", nfs_4_callback, ALL_BUT_NULL, WP_RPC_RESULT_STATUS,
	    WP_RPC_ARGS_CALLBACK_COMPOUND),
	ROW(100004, 1, 2, "ypserv", ypserv, 0, WP_RPC_RESULT_PLAIN, WP_RPC_ARGS_PLAIN),
	ROW(100005, 1, 3, "mount", mount, 1 << 1, WP_RPC_RESULT_STATUS, WP_RPC_ARGS_PLAIN),
	ROW(100011, 1, 2, "rquota", rquota, 0, WP_RPC_RESULT_PLAIN, WP_RPC_ARGS_PLAIN),
	ROW(100021, 1, 4, "nlm", nlm, NLM_RESULTS, WP_RPC_RESULT_COOKIE, WP_RPC_ARGS_PLAIN),
	ROW(100024, 1, 1, "nsm", nsm, 0, WP_RPC_RESULT_PLAIN, WP_RPC_ARGS_PLAIN),
	ROW(100227, 2, 3, "nfsacl", nfsacl, ALL_BUT_NULL, WP_RPC_RESULT_STATUS, WP_RPC_ARGS_PLAIN),
};
#undef ROW

const WpRpcProgram *
wp_rpc_program_find(guint32 program, guint32 version)
{
	for (gsize i = 0; i < G_N_ELEMENTS(programs); i++)
		if (programs[i].program == program && version >= programs[i].first_version &&
		    version <= programs[i].last_version)
			return &programs[i];
	return NULL;
}

guint
wp_rpc_program_index(const WpRpcProgram *program)
{
	return (guint)(program - programs);
}

const WpRpcProgram *
wp_rpc_program_at(guint index)
{
	return index < G_N_ELEMENTS(programs) ? &programs[index] : NULL;
}

/* What the arguments of an operation are, as far as one must know to come to the next. */
typedef enum {
	FIXED,      /* SIZE bytes */
	OPAQUE,     /* a counted string or handle */
	BITMAP,     /* a counted array of words */
	CB_SEQUENCE /* SIZE bytes and a list, parsed where it is empty */
} ArgsForm;

/* The more, the more a COMPOUND with it is about it. */
typedef enum {
	STEP,   /* moves the current file handle */
	LOOK,   /* goes with most others: attributes */
	FIND,   /* a path walk or a permission check: often before something greater */
	WORK,   /* what a user of the file system asked for: ends the search */
	SESSION /* the same, but for the client's lease and session */
} Rank;

typedef struct {
	const char *name;
	Rank rank;
	ArgsForm form; /* of those that do not end the search */
	guint size;
} Operation;

#define WORKS(name)                                                                                \
	{                                                                                          \
		name, WORK, FIXED, 0                                                               \
	}
/* By number, from 3: RFC 7530 16, RFC 8881 18, RFC 7862 15, RFC 8276 8. */
static const Operation operations[] = {
	{ "ACCESS", FIND, FIXED, 4 },
	WORKS("CLOSE"),
	WORKS("COMMIT"),
	WORKS("CREATE"),
	WORKS("DELEGPURGE"),
	WORKS("DELEGRETURN"),
	{ "GETATTR", LOOK, BITMAP, 0 },
	{ "GETFH", STEP, FIXED, 0 },
	WORKS("LINK"),
	WORKS("LOCK"),
	WORKS("LOCKT"),
	WORKS("LOCKU"),
	{ "LOOKUP", FIND, OPAQUE, 0 },
	{ "LOOKUPP", FIND, FIXED, 0 },
	WORKS("NVERIFY"),
	WORKS("OPEN"),
	WORKS("OPENATTR"),
	WORKS("OPEN_CONFIRM"),
	WORKS("OPEN_DOWNGRADE"),
	{ "PUTFH", STEP, OPAQUE, 0 },
	{ "PUTPUBFH", STEP, FIXED, 0 },
	{ "PUTROOTFH", STEP, FIXED, 0 },
	WORKS("READ"),
	WORKS("READDIR"),
	WORKS("READLINK"),
	WORKS("REMOVE"),
	WORKS("RENAME"),
	{ "RENEW", SESSION, FIXED, 0 },
	{ "RESTOREFH", STEP, FIXED, 0 },
	{ "SAVEFH", STEP, FIXED, 0 },
	WORKS("SECINFO"),
	WORKS("SETATTR"),
	{ "SETCLIENTID", SESSION, FIXED, 0 },
	{ "SETCLIENTID_CONFIRM", SESSION, FIXED, 0 },
	WORKS("VERIFY"),
	WORKS("WRITE"),
	WORKS("RELEASE_LOCKOWNER"),
	{ "BACKCHANNEL_CTL", SESSION, FIXED, 0 },
	{ "BIND_CONN_TO_SESSION", SESSION, FIXED, 0 },
	{ "EXCHANGE_ID", SESSION, FIXED, 0 },
	{ "CREATE_SESSION", SESSION, FIXED, 0 },
	{ "DESTROY_SESSION", SESSION, FIXED, 0 },
	WORKS("FREE_STATEID"),
	WORKS("GET_DIR_DELEGATION"),
	WORKS("GETDEVICEINFO"),
	WORKS("GETDEVICELIST"),
	WORKS("LAYOUTCOMMIT"),
	WORKS("LAYOUTGET"),
	WORKS("LAYOUTRETURN"),
	WORKS("SECINFO_NO_NAME"),
	{ "SEQUENCE", STEP, FIXED, 32 },
	{ "SET_SSV", SESSION, FIXED, 0 },
	WORKS("TEST_STATEID"),
	WORKS("WANT_DELEGATION"),
	{ "DESTROY_CLIENTID", SESSION, FIXED, 0 },
	{ "RECLAIM_COMPLETE", SESSION, FIXED, 0 },
	WORKS("ALLOCATE"),
	WORKS("COPY"),
	WORKS("COPY_NOTIFY"),
	WORKS("DEALLOCATE"),
	WORKS("IO_ADVISE"),
	WORKS("LAYOUTERROR"),
	WORKS("LAYOUTSTATS"),
	WORKS("OFFLOAD_CANCEL"),
	WORKS("OFFLOAD_STATUS"),
	WORKS("READ_PLUS"),
	WORKS("SEEK"),
	WORKS("WRITE_SAME"),
	WORKS("CLONE"),
	WORKS("GETXATTR"),
	WORKS("SETXATTR"),
	WORKS("LISTXATTRS"),
	WORKS("REMOVEXATTR"),
};

/* By number, from 3: RFC 7530 16, RFC 8881 20, RFC 7862 16. */
static const Operation callback_operations[] = {
	WORKS("CB_GETATTR"),
	WORKS("CB_RECALL"),
	WORKS("CB_LAYOUTRECALL"),
	WORKS("CB_NOTIFY"),
	WORKS("CB_PUSH_DELEG"),
	WORKS("CB_RECALL_ANY"),
	WORKS("CB_RECALLABLE_OBJ_AVAIL"),
	WORKS("CB_RECALL_SLOT"),
	{ "CB_SEQUENCE", STEP, CB_SEQUENCE, 32 },
	WORKS("CB_WANTS_CANCELLED"),
	WORKS("CB_NOTIFY_LOCK"),
	WORKS("CB_NOTIFY_DEVICEID"),
	WORKS("CB_OFFLOAD"),
};
#undef WORKS

/* Both lists number their operations from here. */
#define FIRST_OPERATION 3

static const Operation *
operation_find(WpRpcArgs kind, guint32 number)
{
	gboolean callback = kind == WP_RPC_ARGS_CALLBACK_COMPOUND;
	const Operation *list = callback ? callback_operations : operations;
	guint n = callback ? G_N_ELEMENTS(callback_operations) : G_N_ELEMENTS(operations);
	number -= FIRST_OPERATION; /* those below wrap to far above */
	return number < n ? &list[number] : NULL;
}

/* Skips N bytes and what XDR pads them with to a multiple of four. */
static gboolean
skip_padded(WpBytes *bytes, guint32 n)
{
	return wp_bytes_skip(bytes, n) && wp_bytes_skip(bytes, -n & 3);
}

static gboolean
skip_args(const Operation *operation, WpBytes *args)
{
	switch (operation->form) {
	case FIXED:
		return wp_bytes_skip(args, operation->size);
	case OPAQUE:
		return skip_padded(args, wp_bytes_be32(args));
	case BITMAP:
		return wp_bytes_skip(args, (gsize)wp_bytes_be32(args) * 4);
	case CB_SEQUENCE:
		return wp_bytes_skip(args, operation->size) && wp_bytes_be32(args) == 0 &&
		       !args->failed;
	}
	return FALSE;
}

const char *
wp_rpc_compound_name(WpRpcArgs kind, WpBytes args, gboolean *out_setup)
{
	const Operation *best = NULL;
	skip_padded(&args, wp_bytes_be32(&args)); /* tag */
	wp_bytes_be32(&args);                     /* minor version */
	if (kind == WP_RPC_ARGS_CALLBACK_COMPOUND)
		wp_bytes_be32(&args); /* callback_ident */
	guint32 n = wp_bytes_be32(&args);
	while (n-- > 0 && !args.failed) {
		const Operation *operation = operation_find(kind, wp_bytes_be32(&args));
		if (args.failed || operation == NULL)
			break;
		if (best == NULL || operation->rank > best->rank)
			best = operation;
		if (operation->rank >= WORK || !skip_args(operation, &args))
			break;
	}
	*out_setup = best && best->rank == SESSION;
	return best ? best->name
		    : (kind == WP_RPC_ARGS_CALLBACK_COMPOUND ? "CB_COMPOUND" : "COMPOUND");
}
