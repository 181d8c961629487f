// Loaded with LD_PRELOAD by scripts/attack.sh: counts calls that change the folder $ATTACK_FOLDER from 1; call number
// $ATTACK_AT fails, or with $ATTACK_SIGNAL raises that signal; with $ATTACK_FROM_THEN_ON so do all after it. With
// $ATTACK_READS it counts the calls that read from the folder instead. At exit the count is written to
// $ATTACK_COUNT_FILE. Only the first process that loads it is counted.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static long attack_at;
static int signal_number;
static int from_then_on;
static int attacks_reads;
static char folder[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
  const char* name = getenv("ATTACK_FOLDER");
  const char* at = getenv("ATTACK_AT");
  const char* number = getenv("ATTACK_SIGNAL");
  if (name != NULL) snprintf(folder, sizeof folder, "%s", name);
  if (at != NULL) attack_at = atol(at);
  if (number != NULL) signal_number = atoi(number);
  from_then_on = getenv("ATTACK_FROM_THEN_ON") != NULL;
  attacks_reads = getenv("ATTACK_READS") != NULL;
  unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void) {
  const char* name = getenv("ATTACK_COUNT_FILE");
  FILE* file = name == NULL ? NULL : fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", (long)calls);
  fclose(file);
}

static int below(const char* path) {
  return folder[0] != 0 && path != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int below_fd(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return below(path);
}

// True if this call must fail; sets errno.
static int fails_as(int reads, int error) {
  if (reads != attacks_reads) return 0;
  const long number = atomic_fetch_add(&calls, 1) + 1;
  if (attack_at == 0 || number < attack_at || (number > attack_at && !from_then_on)) return 0;
  if (signal_number != 0) {
    kill(getpid(), signal_number);
    return 0;
  }
  errno = error;
  return 1;
}

static int fails(int error) { return fails_as(0, error); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) {
  if (below_fd(fd) && fails(ENOSPC)) return -1;
  return REAL(write)(fd, data, size);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  if (below_fd(fd) && fails(ENOSPC)) return -1;
  return REAL(writev)(fd, parts, count);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  if (below_fd(fd) && fails(ENOSPC)) return -1;
  return REAL(pwrite)(fd, data, size, at);
}
int fsync(int fd) { return below_fd(fd) && fails(EIO) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return below_fd(fd) && fails(EIO) ? -1 : REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t size) { return below_fd(fd) && fails(EIO) ? -1 : REAL(ftruncate)(fd, size); }
int rename(const char* from, const char* to) { return below(to) && fails(EIO) ? -1 : REAL(rename)(from, to); }
int mkdir(const char* path, mode_t mode) { return below(path) && fails(ENOSPC) ? -1 : REAL(mkdir)(path, mode); }
int unlink(const char* path) { return below(path) && fails(EIO) ? -1 : REAL(unlink)(path); }
int rmdir(const char* path) { return below(path) && fails(EIO) ? -1 : REAL(rmdir)(path); }
int remove(const char* path) { return below(path) && fails(EIO) ? -1 : REAL(remove)(path); }
int unlinkat(int at, const char* path, int flags) {
  return (below(path) || below_fd(at)) && fails(EIO) ? -1 : REAL(unlinkat)(at, path, flags);
}
int flock(int fd, int operation) { return below_fd(fd) && fails(ENOLCK) ? -1 : REAL(flock)(fd, operation); }

ssize_t read(int fd, void* data, size_t size) {
  return below_fd(fd) && fails_as(1, EIO) ? -1 : REAL(read)(fd, data, size);
}
ssize_t pread(int fd, void* data, size_t size, off_t at) {
  return below_fd(fd) && fails_as(1, EIO) ? -1 : REAL(pread)(fd, data, size, at);
}

static int opens_to_write(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT) != 0; }

#define OPEN(name)                                                            \
  int name(const char* path, int flags, ...) {                                \
    va_list rest;                                                             \
    va_start(rest, flags);                                                    \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;    \
    va_end(rest);                                                             \
    const int reads = !opens_to_write(flags);                                 \
    if (below(path) && fails_as(reads, reads ? EMFILE : ENOSPC)) return -1;   \
    return REAL(name)(path, flags, mode);                                     \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                          \
  int name(int at, const char* path, int flags, ...) {                        \
    va_list rest;                                                             \
    va_start(rest, flags);                                                    \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;    \
    va_end(rest);                                                             \
    const int reads = !opens_to_write(flags);                                 \
    if (below(path) && fails_as(reads, reads ? EMFILE : ENOSPC)) return -1;   \
    return REAL(name)(at, path, flags, mode);                                 \
  }
OPENAT(openat)
OPENAT(openat64)
