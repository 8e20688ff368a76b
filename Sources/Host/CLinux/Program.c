#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// clinux_start: starts a program as a given user, through two forks, so that it is not a child of the service. Uses
// only the C library. Before exec, the child looks up groups, which may lock and allocate, so the caller must have only
// one thread.

// Maximum number of variables of a program's environment, including HOME, USER and PATH.
enum { ENVIRONMENT_MAX = 32 };

// The variables that are added to a program's environment, and the user it runs as; `switches` if that is another user.
struct identity {
  char home[512], user[128], path[128];
  uint32_t uid;
  gid_t gid;
  int switches;
};

static int look_up_user(struct identity *identity, uint32_t uid) {
  char buffer[4096];
  struct passwd entry, *found = NULL;
  if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) != 0 || !found) return -ENOENT;
  snprintf(identity->home, sizeof identity->home, "HOME=%s", found->pw_dir);
  snprintf(identity->user, sizeof identity->user, "USER=%s", found->pw_name);
  snprintf(identity->path, sizeof identity->path, "PATH=/usr/local/bin:/usr/bin:/bin");
  identity->uid = uid;
  identity->gid = found->pw_gid;
  identity->switches = uid != geteuid();
  return 0;
}

// In the child: switches permanently to the user.
static int switch_user(const struct identity *identity) {
  if (!identity->switches) return 0;
  const char *name = identity->user + strlen("USER=");
  if (initgroups(name, identity->gid) || setgid(identity->gid) || setuid(identity->uid))
    return errno;
  return 0;
}

// In the grandchild: does not return.
static void run(const char *const *arguments, char *const *environment,
                const struct identity *identity, int report) {
  sigset_t none;
  sigemptyset(&none);
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  sigprocmask(SIG_SETMASK, &none, NULL);
  int null = open("/dev/null", O_RDWR);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    if (null > STDERR_FILENO) close(null);
  }
  int error = switch_user(identity);
  if (!error && chdir("/")) error = errno;
  if (!error) {
    execve(arguments[0], (char *const *)arguments, environment);
    error = errno;
  }
  ssize_t written = write(report, &error, sizeof error);
  (void)written;
  _exit(127);
}

int clinux_start(const char *const *arguments, const char *const *environment, uint32_t uid) {
  struct identity identity;
  int result = look_up_user(&identity, uid);
  if (result < 0) return result;
  char *variables[ENVIRONMENT_MAX + 1];
  int count = 0;
  for (; environment[count] && count < ENVIRONMENT_MAX - 3; count++)
    variables[count] = (char *)environment[count];
  if (environment[count]) return -E2BIG;
  variables[count++] = identity.home;
  variables[count++] = identity.user;
  variables[count++] = identity.path;
  variables[count] = NULL;

  int report[2];
  if (pipe2(report, O_CLOEXEC) < 0) return -errno;
  pid_t child = fork();
  if (child < 0) {
    result = -errno;
    close(report[0]);
    close(report[1]);
    return result;
  }
  if (child == 0) {
    // Fork again, so that the program is no child of this process and needs no wait.
    setsid();
    pid_t grandchild = fork();
    if (grandchild == 0) run(arguments, variables, &identity, report[1]);
    int error = errno;
    if (grandchild < 0) {
      ssize_t written = write(report[1], &error, sizeof error);
      (void)written;
    }
    _exit(0);
  }
  close(report[1]);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
  // exec closes the pipe, so a running program gives an empty read.
  int error = 0;
  ssize_t length;
  while ((length = read(report[0], &error, sizeof error)) < 0 && errno == EINTR) {}
  close(report[0]);
  return length == sizeof error ? -error : 0;
}
