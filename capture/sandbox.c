/*
 * The sandbox, in the order that each step needs: Landlock and chroot while there are privileges, then the
 * user, then capabilities, then system calls.
 */
#include "capture/sandbox.h"

#include <cap-ng.h>
#include <errno.h>
#include <grp.h>
#include <linux/if.h>
#include <linux/landlock.h>
#include <linux/sockios.h>
#include <pwd.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/trace.h"

#define DEFAULT_USER "nobody"

/* --- files --- */

/* All that Landlock of version N knows of files: bits 0 .. n - 1 (linux/landlock.h; older headers lack some). */
static guint64
known_rights(int version)
{
	static const int n_bits[] = { 0, 13, 14, 15, 15, 16 };
	return (G_GUINT64_CONSTANT(1) << n_bits[MIN(version, (int)G_N_ELEMENTS(n_bits) - 1)]) - 1;
}

#define RIGHT_TRUNCATE (G_GUINT64_CONSTANT(1) << 14)
#define RIGHTS_INSIDE                                                                              \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_DIR |                             \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | RIGHT_TRUNCATE)

static gboolean
allow_inside(int rules, guint64 rights, const WpSandboxOptions *options)
{
	for (gsize i = 0; i < options->n_directories; i++) {
		struct landlock_path_beneath_attr inside = {
			.allowed_access = RIGHTS_INSIDE & rights,
			.parent_fd = options->directories[i].fd,
		};
		if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &inside, 0) !=
		    0)
			return FALSE;
	}
	return TRUE;
}

/* FALSE where the kernel has no Landlock, or an administrator switched it off. */
static gboolean
enter_landlock(const WpSandboxOptions *options)
{
	int version =
		(int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (version < 1)
		return FALSE;
	guint64 rights = known_rights(version);
	struct landlock_ruleset_attr attributes = { .handled_access_fs = rights };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
	if (rules < 0)
		return FALSE;
	gboolean ok = allow_inside(rules, rights, options) &&
		      syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	(void)close(rules);
	return ok;
}

/* Into the first directory, or one that holds nothing but what this process has open anyway. */
static gboolean
enter_chroot(const WpSandboxOptions *options)
{
	gboolean ok = options->n_directories ? fchdir(options->directories[0].fd) == 0
					     : chdir("/proc/self/fdinfo") == 0;
	return ok && chroot(".") == 0 && chdir("/") == 0;
}

static WpConfinement
confine(const WpSandboxOptions *options)
{
	if (enter_landlock(options))
		return WP_CONFINED_LANDLOCK;
	return geteuid() == 0 && enter_chroot(options) ? WP_CONFINED_CHROOT : WP_CONFINED_NOT;
}

/* --- users and capabilities --- */

char *
wp_sandbox_default_user(void)
{
	const char *caller = g_getenv("SUDO_UID");

	if (geteuid() != 0)
		return NULL;
	return g_strdup(caller && *caller && strcmp(caller, "0") != 0 ? caller : DEFAULT_USER);
}

/* USER by its name or number. */
static gboolean
find_user(const char *user, uid_t *out_uid, gid_t *out_gid, GError **error)
{
	guint64 number;
	const struct passwd *entry = getpwnam(user);

	if (!entry && g_ascii_string_to_unsigned(user, 10, 0, G_MAXUINT32 - 1, &number, NULL))
		entry = getpwuid((uid_t)number);
	if (!entry || entry->pw_uid == 0) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    entry ? "cannot run as %s: that is root, which --user is to give up"
				  : "cannot run as %s: there is no such user",
			    user);
		return FALSE;
	}
	*out_uid = entry->pw_uid;
	*out_gid = entry->pw_gid;
	return TRUE;
}

static gboolean
fail_to_drop(const char *what, GError **error)
{
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_PERMISSION,
		    "cannot give up %s, so no packet is read: %s", what, g_strerror(errno));
	return FALSE;
}

static gboolean
drop_root(uid_t uid, gid_t gid, GError **error)
{
	capng_clear(CAPNG_SELECT_BOTH);
	if (capng_change_id((int)uid, (int)gid, CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING) != 0)
		return fail_to_drop("root", error);
	return TRUE;
}

static gboolean
drop_capabilities(GError **error)
{
	/* The ambient ones (systemd gives them) go with the inheritable ones. */
	capng_clear(CAPNG_SELECT_ALL);
	if (capng_apply(CAPNG_SELECT_CAPS) != 0 || capng_apply(CAPNG_SELECT_AMBIENT) != 0)
		return fail_to_drop("capabilities", error);
	return TRUE;
}

/* --- system calls --- */

