/* page.css and page.js as text, made of them by the makefile (page-data.c). */
#ifndef WP_REPORT_PAGE_PAGE_H
#define WP_REPORT_PAGE_PAGE_H

extern const char wp_page_css[];
extern const char wp_page_js[];

#endif
