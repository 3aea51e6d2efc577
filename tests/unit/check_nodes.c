/* Names of nodes: addresses, keys, hints. */
#include "capture/nodes.h"

#include <string.h>

#include "tests/support/suite.h"

/* Every spelling of an address is one node; a name is its own. */
START_TEST(one_node_per_address)
{
	static const struct {
		const char *key;
		guint32 node;
	} rows[] = {
		{ "10.0.0.1", 0 },
		{ "10.0.0.2", 1 },
		{ "::ffff:10.0.0.1", 0 },
		{ "fe80:0:0:0:0:0:0:1", 2 },
		{ "fe80::1", 2 },
		{ "web", 3 },
		{ "web", 3 },
		{ "10.0.0.2", 1 },
		{ "", 4 },
	};
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_uint_eq(wp_nodes_by_key(nodes, rows[i].key), rows[i].node);
	ck_assert_str_eq(wp_nodes_key(nodes, 0), "10.0.0.1");
	ck_assert_ptr_nonnull(wp_nodes_address(nodes, 2));
	ck_assert_ptr_null(wp_nodes_address(nodes, 3));
}
END_TEST

/* More nodes than the first table holds keep their numbers. */
START_TEST(many_nodes)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	guint8 address[16] = { 0xfe, 0x80 };
	for (int round = 0; round < 2; round++)
		for (guint i = 0; i < 5000; i++) {
			address[14] = (guint8)(i >> 8);
			address[15] = (guint8)i;
			ck_assert_uint_eq(wp_nodes_by_address(nodes, address), i);
		}
}
END_TEST

/* The name seen most often wins; ties go to the smaller text; hostile names are refused. */
START_TEST(hints)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	guint32 node = wp_nodes_by_key(nodes, "10.0.0.1");
	guint64 count = 0;
	ck_assert_ptr_null(wp_nodes_hint(nodes, node, WP_NAME_DNS, NULL));
	ck_assert(wp_nodes_add_hint(nodes, node, WP_NAME_DNS, "b.lan", -1));
	ck_assert(wp_nodes_add_hint(nodes, node, WP_NAME_DNS, "a.lan", -1));
	ck_assert_str_eq(wp_nodes_hint(nodes, node, WP_NAME_DNS, NULL), "a.lan");
	ck_assert(wp_nodes_add_hints(nodes, node, WP_NAME_DNS, "b.lan", -1, 3));
	ck_assert_str_eq(wp_nodes_hint(nodes, node, WP_NAME_DNS, &count), "b.lan");
	ck_assert_uint_eq(count, 4);
	ck_assert(!wp_nodes_add_hint(nodes, node, WP_NAME_DNS, "\033[31mred", -1));
	ck_assert(!wp_nodes_add_hint(nodes, node, WP_NAME_DNS, "", -1));
}
END_TEST

/* Many neighbours, as a scan makes them, do not pile up in one place: this would take minutes. */
START_TEST(neighbours)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	guint8 address[16] = { [10] = 0xff, [11] = 0xff, [12] = 10 };
	for (guint i = 0; i < (guint)wp_test_number(300000, 70000); i++) {
		address[13] = (guint8)(i >> 16);
		address[14] = (guint8)(i >> 8);
		address[15] = (guint8)i;
		ck_assert_uint_eq(wp_nodes_by_address(nodes, address), i);
	}
}
END_TEST

static void
number_address(guint32 number, guint8 address[16])
{
	static const guint8 start[16] = { 0xfe, 0x80 };
	memcpy(address, start, sizeof start);
	for (int i = 0; i < 4; i++)
		address[15 - i] = (guint8)(number >> 8 * i);
}

/* Addresses without end make no nodes without end: callers fold first, names are not kept, servers last. */
START_TEST(too_many)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	guint8 address[16], known[16];
	guint32 number = 0;

	number_address(0, known);
	for (; number < WP_NODES_MAX_CALLERS; number++) {
		number_address(number, address);
		ck_assert_uint_eq(wp_nodes_by_address_seen(nodes, address, WP_NODE_CALLER), number);
	}
	for (guint i = 0; i < 1000; i++) {
		number_address(number++, address);
		guint32 node = wp_nodes_by_address_seen(nodes, address, WP_NODE_CALLER);
		ck_assert_str_eq(wp_nodes_key(nodes, node), WP_NODES_OTHER_CALLERS);
		ck_assert(wp_nodes_is_others(nodes, node));
		ck_assert_ptr_null(wp_nodes_address(nodes, node));
	}
	ck_assert_uint_eq(wp_nodes_by_address_seen(nodes, known, WP_NODE_CALLER), 0);
	while (wp_nodes_count(nodes) < WP_NODES_MAX_NAMED) {
		number_address(number++, address);
		ck_assert_uint_ne(wp_nodes_by_address_seen(nodes, address, WP_NODE_NAMED),
				  WP_NO_NODE);
	}
	number_address(number++, address);
	ck_assert_uint_eq(wp_nodes_by_address_seen(nodes, address, WP_NODE_NAMED), WP_NO_NODE);
	while (wp_nodes_count(nodes) < WP_NODES_MAX_CALLED) {
		number_address(number++, address);
		ck_assert(!wp_nodes_is_others(
			nodes, wp_nodes_by_address_seen(nodes, address, WP_NODE_CALLED)));
	}
	for (guint i = 0; i < 1000; i++) {
		number_address(number++, address);
		guint32 node = wp_nodes_by_address_seen(nodes, address, WP_NODE_CALLED);
		ck_assert_str_eq(wp_nodes_key(nodes, node), WP_NODES_OTHER_CALLED);
		ck_assert(wp_nodes_is_others(nodes, node));
	}
	ck_assert_uint_eq(wp_nodes_count(nodes), WP_NODES_MAX_CALLED + 1);
	ck_assert(!wp_nodes_is_others(nodes, 0) && !wp_nodes_is_others(nodes, WP_NO_NODE));
}
END_TEST

WP_SUITE("nodes", too_many, one_node_per_address, many_nodes, neighbours, hints)
