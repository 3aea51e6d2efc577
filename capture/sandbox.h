/*
 * Giving up what is not needed once interfaces and outputs are open, and before the first byte of the
 * network is looked at: capabilities, root, new privileges; files (Landlock, else chroot); system calls (seccomp),
 * among them those that make processes, open sockets or run programs. What is given up cannot be had back.
 *
 * Sources: capabilities(7), landlock(7), seccomp(2).
 */
#ifndef WP_CAPTURE_SANDBOX_H
#define WP_CAPTURE_SANDBOX_H

#include <glib.h>

/* How files are kept out of reach. */
typedef enum {
	WP_CONFINED_NOT, /* neither is there */
	WP_CONFINED_LANDLOCK,
	WP_CONFINED_CHROOT
} WpConfinement;

/* One in which files may be made, written, removed. */
typedef struct {
	int fd;
	gboolean is_own; /* it was made by us: it becomes the user's */
} WpSandboxDirectory;

typedef struct {
	const char *user; /* to become, where started as root; NULL: see wp_sandbox_user() */
	const WpSandboxDirectory *directories;
	gsize n_directories; /* with chroot the others than the first are reached by their descriptor only */
} WpSandboxOptions;

/* What came of it, as the system says when asked afterwards. */
typedef struct {
	char *user; /* its name, or number */
	gboolean has_capabilities;
	gboolean is_root;
	WpConfinement confinement;
	gboolean has_seccomp;
} WpSandboxState;

/*
 * (transfer full) The user to become by default: the one who called sudo, else "nobody"; NULL where this is not root,
 * which stays who it is.
 */
char *wp_sandbox_default_user(void);

/*
 * For this process, for good. FALSE with WP_CAPTURE_ERROR_OPTION (no such user) or _PERMISSION where root or
 * capabilities could not be given up: then nothing may be read. What the kernel has not (Landlock,
 * seccomp) is no error: OUT_STATE says so. There must be no other thread yet.
 */
gboolean wp_sandbox_enter(const WpSandboxOptions *options, WpSandboxState *out_state,
			  GError **error);

/*
 * Only users and capabilities, for good, of a process that has other work to do: it may open what USER may, and run
 * programs, which gain nothing by that. FALSE as above.
 */
gboolean wp_sandbox_drop(const char *user, GError **error);

void wp_sandbox_state_clear(WpSandboxState *state);

/* (transfer full) STATE in a sentence: "as nobody, without capabilities, ...". */
char *wp_sandbox_describe(const WpSandboxState *state);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WpSandboxState, wp_sandbox_state_clear)

#endif
