/*
 * Operands -> list of files with their kind -> runs (all captures together, then each trace) -> sink.
 *
 *   operands --expand--> Input[] --sniff--> captures ---------wp_capture_run()--.
 *                                       |-> spans ------------wp_span_file_run()-+   (beside others: _join())
 *                                       `-> traces --join-----wp_trace_read()---+--> sink
 */
#include "report/load.h"

#include <string.h>

#include "capture/capture.h"
#include "capture/decoder.h"
#include "capture/input.h"
#include "capture/source.h"
#include "capture/span-file.h"
#include "capture/taps.h"
#include "capture/trace-io.h"
#include "report/error.h"
#include "report/interrupt.h"
#include "report/join.h"

/* Enough of a file to tell what it is. */
#define HEAD_BYTES 4096

typedef enum {
	IS_CAPTURE,
	IS_TRACE,
	IS_SPANS,
	IS_EMPTY,
	IS_CUT, /* compressed, and so short that nothing comes out */
	IS_OTHER,
	IS_UNREADABLE
} Content;

typedef struct {
	char *path;
	char *label;     /* of its operand, or NULL */
	Content content; /* IS_CAPTURE, IS_TRACE or IS_SPANS */
} Input;

typedef struct {
	const WpInvocation *invocation;
	const WpLoadOptions *options;
	GArray *inputs;          /* Input */
	char *label;             /* of the operand at hand, or NULL */
	WpTaps *taps;            /* where there are several captures, or NULL */
	WpInput *standard_input; /* opened for sniffing and then read on; NULL = not used */
	gint64 from_ns;
	gint64 to_ns;
	const char *unit; /* what is being counted: "packets" */
	gboolean is_stopped;
} Load;

static void
list_protocols(WpOut *out)
{
	for (const WpDecoder *const *d = wp_decoders; *d; d++)
		wp_out_printf(out, "%-15s%s\n", (*d)->name, (*d)->summary);
	wp_out_printf(out, "%-15s%s\n", wp_decoder_generic.name, wp_decoder_generic.summary);
}

static void
list_counters(WpOut *out)
{
	static const char *const severities[] = { "fact", "note", "loss" };
	for (int i = 0; i < WP_N_COUNTERS; i++)
		wp_out_printf(out, "%-24s%-6s%s\n", wp_counter_info[i].name,
			      severities[wp_counter_info[i].severity], wp_counter_info[i].text);
}

#define AT(member) .offset = offsetof(WpLoadOptions, member)

static const char *const from_words[] = { WP_LOAD_MAIL, NULL };

static const WpOption selection_table[] = {
	{ .name = "from",
	  .kind = WP_OPT_TIME,
	  AT(from),
	  .argument = "TIME",
	  .choices = from_words,
	  .help = "only packets from then on: 2026-10-20T08:15:05Z, seconds\nsince 1970, or +10s "
		  "after the first packet; \"mail\": INPUT are mails\n(mbox, Maildir), their "
		  "Received fields the messages" },
	{ .name = "to",
	  .kind = WP_OPT_TIME,
	  AT(to),
	  .argument = "TIME",
	  .help = "only packets before then" },
	{ .name = "filter",
	  .kind = WP_OPT_TEXT,
	  AT(filter),
	  .argument = "BPF",
	  .help = "only packets that pass, as with tcpdump: \"host 10.0.0.3\"" },
	{ .name = NULL },
};

