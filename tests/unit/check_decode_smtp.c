/* SMTP through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define GREETING "S '220 mx.example.org ESMTP' r"
#define HELLO                                                                                      \
	"C 'EHLO a.example.org' r", "S '250-mx.example.org' r '250-PIPELINING' r '250 8BITMIME' r"
#define OPENED                                                                                     \
	"m1 [1,1] smtp 26 (greeting) ok setup\n"                                                   \
	"C2 [2,2] smtp 20 EHLO setup\n"                                                            \
	"R2 [3,3] smtp 50 EHLO ok setup\n"

static const WpByteRow mails[] = {
	{ "a mail, one command after the other",
	  { GREETING, HELLO, "C 'MAIL FROM:<ann@example.org>' r", "S '250 ok' r",
	    "C 'rcpt to:<bob@example.com>' r", "S '250 ok' r", "C 'DATA' r", "S '354 go' r",
	    "C 'Subject: x' r r 'Hi.' r", "C '..dot' r '.' r", "S '250 queued' r", "C 'QUIT' r",
	    "S '221 bye' r" },
	  OPENED "C3 [4,4] smtp 29 MAIL\nR3 [5,5] smtp 8 MAIL ok\n"
		 "C4 [6,6] smtp 27 RCPT\nR4 [7,7] smtp 8 RCPT ok\n"
		 "C5 [8,8] smtp 6 DATA\nR5 [9,9] smtp 8 DATA ok\n"
		 "C6 [10,11] smtp 29 message\nR6 [12,12] smtp 12 message ok\n"
		 "C7 [13,13] smtp 6 QUIT setup\nR7 [14,14] smtp 9 QUIT ok setup\n" },
	{ "pipelined; a recipient is refused; an empty message",
	  { GREETING, HELLO, "C 'MAIL FROM:<a@b>' r 'RCPT TO:<c@d>' r 'RCPT TO:<e@f>' r 'DATA' r",
	    "S '250 ok' r '550 no such user' r '250 ok' r '354 go' r", "C '.' r 'RSET' r",
	    "S '250 queued' r '250 ok' r" },
	  OPENED "C3 [4,4] smtp 17 MAIL\nC4 [4,4] smtp 15 RCPT\nC5 [4,4] smtp 15 RCPT\n"
		 "C6 [4,4] smtp 6 DATA\nR3 [5,5] smtp 8 MAIL ok\nR4 [5,5] smtp 18 RCPT error\n"
		 "R5 [5,5] smtp 8 RCPT ok\nR6 [5,5] smtp 8 DATA ok\n"
		 "C7 [6,6] smtp 3 message\nC8 [6,6] smtp 6 RSET\n"
		 "R7 [7,7] smtp 12 message ok\nR8 [7,7] smtp 8 RSET ok\n" },
	{ "a message without a head, whose first line comes alone",
	  { GREETING, HELLO, "C 'DATA' r", "S '354 go' r", "C r", "C 'Hi.' r '.' r",
	    "S '250 queued' r" },
	  OPENED "C3 [4,4] smtp 6 DATA\nR3 [5,5] smtp 8 DATA ok\n"
		 "C4 [6,7] smtp 10 message\nR4 [8,8] smtp 12 message ok\n" },
	{ "DATA is refused: commands go on",
	  { GREETING, HELLO, "C 'DATA' r", "S '503 no recipients' r", "C 'RSET' r",
	    "S '250 ok' r" },
	  OPENED "C3 [4,4] smtp 6 DATA\nR3 [5,5] smtp 19 DATA error\n"
		 "C4 [6,6] smtp 6 RSET\nR4 [7,7] smtp 8 RSET ok\n" },
	{ "chunks: each is a call with its bytes",
	  { GREETING, HELLO, "C 'BDAT 300' r 0:200", "C 0:100", "S '250 300 octets' r",
	    "C 'BDAT 10 LAST' r 'MAIL FROM:'", "S '250 ok' r", "C 'QUIT' r" },
	  OPENED "C3 [4,5] smtp 310 BDAT\nR3 [6,6] smtp 16 BDAT ok\n"
		 "C4 [7,7] smtp 24 BDAT\nR4 [8,8] smtp 8 BDAT ok\n"
		 "C5 [9,9] smtp 6 QUIT setup\ncalls-open 1\n" },
	{ "LMTP: a reply for each recipient that was taken",
	  { "S '220 mx LMTP' r", "C 'LHLO a' r", "S '250 mx' r",
	    "C 'MAIL FROM:<a@b>' r 'RCPT TO:<c@d>' r 'RCPT TO:<e@f>' r 'DATA' r",
	    "S '250 ok' r '250 ok' r '250 ok' r '354 go' r", "C 'x' r '.' r", "S '250 c has it' r",
	    "S '452 e is full' r", "C 'NOOP' r", "S '250 ok' r" },
	  "m1 [1,1] smtp 13 (greeting) ok setup\n"
	  "C2 [2,2] smtp 8 LHLO setup\nR2 [3,3] smtp 8 LHLO ok setup\n"
	  "C3 [4,4] smtp 17 MAIL\nC4 [4,4] smtp 15 RCPT\nC5 [4,4] smtp 15 RCPT\n"
	  "C6 [4,4] smtp 6 DATA\nR3 [5,5] smtp 8 MAIL ok\nR4 [5,5] smtp 8 RCPT ok\n"
	  "R5 [5,5] smtp 8 RCPT ok\nR6 [5,5] smtp 8 DATA ok\nC7 [6,6] smtp 6 message\n"
	  "R7 [7,8] smtp 29 message error\nC8 [9,9] smtp 6 NOOP\nR8 [10,10] smtp 8 NOOP ok\n" },
};

START_TEST(mail_is_sent)
{
	wp_byte_rows_check(NULL, mails, G_N_ELEMENTS(mails));
}
END_TEST

static const WpByteRow setups[] = {
	{ "who one is: in one line, and asked for",
	  { GREETING, HELLO, "C 'AUTH PLAIN AGFubgBzZWNyZXQ=' r", "S '535 no' r",
	    "C 'AUTH LOGIN' r", "S '334 VXNlcm5hbWU6' r", "C 'YW5u' r", "S '334 UGFzc3dvcmQ6' r",
	    "C 'DATA' r", "S '235 yes' r" },
	  OPENED
	  "C3 [4,4] smtp 29 AUTH PLAIN setup\nR3 [5,5] smtp 8 AUTH PLAIN error setup\n"
	  "C4 [6,6] smtp 12 AUTH LOGIN setup\nR4 [7,7] smtp 18 AUTH LOGIN ok setup\n"
	  "C5 [8,8] smtp 6 AUTH response setup\nR5 [9,9] smtp 18 AUTH response ok setup\n"
	  "C6 [10,10] smtp 6 AUTH response setup\nR6 [11,11] smtp 9 AUTH response ok setup\n" },
	{ "TLS",
	  { GREETING, HELLO, "C 'STARTTLS' r", "S '220 go' r",
	    "C x:1603010200 x:010001fc0303 0:506" },
	  OPENED "C3 [4,4] smtp 10 STARTTLS setup\nR3 [5,5] smtp 8 STARTTLS ok setup\n"
		 "M4 [6,6] tls 517 unknown setup\n" },
	{ "the server closes; a command that nobody knows",
	  { GREETING, HELLO, "C 'XYZZY now' r", "S '500 what' r", "S '421 too long idle' r", "G" },
	  OPENED "C3 [4,4] smtp 11 (other)\nR3 [5,5] smtp 10 (other) error\n"
		 "m4 [6,6] smtp 19 (closing) error\n" },
};

START_TEST(set_up)
{
	wp_byte_rows_check(NULL, setups, G_N_ELEMENTS(setups));
}
END_TEST

static const WpByteRow holes[] = {
	{ "in mid-stream",
	  { "mid", "C 'MAIL FROM:<a@b>' r", "S '250 ok' r" },
	  "C1 [1,1] smtp 17 MAIL\nR1 [2,2] smtp 8 MAIL ok\n" },
	{ "a hole in a message: its reply is found, and the next command",
	  { GREETING, HELLO, "C 'DATA' r", "S '354 go' r", "C 'Subject: x' r r 0:100", "c 2000",
	    "C 'text' r '.' r", "S '250 queued' r", "C 'QUIT' r", "S '221 bye' r" },
	  OPENED
	  "C3 [4,4] smtp 6 DATA\nR3 [5,5] smtp 8 DATA ok\n"
	  "C4 [6,6] smtp 114 message\nR4 [9,9] smtp 12 message ok\nC5 [10,10] smtp 6 QUIT setup\n"
	  "R5 [11,11] smtp 9 QUIT ok setup\nresyncs 1\nbytes-skipped 9\n" },
	{ "the reply to DATA was not seen: text follows, or a command",
	  { GREETING, HELLO, "C 'DATA' r", "s 8", "C 'Subject: x' r r 'y' r '.' r", "S '250 ok' r",
	    "C 'DATA' r", "s 8", "C 'RSET' r", "S '250 ok' r" },
	  OPENED "C3 [4,4] smtp 6 DATA\nC4 [6,6] smtp 20 message\nR4 [7,7] smtp 8 message ok\n"
		 "C5 [8,8] smtp 6 DATA\nC6 [10,10] smtp 6 RSET\nR6 [11,11] smtp 8 RSET ok\n"
		 "calls-unanswered 2\nresyncs 2\n" },
	{ "a hole over a reply: no pair across it",
	  { GREETING, HELLO, "C 'MAIL FROM:<a@b>' r 'RCPT TO:<c@d>' r", "s 8", "S '250 ok' r" },
	  OPENED "C3 [4,4] smtp 17 MAIL\nC4 [4,4] smtp 15 RCPT\n"
		 "returns-unsure 1\ncalls-unanswered 2\nresyncs 1\n" },
};

START_TEST(what_is_missing)
{
	wp_byte_rows_check(NULL, holes, G_N_ELEMENTS(holes));
}
END_TEST

static const WpByteRow others[] = {
	{ "FTP is not SMTP",
	  { "S '220 (vsFTPd 3.0.3)' r", "C 'USER ann' r", "S '331 password' r" },
	  "m1 [1,1] unknown 20 unknown setup\nC2 [2,2] unknown 10\nR2 [3,3] unknown 14 unknown\n"
	  "flows-undecoded 1\n" },
	{ "a server that does not say what it is, on any port",
	  { "S '220 mx ready' r", "C 'HELO a' r", "S '250 mx' r" },
	  "m1 [1,1] smtp 14 (greeting) ok setup\nC2 [2,2] smtp 8 HELO setup\n"
	  "R2 [3,3] smtp 8 HELO ok setup\n" },
	{ "one that refuses everybody",
	  { "S '554 mx no SMTP service here' r", "G" },
	  "m1 [1,1] smtp 29 (greeting) error setup\n" },
};

START_TEST(who_it_is)
{
	wp_byte_rows_check(NULL, others, G_N_ELEMENTS(others));
}
END_TEST

START_TEST(tokens)
{
	static const WpByteRow values[] = {
		{ "the identifier of the message, and no address",
		  { "mid", "C 'DATA' r", "S '354 go' r",
		    "C 'From: ann77@example.org' r 'message-id: <4711.abc9@mx>' r r 'x' r '.' r",
		    "S '250 ok' r" },
		  "C1 [1,1] smtp 6 DATA tokens=0\nR1 [2,2] smtp 8 DATA ok tokens=0\n"
		  "C2 [3,3] smtp 61 message ids=2 tokens=2\nR2 [4,4] smtp 8 message ok "
		  "tokens=0\nresyncs 2\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE, .forced = wp_decoder_by_name("smtp") };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

WP_SUITE("decode-smtp", mail_is_sent, set_up, what_is_missing, who_it_is, tokens)
