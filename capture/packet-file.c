/*
 * Packet files: blocks into a buffer, the buffer into the file. Where the disk takes only part of the
 * buffer, the file is cut behind the last block that is whole.
 *
 *   pcapng:  SHB  IDB...  EPB EPB ISB EPB ...      pcap:  header  record record ...
 */
#include "capture/packet-file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "capture/source-format.h"
#include "capture/trace.h"

#define BUFFER_BYTES  (1024 * 1024)
#define NS_PER_S      G_GINT64_CONSTANT(1000000000)
#define MAX_TEXT      4096 /* of names and comments; an option holds 65535 */
#define BLOCK_MOST    (WP_FRAME_MAX + 2 * MAX_TEXT)
#define TSRESOL_NANO  9
#define PCAP_HEAD     16 /* of a record */
#define FILTER_STRING 0  /* the first byte of if_filter: a text for libpcap */

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_STATISTICS = 5,
	BLOCK_ENHANCED = 6
};

enum {
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	OPTION_USERAPPL = 4, /* SHB */
	OPTION_NAME = 2,     /* IDB */
	OPTION_TSRESOL = 9,
	OPTION_FILTER = 11,
	OPTION_IFRECV = 4, /* ISB */
	OPTION_IFDROP = 5,
	OPTION_OSDROP = 7,
	OPTION_USRDELIV = 8
};

struct WpPacketFile {
	int fd;
	char *path;
	WpPacketFileForm form;
	guint32 link_type; /* of the first interface: of all in a pcap file */
	guint8 *buffer;
	gsize n;            /* in the buffer: whole blocks */
	gsize n_head;       /* of these, what is no record of a pcap file */
	gsize block;        /* where the block that is being made begins */
	guint64 n_written;  /* bytes in the file */
	guint64 n_frames;   /* put */
	guint64 n_lost;     /* of those, what did not get into the file */
	guint64 n_buffered; /* frames in the buffer */
	GError *failure;
};

/* --- the buffer --- */

/* Bytes of the block at DATA. */
static gsize
block_length(const WpPacketFile *file, const guint8 *data)
{
	guint32 length;

	if (file->form == WP_PACKET_FILE_PCAPNG) {
		memcpy(&length, data + 4, sizeof length);
		return length;
	}
	memcpy(&length, data + 8, sizeof length);
	return PCAP_HEAD + length;
}

static gboolean
is_frame(const WpPacketFile *file, const guint8 *data)
{
	guint32 type;
	memcpy(&type, data, sizeof type);
	return file->form == WP_PACKET_FILE_PCAP || type == BLOCK_ENHANCED;
}

/* Only the first N bytes of the buffer are in the file: what of them is whole stays. */
static void
keep_whole(WpPacketFile *file, gsize n)
{
	gsize at = file->n_head <= n ? file->n_head : 0;
	guint64 n_kept = 0;

	while (at < n && block_length(file, file->buffer + at) <= n - at) {
		n_kept += is_frame(file, file->buffer + at);
		at += block_length(file, file->buffer + at);
	}
	file->n_lost += file->n_buffered - n_kept;
	file->n_written += at;
	if (ftruncate(file->fd, (off_t)file->n_written) == 0)
		(void)lseek(file->fd, (off_t)file->n_written, SEEK_SET);
}

static void
flush(WpPacketFile *file)
{
	gsize at = 0;

	while (at < file->n) {
		gssize written = write(file->fd, file->buffer + at, file->n - at);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			file->failure = g_error_new(WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE,
						    "cannot write to %s: %s\nthe packets that were "
						    "written before can be read",
						    file->path, g_strerror(errno));
			break;
		}
		at += (gsize)written;
	}
	if (file->failure)
		keep_whole(file, at);
	else
		file->n_written += at;
	file->n = file->n_head = file->n_buffered = 0;
}

static void
put(WpPacketFile *file, gconstpointer data, gsize n)
{
	memcpy(file->buffer + file->n, data, n);
	file->n += n;
}

static void
put_u16(WpPacketFile *file, guint16 value)
{
	put(file, &value, sizeof value);
}