static const WpOption reading_table[] = {
	{ .name = "decode-as",
	  .kind = WP_OPT_TEXT,
	  AT(decode_as),
	  .argument = "PORT=PROTOCOL",
	  .help = "what a server's port speaks, where it is not recognised" },
	{ .name = "keylog",
	  .kind = WP_OPT_TEXT,
	  AT(keylog),
	  .argument = "FILE",
	  .help = "secrets with which TLS is read, as SSLKEYLOGFILE has them" },
	{ .name = "clock",
	  .kind = WP_OPT_WORDS,
	  AT(clocks),
	  .argument = "TAP[=OFFSET[,PPM]]",
	  .help = "of several taps: the one whose clock all times are by; or how\n"
		  "fast its clock is and how much it gains; repeatable" },
	{ .name = "min-taps",
	  .kind = WP_OPT_INT,
	  AT(min_taps),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 32,
	  .help = "of several taps: use the time in which N of them were at\nwork; by default "
		  "all" },
	{ .name = "rmi-interfaces",
	  .kind = WP_OPT_TEXT,
	  AT(rmi_interfaces),
	  .argument = "FILE",
	  .help = "names of Java RMI methods, as javap -s prints them" },
	{ .name = "inside",
	  .kind = WP_OPT_TEXT,
	  AT(inside),
	  .argument = "DOMAIN[,...]",
	  .help = "mails: only hops to hosts in these domains" },
	{ .name = "token-key",
	  .kind = WP_OPT_TEXT,
	  AT(token_key),
	  .argument = "KEY",
	  .help = "key of token hashes; by default derived from the input" },
	{ .name = "max-flows",
	  .kind = WP_OPT_INT,
	  AT(max_flows),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 100e6,
	  .help = "flows followed at a time: bounds the memory" },
	{ .name = "threads",
	  .kind = WP_OPT_INT,
	  AT(n_threads),
	  .argument = "N",
	  .maximum = 64,
	  .help = "threads at work, at most; 0: as many as pay" },
	{ .name = "strict",
	  .kind = WP_OPT_FLAG,
	  AT(is_strict),
	  .help = "exit with 5 where input was cut short or packets are missing" },
	{ .name = "list-protocols",
	  .kind = WP_OPT_ACTION,
	  .action = list_protocols,
	  .help = "protocols that are understood" },
	{ .name = "list-counters",
	  .kind = WP_OPT_ACTION,
	  .action = list_counters,
	  .help = "what is counted as capture quality" },
	{ .name = NULL },
};

void
wp_load_declare(WpOptions *parser, WpLoadOptions *options)
{
	wp_options_add(parser, "Selection", selection_table, options);
	wp_options_add(parser, "Reading", reading_table, options);
}

gboolean
wp_load_is_selective(const WpLoadOptions *options)
{
	return options->from.is_set || options->to.is_set || options->filter;
}

static void
clear_input(gpointer data)
{
	g_free(((Input *)data)->path);
	g_free(((Input *)data)->label);
}

static void
load_init(Load *load, const WpInvocation *invocation, const WpLoadOptions *options)
{
	*load = (Load){ .invocation = invocation, .options = options };
	load->inputs = g_array_new(FALSE, TRUE, sizeof(Input));
	g_array_set_clear_func(load->inputs, clear_input);
	load->from_ns = load->to_ns = WP_NO_TIME;
}

static void
load_clear(Load *load)
{
	g_array_unref(load->inputs);
	g_free(load->label);
	wp_taps_free(load->taps);
	wp_input_free(load->standard_input);
	wp_progress_clear(load->invocation->progress);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Load, load_clear)

static gboolean
is_input(Content content)
{
	return content == IS_CAPTURE || content == IS_TRACE || content == IS_SPANS;
}

/* Standard input cannot be opened twice: what has been peeked at stays in load->standard_input. */
static Content
sniff(Load *load, const char *path, GError **error)
{
	gboolean is_stdin = strcmp(path, "-") == 0;
	g_autoptr(WpInput) input = wp_input_open(path, error);
	const guint8 *head;
	if (!input)
		return IS_UNREADABLE;
	gssize length = wp_input_peek(input, HEAD_BYTES, &head, error);
	if (length < 0)
		return IS_UNREADABLE;
	Content content = length == 0 && wp_input_is_cut(input)        ? IS_CUT
			  : length == 0                                ? IS_EMPTY
			  : wp_capture_is_capture(head, (gsize)length) ? IS_CAPTURE
			  : wp_trace_is_trace(head, (gsize)length)     ? IS_TRACE
			  : wp_span_file_is_spans(head, (gsize)length) ? IS_SPANS
								       : IS_OTHER;
	if (is_stdin)
		load->standard_input = g_steal_pointer(&input);
	return content;
}

