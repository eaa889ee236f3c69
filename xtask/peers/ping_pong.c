/* A bare ping-pong over TCP: send and recv in a loop, each round trip timed by one clock, and nothing else.
 * It is what assay's round trips are compared with; it contains no trick on purpose.
 *
 * Usage: ping_pong serve ADDRESS PORT | ping_pong ask ADDRESS PORT SECONDS
 * The server echoes single bytes to one client after another until it is killed. The client prints one
 * JSON object: the median and the mean round trip in seconds, and their number. */

#define _POSIX_C_SOURCE 200112L
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Round trips that are kept: 64 MiB of times. */
enum { MOST = 8 << 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void without_delay(int s) {
    int on = 1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static int serve(int s, const struct sockaddr_in *address) {
    int on = 1;
    char byte;
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s, (const struct sockaddr *)address, sizeof *address) != 0 || listen(s, 4) != 0) {
        perror("ping_pong cannot listen");
        return 1;
    }
    for (;;) {
        int client = accept(s, NULL, NULL);
        if (client < 0) return 1;
        without_delay(client);
        while (recv(client, &byte, 1, 0) == 1 && send(client, &byte, 1, MSG_NOSIGNAL) == 1) continue;
        close(client);
    }
}

static int ask(int s, const struct sockaddr_in *address, double seconds) {
    double *times = malloc(sizeof *times * MOST);
    size_t n = 0;
    char byte = 1;
    if (times == NULL || connect(s, (const struct sockaddr *)address, sizeof *address) != 0) {
        perror("ping_pong cannot connect");
        return 1;
    }
    without_delay(s);
    double start = now(), before = start;
    while (before - start < seconds && n < MOST) {
        if (send(s, &byte, 1, MSG_NOSIGNAL) != 1 || recv(s, &byte, 1, 0) != 1) {
            perror("ping_pong lost its peer");
            return 1;
        }
        double after = now();
        times[n++] = after - before;
        before = after;
    }
    double mean = (before - start) / (double)n;
    qsort(times, n, sizeof *times, ascending);
    printf("{\"p50\": %.9e, \"mean\": %.9e, \"n\": %zu}\n", times[n / 2], mean, n);
    free(times);
    return 0;
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    int is_server = argc == 4 && strcmp(argv[1], "serve") == 0;
    int is_client = argc == 5 && strcmp(argv[1], "ask") == 0;
    if ((!is_server && !is_client) || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
        fputs("usage: ping_pong serve ADDRESS PORT | ping_pong ask ADDRESS PORT SECONDS\n", stderr);
        return 2;
    }
    address.sin_port = htons((unsigned short)atoi(argv[3]));
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0) return 1;
    return is_server ? serve(s, &address) : ask(s, &address, atof(argv[4]));
}