static void
put_u32(WpPacketFile *file, guint32 value)
{
	put(file, &value, sizeof value);
}

static void
pad(WpPacketFile *file)
{
	while (file->n % 4)
		file->buffer[file->n++] = 0;
}

static void
put_option(WpPacketFile *file, guint16 code, gconstpointer data, gsize n)
{
	put_u16(file, code);
	put_u16(file, (guint16)n);
	put(file, data, n);
	pad(file);
}

static void
put_text(WpPacketFile *file, guint16 code, const char *text)
{
	put_option(file, code, text, MIN(strlen(text), MAX_TEXT));
}

static void
put_number(WpPacketFile *file, guint16 code, guint64 number)
{
	put_option(file, code, &number, sizeof number);
}

/* High word first, whatever the byte order. */
static void
put_time(WpPacketFile *file, gint64 time_ns)
{
	put_u32(file, (guint32)((guint64)time_ns >> 32));
	put_u32(file, (guint32)time_ns);
}

/* For a block as long as they may be. FALSE after an error. */
static gboolean
make_room(WpPacketFile *file)
{
	if (file->n > BUFFER_BYTES)
		flush(file);
	return !file->failure;
}

/* Makes room for a block, and begins it. FALSE after an error. */
static gboolean
begin_block(WpPacketFile *file, guint32 type)
{
	if (!make_room(file))
		return FALSE;
	file->block = file->n;
	put_u32(file, type);
	put_u32(file, 0);
	return TRUE;
}

static void
end_block(WpPacketFile *file)
{
	guint32 length = (guint32)(file->n - file->block + 4);

	memcpy(file->buffer + file->block + 4, &length, sizeof length);
	put_u32(file, length);
}

/* --- what is in a file --- */

static void
put_section(WpPacketFile *file)
{
	const gint64 unknown = -1;

	begin_block(file, BLOCK_SECTION);
	put_u32(file, 0x1a2b3c4d);
	put_u16(file, 1);
	put_u16(file, 0);
	put(file, &unknown, sizeof unknown);
	put_text(file, OPTION_USERAPPL, "wirepath");
	put_u32(file, OPTION_END);
	end_block(file);
}

static void
put_interface(WpPacketFile *file, const WpPacketFileInterface *interface)
{
	const guint8 resolution = TSRESOL_NANO;

	if (!begin_block(file, BLOCK_INTERFACE))
		return;
	put_u16(file, (guint16)interface->link_type);
	put_u16(file, 0);
	put_u32(file, interface->snap_length);
	put_text(file, OPTION_NAME, interface->name);
	put_option(file, OPTION_TSRESOL, &resolution, 1);
	if (interface->filter) {
		g_autofree char *text =
			g_strdup_printf("%c%.*s", '.', MAX_TEXT - 1, interface->filter);
		gsize n = strlen(text);
		text[0] = FILTER_STRING;
		put_option(file, OPTION_FILTER, text, n);
	}
	put_u32(file, OPTION_END);
	end_block(file);
}

static void
put_pcap_head(WpPacketFile *file, const WpPacketFileInterface *interface)
{
	put_u32(file, 0xa1b23c4d);
	put_u16(file, 2);
	put_u16(file, 4);
	put_u32(file, 0);
	put_u32(file, 0);
	put_u32(file, interface->snap_length);
	put_u32(file, interface->link_type);
	file->n_head = file->n;
}

static gboolean
check_pcap(const WpPacketFile *file, const WpPacketFileInterface *interface, GError **error)
{
	if (file->form != WP_PACKET_FILE_PCAP || interface->link_type == file->link_type)
		return TRUE;
	g_set_error(
		error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
		"cannot write %s: a pcap file has one link type, and that of %s differs from the "
		"one before\nname it .pcapng",
		file->path, interface->name);
	return FALSE;
}

gboolean
wp_packet_file_add(WpPacketFile *file, const WpPacketFileInterface *interface, GError **error)
{
	if (!check_pcap(file, interface, error))
		return FALSE;
	if (file->form == WP_PACKET_FILE_PCAPNG)
		put_interface(file, interface);
	return TRUE;
}

