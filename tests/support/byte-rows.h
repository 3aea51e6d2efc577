/*
 * Conversations of binary protocols as rows of words:
 *
 *      "C (W+4 W:1 W:0 W:2013 W:0 b:0 'x' 0:3 )"
 *
 * The first letter is that of the step (decode-run.h), then words, each after a blank:
 *
 *      b:1 h:1 t:1 w:1 q:1   a number of 1, 2, 3, 4, 8 bytes; H T W Q: little-endian; may be negative
 *      v:300                 a number of seven bits a byte, the lowest first
 *      'text'                these bytes, which may have blanks but no '
 *      x:0aff                hexadecimal
 *      0:8                   so many zero bytes
 *      (w ... )              the bytes inside, with their number before them, written as that letter
 *                            says; (w+4: that number is four more; (a: as ASN.1 writes lengths
 *      r                     carriage return and line feed
 *
 * The step "mid" says that the flow is seen from the middle on. Of steps without bytes ("F", "R", "P 1000", "c 20") the number is their length.
 */
#ifndef WP_TESTS_SUPPORT_BYTE_ROWS_H
#define WP_TESTS_SUPPORT_BYTE_ROWS_H

#include "tests/support/decode-run.h"

#define WP_BYTE_ROW_STEPS 20

typedef struct {
	const char *name;
	const char *steps[WP_BYTE_ROW_STEPS]; /* NULL-ended */
	const char *expected;
} WpByteRow;

/* The bytes of the words. Asserts that they can be read. (transfer full) */
GByteArray *wp_byte_words(const char *words);

/* Each row through the real stream; TCP: cut at every byte (wp_decode_check()). OPTIONS may be NULL. */
void wp_byte_rows_check(const WpRunOptions *options, const WpByteRow *rows, gsize n_rows);

#endif