static void
add_input(Load *load, const char *path, Content content)
{
	Input input = { g_strdup(path), g_strdup(load->label), content };
	g_array_append_val(load->inputs, input);
}

/* The source of captures knows what files that are none most often are. */
static gboolean
fail_as_other(const char *path, GError **error)
{
	g_autoptr(GError) reason = NULL;
	if (strcmp(path, "-") != 0)
		wp_source_free(wp_source_open(path, 0, &reason));
	/* Nothing more is known of it. */
	if (!reason || g_str_has_suffix(reason->message, ": it is neither pcap nor pcapng")) {
		g_clear_error(&reason);
		g_set_error(&reason, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read %s: it is neither a capture nor a trace",
			    strcmp(path, "-") == 0 ? "standard input" : path);
	}
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
		    "%s\npcap, pcapng, trace and span files are read, also as .gz, .zst and .lz4; "
		    "file(1) tells what this is",
		    reason->message);
	return FALSE;
}

static gboolean
add_file(Load *load, const char *path, GError **error)
{
	if (strcmp(path, "-") == 0 && load->standard_input) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "standard input (-) can be read only once");
		return FALSE;
	}
	Content content = sniff(load, path, error);
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	if (content == IS_UNREADABLE)
		return FALSE;
	if (content == IS_EMPTY && wp_interrupt_came()) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_INTERRUPTED,
			    "interrupted before %s gave anything", name);
		return FALSE;
	}
	if (content == IS_EMPTY || content == IS_CUT) {
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA, "cannot read %s: %s", name,
			content == IS_EMPTY ? "it is empty"
					    : "it is cut short, nothing of it can be decompressed");
		return FALSE;
	}
	if (content == IS_OTHER)
		return fail_as_other(path, error);
	add_input(load, path, content);
	return TRUE;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (transfer full) The regular files in a directory that are not hidden, by name. */
static GPtrArray *
list_files(const char *path, GError **error)
{
	g_autoptr(GDir) directory = g_dir_open(path, 0, error);
	if (!directory)
		return NULL;
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	for (const char *name; (name = g_dir_read_name(directory));) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		if (name[0] != '.' && g_file_test(file, G_FILE_TEST_IS_REGULAR))
			g_ptr_array_add(files, g_steal_pointer(&file));
	}
	g_ptr_array_sort(files, compare_names);
	return files;
}

/* The captures and traces in a directory, by name; anything else in it is passed over. */
static gboolean
add_directory(Load *load, const char *path, GError **error)
{
	g_autoptr(GError) reason = NULL;
	g_autoptr(GPtrArray) files = list_files(path, &reason);
	guint before = load->inputs->len;
	if (!files) {
		gboolean denied = g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_ACCES);
		g_set_error(error, WP_CAPTURE_ERROR,
			    denied ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_OPEN,
			    "cannot open %s: %s", path, strrchr(reason->message, ':') + 2);
		return FALSE;
	}
	for (guint i = 0; i < files->len; i++) {
		const char *file = files->pdata[i];
		Content content = sniff(load, file, NULL);
		if (is_input(content))
			add_input(load, file, content);
	}
	if (load->inputs->len > before)
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
		    "cannot read %s: the directory holds no capture and no trace", path);
	return FALSE;
}

const char *
wp_load_path(const char *operand)
{
	const char *equals = strchr(operand, '=');
	if (!equals || equals == operand || memchr(operand, '/', (gsize)(equals - operand)) ||
	    g_file_test(operand, G_FILE_TEST_EXISTS))
		return operand;
	return equals + 1;
}

