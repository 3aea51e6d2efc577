/* The flow table against a plain list, and its keys. */
#include "capture/flow-table.h"

#include <string.h>

#include "tests/support/suite.h"

typedef struct {
	WpFlowKey key;
	guint32 value;
} Object;

static WpSegment
segment_of(guint32 client, guint16 port, gboolean is_udp)
{
	WpSegment segment = { .is_udp = is_udp };
	memset(segment.src.address + 10, 0xff, 2);
	memset(segment.dst.address + 10, 0xff, 2);
	memcpy(segment.src.address + 12, &client, 4);
	segment.dst.address[12] = 10;
	segment.src.port = port;
	segment.dst.port = 80;
	return segment;
}

/* Both directions have one key; each end can be read from it. */
START_TEST(keys)
{
	for (guint i = 0; i < 64; i++) {
		WpSegment there = segment_of(i * 0x01030507u, (guint16)(i * 999), i & 1), back;
		WpFlowKey key, key_back;
		back = there;
		back.src = there.dst;
		back.dst = there.src;
		guint side = wp_flow_key(&there, &key);
		ck_assert_uint_eq(wp_flow_key(&back, &key_back), !side);
		ck_assert_mem_eq(&key, &key_back, sizeof key);
		WpEndpoint src = wp_flow_key_endpoint(&key, side);
		WpEndpoint dst = wp_flow_key_endpoint(&key, !side);
		ck_assert_mem_eq(src.address, there.src.address, 16);
		ck_assert_mem_eq(dst.address, there.dst.address, 16);
		ck_assert_uint_eq(src.port, there.src.port);
		ck_assert_uint_eq(dst.port, there.dst.port);
		ck_assert_int_eq(wp_flow_key_is_udp(&key), i & 1);
	}
}
END_TEST

/* A connection of an end with itself has one key, and TCP and UDP have two. */
START_TEST(odd_keys)
{
	WpSegment segment = segment_of(7, 80, FALSE);
	WpFlowKey tcp, udp;
	segment.dst = segment.src;
	ck_assert_uint_eq(wp_flow_key(&segment, &tcp), 0);
	segment.is_udp = TRUE;
	wp_flow_key(&segment, &udp);
	ck_assert_mem_ne(&tcp, &udp, sizeof tcp);
}
END_TEST

static void
sum_values(gpointer object, gpointer data)
{
	*(guint64 *)data += ((const Object *)object)->value;
}

/* Adds and removes in a fixed, mixed-up order; every look-up is compared with what must be there. */
START_TEST(add_and_remove)
{
	enum {
		N = 5000
	};
	g_autoptr(WpFlowTable) table = wp_flow_table_new(sizeof(Object), 42);
	g_autofree gboolean *is_there = g_new0(gboolean, N);
	guint64 sum = 0, expected = 0;
	guint32 random = 1, n = 0;

	for (guint step = 0; step < 100000; step++) {
		WpFlowKey key;
		random = random * 1664525 + 1013904223;
		guint32 i = (random >> 8) % N;
		WpSegment segment = segment_of(i, 1000, FALSE);
		wp_flow_key(&segment, &key);
		Object *object = wp_flow_table_find(table, &key);
		ck_assert_int_eq(object != NULL, is_there[i]);
		if (object) {
			ck_assert_uint_eq(object->value, i);
			wp_flow_table_remove(table, object);
		} else {
			object = wp_flow_table_add(table, &key);
			ck_assert_uint_eq(object->value, 0);
			object->value = i;
		}
		is_there[i] = !is_there[i];
		n += is_there[i] ? 1 : -1;
		ck_assert_uint_eq(wp_flow_table_count(table), n);
	}
	for (guint i = 0; i < N; i++)
		expected += is_there[i] ? i : 0;
	wp_flow_table_foreach(table, sum_values, &sum);
	ck_assert_uint_eq(sum, expected);
}
END_TEST

WP_SUITE("flow-table", keys, odd_keys, add_and_remove)
