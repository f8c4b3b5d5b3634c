/* SPDX-License-Identifier: GPL-2.0-or-later */
/* init.c - the first process of the virtual machine of cmdline.py: says what the kernel gave it, which is all
 * of its command line that it does not know itself. */
#include <stdio.h>
#include <sys/reboot.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("@argument %s@\n", argv[i]);
	for (int i = 0; environ[i]; i++)
		printf("@variable %s@\n", environ[i]);
	puts("@end@");
	fflush(stdout);
	sleep(1);
	reboot(RB_AUTOBOOT);
	return 0;
}