char *
wp_load_file(const WpInvocation *invocation)
{
	const char *path = wp_load_path(invocation->operands[0]);
	if (invocation->n_operands != 1 || strcmp(path, "-") == 0 ||
	    !g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return NULL;
	return g_path_get_basename(path);
}

void
wp_load_add_inputs(const WpInvocation *invocation, WpOverwrite *files)
{
	for (guint i = 0; i < invocation->n_operands; i++) {
		const char *path = wp_load_path(invocation->operands[i]);
		g_autoptr(GPtrArray) inside = NULL;
		if (g_file_test(path, G_FILE_TEST_IS_DIR))
			inside = list_files(path, NULL);
		else
			wp_overwrite_add_input(files, path);
		for (guint k = 0; inside && k < inside->len; k++) {
			Content content = sniff(NULL, inside->pdata[k], NULL);
			if (is_input(content))
				wp_overwrite_add_input(files, inside->pdata[k]);
		}
	}
}

gboolean
wp_load_is_mail(const WpLoadOptions *options)
{
	return options->from.word != NULL;
}

static gboolean
expand(Load *load, GError **error)
{
	if (wp_load_is_mail(load->options))
		return TRUE;
	for (guint i = 0; i < load->invocation->n_operands; i++) {
		const char *operand = load->invocation->operands[i], *path = wp_load_path(operand);
		g_free(load->label);
		load->label =
			path > operand ? g_strndup(operand, (gsize)(path - operand - 1)) : NULL;
		if (!(g_file_test(path, G_FILE_TEST_IS_DIR) ? add_directory(load, path, error)
							    : add_file(load, path, error)))
			return FALSE;
	}
	return TRUE;
}

static gboolean
on_progress(guint64 read, guint64 size, guint64 count, gpointer data)
{
	Load *load = data;
	wp_progress_update(load->invocation->progress, read, size, count, load->unit);
	if (wp_interrupt_came())
		load->is_stopped = TRUE;
	return !load->is_stopped;
}

/* The first packet of a capture. */
static gboolean
first_packet(const char *path, gint64 *out_ns, GError **error)
{
	WpFrame frame;
	g_autoptr(WpSource) source = wp_source_open(path, 0, error);
	if (!source)
		return FALSE;
	WpSourceResult result = wp_source_next(source, &frame, error);
	*out_ns = result == WP_SOURCE_FRAME ? frame.time_ns : WP_NO_TIME;
	return result != WP_SOURCE_ERROR;
}

/* A sink that stops the reader after the first record. */
typedef struct {
	WpRecordSink sink;
	gint64 begin_ns;
} FirstRecord;

static gboolean
take_first(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	(void)tokens;
	((FirstRecord *)sink)->begin_ns = record->begin_ns;
	g_set_error_literal(error, WP_REPORT_ERROR, WP_REPORT_ERROR_INTERNAL, "enough");
	return FALSE;
}

static gboolean
first_record(const char *path, gint64 *out_ns, GError **error)
{
	static const WpRecordSinkOps ops = { .record = take_first };
	FirstRecord first = { { &ops }, WP_NO_TIME };
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTraceReadOptions options = { .from_ns = WP_NO_TIME, .to_ns = WP_NO_TIME };
	g_autoptr(GError) stopped = NULL;
	if (!wp_trace_read(path, &options, nodes, &first.sink, &stopped) &&
	    first.begin_ns == WP_NO_TIME) {
		g_propagate_error(error, g_steal_pointer(&stopped));
		return FALSE;
	}
	*out_ns = first.begin_ns;
	return TRUE;
}

static gboolean
find_start(Load *load, gint64 *out_ns, GError **error)
{
	*out_ns = WP_NO_TIME;
	for (guint i = 0; i < load->inputs->len; i++) {
		const Input *input = &g_array_index(load->inputs, Input, i);
		gint64 ns;
		if (strcmp(input->path, "-") == 0) {
			g_set_error(
				error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				"--from, --to: an offset (+10s) needs a file, not standard input\n"
				"give the time itself, or save the input first");
			return FALSE;
		}
		if (input->content == IS_SPANS) {
			g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				    "--from, --to: an offset (+10s) is not for spans, which stand "
				    "in no order\ngive the time itself");
			return FALSE;
		}
		if (!(input->content == IS_CAPTURE ? first_packet : first_record)(input->path, &ns,
										  error))
			return FALSE;
		if (ns != WP_NO_TIME && (*out_ns == WP_NO_TIME || ns < *out_ns))
			*out_ns = ns;
	}
	return TRUE;
}

