/* The program: finds the command, prints its error, sets the exit status; nothing else. */
#include "config.h"

#include <stdio.h>

#include "report/command.h"

int
main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts(PACKAGE_STRING);
	return 0;
}
