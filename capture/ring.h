/*
 * Lists whose links are members of what they link, so that nothing is allocated and an object leaves a
 * list without a search. A list is a ring: its head is a link too, the last one's next and the first one's prev.
 */
#ifndef WP_CAPTURE_RING_H
#define WP_CAPTURE_RING_H

typedef struct WpRing WpRing;
struct WpRing {
	WpRing *prev;
	WpRing *next;
};

/* HEAD becomes an empty list. */
static inline void
wp_ring_init(WpRing *head)
{
	head->prev = head->next = head;
}

/* LINK, which is in no list, becomes the last of HEAD's. */
static inline void
wp_ring_append(WpRing *head, WpRing *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

/* LINK is in no list from then on, but still names its neighbours. */
static inline void
wp_ring_remove(WpRing *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

#endif
