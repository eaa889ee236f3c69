/* connect_loop.c: connections with a request and a response of one byte each, one after the other,
 * by blocking calls. The server closes first. Nothing is bounded or looked at.
 *
 * Usage: connect_loop serve ADDRESS PORT           answers until it is killed
 *        connect_loop ask ADDRESS PORT SECONDS     prints {"per_s": …, "mean": …}: connections per
 *                                                  second, and the mean time until the response
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void serve(const struct sockaddr_in *address)
{
    int on = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (const struct sockaddr *)address, sizeof *address) || listen(listener, 128))
        fail("listen");
    for (;;) {
        char byte;
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            fail("accept");
        if (recv(fd, &byte, 1, 0) == 1)
            send(fd, &byte, 1, MSG_NOSIGNAL);
        close(fd);
    }
}

static void ask(const struct sockaddr_in *address, double seconds)
{
    double start = now_s(), last = start, sum = 0;
    long count = 0;
    while (last - start < seconds) {
        char byte = 1;
        double answered;
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)address, sizeof *address))
            fail("connect");
        if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || recv(fd, &byte, 1, 0) != 1)
            fail("response");
        answered = now_s();
        if (recv(fd, &byte, 1, 0) != 0)
            fail("end");
        close(fd);
        sum += answered - last;
        count++;
        last = now_s();
    }
    printf("{\"per_s\": %.1f, \"mean\": %.9f}\n", count / (last - start), sum / count);
}

int main(int count, char **words)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    if (count < 4 || inet_pton(AF_INET, words[2], &address.sin_addr) != 1) {
        fprintf(stderr, "usage: connect_loop serve ADDRESS PORT | ask ADDRESS PORT SECONDS\n");
        return 2;
    }
    address.sin_port = htons(atoi(words[3]));
    if (strcmp(words[1], "serve") == 0)
        serve(&address);
    else
        ask(&address, count > 4 ? atof(words[4]) : 1);
    return 0;
}
