/* Makes system calls of a program fail, for tests: compiled to a library that is loaded before libc.
 *
 *   FAULT_ROOT    only files below this folder are affected
 *   FAULT_READ    the number of the read that fails with EIO, counted from 1
 *   FAULT_WRITE   the number of the write that fails
 *   FAULT_ERROR   with this error
 *   FAULT_STAY    all later writes fail too, and nothing can be created, renamed or removed: a disk
 *                 that stays full, or has become read-only; from the start if FAULT_WRITE is 0
 *   FAULT_FLIP    the number of the write to a temporary file of an analysis that writes a wrong bit
 *   FAULT_CLOCK   the wall clock jumps by years at every call
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *root;
static long failing_read, failing_write, error_of_write, clock_jumps, stays, flipped_write;
static atomic_long reads, writes, clocks, temporary_writes;
static atomic_int broken;

static long number(const char *name) {
    const char *value = getenv(name);
    return value ? atol(value) : 0;
}

__attribute__((constructor)) static void start(void) {
    root = getenv("FAULT_ROOT");
    failing_read = number("FAULT_READ");
    failing_write = number("FAULT_WRITE");
    error_of_write = number("FAULT_ERROR");
    clock_jumps = number("FAULT_CLOCK");
    stays = number("FAULT_STAY");
    flipped_write = number("FAULT_FLIP");
    broken = stays && !failing_write;
}

static int path_of(int file, char *path, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, size - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return 1;
}

static int affected(int file) {
    char path[4096];
    return root && path_of(file, path, sizeof path) && strncmp(path, root, strlen(root)) == 0;
}

static int affected_path(const char *path) {
    char folder[4096];
    if (!root) return 0;
    if (path[0] == '/') return strncmp(path, root, strlen(root)) == 0;
    return getcwd(folder, sizeof folder) && strncmp(folder, root, strlen(root)) == 0;
}

static int change_fails(const char *path) {
    if (!broken || !affected_path(path)) return 0;
    errno = (int)error_of_write;
    return 1;
}

static int read_fails(int file) {
    if (!failing_read || !affected(file) || ++reads != failing_read) return 0;
    errno = EIO;
    return 1;
}

static int write_fails(int file) {
    if ((!failing_write && !broken) || !affected(file)) return 0;
    if (!broken && ++writes != failing_write) return 0;
    broken = (int)stays;
    errno = (int)error_of_write;
    return 1;
}

/* Whether one bit of this write is to be wrong. */
static int is_flipped(int file, size_t length) {
    char path[4096];
    if (!flipped_write || !length || !path_of(file, path, sizeof path)) return 0;
    return strstr(path, "cento-flow-") && ++temporary_writes == flipped_write;
}

ssize_t read(int file, void *bytes, size_t length) {
    return read_fails(file) ? -1 : syscall(SYS_read, file, bytes, length);
}

ssize_t pread(int file, void *bytes, size_t length, off_t at) {
    return read_fails(file) ? -1 : syscall(SYS_pread64, file, bytes, length, at);
}

ssize_t pread64(int file, void *bytes, size_t length, off_t at) {
    return pread(file, bytes, length, at);
}

ssize_t readv(int file, const struct iovec *parts, int count) {
    return read_fails(file) ? -1 : syscall(SYS_readv, file, parts, count);
}

ssize_t write(int file, const void *bytes, size_t length) {
    if (write_fails(file)) return -1;
    if (!is_flipped(file, length)) return syscall(SYS_write, file, bytes, length);
    char *copy = malloc(length);
    memcpy(copy, bytes, length);
    copy[length / 2] ^= 1 << flipped_write % 8;
    ssize_t written = syscall(SYS_write, file, copy, length);
    free(copy);
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
    return write_fails(file) ? -1 : syscall(SYS_pwrite64, file, bytes, length, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off_t at) {
    return pwrite(file, bytes, length, at);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    return write_fails(file) ? -1 : syscall(SYS_writev, file, parts, count);
}

static int opened(const char *path, int flags, mode_t mode) {
    int writes = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
    if (writes && change_fails(path)) return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return opened(path, flags, mode);
}

int mkdir(const char *path, mode_t mode) {
    return change_fails(path) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int unlink(const char *path) {
    return change_fails(path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to) {
    return change_fails(to) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock_jumps && clock == CLOCK_REALTIME) {
        time->tv_sec += (clocks++ % 5 - 2) * 300000000L;
    }
    return result;
}