WpPacketFile *
wp_packet_file_new(int fd, const char *path, WpPacketFileForm form,
		   const WpPacketFileInterface *interfaces, guint n_interfaces, GError **error)
{
	g_autoptr(WpPacketFile) file = g_new0(WpPacketFile, 1);

	file->fd = fd;
	file->path = g_strdup(path);
	file->form = form;
	file->link_type = interfaces[0].link_type;
	for (guint i = 1; i < n_interfaces; i++)
		if (!check_pcap(file, &interfaces[i], error))
			return NULL;
	file->buffer = g_malloc(BUFFER_BYTES + BLOCK_MOST);
	if (form == WP_PACKET_FILE_PCAP) {
		put_pcap_head(file, &interfaces[0]);
	} else {
		put_section(file);
		for (guint i = 0; i < n_interfaces; i++)
			put_interface(file, &interfaces[i]);
	}
	/* There is no reading it without, and who cannot write should know at once. */
	return wp_packet_file_flush(file, error) ? g_steal_pointer(&file) : NULL;
}

void
wp_packet_file_free(WpPacketFile *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		(void)close(file->fd);
	g_clear_error(&file->failure);
	g_free(file->buffer);
	g_free(file->path);
	g_free(file);
}

static void
put_enhanced(WpPacketFile *file, const WpFrame *frame, guint32 captured)
{
	if (!begin_block(file, BLOCK_ENHANCED))
		return;
	put_u32(file, frame->interface);
	put_time(file, frame->time_ns);
	put_u32(file, captured);
	put_u32(file, frame->length);
	put(file, frame->data, captured);
	pad(file);
	end_block(file);
}

static void
put_record(WpPacketFile *file, const WpFrame *frame, guint32 captured)
{
	if (!make_room(file))
		return;
	put_u32(file, (guint32)(frame->time_ns / NS_PER_S));
	put_u32(file, (guint32)(frame->time_ns % NS_PER_S));
	put_u32(file, captured);
	put_u32(file, frame->length);
	put(file, frame->data, captured);
}

void
wp_packet_file_frame(WpPacketFile *file, const WpFrame *frame)
{
	guint32 captured = MIN(frame->captured, WP_FRAME_MAX);

	if (file->form == WP_PACKET_FILE_PCAPNG)
		put_enhanced(file, frame, captured);
	else
		put_record(file, frame, captured);
	file->n_frames++;
	if (file->failure)
		file->n_lost++;
	else
		file->n_buffered++;
}

void
wp_packet_file_statistics(WpPacketFile *file, guint interface, gint64 time_ns,
			  const WpPacketFileStatistics *statistics, const char *comment)
{
	if (file->form != WP_PACKET_FILE_PCAPNG || !begin_block(file, BLOCK_STATISTICS))
		return;
	put_u32(file, interface);
	put_time(file, time_ns);
	if (comment)
		put_text(file, OPTION_COMMENT, comment);
	put_number(file, OPTION_IFRECV, statistics->received);
	put_number(file, OPTION_IFDROP, statistics->interface_drops);
	put_number(file, OPTION_OSDROP, statistics->kernel_drops);
	put_number(file, OPTION_USRDELIV, statistics->written);
	put_u32(file, OPTION_END);
	end_block(file);
}

gboolean
wp_packet_file_flush(WpPacketFile *file, GError **error)
{
	if (!file->failure)
		flush(file);
	if (file->failure && error)
		*error = g_error_copy(file->failure);
	return !file->failure;
}

gboolean
wp_packet_file_close(WpPacketFile *file, GError **error)
{
	if (!wp_packet_file_flush(file, error))
		return FALSE;
	int status = close(file->fd);
	file->fd = -1;
	if (status < 0)
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE,
			    "cannot write to %s: %s", file->path, g_strerror(errno));
	return status == 0;
}

guint64
wp_packet_file_bytes(const WpPacketFile *file)
{
	return file->n_written + file->n;
}

guint64
wp_packet_file_frames(const WpPacketFile *file)
{
	return file->n_frames - file->n_lost;
}

guint64
wp_packet_file_lost(const WpPacketFile *file)
{
	return file->n_lost;
}
