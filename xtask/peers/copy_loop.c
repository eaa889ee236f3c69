/* A bare transfer over TCP: one thread per stream and end, send or recv in a loop, and nothing else.
 * It is the limit that assay's goodput is compared with: the same size of a write, the same size of a
 * receive and the same low-water mark, so that what is left is the kernel's own work.
 *
 * Usage: copy_loop serve ADDRESS PORT | copy_loop send ADDRESS PORT SECONDS STREAMS KIB
 * The server serves one client after another until it is killed. The client writes so many KiB at a time
 * and prints one JSON object: bit/s that the server's program took, and CPU-seconds of both processes per GB. */

#define _POSIX_C_SOURCE 200112L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_STREAMS = 64, READ_BYTES = 256 << 10 };

struct stream {
    pthread_t thread;
    int socket;
    double until;
    size_t write_bytes;
    double bytes;
};

/* What the server tells about one client. */
struct account {
    double bytes, seconds, cpu_seconds;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
        + 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void *sender(void *argument) {
    struct stream *stream = argument;
    char *block = malloc(stream->write_bytes);
    if (block == NULL) return NULL;
    memset(block, 1, stream->write_bytes);
    while (now() < stream->until && send(stream->socket, block, stream->write_bytes, MSG_NOSIGNAL) > 0)
        continue;
    shutdown(stream->socket, SHUT_WR);
    free(block);
    return NULL;
}

static void *receiver(void *argument) {
    struct stream *stream = argument;
    char *block = malloc(READ_BYTES);
    int mark = READ_BYTES;
    ssize_t bytes;
    if (block == NULL) return NULL;
    setsockopt(stream->socket, SOL_SOCKET, SO_RCVLOWAT, &mark, sizeof mark);
    while ((bytes = recv(stream->socket, block, READ_BYTES, 0)) > 0) stream->bytes += (double)bytes;
    free(block);
    return NULL;
}

/* Runs one thread per stream to its end and closes what it used; the bytes of all come back. */
static double run(void *(*work)(void *), struct stream *streams, int n) {
    double bytes = 0;
    for (int i = 0; i < n; i++) pthread_create(&streams[i].thread, NULL, work, &streams[i]);
    for (int i = 0; i < n; i++) {
        pthread_join(streams[i].thread, NULL);
        bytes += streams[i].bytes;
        close(streams[i].socket);
    }
    return bytes;
}

static int serve(int s, const struct sockaddr_in *address) {
    int on = 1;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s, (const struct sockaddr *)address, sizeof *address) != 0 || listen(s, MOST_STREAMS) != 0) {
        perror("copy_loop cannot listen");
        return 1;
    }
    for (;;) {
        struct stream streams[MOST_STREAMS] = {0};
        unsigned char n = 0;
        int client = accept(s, NULL, NULL);
        if (client < 0) return 1;
        if (recv(client, &n, 1, 0) == 1 && n <= MOST_STREAMS) {
            for (int i = 0; i < n; i++) streams[i].socket = accept(s, NULL, NULL);
            double start = now(), used = cpu_seconds();
            struct account account = {.bytes = run(receiver, streams, n)};
            account.seconds = now() - start;
            account.cpu_seconds = cpu_seconds() - used;
            send(client, &account, sizeof account, MSG_NOSIGNAL);
        }
        close(client);
    }
}

static int ask(int s, const struct sockaddr_in *address, double seconds, int n,
    size_t write_bytes) {
    struct stream streams[MOST_STREAMS] = {0};
    struct account there;
    unsigned char count = (unsigned char)n;
    int failed = connect(s, (const struct sockaddr *)address, sizeof *address) != 0;
    failed = failed || send(s, &count, 1, MSG_NOSIGNAL) != 1;
    for (int i = 0; i < n && !failed; i++) {
        streams[i].socket = socket(AF_INET, SOCK_STREAM, 0);
        streams[i].until = now() + seconds;
        streams[i].write_bytes = write_bytes;
        failed = connect(streams[i].socket, (const struct sockaddr *)address, sizeof *address) != 0;
    }
    if (failed) {
        perror("copy_loop cannot connect");
        return 1;
    }
    run(sender, streams, n);
    if (recv(s, &there, sizeof there, MSG_WAITALL) != sizeof there) {
        perror("copy_loop lost its peer");
        return 1;
    }
    printf("{\"bit_per_s\": %.6e, \"cpu_s_per_gb\": %.6e}\n", 8 * there.bytes / there.seconds,
        1e9 * (there.cpu_seconds + cpu_seconds()) / there.bytes);
    return 0;
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    int is_server = argc == 4 && strcmp(argv[1], "serve") == 0;
    int is_client = argc == 7 && strcmp(argv[1], "send") == 0;
    int n = is_client ? atoi(argv[5]) : 1, kib = is_client ? atoi(argv[6]) : 1;
    if ((!is_server && !is_client) || n < 1 || n > MOST_STREAMS || kib < 1
        || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
        fputs("usage: copy_loop serve ADDRESS PORT | copy_loop send ADDRESS PORT SECONDS STREAMS KIB\n", stderr);
        return 2;
    }
    address.sin_port = htons((unsigned short)atoi(argv[3]));
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0) return 1;
    return is_server ? serve(s, &address) : ask(s, &address, atof(argv[4]), n, (size_t)kib << 10);
}
