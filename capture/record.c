/* Names of kinds and statuses, and addresses as text. */
#include "capture/record.h"

#include <arpa/inet.h>
#include <string.h>

static const char *const kind_names[] = { "CALL", "RETURN", "MESSAGE" };
static const char *const status_names[] = { "unknown", "ok", "error", "reset", "timeout" };

/* IPv4 inside IPv6, RFC 4291 section 2.5.5.2. */
static const guint8 mapped_prefix[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };

const char *
wp_kind_name(WpKind kind)
{
	return kind_names[kind];
}

const char *
wp_status_name(WpStatus status)
{
	return status_names[status];
}

gboolean
wp_kind_from_name(const char *name, WpKind *out_kind)
{
	static const struct {
		const char *name;
		WpKind kind;
	} names[] = {
		{ "CALL", WP_KIND_CALL },       { "RETURN", WP_KIND_RETURN },
		{ "MESSAGE", WP_KIND_MESSAGE }, { "CALL_SENT", WP_KIND_CALL },
		{ "RET_SENT", WP_KIND_RETURN },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(names[i].name, name) == 0) {
			*out_kind = names[i].kind;
			return TRUE;
		}
	return FALSE;
}

gboolean
wp_status_from_name(const char *name, WpStatus *out_status)
{
	for (gsize i = 0; i < G_N_ELEMENTS(status_names); i++)
		if (strcmp(status_names[i], name) == 0) {
			*out_status = i;
			return TRUE;
		}
	return FALSE;
}

gboolean
wp_endpoint_is_known(const WpEndpoint *endpoint)
{
	static const guint8 zero[16];
	return endpoint->port || memcmp(endpoint->address, zero, 16) != 0;
}

static gboolean
is_ipv4(const guint8 address[16])
{
	return memcmp(address, mapped_prefix, sizeof mapped_prefix) == 0;
}

const char *
wp_address_text(const guint8 address[16], char *buffer, gsize size)
{
	if (is_ipv4(address))
		return inet_ntop(AF_INET, address + 12, buffer, size);
	return inet_ntop(AF_INET6, address, buffer, size);
}

const char *
wp_endpoint_text(const WpEndpoint *endpoint, char *buffer, gsize size)
{
	char address[WP_ENDPOINT_TEXT_MAX];

	if (!wp_endpoint_is_known(endpoint)) {
		buffer[0] = '\0';
		return buffer;
	}
	wp_address_text(endpoint->address, address, sizeof address);
	g_snprintf(buffer, size, is_ipv4(endpoint->address) ? "%s:%u" : "[%s]:%u", address,
		   endpoint->port);
	return buffer;
}

static gboolean
parse_address(const char *text, guint8 out_address[16])
{
	if (inet_pton(AF_INET, text, out_address + 12) == 1) {
		memcpy(out_address, mapped_prefix, sizeof mapped_prefix);
		return TRUE;
	}
	return inet_pton(AF_INET6, text, out_address) == 1;
}

/* Splits "10.0.0.1:80" and "[::1]:80" at the port; *OUT_PORT is NULL where there is none. */
static gboolean
split_port(char *text, char **out_address, char **out_port)
{
	char *colon = strrchr(text, ':');

	*out_address = text;
	*out_port = NULL;
	if (text[0] == '[') {
		char *close = strchr(text, ']');
		if (!close || (close[1] && close[1] != ':'))
			return FALSE;
		*out_address = text + 1;
		*out_port = close[1] ? close + 2 : NULL;
		*close = '\0';
	} else if (colon && strchr(text, ':') == colon) {
		*colon = '\0';
		*out_port = colon + 1;
	}
	return TRUE;
}

gboolean
wp_endpoint_parse(const char *text, WpEndpoint *out_endpoint)
{
	char copy[WP_ENDPOINT_TEXT_MAX], *address, *port;
	WpEndpoint endpoint = { { 0 }, 0 };
	guint64 number = 0;

	if (g_strlcpy(copy, text, sizeof copy) >= sizeof copy ||
	    !split_port(copy, &address, &port) || !parse_address(address, endpoint.address))
		return FALSE;
	if (port && !g_ascii_string_to_unsigned(port, 10, 0, 65535, &number, NULL))
		return FALSE;
	endpoint.port = (guint16)number;
	*out_endpoint = endpoint;
	return TRUE;
}