static gint64
absolute(const WpTimeOption *time, gint64 start_ns)
{
	if (!time->is_set)
		return WP_NO_TIME;
	if (!time->is_offset)
		return time->ns;
	if (start_ns == WP_NO_TIME)
		return WP_NO_TIME;
	/* An offset, which is never negative, may be as long as all times are. */
	return start_ns > G_MAXINT64 - time->ns ? G_MAXINT64 : start_ns + time->ns;
}

static gboolean
resolve_times(Load *load, GError **error)
{
	const WpLoadOptions *options = load->options;
	gint64 start_ns = WP_NO_TIME;
	if (((options->from.is_set && options->from.is_offset) ||
	     (options->to.is_set && options->to.is_offset)) &&
	    !find_start(load, &start_ns, error))
		return FALSE;
	load->from_ns = absolute(&options->from, start_ns);
	load->to_ns = absolute(&options->to, start_ns);
	if (load->from_ns != WP_NO_TIME && load->to_ns != WP_NO_TIME &&
	    load->from_ns >= load->to_ns) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--from must be before --to");
		return FALSE;
	}
	return TRUE;
}

static gboolean
fail_without_taps(const Load *load, GError **error)
{
	if (load->options->clocks.n == 0 && !load->options->min_taps)
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "--clock and --min-taps are for captures of several taps, each in files of its "
		    "own");
	return FALSE;
}

/* What the captures are to each other; of standard input nobody can know before it is read. */
static gboolean
survey(Load *load, const GPtrArray *paths, const GPtrArray *labels, GError **error)
{
	WpTapsOptions options = {
		.paths = (const char *const *)paths->pdata,
		.labels = (const char *const *)labels->pdata,
		.n_paths = paths->len,
		.clocks = load->options->clocks.words,
		.min_taps = (guint)load->options->min_taps,
		.progress = on_progress,
		.progress_data = load,
	};
	gboolean is_stopped = FALSE;
	if (paths->len < 2)
		return fail_without_taps(load, error);
	for (guint i = 0; i < paths->len; i++)
		if (strcmp(paths->pdata[i], "-") == 0) {
			wp_warn(load->invocation, "clocks are not compared where standard input is "
						  "one of several captures");
			return fail_without_taps(load, error);
		}
	load->taps = wp_taps_survey(&options, &is_stopped, error);
	return load->taps || is_stopped;
}

/* (transfer container) Of inputs of one kind; LABELS, which may be NULL, gets theirs. */
static GPtrArray *
paths_of(const Load *load, Content content, GPtrArray *labels)
{
	GPtrArray *paths = g_ptr_array_new();
	for (guint i = 0; i < load->inputs->len; i++) {
		const Input *input = &g_array_index(load->inputs, Input, i);
		if (input->content != content)
			continue;
		g_ptr_array_add(paths, input->path);
		if (labels)
			g_ptr_array_add(labels, input->label);
	}
	return paths;
}

