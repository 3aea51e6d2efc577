/*
 * How the words begin with which a capture notes what befell it: said to the user, and kept in capture files as comments
 * of interface statistics (pcapng, section 4.6), by which it is known when they are read.
 */
#ifndef WP_CAPTURE_NOTES_H
#define WP_CAPTURE_NOTES_H

#define WP_NOTE_GONE  "is gone"
#define WP_NOTE_DOWN  "went down"
#define WP_NOTE_CLOCK "the clock was set "

#endif
