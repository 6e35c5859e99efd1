// A disk that fails, for a program that is started with this library preloaded. Of the calls that write to
// files whose paths have a word in them, shorten them or make them safe, some fail:
//   FAULT_FILE=outbox.db  the word
//   FAULT_CALL=17         the first call that fails, from 1
//   FAULT_COUNT=1         how many fail from there on; 0: all
//   FAULT_ERRNO=5         what they say; before "no space left" half of a write is done, as by a disk that
//   fills up FAULT_CAME=PATH       a file that is made when the first one fails
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long number_of(const char* name) {
  const char* text = getenv(name);
  return text != NULL ? atol(text) : 0;
}

static int is_meant(int file) {
  const char* word = getenv("FAULT_FILE");
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (word == NULL || size < 0) return 0;
  path[size] = '\0';
  return strstr(path, word) != NULL;
}

// 0, or which of the failing calls this is, from 1.
static long failing(int file) {
  static atomic_long calls;
  const long first = number_of("FAULT_CALL"), count = number_of("FAULT_COUNT");
  if (first == 0 || !is_meant(file)) return 0;
  const long place = atomic_fetch_add(&calls, 1) + 1 - first;
  if (place < 0 || (count != 0 && place >= count)) return 0;
  const char* came = getenv("FAULT_CAME");
  if (place == 0 && came != NULL) close(open(came, O_CREAT | O_WRONLY, 0644));
  return place + 1;
}

static int fails(int file) {
  if (failing(file) == 0) return 0;
  errno = (int)number_of("FAULT_ERRNO");
  return 1;
}

#define REAL(type, name, ...)       \
  static type (*real)(__VA_ARGS__); \
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, name)

static ssize_t write_at(ssize_t (*real)(int, const void*, size_t, off_t), int file, const void* data,
                        size_t size, off_t offset) {
  const long place = failing(file);
  if (place == 0) return real(file, data, size, offset);
  errno = (int)number_of("FAULT_ERRNO");
  if (errno == ENOSPC && place == 1 && size > 1) return real(file, data, size / 2, offset);
  return -1;
}

ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  REAL(ssize_t, "pwrite", int, const void*, size_t, off_t);
  return write_at(real, file, data, size, offset);
}

ssize_t pwrite64(int file, const void* data, size_t size, off_t offset) {
  REAL(ssize_t, "pwrite64", int, const void*, size_t, off_t);
  return write_at(real, file, data, size, offset);
}

ssize_t write(int file, const void* data, size_t size) {
  REAL(ssize_t, "write", int, const void*, size_t);
  return fails(file) ? -1 : real(file, data, size);
}

int fsync(int file) {
  REAL(int, "fsync", int);
  return fails(file) ? -1 : real(file);
}

int fdatasync(int file) {
  REAL(int, "fdatasync", int);
  return fails(file) ? -1 : real(file);
}

int ftruncate(int file, off_t size) {
  REAL(int, "ftruncate", int, off_t);
  return fails(file) ? -1 : real(file, size);
}

int ftruncate64(int file, off_t size) {
  REAL(int, "ftruncate64", int, off_t);
  return fails(file) ? -1 : real(file, size);
}
