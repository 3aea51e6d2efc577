/*
 * multiply: makes a big capture of a small one, for benchmarks.
 *
 *   multiply [-d] OUT.pcap MEGABYTES IN.pcap...
 *
 *   | copy 0: 10.20.0.x | copy 1: 10.20.1.x | copy 2: 10.20.2.x | ...  time -->
 *
 * Each copy begins when the one before has ended and has addresses of its own, so that the load and
 * the delays stay as they were. Of several inputs a copy of each comes in turn, and how many of each there
 * are is printed. -d: every packet twice on end, as a mirror of two ports gives it; MEGABYTES counts it once.
 * Reads Ethernet pcap of this machine's byte order (VLAN tags are fine) and writes nanoseconds; checksums are
 * not made anew. Not part of wirepath: tests/bench/bench_cost builds it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC_MICRO   0xa1b2c3d4u
#define MAGIC_NANO    0xa1b23c4du
#define LINK_ETHERNET 1

/* pcap(5): the header of the file and of each packet. */
#define FILE_HEADER   24
#define PACKET_HEADER 16

/* Pause between two copies, in seconds: as long as the lab's own quiet beginning. */
#define PAUSE 1

typedef struct {
	uint8_t *bytes;
	size_t length;
	uint32_t first;   /* second of the first packet, of the last copy */
	uint32_t seconds; /* from the first packet to the start of the next copy */
	unsigned long copies;
} Capture;

static int
fail(const char *what, const char *path)
{
	fprintf(stderr, "multiply: %s %s\n", what, path);
	return 1;
}

static uint32_t
get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void
put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* The packet at AT, whole inside the capture, else 0; with its header. */
static size_t
packet_size(const Capture *capture, size_t at)
{
	size_t left = capture->length - at;
	size_t size;

	if (left < PACKET_HEADER)
		return 0;
	size = PACKET_HEADER + (size_t)get32(capture->bytes + at + 8);
	return size <= left ? size : 0;
}

/* How long a copy takes, and the capture without a packet that is cut short; times in nanoseconds. */
static void
measure(Capture *capture)
{
	uint32_t factor = get32(capture->bytes) == MAGIC_MICRO ? 1000 : 1;
	uint32_t first = UINT32_MAX;
	uint32_t last = 0;
	size_t at = FILE_HEADER;
	size_t size;

	while ((size = packet_size(capture, at)) > 0) {
		uint32_t seconds = get32(capture->bytes + at);

		put32(capture->bytes + at + 4, get32(capture->bytes + at + 4) * factor);
		first = seconds < first ? seconds : first;
		last = seconds > last ? seconds : last;
		at += size;
	}
	put32(capture->bytes, MAGIC_NANO);
	capture->length = at;
	capture->first = first;
	capture->seconds = last >= first ? last - first + PAUSE : PAUSE;
}

static int
load(const char *path, Capture *capture)
{
	FILE *file = fopen(path, "rb");
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < FILE_HEADER)
		return fail("cannot read", path);
	rewind(file);
	capture->length = (size_t)size;
	capture->bytes = malloc(capture->length);
	if (!capture->bytes || fread(capture->bytes, 1, capture->length, file) != capture->length)
		return fail("cannot read", path);
	fclose(file);
	if (get32(capture->bytes) != MAGIC_MICRO && get32(capture->bytes) != MAGIC_NANO)
		return fail("not a pcap of this byte order:", path);
	if (get32(capture->bytes + 20) != LINK_ETHERNET)
		return fail("not Ethernet:", path);
	measure(capture);
	return 0;
}

/* Adds one to the third byte of an IPv4 address (of 10.20.0.x, say), with carry to the left. */
static void
next_address(uint8_t *address)
{
	int i = 2;

	while (i > 0 && ++address[i] == 0)
		i--;
}

/* As above for IPv6: byte 7 is the last of the network's part. */
static void
next_network(uint8_t *address)
{
	int i = 7;

	while (i > 0 && ++address[i] == 0)
		i--;
}