static gboolean
read_captures(Load *load, WpNodes *nodes, WpRecordSink *sink, GError **error)
{
	g_autoptr(GPtrArray) labels = g_ptr_array_new();
	g_autoptr(GPtrArray) paths = paths_of(load, IS_CAPTURE, labels);
	WpCaptureOptions options;
	if (paths->len == 0)
		return fail_without_taps(load, error);
	load->unit = "packets";
	if (!survey(load, paths, labels, error))
		return FALSE;
	wp_capture_options_init(&options);
	options.filter = load->options->filter;
	options.from_ns = load->from_ns;
	options.to_ns = load->to_ns;
	options.token_key = load->options->token_key;
	options.decode_as = load->options->decode_as;
	options.keylog = load->options->keylog;
	options.rmi_interfaces = load->options->rmi_interfaces;
	options.max_flows = (guint32)load->options->max_flows;
	options.n_threads = (guint32)load->options->n_threads;
	options.taps = load->taps;
	options.progress = on_progress;
	options.progress_data = load;
	options.standard_input = &load->standard_input;
	options.frame = load->options->frame;
	options.frame_data = load->options->frame_data;
	return wp_capture_run((const char *const *)paths->pdata, paths->len, &options, nodes, sink,
			      NULL, error);
}

static gboolean
read_trace(Load *load, const char *path, WpNodes *nodes, WpRecordSink *sink, GError **error)
{
	WpTraceReadOptions options = {
		.from_ns = load->from_ns,
		.to_ns = load->to_ns,
		.progress = on_progress,
		.progress_data = load,
		.standard_input = &load->standard_input,
	};
	load->unit = "records";
	return wp_trace_read(path, &options, nodes, sink, error);
}

/* Operands that hold mails: their kind is known, and a directory is a Maildir. */
static gboolean
read_mails(Load *load, WpNodes *nodes, WpRecordSink *sink, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	const char *inside = load->options->inside;
	g_auto(GStrv) domains = inside ? g_strsplit(inside, ",", 0) : NULL;
	for (guint i = 0; i < load->invocation->n_operands; i++)
		g_ptr_array_add(paths, (gpointer)wp_load_path(load->invocation->operands[i]));
	load->unit = "mails";
	WpMailOptions options = {
		.inside = (const char *const *)domains,
		.from_ns = load->from_ns,
		.to_ns = load->to_ns,
		.progress = on_progress,
		.progress_data = load,
		.truth = load->options->mail_truth,
		.truth_data = load->options->truth_data,
		.standard_input = &load->standard_input,
	};
	return wp_mail_run((const char *const *)paths->pdata, paths->len, &options, nodes, sink,
			   error);
}

static guint
count_kind(const Load *load, Content content)
{
	guint n = 0;
	for (guint i = 0; i < load->inputs->len; i++)
		n += g_array_index(load->inputs, Input, i).content == content;
	return n;
}

/* There are calls beside those of spans. */
static gboolean
has_others(const Load *load)
{
	return count_kind(load, IS_SPANS) < load->inputs->len;
}

/* All files of spans as one, as a trace may be spread over them: into SINK, or, beside other calls, into TRACE. */
static gboolean
read_spans(Load *load, WpNodes *nodes, WpRecordSink *sink, WpTrace *trace, GError **error)
{
	g_autoptr(GPtrArray) paths = paths_of(load, IS_SPANS, NULL);
	if (paths->len == 0 || load->is_stopped || has_others(load) != (trace != NULL))
		return TRUE;
	load->unit = "spans";
	WpSpanFileOptions options = {
		.from_ns = load->from_ns,
		.to_ns = load->to_ns,
		.progress = on_progress,
		.progress_data = load,
		.truth = load->options->span_truth,
		.truth_data = load->options->truth_data,
		.standard_input = &load->standard_input,
	};
	const char *const *all = (const char *const *)paths->pdata;
	return trace ? wp_span_file_join(all, paths->len, &options, trace, error)
		     : wp_span_file_run(all, paths->len, &options, nodes, sink, error);
}

