/* udp_loop.c: datagrams of 1,448 bytes as fast as the system's calls allow, cut and joined by the
 * kernel (UDP_SEGMENT, UDP_GRO). Nothing is numbered or looked at.
 *
 * Usage: udp_loop serve ADDRESS PORT             receives until a datagram of one byte, which it
 *                                                answers with the number of bytes received
 *        udp_loop send ADDRESS PORT SECONDS      prints {"bit_per_s": …, "loss": …} of the receiver
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#define UDP_GRO 104
#endif

enum { DATAGRAM = 1448, MESSAGE = 45 * DATAGRAM };

static char buffer[65536];

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

static void serve(int fd)
{
    int on = 1;
    uint64_t bytes = 0;
    if (setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on))
        fail("UDP_GRO");
    for (;;) {
        struct sockaddr_storage from;
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(fd, buffer, sizeof buffer, 0, (struct sockaddr *)&from, &length);
        if (got < 0)
            fail("recvfrom");
        if (got > 1) {
            bytes += got;
            continue;
        }
        sendto(fd, &bytes, sizeof bytes, 0, (struct sockaddr *)&from, length);
        return;
    }
}

static void send_all(int fd, double seconds)
{
    int datagram = DATAGRAM, none = 0;
    uint64_t sent = 0, received = 0;
    struct timeval patience = {0, 200000};
    double start = now_s(), end;
    if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &datagram, sizeof datagram))
        fail("UDP_SEGMENT");
    while ((end = now_s()) - start < seconds) {
        if (send(fd, buffer, MESSAGE, 0) != MESSAGE)
            fail("send");
        sent += MESSAGE;
    }
    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof none);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (int turn = 0; turn < 20; turn++) {
        send(fd, "", 1, 0);
        if (recv(fd, &received, sizeof received, 0) == sizeof received)
            break;
    }
    printf("{\"bit_per_s\": %.0f, \"loss\": %.6f}\n", 8 * received / (end - start),
           1 - (double)received / sent);
}

int main(int count, char **words)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (count < 4 || inet_pton(AF_INET, words[2], &address.sin_addr) != 1) {
        fprintf(stderr, "usage: udp_loop serve ADDRESS PORT | send ADDRESS PORT SECONDS\n");
        return 2;
    }
    address.sin_port = htons(atoi(words[3]));
    if (strcmp(words[1], "serve") == 0) {
        if (bind(fd, (struct sockaddr *)&address, sizeof address))
            fail("bind");
        serve(fd);
    } else {
        if (connect(fd, (struct sockaddr *)&address, sizeof address))
            fail("connect");
        send_all(fd, count > 4 ? atof(words[4]) : 1);
    }
    return 0;
}
