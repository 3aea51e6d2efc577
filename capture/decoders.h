/* The decoders, one a file; decoder.c puts them in the order in which they are asked. */
#ifndef WP_CAPTURE_DECODERS_H
#define WP_CAPTURE_DECODERS_H

#include "capture/decoder.h"

extern const WpDecoder wp_decoder_amqp;
extern const WpDecoder wp_decoder_cql;
extern const WpDecoder wp_decoder_dns;
extern const WpDecoder wp_decoder_fastcgi;
extern const WpDecoder wp_decoder_http1;
extern const WpDecoder wp_decoder_kafka;
extern const WpDecoder wp_decoder_ldap;
extern const WpDecoder wp_decoder_memcached;
extern const WpDecoder wp_decoder_memcached_udp; /* decode-memcached.c */
extern const WpDecoder wp_decoder_mongodb;
extern const WpDecoder wp_decoder_mqtt;
extern const WpDecoder wp_decoder_mysql;
extern const WpDecoder wp_decoder_nats;
extern const WpDecoder wp_decoder_pgsql;
extern const WpDecoder wp_decoder_quic; /* decode-opaque.c */
extern const WpDecoder wp_decoder_redis;
extern const WpDecoder wp_decoder_rmi;
extern const WpDecoder wp_decoder_rpc;
extern const WpDecoder wp_decoder_sip;
extern const WpDecoder wp_decoder_smtp;
extern const WpDecoder wp_decoder_ssh; /* decode-opaque.c */
extern const WpDecoder wp_decoder_tds;
extern const WpDecoder wp_decoder_thrift;
extern const WpDecoder wp_decoder_tns;
extern const WpDecoder wp_decoder_websocket;

#endif
