/* An allocator for PyTorch that does next to nothing: what is left of a request is what PyTorch itself spends on
 * allocators that are plugged in.
 *
 * Freed blocks are kept by size on stacks and handed out again; sizes are rounded up so that there are few of them
 * (eight for each power of two). It wastes memory and never gives any back, and it knows one device and one stream. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#define CLASSES 512

typedef struct {
    uint64_t *blocks;
    size_t count, room;
} Stack;

static Stack stacks[CLASSES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int (*driver_alloc)(uint64_t *, size_t);

/* The class of a size, and the bytes of its blocks: multiples of an eighth of the next lower power of two. */
static int class_of(size_t bytes, size_t *rounded) {
    if (bytes < 512) bytes = 512;
    int power = 63 - __builtin_clzll(bytes);
    size_t eighth = (size_t)1 << (power - 3);
    size_t parts = (bytes + eighth - 1) / eighth;
    *rounded = parts * eighth;
    return power * 8 + (int)(parts - 8);
}

void *bare_malloc(ssize_t bytes, int device, void *stream) {
    size_t rounded;
    Stack *stack = &stacks[class_of((size_t)bytes, &rounded)];
    uint64_t address = 0;
    pthread_mutex_lock(&lock);
    if (stack->count > 0) {
        address = stack->blocks[--stack->count];
    } else {
        if (!driver_alloc) driver_alloc = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuMemAlloc_v2");
        if (driver_alloc(&address, rounded) != 0) abort();
    }
    pthread_mutex_unlock(&lock);
    (void)device, (void)stream;
    return (void *)address;
}

void bare_free(void *address, ssize_t bytes, int device, void *stream) {
    size_t rounded;
    Stack *stack = &stacks[class_of((size_t)bytes, &rounded)];
    pthread_mutex_lock(&lock);
    if (stack->count == stack->room) {
        stack->room = stack->room ? 2 * stack->room : 16;
        stack->blocks = realloc(stack->blocks, stack->room * sizeof(uint64_t));
        if (!stack->blocks) abort();
    }
    stack->blocks[stack->count++] = (uint64_t)address;
    pthread_mutex_unlock(&lock);
    (void)device, (void)stream;
}
