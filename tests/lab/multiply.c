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
 * Reads Ethernet pcap of this machine's byte order (VLAN tags are fine) and writes nanoseconds; checksums go with
 * the addresses, but behind extension headers of IPv6. Not part of wirepath: tests/bench/bench_cost builds it.
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

/* The sum of N bytes, at most 65535, as 16-bit words in the order that they have on the wire (RFC 1071). */
static uint32_t
sum_words(const uint8_t *at, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	return sum;
}

static uint16_t
fold(uint32_t sum)
{
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* CHECKSUM covers words whose folded sum was BEFORE and is AFTER (RFC 1624): one that was wrong stays as wrong. */
static void
mend(uint8_t *checksum, uint16_t before, uint16_t after)
{
	uint16_t field = (uint16_t)sum_words(checksum, 2);

	field = (uint16_t)~fold((uint32_t)(uint16_t)~field + (uint16_t)~before + after);
	checksum[0] = (uint8_t)(field >> 8);
	checksum[1] = (uint8_t)field;
}

/*
 * Where the network card was to fill in the checksum FIELD of TCP or UDP, it is the sum of the pseudo header alone: with
 * LENGTH or, of what the card was to cut, without. By chance so is a right one.
 */
static int
is_unfinished(const uint8_t *header, size_t captured, uint32_t field, uint32_t pseudo,
	      uint32_t length)
{
	if (field != fold(pseudo + length) && field != fold(pseudo))
		return 0;
	return captured < length ||
	       fold(fold(pseudo + length) + fold(sum_words(header, length))) != 0xffff;
}

/* The checksum of TCP or UDP, of which the capture holds CAPTURED bytes of LENGTH. */
static void
mend_transport(uint8_t *header, size_t captured, uint8_t protocol, uint32_t length, uint16_t before,
	       uint16_t after)
{
	size_t at = protocol == 6 ? 16 : 6;
	uint32_t field;

	if ((protocol != 6 && protocol != 17) || captured < at + 2)
		return;
	field = sum_words(header + at, 2);
	if (protocol == 17 && field == 0)
		return; /* has none */
	if (!is_unfinished(header, captured, field, (uint32_t)before + protocol, length)) {
		mend(header + at, before, after);
		return;
	}
	field = fold(field + (uint16_t)~before + after);
	header[at] = (uint8_t)(field >> 8);
	header[at + 1] = (uint8_t)field;
}

/* N networks further. */
static void
move_ipv4(uint8_t *ip, size_t captured, int n)
{
	size_t header = (size_t)(ip[0] & 15) * 4;
	uint16_t before = fold(sum_words(ip + 12, 8)), after;

	for (int i = 0; i < n; i++) {
		next_address(ip + 12);
		next_address(ip + 16);
	}
	after = fold(sum_words(ip + 12, 8));
	if (sum_words(ip + 10, 2) != 0) /* else the network card was to fill it in */
		mend(ip + 10, before, after);
	if (header <= captured && (sum_words(ip + 6, 2) & 0x1fff) == 0) /* not a later fragment */
		mend_transport(ip + header, captured - header, ip[9],
			       (sum_words(ip + 2, 2) - (uint32_t)header) & 0xffff, before, after);
}

static void
move_ipv6(uint8_t *ip, size_t captured, int n)
{
	uint16_t before = fold(sum_words(ip + 8, 32));

	for (int i = 0; i < n; i++) {
		next_network(ip + 8);
		next_network(ip + 24);
	}
	mend_transport(ip + 40, captured - 40, ip[6], sum_words(ip + 4, 2), before,
		       fold(sum_words(ip + 8, 32)));
}

static void
move_addresses(uint8_t *frame, size_t length, int n)
{
	size_t at = 12;

	while (length >= at + 6 && ((frame[at] == 0x81 && frame[at + 1] == 0) ||
				    (frame[at] == 0x88 && frame[at + 1] == 0xa8)))
		at += 4;
	if (length >= at + 22 && frame[at] == 0x08 && frame[at + 1] == 0x00)
		move_ipv4(frame + at + 2, length - at - 2, n);
	else if (length >= at + 42 && frame[at] == 0x86 && frame[at + 1] == 0xdd)
		move_ipv6(frame + at + 2, length - at - 2, n);
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
		move_addresses(header + PACKET_HEADER, size - PACKET_HEADER, n);
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
