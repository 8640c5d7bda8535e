/* A program in C that appends rows to a session. It leaves the handling of
 * signals as it is. usage: host DIR ID ROWS */
#include <stdio.h>
#include <stdlib.h>

#include "libstore.h"

int main(int argc, char **argv) {
	if (argc != 4 || OpenStore(argv[1]))
		return 2;
	for (int i = 0; i < atoi(argv[3]); i++) {
		char line[100];
		snprintf(line, sizeof line, "{\"role\": \"user\", \"content\": \"host %d\"}", i);
		if (AppendRow(argv[2], line))
			return 3;
	}
	return 0;
}
