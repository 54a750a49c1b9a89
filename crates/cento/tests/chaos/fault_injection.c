/* Makes system calls of a program fail, for tests: compiled to a library that is loaded before libc.
 *
 *   FAULT_ROOT    only files below this folder are affected
 *   FAULT_READ    the number of the read that fails with EIO, counted from 1
 *   FAULT_WRITE   the number of the write that fails
 *   FAULT_ERROR   with this error
 *   FAULT_CLOCK   the wall clock jumps by years at every call
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *root;
static long failing_read, failing_write, error_of_write, clock_jumps;
static atomic_long reads, writes, clocks;

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
}

static int affected(int file) {
    char name[64], path[4096];
    if (!root) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return strncmp(path, root, strlen(root)) == 0;
}

static int read_fails(int file) {
    if (!failing_read || !affected(file) || ++reads != failing_read) return 0;
    errno = EIO;
    return 1;
}

static int write_fails(int file) {
    if (!failing_write || !affected(file) || ++writes != failing_write) return 0;
    errno = (int)error_of_write;
    return 1;
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
    return write_fails(file) ? -1 : syscall(SYS_write, file, bytes, length);
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

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock_jumps && clock == CLOCK_REALTIME) {
        time->tv_sec += (clocks++ % 5 - 2) * 300000000L;
    }
    return result;
}
