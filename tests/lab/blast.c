/*
 * blast IF COUNT RATE [FILE.pcap [SYSTEMS]]: sends COUNT frames a second RATE from interface IF, as precisely as can
 * be: datagrams of 100 bytes with a number, or else the IPv4 frames of an Ethernet pcap file, over and over, as of
 * SYSTEMS systems side by side, each with addresses of its own and elsewhere in the file. A connection that the file
 * shows in mid-stream goes on in the next round: its sequence numbers do. Checksums are not made anew. Prints how many
 * the kernel took, and how long that was. For run-live.
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

#define BATCH           32
#define MAX_FRAME       2048 /* a pcap with segments put together by an offload is no use here */
#define MAX_FILE        (256 * 1024)
#define MAX_CONNECTIONS 65536

/* Offsets in an Ethernet frame of IPv4 without options in its IP header, and of TCP after it. */
#define AT_ID       18
#define AT_PROTOCOL 23
#define AT_SOURCE   26
#define AT_TARGET   30
#define AT_SEQUENCE 38
#define AT_ACK      42
#define AT_OFFSET   46
#define AT_FLAGS    47
#define HEADERS     54

#define FIN     1
#define SYN     2
#define HAS_ACK 16

/* What one direction of a connection has sent in the file: from FIRST, as many as MOST. */
typedef struct {
	int known;
	uint32_t first;
	uint32_t most;
} Direction;

typedef struct {
	unsigned char key[12]; /* addresses and ports as the first frame has them */
	Direction directions[2];
} Connection;

typedef struct {
	unsigned char data[MAX_FRAME];
	unsigned length;
	int connection; /* -1: not of TCP */
	int direction;  /* 0: as the connection's key has it */
} Frame;

static Frame *frames;
static unsigned n_frames;
static Connection *connections;
static int n_connections;
static unsigned systems = 1;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t
get32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void
put32(unsigned char *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> (24 - 8 * i));
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

/* The newest connection of the frame's addresses and ports, in *DIRECTION which way; -1: none. */
static int
newest_connection(const unsigned char *own, int *direction)
{
	unsigned char reversed[12];

	for (int i = 0; i < 12; i++)
		reversed[i] = own[i < 8 ? (i + 4) % 8 : 8 + (i + 2) % 4];
	for (int i = n_connections - 1; i >= 0; i--) {
		*direction = memcmp(connections[i].key, own, 12) != 0;
		if (!*direction || !memcmp(connections[i].key, reversed, 12))
			return i;
	}
	return -1;
}

/* That connection; but a SYN with a number that is not its own begins another. */
static int
find_connection(const Frame *frame, int *direction)
{
	const unsigned char *key = frame->data + AT_SOURCE;
	int newest = newest_connection(key, direction);

	if (newest >= 0) {
		const Direction *way = &connections[newest].directions[*direction];
		if ((frame->data[AT_FLAGS] & (SYN | HAS_ACK)) != SYN ||
		    (way->known && get32(frame->data + AT_SEQUENCE) == way->first))
			return newest;
	}
	*direction = 0;
	if (n_connections == MAX_CONNECTIONS)
		return -1;
	memcpy(connections[n_connections].key, key, 12);
	return n_connections++;
}

static void
reach(Direction *way, uint32_t sequence)
{
	if (!way->known) {
		way->known = 1;
		way->first = sequence;
	}
	if ((int32_t)(sequence - way->first) > (int32_t)way->most)
		way->most = sequence - way->first;
}

static void
note_frame(Frame *frame)
{
	const unsigned char *data = frame->data;

	frame->connection = -1;
	if (data[AT_PROTOCOL] != 6 || frame->length < HEADERS)
		return;
	frame->connection = find_connection(frame, &frame->direction);
	if (frame->connection < 0)
		return;
	uint32_t sequence = get32(data + AT_SEQUENCE);
	unsigned headers = 20 + (data[AT_OFFSET] >> 4) * 4u,
		 whole = (unsigned)data[16] << 8 | data[17];
	Direction *ways = connections[frame->connection].directions;
	reach(&ways[frame->direction], sequence);
	reach(&ways[frame->direction], sequence + (whole > headers ? whole - headers : 0) +
					       ((data[AT_FLAGS] & SYN) != 0) +
					       ((data[AT_FLAGS] & FIN) != 0));
	if (data[AT_FLAGS] & HAS_ACK)
		reach(&ways[!frame->direction], get32(data + AT_ACK));
}

static void
read_frames(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint32_t head[6], record[4];

	if (!file || fread(head, sizeof head, 1, file) != 1)
		die(path);
	frames = calloc(MAX_FILE, sizeof *frames);
	connections = calloc(MAX_CONNECTIONS, sizeof *connections);
	if (!frames || !connections)
		die("memory");
	while (n_frames < MAX_FILE && fread(record, sizeof record, 1, file) == 1) {
		Frame *frame = &frames[n_frames];
		if (record[2] > MAX_FRAME) {
			fprintf(stderr, "blast: a frame of %u bytes in %s\n", record[2], path);
			exit(1);
		}
		frame->length = record[2];
		if (fread(frame->data, 1, frame->length, file) != frame->length)
			break;
		if (frame->length < AT_SEQUENCE || frame->data[12] != 8 || frame->data[13] ||
		    frame->data[14] != 0x45)
			continue;
		note_frame(frame);
		n_frames++;
	}
	fclose(file);
	if (!n_frames) {
		fprintf(stderr, "blast: no frame of IPv4 in %s\n", path);
		exit(1);
	}
}

/* Frame N of all: a number in a datagram of ours; those of a file by system, with what each round moves. */
static void
make_frame(Frame *frame, uint64_t n, int is_file)
{
	uint64_t system = n % systems, at = n / systems + system * n_frames / systems;
	const Frame *model = &frames[is_file ? at % n_frames : 0];
	uint32_t round = (uint32_t)(at / n_frames);

	memcpy(frame->data, model->data, model->length);
	frame->length = model->length;
	if (!is_file) {
		memcpy(frame->data + 42, &n, sizeof n);
		return;
	}
	frame->data[AT_SOURCE + 1] = (unsigned char)(frame->data[AT_SOURCE + 1] + system);
	frame->data[AT_TARGET + 1] = (unsigned char)(frame->data[AT_TARGET + 1] + system);
	frame->data[AT_ID] = (unsigned char)(round >> 8); /* no doubles, by the id either */
	frame->data[AT_ID + 1] = (unsigned char)round;
	if (model->connection < 0)
		return;
	const Direction *ways = connections[model->connection].directions;
	put32(frame->data + AT_SEQUENCE,
	      get32(frame->data + AT_SEQUENCE) + round * ways[model->direction].most);
	if (frame->data[AT_FLAGS] & HAS_ACK)
		put32(frame->data + AT_ACK,
		      get32(frame->data + AT_ACK) + round * ways[!model->direction].most);
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
		fprintf(stderr, "usage: blast IF COUNT RATE [FILE.pcap [SYSTEMS]]\n");
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
	if (argc > 5 && atoi(argv[5]) > 0)
		systems = (unsigned)atoi(argv[5]);
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
			make_frame(&copies[n], sent + n, argc > 4);
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
