/*
 * blast IF COUNT RATE [FILE.pcap]: sends COUNT frames a second RATE from interface IF, as precisely as can be: those
 * of a pcap file over and over, with new flows each time, or else datagrams of 100 bytes with a number. Prints how
 * many the kernel took, and how long that was. For run-live.
 *
 *   cc -O2 -o blast blast.c
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH     32
#define MAX_FRAME 2048 /* a pcap with segments put together by an offload is no use here */
#define MAX_FILE  (64 * 1024)

typedef struct {
	unsigned char data[MAX_FRAME];
	unsigned length;
} Frame;

static Frame *frames;
static unsigned n_frames;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static void
make_datagram(void)
{
	static const unsigned char head[] = {
		2, 0,  0,  0, 0, 2,  2,  0, 0, 0,  0,  1, 8, 0,    0x45, 0,    0,    86, 0,  0, 0,
		0, 64, 17, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2, 0x9c, 0x40, 0x27, 0x0f, 0,  66, 0, 0,
	};
	frames = calloc(1, sizeof *frames);
	n_frames = 1;
	memcpy(frames->data, head, sizeof head);
	frames->length = 100;
}

static void
read_frames(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint32_t head[6], record[4];

	if (!file || fread(head, sizeof head, 1, file) != 1)
		die(path);
	frames = calloc(MAX_FILE, sizeof *frames);
	while (n_frames < MAX_FILE && fread(record, sizeof record, 1, file) == 1) {
		Frame *frame = &frames[n_frames];
		if (record[2] > MAX_FRAME) {
			fseek(file, record[2], SEEK_CUR);
			continue;
		}
		frame->length = record[2];
		if (fread(frame->data, 1, frame->length, file) != frame->length)
			break;
		n_frames++;
	}
	fclose(file);
}

/* A number in a datagram of ours; in IPv4 of a file other addresses, the same for both directions. */
static void
vary(Frame *frame, uint64_t n, int is_file)
{
	uint32_t round = (uint32_t)(n / n_frames);
	if (!is_file)
		memcpy(frame->data + 42, &n, sizeof n);
	else if (frame->length > 34 && frame->data[12] == 8 && frame->data[13] == 0) {
		frame->data[27] = frame->data[31] = (unsigned char)(round & 255);
		frame->data[18] = (unsigned char)(round >> 8); /* no doubles, by the id either */
		frame->data[19] = (unsigned char)round;
	}
}

static double
now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: blast IF COUNT RATE [FILE.pcap]\n");
		return 2;
	}
	uint64_t count = strtoull(argv[2], NULL, 10), sent = 0, refused = 0;
	double rate = strtod(argv[3], NULL);
	int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_ifindex = (int)if_nametoindex(argv[1]) };

	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof to) < 0)
		die(argv[1]);
	setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one);
	if (argc > 4)
		read_frames(argv[4]);
	else
		make_datagram();
	static Frame copies[BATCH];
	struct mmsghdr messages[BATCH];
	struct iovec vectors[BATCH];
	double start = now();
	while (sent < count) {
		unsigned n = 0;
		for (; n < BATCH && sent + n < count; n++) {
			const Frame *frame = &frames[(sent + n) % n_frames];
			memcpy(copies[n].data, frame->data, frame->length);
			copies[n].length = frame->length;
			vary(&copies[n], sent + n, argc > 4);
			vectors[n] = (struct iovec){ copies[n].data, copies[n].length };
			messages[n] = (struct mmsghdr){ .msg_hdr = { .msg_iov = &vectors[n],
								     .msg_iovlen = 1 } };
		}
		for (unsigned done = 0; done < n;) {
			int got = sendmmsg(fd, messages + done, n - done, 0);
			if (got <= 0)
				refused++;
			else
				done += (unsigned)got;
		}
		sent += n;
		double ahead = (double)sent / rate - (now() - start);
		if (ahead > 0.0002) {
			struct timespec pause = { 0, (long)(ahead * 1e9) % 1000000000 };
			nanosleep(&pause, NULL);
		}
	}
	double seconds = now() - start;
	printf("%llu sent, %llu tried again, %.3f s, %.0f/s\n", (unsigned long long)sent,
	       (unsigned long long)refused, seconds, (double)sent / seconds);
	return 0;
}