static void
next_addresses(uint8_t *frame, size_t length)
{
	size_t at = 12;

	while (length >= at + 6 && ((frame[at] == 0x81 && frame[at + 1] == 0) ||
				    (frame[at] == 0x88 && frame[at + 1] == 0xa8)))
		at += 4;
	if (length >= at + 22 && frame[at] == 0x08 && frame[at + 1] == 0x00) {
		next_address(frame + at + 14);
		next_address(frame + at + 18);
	} else if (length >= at + 42 && frame[at] == 0x86 && frame[at + 1] == 0xdd) {
		next_network(frame + at + 10);
		next_network(frame + at + 26);
	}
}

/* Turns a copy into the one that begins at second START, N networks further, in place. */
static void
advance(Capture *capture, uint32_t start, int n)
{
	size_t at = FILE_HEADER;

	while (at < capture->length) {
		uint8_t *header = capture->bytes + at;
		size_t size = packet_size(capture, at);

		put32(header, get32(header) - capture->first + start);
		for (int i = 0; i < n; i++)
			next_addresses(header + PACKET_HEADER, size - PACKET_HEADER);
		at += size;
	}
	capture->first = start;
}

/* The packets of CAPTURE, each TIMES times. */
static int
write_packets(const Capture *capture, int times, FILE *file)
{
	size_t at = FILE_HEADER;

	if (times == 1)
		return fwrite(capture->bytes + at, capture->length - at, 1, file) == 1;
	while (at < capture->length) {
		size_t size = packet_size(capture, at);

		for (int i = 0; i < times; i++)
			if (fwrite(capture->bytes + at, size, 1, file) != 1)
				return 0;
		at += size;
	}
	return 1;
}

static int
write_copies(Capture *captures, int n, const char *path, size_t want, int times)
{
	FILE *file = fopen(path, "wb");
	size_t written = FILE_HEADER;
	uint32_t start = captures[0].first;

	if (!file || fwrite(captures[0].bytes, FILE_HEADER, 1, file) != 1)
		return fail("cannot write", path);
	for (int round = 0; written < want; round++) {
		for (int i = 0; i < n; i++) {
			advance(&captures[i], start, round ? n : i);
			start += captures[i].seconds;
			if (!write_packets(&captures[i], times, file))
				return fail("cannot write", path);
			written += captures[i].length - FILE_HEADER;
			captures[i].copies++;
		}
	}
	return fclose(file) ? fail("cannot write", path) : 0;
}

static int
multiply(const char *out, size_t want, char **paths, int n, int times)
{
	Capture *captures = calloc((size_t)n, sizeof(*captures));
	int status = captures ? 0 : fail("no memory for", out);

	for (int i = 0; i < n && status == 0; i++) {
		status = load(paths[i], &captures[i]);
		if (status == 0 && captures[i].length == FILE_HEADER)
			status = fail("no packets in", paths[i]);
	}
	if (status == 0)
		status = write_copies(captures, n, out, want, times);
	for (int i = 0; i < n && captures; i++) {
		if (status == 0)
			printf("%lu\t%s\n", captures[i].copies, paths[i]);
		free(captures[i].bytes);
	}
	free(captures);
	return status;
}

int
main(int argc, char **argv)
{
	int is_doubled = argc > 1 && strcmp(argv[1], "-d") == 0;
	char **words = argv + 1 + is_doubled;
	int n = argc - 1 - is_doubled;
	unsigned long megabytes = n >= 3 ? strtoul(words[1], NULL, 10) : 0;

	if (megabytes == 0) {
		fprintf(stderr, "usage: multiply [-d] OUT.pcap MEGABYTES IN.pcap...\n");
		return 2;
	}
	return multiply(words[0], megabytes * 1000000, words + 2, n - 2, is_doubled ? 2 : 1);
}