static gboolean
check_packet_options(const Load *load, GError **error)
{
	gboolean is_mail = wp_load_is_mail(load->options);
	if (load->options->inside && !is_mail) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--inside is for mails, which are read with --from mail");
		return FALSE;
	}
	if (load->options->filter && is_mail) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--filter is for packets, not for mails\nuse --where or --inside");
		return FALSE;
	}
	if (load->options->filter && (count_kind(load, IS_TRACE) > 0 || !has_others(load))) {
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"--filter is for packets, and a trace holds none\nuse --where for traces");
		return FALSE;
	}
	if (load->options->span_truth && !is_mail && has_others(load)) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--truth is for spans, and for mails, which are read with --from mail: "
			    "packets do not tell what caused them");
		return FALSE;
	}
	return TRUE;
}

/* All inputs into JOIN, one begin() ... end() for each run. */
static gboolean
read_all(Load *load, WpNodes *nodes, WpJoin *join, GError **error)
{
	WpRecordSink *sink = wp_join_sink(join);
	if (wp_load_is_mail(load->options))
		return read_mails(load, nodes, sink, error);
	if (!read_captures(load, nodes, sink, error) || !read_spans(load, nodes, sink, NULL, error))
		return FALSE;
	for (guint i = 0; i < load->inputs->len && !load->is_stopped; i++) {
		const Input *input = &g_array_index(load->inputs, Input, i);
		if (input->content != IS_TRACE)
			continue;
		g_autofree char *name = g_path_get_basename(input->path);
		wp_join_set_name(join, name);
		if (!read_trace(load, input->path, nodes, sink, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean
prepare(Load *load, GError **error)
{
	wp_interrupt_catch();
	return expand(load, error) && check_packet_options(load, error) &&
	       resolve_times(load, error);
}

/*
 * Runs everything into SINK by way of a join, which also tells whether an error left something to
 * report: then it becomes the outcome's late error.
 */
static gboolean
run_joined(Load *load, WpNodes *nodes, WpRecordSink *sink, WpLoadOutcome *out_outcome,
	   GError **error)
{
	g_autoptr(WpJoin) join = wp_join_new(sink);
	g_autoptr(GError) reason = NULL;
	gboolean ok = read_all(load, nodes, join, &reason);
	*out_outcome = (WpLoadOutcome){ .is_stopped = load->is_stopped };
	if (ok)
		return TRUE;
	if (!wp_join_is_usable(join)) {
		g_propagate_error(error, g_steal_pointer(&reason));
		return FALSE;
	}
	out_outcome->late_error = g_steal_pointer(&reason);
	return TRUE;
}

static WpTrace *
gather(Load *load, WpNodes *nodes, WpLoadOutcome *out_outcome, GError **error)
{
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	if (!run_joined(load, nodes, wp_trace_sink(trace), out_outcome, error))
		return NULL;
	wp_trace_freeze(trace);
	if (!out_outcome->late_error) /* what was read stays */
		read_spans(load, nodes, NULL, trace, &out_outcome->late_error);
	return g_steal_pointer(&trace);
}

gboolean
wp_load_stream(const WpInvocation *invocation, const WpLoadOptions *options, WpNodes *nodes,
	       WpRecordSink *sink, WpLoadOutcome *out_outcome, GError **error)
{
	g_auto(Load) load;
	load_init(&load, invocation, options);
	if (!prepare(&load, error))
		return FALSE;
	guint n_runs = count_kind(&load, IS_TRACE) + (count_kind(&load, IS_CAPTURE) > 0) +
		       (count_kind(&load, IS_SPANS) > 0);
	if (n_runs <= 1)
		return run_joined(&load, nodes, sink, out_outcome, error);
	g_autoptr(WpTrace) trace = gather(&load, nodes, out_outcome, error);
	return trace && wp_trace_push(trace, sink, error);
}

WpTrace *
wp_load_trace(const WpInvocation *invocation, const WpLoadOptions *options,
	      WpLoadOutcome *out_outcome, GError **error)
{
	g_auto(Load) load;
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	load_init(&load, invocation, options);
	if (!prepare(&load, error))
		return NULL;
	return gather(&load, nodes, out_outcome, error);
}