/* What reading packets, writing files and a terminal, threads and the end of the program need. */
static const int allowed_calls[] = {
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(pread64),
	SCMP_SYS(write),
	SCMP_SYS(writev),
	SCMP_SYS(pwrite64),
	SCMP_SYS(lseek),
	SCMP_SYS(openat),
	SCMP_SYS(open),
	SCMP_SYS(close),
	SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(statx),
	SCMP_SYS(fstatfs),
	SCMP_SYS(ftruncate),
	SCMP_SYS(fsync),
	SCMP_SYS(fdatasync),
	SCMP_SYS(unlinkat),
	SCMP_SYS(unlink),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(rename),
	SCMP_SYS(getdents64),
	SCMP_SYS(fcntl),
	SCMP_SYS(dup),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(pselect6),
	SCMP_SYS(select),
	SCMP_SYS(getsockopt),
	SCMP_SYS(setsockopt),
	SCMP_SYS(getsockname),
	SCMP_SYS(bind),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(mmap),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(brk),
	SCMP_SYS(futex),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(rseq),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(tgkill),
	SCMP_SYS(gettid),
	SCMP_SYS(getpid),
	SCMP_SYS(getppid),
	SCMP_SYS(getpgrp),
	SCMP_SYS(getuid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getegid),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(time),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),
	SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(getrandom),
	SCMP_SYS(sysinfo),
	SCMP_SYS(uname),
	SCMP_SYS(prlimit64),
	SCMP_SYS(getrusage),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(eventfd2),
	SCMP_SYS(umask),
	SCMP_SYS(fadvise64),
	SCMP_SYS(membarrier),
	SCMP_SYS(capget),
};

/* Of terminals, and of interfaces: their number, whether they are up. */
static const unsigned long allowed_ioctls[] = {
	TCGETS,    TCSETS,   TCSETSW,      TCSETSF,      TIOCGWINSZ,
	TIOCGPGRP, FIONREAD, SIOCGIFINDEX, SIOCGIFFLAGS,
};

static gboolean
allow_calls(scmp_filter_ctx filter)
{
	gboolean ok = TRUE;

	for (gsize i = 0; i < G_N_ELEMENTS(allowed_calls); i++)
		ok = ok && seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0) == 0;
	for (gsize i = 0; i < G_N_ELEMENTS(allowed_ioctls); i++)
		ok = ok && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
					    SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffffu,
						    allowed_ioctls[i])) == 0;
	/* Memory may become readable or writable, never executable. */
	ok = ok && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				    SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
	/* Threads, no processes; clone3, whose flags cannot be looked at, is as if there were none. */
	ok = ok && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				    SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)) == 0;
	return ok && seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

/* What is not allowed fails with EPERM: a library that tries something harmless goes on. */
static gboolean
enter_seccomp(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	gboolean ok = filter && allow_calls(filter) && seccomp_load(filter) == 0;

	if (filter)
		seccomp_release(filter);
	return ok;
}

/* --- all of it --- */

static gboolean
has_capabilities(void)
{
	capng_clear(CAPNG_SELECT_ALL);
	return capng_get_caps_process() != 0 ||
	       capng_have_capabilities(CAPNG_SELECT_CAPS) > CAPNG_NONE;
}

/* Who is to be become; OUT_USER NULL: nobody else. */
static gboolean
choose_user(const char *wanted, char **out_user, uid_t *out_uid, gid_t *out_gid, GError **error)
{
	g_autofree char *user = wanted ? g_strdup(wanted) : wp_sandbox_default_user();

	if (user && geteuid() != 0) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_PERMISSION,
			    "cannot run as %s: only root can become another user", user);
		return FALSE;
	}
	if (user && !find_user(user, out_uid, out_gid, error))
		return FALSE;
	*out_user = g_steal_pointer(&user);
	return TRUE;
}

/* Asks the system what is left. */
static gboolean
check_privileges(WpSandboxState *state, GError **error)
{
	state->has_capabilities = has_capabilities();
	state->is_root = geteuid() == 0 || getuid() == 0;
	errno = EPERM;
	return (!state->has_capabilities && !state->is_root) ||
	       fail_to_drop("all privileges", error);
}

gboolean
wp_sandbox_enter(const WpSandboxOptions *options, WpSandboxState *out_state, GError **error)
{
	g_auto(WpSandboxState) state = { 0 };
	uid_t uid = 0;
	gid_t gid = 0;

	if (!choose_user(options->user, &state.user, &uid, &gid, error))
		return FALSE;
	for (gsize i = 0; state.user && i < options->n_directories; i++)
		if (options->directories[i].is_own &&
		    fchown(options->directories[i].fd, uid, gid) < 0)
			return fail_to_drop("the new directory", error);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fail_to_drop("new privileges", error);
	state.confinement = confine(options);
	if ((state.user && !drop_root(uid, gid, error)) || !drop_capabilities(error) ||
	    !check_privileges(&state, error))
		return FALSE;
	state.has_seccomp = enter_seccomp();
	*out_state = state;
	state = (WpSandboxState){ 0 };
	return TRUE;
}

gboolean
wp_sandbox_drop(const char *user, GError **error)
{
	g_auto(WpSandboxState) state = { 0 };
	uid_t uid = 0;
	gid_t gid = 0;

	if (!choose_user(user, &state.user, &uid, &gid, error))
		return FALSE;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return fail_to_drop("new privileges", error);
	return (!state.user || drop_root(uid, gid, error)) && drop_capabilities(error) &&
	       check_privileges(&state, error);
}

void
wp_sandbox_state_clear(WpSandboxState *state)
{
	g_clear_pointer(&state->user, g_free);
}

char *
wp_sandbox_describe(const WpSandboxState *state)
{
	static const char *const files[] = {
		", files not confined (this kernel has no Landlock)",
		", files confined by Landlock",
		", files confined by chroot",
	};
	g_autofree char *name = state->user ? g_strconcat(state->user, ", ", NULL) : g_strdup("");
	return g_strdup_printf("%s%swithout capabilities%s%s", state->user ? "as user " : "", name,
			       files[state->confinement],
			       state->has_seccomp ? ", system calls by seccomp"
						  : ", system calls not confined (no seccomp)");
}
